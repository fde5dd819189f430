"""What `watch` gives, says and leaves alone."""

import threading
import warnings
from contextlib import contextmanager
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from attn_core import causal, watch, window
from attn_core.call import Call
from attn_core.modules import MultiHeadAttention
from attn_core.transformer import Transformer
from attn_core.watching import watcher
from attn_core.watching.generating import continued
from tests.watching.forms import CAUSAL, Attends, by_softmax, by_torch, dropped

X = torch.linspace(-1, 1, 2 * 6 * 16).sin().view(2, 6, 16)


@contextmanager
def warned(sentence):
    """Warns once, of this."""
    with pytest.warns(UserWarning, match=sentence) as said:
        yield
    assert len(said) == 1


def softmax_layers(*forms):
    torch.manual_seed(0)
    return nn.Sequential(*(nn.Sequential(Attends(form), nn.Linear(32, 16)) for form in forms))


def sigmoid(q, k, v):
    weights = (q @ k.mT).sigmoid()
    return weights @ v, weights


def halved(q, k, v):
    """Some weights are taken away after the softmax."""
    weights = (q @ k.mT).softmax(-1).masked_fill(~CAUSAL, 0)
    return weights @ v, weights


SEEN = by_softmax()


def test_the_table_of_a_transformer():
    torch.manual_seed(0)
    model = nn.Transformer(16, 4, 1, 1, 32, dropout=0.1, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    padded = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    with watch(model, strict=True) as seen:
        how = dict.fromkeys(("src_key_padding_mask", "memory_key_padding_mask"), padded)
        model(X[:, :5], X, tgt_mask=mask, **how)
    assert repr(seen).splitlines() == [
        "path                             seen as  heads  queries × keys  mask             dropout",
        "encoder.layers.0.self_attn       sdpa     4      5 × 5           padding([5, 3])  0.1",
        "decoder.layers.0.self_attn       sdpa     4      6 × 6           causal()         0.1",
        "decoder.layers.0.multihead_attn  sdpa     4      6 × 5           padding([5, 3])  0.1",
    ]
    assert list(seen) == [line.split()[0] for line in repr(seen).splitlines()[1:]]
    assert len(seen) == 3
    assert "decoder" not in seen
    assert seen[-1] is seen["decoder.layers.0.multihead_attn"]


@pytest.mark.parametrize(
    ("settings", "call"),
    [
        ({}, {}),
        ({"batch_first": True}, {"attn_mask": ~CAUSAL}),
        ({"batch_first": True}, {"attn_mask": torch.zeros(6, 6).masked_fill(~CAUSAL, -torch.inf)}),
        ({"batch_first": True}, {"key_padding_mask": torch.eye(6)[4:].bool()}),
        ({"batch_first": True, "add_zero_attn": True, "add_bias_kv": True}, {}),
        ({"batch_first": True, "kdim": 16, "vdim": 16}, {"attn_mask": ~CAUSAL, "is_causal": True}),
    ],
)  # fmt: skip
def test_torchs_own_module(settings, call):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(16, 4, **settings).eval()
    expected = module(X, X, X, average_attn_weights=False, **call)[1]
    for need_weights in (True, False):
        with torch.no_grad(), watch(module, strict=True, check=True) as seen:
            module(X, X, X, need_weights=need_weights, **call)
        torch.testing.assert_close(seen[""].stage("weights"), expected, rtol=0, atol=1e-6)


def test_the_encoder_takes_no_shortcut_and_may_take_it_again():
    layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    with torch.no_grad(), watch(model, strict=True) as seen:
        model(X, src_key_padding_mask=torch.tensor([[False] * 6, [False] * 4 + [True] * 2]))
    assert [str(record.keep) for record in seen.all()] == ["padding([6, 4])"] * 2
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.parametrize(
    "model",
    [MultiHeadAttention(16, 16, 4, keep=causal()), MultiHeadAttention(16, 16, 4, dropout=0.5)],
)
def test_a_module_of_this_library(model):
    copy = deepcopy(model)
    with watch(model, strict=True, check=True) as seen:
        model(X)
    own = copy.trace(X)
    assert (seen[0].keep, repr(seen[0].dropout)) == (own.keep, repr(own.dropout))
    torch.testing.assert_close(seen[0].stage("dropped"), own.stage("dropped"))


def test_what_drops_out_is_recorded_before_it():
    model = softmax_layers(dropped).train()
    with watch(model, strict=True) as seen:
        model(X)
    assert "  0.5" in repr(seen)
    torch.testing.assert_close(seen["0.0"].stage("weights"), model[0][0].weights)


def test_a_module_that_attends_twice():
    model = softmax_layers(SEEN)
    with watch(model) as seen:
        model(model(X))
    assert [record.size for record in seen.all("0.0")] == [(6, 6)] * 2
    assert len(seen) == 1
    with pytest.raises(ValueError, match=r"got '0.0', which attended 2 times: take one"):
        seen["0.0"]


def test_what_is_not_seen_is_named():
    model = softmax_layers(SEEN, halved, SEEN)
    model[2][0] = Attention = type("SigmoidAttention", (Attends,), {})(sigmoid)
    with warned("^1 of 3 attentions recorded; not seen: 1.0 "), watch(model) as seen:
        model(X)
    assert {path: why.partition(" ")[0] for path, why, _ in seen.unseen} == {
        "1.0": "its", "2.0": "SigmoidAttention"
    }  # fmt: skip
    assert all(what_to_do for *_, what_to_do in seen.unseen)
    with pytest.raises(KeyError, match="was not recorded: its output differs by"):
        seen["1.0"]
    with pytest.raises(KeyError, match="not among the 1 paths"):
        seen["3"]
    with (
        pytest.raises(RuntimeError, match=r"^1 of 3 attentions recorded; not seen: "),
        watch(model, strict=True),
    ):
        model(X)
    with (
        pytest.raises(RuntimeError, match="got none in SigmoidAttention; not seen: the model"),
        watch(Attention),
    ):
        Attention(X)


def test_inside_the_block_there_is_nothing_that_was_not_compared():
    model = softmax_layers(SEEN, halved)
    with warned("^1 of 2 attentions recorded"), watch(model) as seen:
        model(X)
        assert list(seen) == ["0.0"]
        assert [path for path, *_ in seen.unseen] == ["1.0"]
    model.append(nn.Linear(3, 3))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), watch(model) as seen:
        model(X)
    assert [path for path, *_ in seen.unseen] == ["1.0"]


