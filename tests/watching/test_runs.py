"""What is asked of all records of a run, and of two runs: rollout and comparison."""

import re

import pytest
import torch
from torch import nn

from attn_core import watch
from attn_core.watching import compare, comparing, rollout
from attn_core.watching.named import is_cross
from tests.watching.forms import CAUSAL, by_softmax, by_torch
from tests.watching.test_watch import softmax_layers

X, Y = torch.linspace(-1, 1, 2 * 2 * 6 * 16).sin().view(2, 2, 6, 16)
LAYERS = softmax_layers(by_softmax(), by_torch(attn_mask=CAUSAL), by_softmax())


def run(model, *inputs):
    with torch.no_grad(), watch(model) as seen:
        model(*inputs)
    return seen


def weights_of(seen):
    return {path: seen[path].stage("weights") for path in seen}


PAIR = nn.Transformer(16, 4, 1, 1, 16, batch_first=True).eval()


@pytest.mark.parametrize("only", [None, "1", ["0", "2.0"], lambda path: path < "2"])
def test_rollout(only):
    seen = run(LAYERS, X)
    product = torch.eye(6).expand(2, 6, 6)
    for path, weights in weights_of(seen).items():
        is_there = {"1": path == "1.0", "None": True}.get(str(only), path in str(only))
        if only(path) if callable(only) else is_there or path[0] in (only or ()):
            product = torch.einsum("bij,bjk->bik", weights.mean(1) + torch.eye(6), product) / 2
    torch.testing.assert_close(rollout(seen, only=only), product)


@pytest.mark.parametrize(
    ("inputs", "only", "sentence"),
    [
        ((X, Y), None, "self-attentions alone, got 'decoder.layers.0.multihead_attn': choose"),
        ((X[:, :5], Y), None, "one size, got 'decoder.layers.0.self_attn' with 6 × 6 in a batch "
         "of 2 beside 'encoder.layers.0.self_attn'"),
        ((X[:, :5], Y), "decoder.layers.0.multihead_attn", "with 6 × 5 in a batch of 2: choose"),
        ((X, Y), "encoder.norm", "only must name modules of what was seen, got 'encoder.norm'"),
    ],
)  # fmt: skip
def test_refusals_of_rollout(inputs, only, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        rollout(run(PAIR, *inputs), only=only)


def test_comparison(monkeypatch):
    monkeypatch.setattr(comparing, "CELLS", 12)  # two rows at a time
    seen, other = run(LAYERS, X), run(LAYERS, Y)
    expected = {
        (path, head): (ours - theirs).abs().sum(-1).mean((0, 2))[head].item() / 2
        for (path, ours), theirs in zip(
            weights_of(seen).items(), weights_of(other).values(), strict=True
        )
        for head in range(4)
    }
    found = compare(seen, other)
    assert [row[:2] for row in found] == sorted(expected, key=expected.get, reverse=True)
    assert {row[:2]: row.distance for row in found} == pytest.approx(expected, rel=1e-5)
    assert repr(found).splitlines()[:2] == [
        "path  head  distance",
        f"{found[0].path}   {found[0].head}     {found[0].distance:.4f}",
    ]
    assert {row.distance for row in compare(seen, seen)} == {0.0}


def test_what_cannot_be_compared_is_named():
    found = compare(run(PAIR, X, Y), run(PAIR, X, Y[:, :5]))
    assert [path for path, *_ in found[::4]] == ["encoder.layers.0.self_attn"]
    assert repr(found).splitlines()[-2:] == [
        "not compared: decoder.layers.0.self_attn (its weights are (2, 4, 6, 6) and (2, 4, 5, 5))",
        "not compared: decoder.layers.0.multihead_attn "
        "(its weights are (2, 4, 6, 6) and (2, 4, 5, 6))",
    ]
    twice = nn.Sequential(LAYERS[0], LAYERS[0], LAYERS[2])
    assert compare(run(LAYERS, X), run(twice, X)).unlike == [
        ("0.0", "it attended 1 and 2 times"), ("1.0", "only seen has it")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("other", "kind", "sentence"),
    [
        (3, TypeError, "other must be what watch gave, got int"),
        (run(PAIR, X, Y), ValueError, "got none; '0.0': only seen has it"),
    ],
)
def test_refusals_of_compare(other, kind, sentence):
    with pytest.raises(kind, match=sentence):
        compare(run(LAYERS, X), other)


@pytest.mark.parametrize(
    ("path", "crosses"),
    [
        ("decoder.layers.0.encoder_attn", True),
        ("decoder.block.0.layer.1.EncDecAttention", True),
        ("h.0.crossattention", True),
        ("encoder.layer.0.crossattention.self", True),
        ("decoder.layers.0.multihead_attn", True),
        ("encoder.layers.0.self_attn", False),
        ("crossformer.layers.0.attn", False),
        ("encoder.layer.0.attention.self", False),
        ("blocks.0.sequence_attention", False),
    ],
)
def test_a_cross_attention_by_its_path(path, crosses):
    assert is_cross(path) is crosses
