"""What rotary positions, the parts of a language model and sampling say of what does not fit."""

import math

import pytest
import torch

from attn_core import Projection, causal, trace
from attn_core.language import Cache, GroupedQueryAttention, LanguageModel, Sampling
from attn_core.rotary import Rotary

EIGHT, EYE = Rotary(8), torch.eye(2)
SIZES = {"width": 8, "num_heads": 4, "num_kv_heads": 2, "hidden": 12, "num_layers": 2}
MODEL = LanguageModel(10, **SIZES)
IDS = torch.tensor([[3, 1, 4, 1, 5, 9]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Rotary(3), "head_dim must be even, two for each pair, got 3"),
        (lambda: Rotary(0), "head_dim must be at least 2, got 0"),
        (lambda: Rotary(4, math.inf), "base must be a number of at least 1, got inf"),
        (lambda: Rotary(4, 0.5), "base must be a number of at least 1, got 0.5"),
        (lambda: Rotary(4, math.nan), "base must be a number of at least 1, got nan"),
        (lambda: Rotary(4, pairing="split"), "pairing must be halves or interleaved, got 'split'"),
        (
            lambda: EIGHT.rotate(torch.zeros(3, 4)),
            "x must be [*, T, n·8], heads of head_dim 8, got (3, 4)",
        ),
        (
            lambda: EIGHT.rotate(torch.zeros(2, 3, 8), torch.arange(4)),
            "positions must be one for each row, (3,) or a row of 3 for each sentence, got (4,)",
        ),
        (
            lambda: EIGHT.rotate(torch.zeros(2, 3, 8), torch.zeros(5, 3)),
            "positions must be one for each row, (3,) or a row of 3 for each sentence, got (5, 3)",
        ),
        (
            lambda: EIGHT.rotate(torch.zeros(3, 8), torch.zeros(1, 3)),
            "positions must be one for each row, (3,) or a row of 3 for each sentence, got (1, 3)",
        ),
        (
            lambda: trace(*[EYE] * 3, source=Projection(*[EYE] * 4, positions=torch.arange(2))),
            "positions of source must be None without a rotary, got some",
        ),
    ],
)
def test_what_cannot_be_rotated(call, said):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: EIGHT.rotate([[1.0] * 8]), "x must be a torch tensor, got list"),
        (
            lambda: EIGHT.rotate(torch.zeros(1, 8), [0]),
            "positions must be a torch tensor, got list",
        ),
        (
            lambda: Sampling().probabilities([1.0, 2.0]),
            "scores must be a torch tensor, got list",
        ),
    ],
)
def test_what_is_no_tensor(call, said):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: Sampling(temperature=-1),
            "temperature must be a finite number of at least 0, got -1",
        ),
        (
            lambda: Sampling(temperature=math.inf),
            "temperature must be a finite number of at least 0, got inf",
        ),
        (lambda: Sampling(top_k=0), "top_k must be at least 1, got 0"),
        (lambda: Sampling(top_p=1.5), "top_p must be a number from 0 to 1, got 1.5"),
        (lambda: Sampling(min_p="x"), "min_p must be a number from 0 to 1, got 'x'"),
        (lambda: Sampling(seed=2**53), f"seed must be below 2**53, got {2**53}"),
        (
            lambda: Sampling().probabilities(torch.zeros(0)),
            "scores must be [*, words], at least one, got (0,)",
        ),
        (
            lambda: Sampling().choose(torch.zeros(2, 3)),
            "scores must be those of one position, got (2, 3)",
        ),
        (lambda: GroupedQueryAttention(8, 0, 1), "num_heads must be at least 1, got 0"),
        (lambda: GroupedQueryAttention(8, 4, 0), "num_kv_heads must be at least 1, got 0"),
        (lambda: GroupedQueryAttention(8, 4, 2, head_dim=0), "head_dim must be at least 1, got 0"),
        (
            lambda: GroupedQueryAttention(8, 4, 2)(torch.zeros(3, 8)),
            "x must have 3 axes [B, T, E], got (3, 8)",
        ),
        (
            lambda: GroupedQueryAttention(8, 4, 2)(torch.zeros(1, 3, 6)),
            "x must have 8 numbers a token, got (1, 3, 6)",
        ),
        (
            lambda: GroupedQueryAttention(8, 4, 3),
            "num_kv_heads must divide num_heads 4, got 3",
        ),
        (
            lambda: GroupedQueryAttention(8, 3, 3),
            "num_heads must divide the width 8 where head_dim is not given, got 3",
        ),
        (
            lambda: GroupedQueryAttention(8, 4, 2, rotary=Rotary(4)),
            "rotary must have the head_dim 2, got 4",
        ),
        (
            lambda: LanguageModel(9, **SIZES, keeps=[causal()]),
            "keeps must have a mask for each of 2 layers, got 1",
        ),
        (
            lambda: LanguageModel(9, **SIZES | {"num_layers": 0}),
            "num_layers must be at least 1, got 0",
        ),
        (
            lambda: MODEL(IDS[0]),
            "ids must be [B, T], got (6,): ids[None] is a batch of one",
        ),
        (
            lambda: MODEL.generate(IDS[:, :0], longest=3),
            "ids must be one prompt [1, T], at least one token, got (1, 0)",
        ),
        (
            lambda: GroupedQueryAttention(8, 4, 2)(
                torch.zeros(1, 1, 8), cache=Cache(torch.zeros(2, 2, 3, 2), torch.zeros(2, 2, 3, 2))
            ),
            "x must have the 2 sentences of its cache, got 1",
        ),
        (
            lambda: Cache(torch.zeros(1, 2, 3, 2)).extend(*torch.zeros(2, 1, 2, 1, 2)),
            "a cache must have both k and v or neither, got k alone",
        ),
        (
            lambda: Cache(v=torch.zeros(1, 2, 3, 2)).extend(*torch.zeros(2, 1, 2, 1, 2)),
            "a cache must have both k and v or neither, got v alone",
        ),
    ],
)
def test_what_does_not_fit_a_model(call, said):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert str(error.value) == said
