"""What a page gets of a model: its steps, its weights and its words, never an activation."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attn_core.checks import check_whole
from attn_core.masks import Keep
from attn_core.steps import Step, Steps
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.passes import exact
from attn_core.views.payload import array

VERSION = 1
LONGEST, MOST_LONGEST = 64, 512  # words of a sentence


def model_payload(steps: Steps, marks: Mapping[str, str], longest: int = LONGEST) -> dict:
    """The program of a recorded pass as a dict that JSON can hold.

    steps: begin with words, whose vocabularies they know; a softmax is added as the last.
    marks: the words that mean "start", "end" and "pad".
    longest: how many words the page lets a sentence have.

    ValueError for a weight that float16 does not hold exactly: the page would compute with other
    numbers than Python. For rows that were handed in, too, for a mask that is made for the recorded
    sentence alone, for a step that the page does not compute, and for tables that do not fit the
    words.
    """
    check_longest(longest)
    if list(steps.values())[-1].operation != "softmax":
        steps = steps.with_softmax()
    for step in steps.values():
        check_step(step, steps)
        check_tables(step, steps, longest)
    sides = [step.name for step in steps.values() if step.operation == "words"]
    check_ends(steps, sides)
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


def check_longest(longest: int) -> None:
    if check_whole("longest", longest, least=1) > MOST_LONGEST:
        raise ValueError(f"longest must be at most {MOST_LONGEST}, got {longest}")


def check_step(step: Step, steps: Steps) -> None:
    """What the list of operations says of the page, and what it cannot say."""
    if step.operation == "given":
        raise ValueError(f"steps must begin with words, got rows that were given as {step.name!r}")
    operation = OPERATIONS[step.operation]
    if not operation.is_on_page:
        raise ValueError(
            f"the page has no formula for the operation {step.operation}, which makes "
            f"{step.name!r}: run and workings compute it in Python"
        )
    for name, setting in operation.settings.items():
        if setting.is_switch and step.settings.get(name):
            raise ValueError(
                f"steps must have everything switched on, got {step.name!r} with {name}: "
                "open_model takes off, which switches it off on the page"
            )
    keep = step.settings.get("keep")
    if isinstance(keep, Keep) and keep != Keep(before=keep.before, after=keep.after):
        raise ValueError(f"{step.name} must have a mask that serves any sentence, got {keep}")
    if step.operation == "words" and step.name not in steps.words:
        raise ValueError(f"steps must know the vocabulary of {step.name!r}, got none")


def check_tables(step: Step, steps: Steps, longest: int) -> None:
    """A row for each word, and for each place that a word may have."""
    if step.operation == "embed":
        name, [side] = step.parameters["weight"], step.inputs
        rows, words = len(steps.weights[name]), len(steps.words[side])
        if rows != words:
            raise ValueError(
                f"words must have {rows} of the {side}, as {name} has rows, got {words}"
            )
    if step.operation == "add_positions" and "table" in step.parameters:
        name = step.parameters["table"]
        rows = len(steps.weights[name])
        if rows < longest:
            raise ValueError(f"longest must be at most {rows}, the rows of {name}, got {longest}")


def check_ends(steps: Steps, sides: list[str]) -> None:
    """Both sentences go in, and a score for each word of the target comes out."""
    if set(sides) != {"source", "target"}:
        raise ValueError(f"steps must read source and target, got {', '.join(sides)} alone")
    [scores] = list(steps.values())[-1].inputs
    made = exact(steps).value(scores)
    shape, words = tuple(made.shape), len(steps.words["target"])
    if len(shape) != 3 or shape[-1] != words:
        raise ValueError(
            f"steps must end with a score for each of the {words} words of the target, got "
            f"{scores!r} of shape {shape}"
        )
