"""A decoder-only model: its parts against torch's and by hand, its cache, its steps, sampling."""

import math

import pytest
import torch
from torch import nn

from attn_core import causal, window
from attn_core.language import (
    GREEDY,
    Cache,
    GroupedQueryAttention,
    LanguageLayer,
    LanguageModel,
    RMSNorm,
    Sampling,
    SwiGLU,
)
from attn_core.masks import padding
from attn_core.rotary import Rotary
from attn_core.steps import run
from tests.attn_core.step_models import filled, one_pass

SIZES = {"width": 8, "num_heads": 4, "num_kv_heads": 2, "hidden": 12, "num_layers": 2}


def drawn(*shape):
    n = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (((7 * n * n + 3 * n) % 17 - 8) / 8).view(shape)


def model(**sizes):
    return filled(LanguageModel(10, **{**SIZES, **sizes}))


IDS = torch.tensor([[3, 1, 4, 1, 5, 9]])


def test_rms_norm_is_torchs():
    ours, theirs = RMSNorm(8, 1e-3).double(), nn.RMSNorm(8, 1e-3).double()
    with torch.no_grad():
        ours.gain.copy_(drawn(8))
        theirs.weight.copy_(drawn(8))
    x = drawn(2, 3, 8)
    torch.testing.assert_close(ours(x), theirs(x))


def test_rms_norm_of_half_precision_does_not_overflow():
    made = RMSNorm(4)(torch.full((1, 4), 300.0, dtype=torch.float16))
    assert made.tolist() == [[1.0] * 4]


def test_swiglu_by_hand():
    """gate ln 3: its sigmoid is 3/4, so silu is 0.824; times up 4: 3.296."""
    layer = SwiGLU(1, 1).double()
    with torch.no_grad():
        for linear, weight in ((layer.gate, math.log(3)), (layer.up, 4.0), (layer.down, 1.0)):
            linear.weight.fill_(weight)
    assert layer(torch.ones(1, 1, 1).double()).item() == pytest.approx(3 * math.log(3))


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("rotary", [None, Rotary(2), Rotary(2, 5.0, "interleaved")])
def test_grouped_queries_are_those_of_repeated_keys(kv_heads, rotary):
    layer = filled(GroupedQueryAttention(8, 4, kv_heads, rotary=rotary))
    x = drawn(2, 5, 8)
    q, k, v = layer.split_heads(x)
    k, v = (t.repeat_interleave(4 // kv_heads, dim=1) for t in (k, v))
    heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(layer(x), layer.out_proj(heads.transpose(1, 2).flatten(2)))
    record = layer.trace(x)
    assert (record.shape, record.group) == ((2, 4, 5, 5), 4 // kv_heads)
    torch.testing.assert_close(record.output, heads)
    assert record.source.rotary is rotary


def test_a_head_may_be_wider_than_its_share():
    layer = filled(GroupedQueryAttention(8, 4, 2, head_dim=6, rotary=Rotary(6)))
    assert layer(drawn(1, 3, 8)).shape == (1, 3, 8)
    assert layer.w_query.out_features == 24


@pytest.mark.parametrize("keeps", [None, [window(2), causal()]], ids=["causal", "window"])
@pytest.mark.parametrize("cuts", [[6], [1] * 6, [3, 2, 1]], ids=str)
def test_a_cache_changes_no_number(cuts, keeps):
    made, whole = model(keeps=keeps), model(keeps=keeps)(IDS)
    caches, parts = made.caches(), []
    for new in IDS.split(cuts, dim=1):
        parts.append(made(new, caches=caches))
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    assert [len(cache) for cache in caches] == [6, 6]
    assert caches[0].k.shape == (1, 2, 6, 2)


def test_a_window_hides_what_is_far():
    far = IDS.clone()
    far[0, 0] = 7
    one = model(num_layers=1, keeps=[window(2)])
    assert torch.equal(one(IDS)[0, 3:], one(far)[0, 3:])
    two = model(keeps=[window(2), window(2)])
    assert torch.equal(two(IDS)[0, 5:], two(far)[0, 5:])
    assert not torch.equal(two(IDS)[0, 4:5], two(far)[0, 4:5]), "two layers reach four words back"


def test_padding_on_the_left_changes_no_number():
    padded = torch.cat([torch.tensor([[8, 8]]), IDS], dim=1)
    places = torch.tensor([[0, 0, 0, 1, 2, 3, 4, 5]])
    made = model()(padded, keep=padding(starts=[2]), positions=places)
    torch.testing.assert_close(made[:, 2:], model()(IDS))


def test_rows_before_a_change_stay_as_they_were():
    other = IDS.clone()
    other[0, 4] = 2
    assert torch.equal(model()(IDS)[0, :4], model()(other)[0, :4])


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=3.0, seed=5)])
def test_written_tokens_are_those_of_whole_passes(sampling):
    made = model()
    written = made.generate(IDS, longest=5, sampling=sampling)
    ids = IDS
    for n, token in enumerate(written.ids):
        scores = made(ids)[0, -1]
        torch.testing.assert_close(written.probabilities[n], scores.softmax(-1))
        assert token == sampling.choose(scores, n)
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)


def test_writing_stops_at_an_end():
    made = model()
    free = made.generate(IDS, longest=4).ids
    assert made.generate(IDS, longest=4, ends=[free[0]]).ids == free[:1]


