"""The loop in which a translator learns, and the files that hold what it has learned."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attn_core.translators.grammar import CHINESE, PAD, Batch, batch, sentence

PAIRS = 6400
BATCH = 64
TRAINING, TESTING = 1, 2  # the seeds of the sentences to learn from and of those to test on
WEIGHTS = Path(__file__).with_name("weights")

Model = TypeVar("Model", bound=nn.Module)


def train(
    model: Model,
    scores: Callable[[Batch], Tensor],
    *,
    longest: int,
    steps: int,
    max_lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    longest_gradient: float = math.inf,
    report: Callable[[int, float], None] | None = None,
) -> Model:
    """Trains a model on PAIRS pairs of up to `longest` words, BATCH at a step.

    scores(batch): those of each word after each word of the targets, their last one left out.
    In float64, so that no number of threads changes it. Another processor rounds otherwise, and
    gets other weights, which translate as these do.
    """
    optimizer = torch.optim.Adam(model.parameters(), betas=betas)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=max_lr, total_steps=steps)
    pairs = [sentence(TRAINING, number, longest) for number in range(PAIRS)]
    for step in range(steps):
        start = step * BATCH % PAIRS
        learned = batch(pairs[start : start + BATCH])
        wanted = learned.target[:, 1:].flatten()
        loss = nn.functional.cross_entropy(
            scores(learned).flatten(0, 1), wanted, ignore_index=CHINESE.index(PAD)
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), longest_gradient)
        optimizer.step()
        schedule.step()
        if report:
            report(step, loss.item())
    return model.eval()


def loaded(model: Model, name: str) -> Model:
    """The model with the stored weights of this name.

    float16 numbers are float64 numbers, too, so the wider model holds exactly what the file does.
    """
    with np.load(WEIGHTS / f"{name}.npz") as arrays, torch.no_grad():
        for parameter, weights in model.named_parameters():
            weights.copy_(torch.from_numpy(arrays[parameter]))
    return model.eval()


def store(model: nn.Module, name: str) -> None:
    """Its weights, rounded to float16: what a page gets is then what Python computes with.

    ValueError if one of them is not finite in float16, and no file is written.
    """
    numbers = {}
    for parameter, weights in model.named_parameters():
        numbers[parameter] = weights.detach().cpu().half().numpy()
        check_stored(parameter, weights, numbers[parameter])
    # NumPy's stub takes any name for that of its own option.
    np.savez_compressed(WEIGHTS / f"{name}.npz", **numbers)  # type: ignore[arg-type]


def check_stored(name: str, weights: Tensor, rounded: NDArray[np.float16]) -> None:
    """float16 ends at 65504, and what is further from 0 would be stored as infinite."""
    if not np.isfinite(rounded).all():
        raise ValueError(
            f"{name} must lie within ±65504, where float16 ends, "
            f"got {weights.abs().max().item():.6g} for its largest"
        )
