"""The loss: how much probability the right words lack."""

import torch
from torch import Tensor

from attn_core.arithmetic import difference, factor, listed
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    STATISTICS,
    Backward,
    Inputs,
    Made,
    Operation,
    Setting,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import nothing
from attn_core.steps.operations.softmax import softmax, softmax_line

LOGITS, TARGETS = range(2)  # the inputs
READABLE = 1e-6  # a smaller probability has too few digits for its logarithm
IGNORED = "the target of this place is ignored"


def cross_entropy(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The mean of −ln(probability of the right word) over the places whose target counts.

    inputs: scores [B, T, words], and the ids [B, T] of the right words.

    Its output is one number for all sentences, [1, 1].
    """
    scores, targets = inputs
    counted = counted_places(scores, targets, settings)
    made = softmax([scores], {}, {})
    right = scores.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    # Not −ln of the probability, which may be 0 in float64.
    losses = made["row_sum"].log() - (right - made["row_max"])
    losses = losses.masked_fill(~counted, 0.0)
    return {
        "row_max": made["row_max"],
        "row_sum": made["row_sum"],
        "probabilities": made["output"],
        "losses": losses,
        "output": (losses.sum() / counted.sum()).view(1, 1),
    }


def counted_places(scores: Tensor, targets: Tensor, settings: Settings) -> Tensor:
    """Where the target is a word, [B, T]; the ignored id says that it is none."""
    if targets.shape != scores.shape[:2] or targets.is_floating_point():
        raise ValueError(
            f"targets of cross_entropy must be ids {tuple(scores.shape[:2])}, one for each row of "
            f"scores, got {targets.dtype} of shape {tuple(targets.shape)}"
        )
    counted = torch.ones_like(targets, dtype=torch.bool)
    if settings["ignored"] is not None:
        counted = targets != settings["ignored"]
    if not counted.any():
        raise ValueError(
            f"targets of cross_entropy must have a word that counts, got {settings['ignored']}, "
            "the ignored id, alone"
        )
    words = scores.shape[-1]
    wrong = counted & ((targets < 0) | (targets >= words))
    if wrong.any():
        raise ValueError(
            f"targets of cross_entropy must be at least 0 and below {words}, got "
            f"{int(targets[wrong][0])}"
        )
    return counted


def cross_entropy_line(cell: Cell) -> Line:
    """Each stage has its line: -ln(0.2857) = 1.2528."""
    if cell.stage == "output":
        return mean_line(cell)
    if cell.stage != "losses":
        return softmax_line(cell)
    [row] = cell.index
    target = int(cell.input(TARGETS, row).value)
    if target == cell.settings["ignored"]:
        return nothing(IGNORED)
    probability = cell.at("probabilities", row, target)
    if probability.value > READABLE:
        share = written(probability.value, 1 / probability.value)
        return Line(f"-ln({share}) = {written(cell.value)}", lambda: [probability])
    x, row_max, row_sum = (
        cell.input(LOGITS, row, target), cell.at("row_max", row), cell.at("row_sum", row)
    )  # fmt: skip
    how = f"ln({written(row_sum.value)}) - ({difference(x.value, row_max.value)})"
    return Line(f"{how} = {written(cell.value)}", lambda: [x, row_max, row_sum])


def mean_line(cell: Cell) -> Line:
    """(1.2528 + 0.3567) / 2 = 0.8047, over all sentences."""
    losses = [
        cell.at("losses", row).in_sentence(batch) for batch, row in counted_addresses(cell, TARGETS)
    ]
    how = f"({listed([loss.value for loss in losses], factor, ' + ')}) / {len(losses)}"
    return Line(f"{how} = {written(cell.value)}", lambda: losses)


def counted_addresses(cell: Cell, n: int) -> list[tuple[int, int]]:
    """(sentence, row) of each place whose target counts; n: which input the targets are."""
    step, stage = cell.run.place(cell.step.inputs[n])
    targets, ignored = cell.run.value(step.name, stage), cell.settings["ignored"]
    return [
        (batch, row)
        for batch, ids in enumerate(targets.tolist())
        for row, word in enumerate(ids)
        if word != ignored
    ]


def cross_entropy_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """(p − 1) / n for the right word, p / n for the others, n being the places that count."""
    gradient, scores, targets, probabilities = inputs
    counted = counted_places(scores, targets, settings)
    ones = torch.zeros_like(scores).scatter(-1, targets.clamp(min=0)[..., None], 1.0)
    shares = (probabilities - ones) * counted[..., None] / counted.sum()
    return {"grad_scores": gradient[..., None] * shares}


def cross_entropy_backward_line(cell: Cell) -> Line:
    """(0.2857 - 1) / 2 = -0.3571."""
    row, column = cell.index
    gradient, target = cell.input(0, 0), int(cell.input(1 + TARGETS, row).value)
    if target == cell.settings["ignored"]:
        return nothing(IGNORED)
    probability, count = cell.input(3, row, column), len(counted_addresses(cell, 1 + TARGETS))
    share = written(probability.value)
    if target == column:
        share = f"({share} - 1)"
    how = f"{share} / {count} = {written(cell.value)}"
    if gradient.value == 1:  # where the gradients are those of the loss itself
        return Line(how, lambda: [probability])
    return Line(f"{factor(gradient.value)} · {how}", lambda: [gradient, probability])


CROSS_ENTROPY = Operation(
    "cross_entropy",
    cross_entropy,
    cross_entropy_line,
    takes=(2, 2),
    stages=("probabilities", "losses", "output"),
    statistics=STATISTICS,
    settings={"ignored": Setting("whole", default=None)},
    label="loss",
    is_on_page=False,
    backward=Backward(
        cross_entropy_backward,
        cross_entropy_backward_line,
        inputs=("grad_scores", None),
        reads=("inputs", "probabilities"),
    ),
)