def test_tied_scores_are_products_with_the_embedding():
    tied, free = model(), model(is_tied=False)
    assert tied.unembedding.weight is tied.embedding.weight
    assert free.unembedding.weight is not free.embedding.weight
    steps = one_pass(tied, IDS)
    assert steps["unembedding"].parameters == {"weight": "embedding.weight"}
    assert set(steps.weights) == {name for name, _ in tied.named_parameters()}


ATTENTION = ["w_query", "w_key", "w_value", "rotated_query", "rotated_key", "", "out_proj"]
LAYER = ["attention_norm", *[f"attention.{name}".rstrip(".") for name in ATTENTION]]
LAYER += ["attention_sum", "feed_forward_norm"]
LAYER += [f"feed_forward.{name}" for name in ("gate", "up", "activation", "product", "down")]
LAYER += ["sum"]


def test_the_steps_of_a_language_model():
    made = model()
    steps = one_pass(made, IDS)
    layers = [f"layers.{n}.{name}" for n in range(2) for name in LAYER]
    assert list(steps) == ["ids", "embedding", *layers, "norm", "unembedding"]
    assert steps["layers.1.attention"].settings["num_kv_heads"] == 2
    assert steps["layers.0.attention.rotated_key"].settings == {
        "head_dim": 2, "base": 10000.0, "pairing": "halves"
    }  # fmt: skip
    assert steps["layers.1.attention_sum"].inputs == ("layers.0.sum", "layers.1.attention.out_proj")
    torch.testing.assert_close(run(steps).value("unembedding"), made(IDS))
    other = torch.tensor([[2, 7]])
    torch.testing.assert_close(run(steps, ids=[2, 7]).value("unembedding"), made(other))


def test_steps_without_groups_or_positions():
    layer = filled(LanguageLayer(8, 2, 2, 12))
    steps = one_pass(layer, drawn(1, 3, 8))
    assert "num_kv_heads" not in steps["attention"].settings
    assert steps["attention"].inputs == (
        "attention.w_query",
        "attention.w_key",
        "attention.w_value",
    )
    assert list(steps.values())[-1].name == "sum"
    torch.testing.assert_close(run(steps).value("sum"), layer(drawn(1, 3, 8)))


@pytest.mark.parametrize(
    "kwargs", [{"positions": torch.arange(3)}, {"cache": Cache()}], ids=["positions", "cache"]
)
def test_a_part_of_a_text_is_not_recorded(kwargs):
    [name] = kwargs
    layer = filled(GroupedQueryAttention(8, 4, 2))
    with pytest.raises(ValueError, match=f"{name} must be None where recording sees an attention"):
        one_pass(layer, drawn(1, 3, 8), **kwargs)


NINE = torch.tensor([9.0, 4.0, 1.0]).double().log()


@pytest.mark.parametrize(
    ("sampling", "wanted"),
    [
        (Sampling(), [9 / 14, 4 / 14, 1 / 14]),
        (Sampling(temperature=0.5), [81 / 98, 16 / 98, 1 / 98]),
        (Sampling(temperature=2.0), [3 / 6, 2 / 6, 1 / 6]),
        (Sampling(top_k=2), [9 / 13, 4 / 13, 0]),
        (Sampling(top_k=9), [9 / 14, 4 / 14, 1 / 14]),
        (Sampling(top_p=0.9), [9 / 13, 4 / 13, 0]),
        (Sampling(top_p=0.0), [1, 0, 0]),
        (Sampling(top_p=1.0), [9 / 14, 4 / 14, 1 / 14]),
        (Sampling(min_p=0.1), [9 / 14, 4 / 14, 1 / 14]),
        (Sampling(min_p=0.2), [9 / 13, 4 / 13, 0]),
        (Sampling(temperature=0.5, min_p=0.1), [81 / 97, 16 / 97, 0]),
        (Sampling(temperature=2.0, top_p=0.9), [3 / 6, 2 / 6, 1 / 6]),
        (Sampling(top_k=2, top_p=0.69), [1, 0, 0]),
        (GREEDY, [1, 0, 0]),
        (Sampling(temperature=1e-9), [1, 0, 0]),
    ],
    ids=repr,
)
def test_shares_of_nine_four_and_one(sampling, wanted):
    order = torch.tensor([2, 0, 1])
    assert sampling.probabilities(NINE).tolist() == pytest.approx(wanted)
    shuffled = sampling.probabilities(NINE[order][None].expand(2, 3))
    assert shuffled[1].tolist() == pytest.approx([wanted[n] for n in order])


def test_draws_follow_the_shares():
    sampling = Sampling(seed=11)
    drawn_ids = [sampling.choose(NINE, n) for n in range(3000)]
    shares = [drawn_ids.count(token) / 3000 for token in range(3)]
    assert shares == pytest.approx([9 / 14, 4 / 14, 1 / 14], abs=0.03)
    assert drawn_ids[:20] == [sampling.choose(NINE, n) for n in range(20)]
    assert drawn_ids[:20] != [Sampling(seed=12).choose(NINE, n) for n in range(20)]


def test_what_has_no_share_is_never_drawn():
    assert {Sampling(top_k=2, seed=3).choose(NINE, n) for n in range(300)} == {0, 1}
    hidden = torch.tensor([-math.inf, 0.0, -math.inf])
    assert {Sampling(seed=3).choose(hidden, n) for n in range(50)} == {1}
