"""What a training and a film say of what does not fit."""

import math

import pytest
import torch
from torch import nn

from attn_core.learning import (
    SGD,
    AdamW,
    AttentionOnly,
    Film,
    RepeatedSegments,
    Training,
    watch_training,
)

TASK, MODEL, TRAINING = RepeatedSegments(), AttentionOnly(8, 12), Training()
LAYER = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
X = torch.ones(1, 5, 8)


def entered(*arguments, **settings):
    with watch_training(*arguments, **settings):
        pass


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SGD(lr=math.nan), "lr must be a finite number of at least 0, got nan"),
        (lambda: AdamW(lr="0.1"), "lr must be a finite number of at least 0, got '0.1'"),
        (lambda: AdamW(eps=-1.0), "eps must be a finite number of at least 0, got -1.0"),
        (
            lambda: SGD(weight_decay=math.inf),
            "weight_decay must be a finite number of at least 0, got inf",
        ),
        (
            lambda: AdamW(betas=(0.9, 1)),
            "betas must be two numbers of at least 0 and below 1, got (0.9, 1)",
        ),
        (lambda: RepeatedSegments(letters=27), "letters must be at most 26, got 27"),
        (lambda: RepeatedSegments(shortest=5, longest=4), "longest must be at least 5, got 4"),
        (
            lambda: RepeatedSegments(longest=9),
            "longest must be at most the 8 letters, as those of a segment differ, got 9",
        ),
        (
            lambda: TASK.text(1, 2**32),
            f"number must be at least 0 and below {2**32}, got {2**32}",
        ),
        (lambda: AttentionOnly(8, 12, num_layers=0), "num_layers must be at least 1, got 0"),
        (lambda: AttentionOnly(8, 12, seed=2**53), f"seed must be below 2**53, got {2**53}"),
        (
            lambda: MODEL(torch.tensor([0, 1])),
            "ids must be [B, T], got (2,): ids[None] is a batch of one",
        ),
        (lambda: MODEL(torch.zeros(1, 13).long()), "x must have at most 12 tokens, got 13"),
        (
            lambda: Training(RepeatedSegments(has_start=True), MODEL),
            "model must have 9 tokens and at least 13 places, as the task has, got 8 and 12",
        ),
        (lambda: TRAINING.loss, "loss must be that of a step, got none: call step() first"),
        (
            lambda: TRAINING.update("positions"),
            "update must be that of a step, got none: call step() first",
        ),
        (lambda: TRAINING.rewind(1), "step must be at most the 0 done so far, got 1"),
        (lambda: TRAINING.batch(2**28), f"step must be at most {2**28 - 1}, got {2**28}"),
        (lambda: Film(LAYER, X, every=0), "every must be at least 1, got 0"),
        (
            lambda: Film(LAYER, X, most_bytes=300),
            "most_bytes must be at least 400, two frames of these inputs, got 300: take a shorter "
            "input",
        ),
    ],
)
def test_what_cannot_be(call, said):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert str(error.value) == said


def set_optimiser():
    TRAINING.optimiser = torch.optim.SGD(LAYER.parameters())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (set_optimiser, "optimiser must be AdamW or SGD, got SGD"),
        (
            lambda: entered(LAYER, SGD(), X),
            "optimizer must be a torch.optim.Optimizer, got SGD: without one, make a Film and call "
            "its look after each step",
        ),
        (lambda: Film(LAYER, "x"), "inputs must be a tensor, a list or a dict, got 'x'"),
        (lambda: Training(seed=1.5), "seed must be a whole number, got 1.5"),
    ],
)
def test_what_is_of_another_kind(call, said):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == said


def test_what_is_not_there():
    film = Film(LAYER, X)
    film.look(0)
    with pytest.raises(KeyError) as error:
        film[3]
    assert error.value.args == ("step must be one of the film's 1 frames, got 3",)
    training = Training()
    training.step()
    with pytest.raises(KeyError) as error:
        training.update("bias")
    assert error.value.args[0].startswith("name must be one of positions, embedding.weight, ")
    with pytest.raises(RuntimeError, match="watch must see an attention, got none in Linear"):
        Film(nn.Linear(8, 8), X)