def test_no_attention_is_an_error():
    with (
        pytest.raises(RuntimeError, match=r"^watch must see an attention, got none in Linear: "),
        watch(nn.Linear(16, 2)) as seen,
    ):
        seen.unseen.clear()


@pytest.mark.parametrize(
    ("only", "paths"),
    [("1", ["1.0"]), (["0.0", "2"], ["0.0", "2.0"]), (lambda path: path > "0.9", ["1.0", "2.0"])],
)
def test_only_some(only, paths):
    model = softmax_layers(SEEN, SEEN, SEEN)
    with watch(model, only=only) as seen:
        model(X)
    assert list(seen) == paths


@pytest.mark.parametrize(
    ("ask", "kind", "sentence"),
    [
        ({"model": 3}, TypeError, "model must be a torch.nn.Module, got int"),
        ({"only": "7"}, ValueError, "only must name modules of the model, got '7': "),
        ({"only": [7]}, ValueError, "only must name modules of the model, got 7: "),
    ],
)
def test_refusals(ask, kind, sentence):
    model = softmax_layers(SEEN)
    with pytest.raises(kind, match=f"^{sentence}"), watch(**{"model": model} | ask):
        pass


def test_an_error_of_the_model_passes_and_leaves_nothing_behind():
    model = softmax_layers(SEEN)
    model.append(nn.Linear(3, 3))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), watch(model):
        model(X)
    assert torch.backends.mha.get_fastpath_enabled()
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in model.modules())


def test_an_error_that_the_model_catches_leaves_its_paths_right():
    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.wrong, self.right = nn.Linear(3, 3), softmax_layers(SEEN)

        def forward(self, x):
            try:
                return self.wrong(x)
            except RuntimeError:
                return self.right(x)

    model = Tries()
    with watch(model) as seen:
        model(X)
    assert list(seen) == ["right.0.0"]


def test_an_error_of_the_watcher_does_not_reach_the_model(monkeypatch):
    model, expected = softmax_layers(SEEN, by_torch()), None
    expected = model(X)
    monkeypatch.setattr(watcher, "difference", lambda *args: 1 / 0)
    with pytest.raises(RuntimeError, match="the watcher failed: division by zero"), watch(model):
        assert torch.equal(model(X), expected)


