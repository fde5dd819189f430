"""What a page gets of a model: its steps, its weights and its words, never an activation."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attn_core.masks import Keep
from attn_core.steps import Step, Steps
from attn_core.views.payload import array

VERSION = 1
LONGEST = 64


def model_payload(steps: Steps, marks: Mapping[str, str], longest: int = LONGEST) -> dict:
    """The program of a recorded pass as a dict that JSON can hold.

    steps: begin with words, whose vocabularies they know; a softmax is added as the last.
    marks: the words that mean "start", "end" and "pad".
    longest: how many words the page lets a sentence have.

    ValueError for a weight that float16 does not hold exactly: the page would compute with other
    numbers than Python. For rows that were handed in, too, and for a mask that is made for the
    recorded sentence alone.
    """
    if list(steps.values())[-1].operation != "softmax":
        steps = steps.with_softmax()
    for step in steps.values():
        check_step(step, steps.words)
    sides = [step.name for step in steps.values() if step.operation == "words"]
    return {
        "version": VERSION,
        "steps": [step.to_json() for step in steps.values()],
        "weights": {name: half(name, weight) for name, weight in steps.weights.items()},
        "words": {side: list(steps.words[side]) for side in sides},
        "marks": dict(marks),
        "longest": longest,
    }


def half(name: str, weight: Tensor) -> dict:
    """A weight in float16, base64."""
    short = weight.detach().to(torch.float16)
    error = (short.double() - weight.detach().double()).abs().max().item()
    if error != 0:
        raise ValueError(
            f"weights must be held exactly by float16, got {name} off by {error:.2g}: "
            "round the model first"
        )
    return array(short)


def check_step(step: Step, words: Mapping) -> None:
    keep = step.settings.get("keep")
    if isinstance(keep, Keep) and (keep.lengths, keep.cells, keep.cached) != (None, None, None):
        raise ValueError(f"{step.name} must have a mask that serves any sentence, got {keep}")
    if step.operation == "given":
        raise ValueError(f"steps must begin with words, got rows that were given as {step.name!r}")
    if step.operation == "words" and step.name not in words:
        raise ValueError(f"steps must know the vocabulary of {step.name!r}, got none")
