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
from attn_core.language.model import wide_layers
from attn_core.language.sampling import uniform
from attn_core.masks import padding
from attn_core.rotary import Rotary
from attn_core.steps import run
from tests.attn_core.reference import philox_by_hand
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
    made = RMSNorm(4).half()(torch.full((1, 4), 300.0, dtype=torch.float16))
    assert made.dtype == torch.float16
    assert made.tolist() == [[1.0] * 4]


@pytest.mark.parametrize(("how", "eps"), [({}, 1e-5), ({"eps": 1e-3}, 1e-3)], ids=str)
def test_every_norm_of_a_model_has_its_eps(how, eps):
    layer, whole = LanguageLayer(8, 4, 2, 12, **how), LanguageModel(10, **SIZES, **how)
    for made, count in ((RMSNorm(4, **how), 1), (layer, 2), (whole, 5)):
        norms = [module for module in made.modules() if isinstance(module, RMSNorm)]
        assert [norm.eps for norm in norms] == [eps] * count


def test_swiglu_by_hand():
    """gate ln 3: its sigmoid is 3/4, so silu is 0.824; times up 4: 3.296."""
    layer = SwiGLU(1, 1).double()
    with torch.no_grad():
        for linear, weight in ((layer.gate, math.log(3)), (layer.up, 4.0), (layer.down, 1.0)):
            linear.weight.fill_(weight)
    assert layer(torch.ones(1, 1, 1).double()).item() == pytest.approx(3 * math.log(3))


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("rotary", [None, Rotary(2), Rotary(2, 5.0, "interleaved")])
@pytest.mark.parametrize("places", [None, torch.tensor([0, 2, 5, 6, 9])], ids=["", "places"])
def test_grouped_queries_are_those_of_repeated_keys(kv_heads, rotary, places):
    layer = filled(GroupedQueryAttention(8, 4, kv_heads, rotary=rotary))
    x = drawn(2, 5, 8)
    q, k, v = layer.split_heads(x, places)
    k, v = (t.repeat_interleave(4 // kv_heads, dim=1) for t in (k, v))
    heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    output = layer.out_proj(heads.transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(x, positions=places), output)
    record = layer.trace(x, positions=places)
    assert (record.shape, record.group) == ((2, 4, 5, 5), 4 // kv_heads)
    torch.testing.assert_close(record.output, heads)
    assert record.source.rotary is rotary
    known = record.source.positions
    assert (known is not None) == (rotary is not None and places is not None)
    assert known is None or torch.equal(known, places)


def test_a_record_joins_both_masks():
    layer = filled(GroupedQueryAttention(8, 4, 2))
    x, keep = drawn(2, 5, 8), padding([3, 5])
    heads = layer.trace(x, keep=keep).output
    torch.testing.assert_close(
        layer.out_proj(heads.transpose(1, 2).flatten(2)), layer(x, keep=keep)
    )


def test_places_are_made_where_the_rows_are():
    layer = GroupedQueryAttention(8, 4, 2, rotary=Rotary(2)).to("meta")
    made = layer.split_heads(torch.zeros(1, 3, 8, device="meta"))
    assert [rows.device.type for rows in made] == ["meta"] * 3


@pytest.mark.parametrize(
    ("how", "has"), [({}, False), ({"bias": False}, False), ({"bias": True}, True)], ids=str
)
def test_all_matrices_have_a_bias_or_none_has(how, has):
    for made in (GroupedQueryAttention(8, 4, 2, **how), SwiGLU(8, 12, **how)):
        assert {linear.bias is not None for linear in made.children()} == {has}


def test_places_reach_each_attention():
    made, places = model(), torch.tensor([0, 2, 5, 6, 9, 11])
    rows = made.embedding(IDS)
    for layer in made.layers:
        rows = rows + layer.attention(layer.attention_norm(rows), positions=places)
        rows = rows + layer.feed_forward(layer.feed_forward_norm(rows))
    torch.testing.assert_close(made(IDS, positions=places), made.unembedding(made.norm(rows)))


def test_a_rotary_reaches_each_attention():
    rotary = Rotary(2, 5.0, "interleaved")
    assert [layer.attention.rotary for layer in model(rotary=rotary).layers] == [rotary] * 2


def test_rows_of_a_new_embedding_have_about_the_length_1():
    torch.manual_seed(0)
    rows = LanguageModel(1000, **SIZES).embedding.weight
    assert rows.square().sum(1).mean().item() == pytest.approx(1, abs=0.1)


def test_wide_layers_are_copies():
    made = model().float()
    for layer, wide in zip(made.layers, wide_layers(made), strict=True):
        assert {tensor.dtype for tensor in layer.parameters()} == {torch.float32}
        assert {tensor.dtype for tensor in wide.parameters()} == {torch.float64}
        torch.testing.assert_close(wide.state_dict(), layer.double().state_dict())


def test_a_head_may_be_wider_than_its_share():
    layer = filled(GroupedQueryAttention(8, 4, 2, head_dim=6, rotary=Rotary(6)))
    assert layer(drawn(1, 3, 8)).shape == (1, 3, 8)
    assert layer.w_query.out_features == 24


@pytest.mark.parametrize("sizes", [{"num_heads": 1}, {"num_heads": 4, "head_dim": 1}], ids=str)
def test_the_smallest_heads(sizes):
    layer = filled(GroupedQueryAttention(8, num_kv_heads=1, **sizes))
    assert layer(drawn(1, 3, 8)).shape == (1, 3, 8)


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
    ("how", "wanted"),
    [
        ({}, [9 / 14, 4 / 14, 1 / 14]),
        ({"temperature": 0.5}, [81 / 98, 16 / 98, 1 / 98]),
        ({"temperature": 2.0}, [3 / 6, 2 / 6, 1 / 6]),
        ({"top_k": 2}, [9 / 13, 4 / 13, 0]),
        ({"top_k": 9}, [9 / 14, 4 / 14, 1 / 14]),
        ({"top_p": 0.9}, [9 / 13, 4 / 13, 0]),
        ({"top_p": 0.0}, [1, 0, 0]),
        ({"top_p": 1.0}, [9 / 14, 4 / 14, 1 / 14]),
        ({"min_p": 0.1}, [9 / 14, 4 / 14, 1 / 14]),
        ({"min_p": 0.2}, [9 / 13, 4 / 13, 0]),
        ({"temperature": 0.5, "min_p": 0.1}, [81 / 97, 16 / 97, 0]),
        ({"temperature": 2.0, "top_p": 0.9}, [3 / 6, 2 / 6, 1 / 6]),
        ({"top_k": 2, "top_p": 0.69}, [1, 0, 0]),
        ({"temperature": 0}, [1, 0, 0]),
        ({"temperature": 1e-9}, [1, 0, 0]),
    ],
    ids=repr,
)
def test_shares_of_nine_four_and_one(how, wanted):
    sampling = Sampling(**how)
    order = torch.tensor([2, 0, 1])
    assert sampling.probabilities(NINE).tolist() == pytest.approx(wanted)
    shuffled = sampling.probabilities(NINE[order][None].expand(2, 3))
    assert shuffled[1].tolist() == pytest.approx([wanted[n] for n in order])


@pytest.mark.parametrize(
    ("how", "left"), [({"top_k": 1}, 1), ({"top_p": 0.5}, 512), ({"min_p": 1}, 1024)], ids=str
)
def test_of_equal_scores_the_first_are_left(how, left):
    shares = Sampling(**how).probabilities(torch.zeros(1024))
    assert shares.tolist() == [1 / left] * left + [0] * (1024 - left)


def test_a_small_temperature_does_not_overflow():
    made = Sampling(temperature=1e-300).probabilities(torch.tensor([1e10, 0.0]))
    assert made.tolist() == [1, 0]


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


@pytest.mark.parametrize(("at", "token"), [(0.0, 1), (0.25, 1), (0.5, 3), (0.75, 3)])
def test_a_share_includes_its_lower_edge_alone(at, token, monkeypatch):
    monkeypatch.setattr("attn_core.language.sampling.uniform", lambda n, seed: at)
    hidden = torch.tensor([-math.inf, 0.0, -math.inf, 0.0])
    assert Sampling().choose(hidden) == token


def test_a_draw_allows_for_shares_that_rounding_has_moved_from_a_sum_of_1(monkeypatch):
    monkeypatch.setattr(Sampling, "probabilities", lambda self, scores: scores)
    monkeypatch.setattr("attn_core.language.sampling.uniform", lambda n, seed: 0.4)
    assert Sampling().choose(torch.tensor([0.25, 0.25])) == 0


def test_a_text_begins_with_token_0():
    draws = [Sampling(seed=seed) for seed in range(20)]
    assert [made.choose(NINE) for made in draws] == [made.choose(NINE, 0) for made in draws]


@pytest.mark.parametrize("n", [0, 5, 2**33 + 5])
@pytest.mark.parametrize("seed", [0, 7, 2**53 - 1])
def test_a_draw_is_made_of_the_first_53_bits_of_philox(n, seed):
    words = philox_by_hand((n % 2**32, n // 2**32, 0, 0), (seed % 2**32, seed // 2**32))
    assert uniform(n, Sampling(seed=seed).seed) == (words[0] * 2**21 + words[1] // 2**11) / 2**53