def test_one_watch_in_another():
    model = softmax_layers(SEEN, by_torch())
    with watch(model, strict=True) as outer, watch(model[1], strict=True) as inner:
        model(X)
    assert (list(outer), list(inner)) == (["0.0", "1.0"], ["0"])
    with watch(model) as seen:
        model(X)
        assert seen[0].stage("weights").shape == (2, 4, 6, 6)
    assert len(seen.all()) == 2


def test_gradients_reach_the_model_through_a_record():
    model = softmax_layers(SEEN, by_torch())
    with watch(model) as seen:
        model(X)
    for path in seen:
        loss = seen[path].stage("weights").square().sum()
        (got,) = torch.autograd.grad(loss, model[0][0].project[0].weight, retain_graph=True)
        assert got.abs().sum() > 0
    own = model[0][0].weights.square().sum(), seen["0.0"].stage("weights").square().sum()
    own, got = (
        torch.autograd.grad(x, model[0][0].project[0].weight, retain_graph=True) for x in own
    )
    torch.testing.assert_close(got, own)
    with torch.no_grad(), watch(model) as seen:
        model(X)
    assert not any(record.q.requires_grad for record in seen.all())


class Caches(nn.Module):
    """Writes each token into a cache of eight places, and attends to all of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 2, 8, 4))

    def forward(self, x, place):
        self.cache[:, :, place] = x[:, :, 0]
        visible = torch.arange(8) <= place
        return scaled_dot_product_attention(x, self.cache, self.cache, attn_mask=visible[None])


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_cache_is_copied(mode):
    model, steps = Caches(), torch.linspace(-1, 1, 16).view(2, 1, 2, 1, 4)
    with mode(), watch(model) as seen:
        outputs = [model(x, place) for place, x in enumerate(steps)]
    for record, output in zip(seen.all(), outputs, strict=True):
        torch.testing.assert_close(record.output, output)


class Writes(nn.Module):
    """Writes into its queries once it has attended."""

    def forward(self, x):
        output = scaled_dot_product_attention(x, X[:, None], X[:, None])
        x.add_(1)
        return output


def test_other_writes_are_noticed():
    model = Writes()
    with torch.no_grad(), watch(model, strict=True) as seen:
        model(X[:, None].clone())
    assert list(seen) == [""]
    with pytest.raises(RuntimeError, match=r"^q must stay as it was when it was traced"):
        seen[0]
    model = nn.Sequential(Attends(by_torch()))
    with torch.no_grad(), watch(model) as seen:
        model(X)
    seen.captured[0].at_first.q.add_(1)
    with pytest.raises(RuntimeError, match=r"^q must stay as it was when it was traced"):
        seen[0]


def test_what_is_kept_is_q_k_and_v():
    model = softmax_layers(SEEN, by_torch())
    with torch.no_grad(), watch(model) as seen:
        model(X)
    for one in seen.captured:
        held = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes()
                for tensor in (one.at_first.q, one.at_first.k, one.at_first.v)}  # fmt: skip
        assert sum(held.values()) == 3 * 4 * 2 * 4 * 6 * 8
        assert one._record is None


class Generates(nn.Module):
    """A token at a time, over keys that are put behind those before; and over a memory."""

    def __init__(self):
        super().__init__()
        self.k = self.memory = torch.linspace(-1, 1, 2 * 2 * 3 * 4).cos().view(2, 2, 3, 4)

    def forward(self, x):
        self.k = torch.cat([self.k, x], 2)
        out = scaled_dot_product_attention(x, self.k, self.k)
        return self.across(out)

    def across(self, x):
        return scaled_dot_product_attention(x, self.memory, self.memory)


def test_a_step_that_sees_more_than_a_band_allows_is_a_record_of_its_own():
    """The narrowest band hides every key but the last, and the next step saw them all."""
    x = torch.linspace(-1, 1, 4).view(1, 1, 2, 2)
    narrow = Call.of(x[:, :, :1], x[:, :, :1], x[:, :, :1], window(0))
    assert continued(narrow, Call.of(x[:, :, 1:], x, x)) is None
    both = continued(narrow, Call.of(x[:, :, 1:], x, x, window(0)))
    assert both is not None
    assert both.keep == window(0)


def test_the_steps_of_a_generation_are_one_record():
    model, steps = Generates(), torch.linspace(-2, 2, 5 * 2 * 2 * 4).sin().view(5, 2, 2, 1, 4)
    with torch.no_grad(), watch(model, strict=True) as seen:
        outputs = [model(x) for x in steps]
    along, across = seen.all()
    assert [(record.size, repr(record.keep)) for record in (along, across)] == [
        ((5, 8), "causal()"), ((5, 3), "None")
    ]  # fmt: skip
    torch.testing.assert_close(across.output, torch.cat(outputs, 2))
    torch.testing.assert_close(across.q, along.output)
    with torch.no_grad(), watch(model) as seen:
        outputs = [model(steps[0]), model(steps[0])]
    assert len(seen.all()) == 2


class Checkpointed(nn.Module):
    def __init__(self, use_reentrant):
        super().__init__()
        self.inner, self.use_reentrant = softmax_layers(SEEN), use_reentrant

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=self.use_reentrant)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpoint_is_seen_once(use_reentrant):
    model = Checkpointed(use_reentrant)
    with watch(model, strict=True) as seen:
        model(X.clone().requires_grad_()).sum().backward()
    assert list(seen) == ["inner.0.0"]


def test_a_compiled_model_runs_as_it_was_written():
    model = torch.compile(softmax_layers(SEEN, by_torch()), backend="eager")
    with watch(model, strict=True) as seen:
        model(X)
    assert list(seen) == ["_orig_mod.0.0", "_orig_mod.1.0"]


QUANTISED = torch.ao.quantization.quantize_dynamic


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning:torch.ao")
@pytest.mark.parametrize(
    ("made", "path"),
    [
        (lambda model: QUANTISED(model, {nn.Linear}, dtype=torch.qint8), "layers.{}.self_attn"),
        (nn.DataParallel, "module.layers.{}.self_attn"),
    ],
    ids=["quantised", "DataParallel"],
)
def test_a_model_in_another_form(made, path):
    layer = nn.TransformerEncoderLayer(16, 2, 16, batch_first=True)
    model = made(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval())
    with torch.no_grad(), watch(model, strict=True, check=True) as seen:
        model(X)
    assert list(seen) == [path.format(0), path.format(1)]


class Scripted(nn.Module):
    num_heads: int = 4

    def forward(self, x):
        return scaled_dot_product_attention(x, x, x) + (x @ x.transpose(1, 2)).softmax(-1) @ x


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("made", [torch.jit.script, lambda model: torch.jit.trace(model, X)])
def test_a_scripted_model(made):
    model = made(Scripted())
    with torch.no_grad(), watch(model, strict=True) as seen:
        model(X)
    assert len(seen.all()) == 2


def test_autocast_is_recorded_as_it_computes():
    model = softmax_layers(by_torch(), SEEN)
    with torch.no_grad(), watch(model, strict=True) as seen, torch.autocast("cpu", torch.bfloat16):
        model(X)
    assert {record.q.dtype for record in seen.all()} == {torch.bfloat16}


def test_another_thread_is_named():
    model = nn.ModuleList([softmax_layers(SEEN), type("MyAttention", (Attends,), {})(SEEN)])
    with warned("ran in another thread"), watch(model) as seen:
        model[0](X)
        thread = threading.Thread(target=model[1], args=(X,))
        thread.start()
        thread.join()
    assert [unseen.path for unseen in seen.unseen] == ["1"]


def flex(q, k, v):
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flex_attention(q, k, v, lambda s, b, h, i, j: s + 0.0 * i, block_mask=mask), None


def test_flex_attention():
    model = softmax_layers(flex)
    with torch.no_grad(), watch(model, strict=True, check=True) as seen:
        model(X)
    assert repr(seen[0].keep) == "causal()"


def test_the_books_transformer():
    torch.manual_seed(0)
    model = Transformer(11, 11, width=8, num_heads=2, num_layers=1, hidden=16).eval()
    with torch.no_grad(), watch(model, strict=True, check=True) as seen:
        model(torch.ones(1, 4).long(), torch.ones(1, 3).long())
    assert [record.size for record in seen.all()] == [(4, 4), (3, 3), (3, 4)]


def test_numbers_that_are_not_finite_are_named():
    model = softmax_layers(SEEN, by_torch())
    sentence = r"not seen: 0.0 \(q must be finite, got nan at \(0, 0, 0, 0\)\)"
    with pytest.raises(RuntimeError, match=sentence), torch.no_grad(), watch(model):
        model(X.clone().fill_(torch.nan))
