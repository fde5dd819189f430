"""A training as a film strip: the maps of each layer at some steps, and the losses below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from torch import Tensor

from attn_core.views.drawings.drawing import WIDEST, Drawing, short
from attn_core.views.drawings.margins import across

Curve = Sequence[tuple[int, float]]

MOST_FRAMES, MOST_LAYERS, MOST_TOKENS = 8, 3, 16
LEFT, RIGHT, GAP = 66, 8, 6
TOP, ROW_GAP = 34, 10
PLOT, ABOVE = 150, 44  # of the losses their height, and the room above them
LEAST = 0.02  # of a weight that is drawn
LOUD = "accent"


def film_strip(frames: Mapping[int, Sequence[Tensor]], losses: Mapping[str, Curve]) -> Drawing:
    """A column of maps for each step, a row for each layer; below, each loss over the same steps.

    >>> import torch
    >>> even, own = torch.full((2, 2), 0.5), torch.eye(2)
    >>> film_strip({0: [even], 100: [own]}, {"repeats": [(0, 2.1), (50, 1.2), (100, 0.4)]})
    Drawing: A film strip of 1 layer at the steps 0, 100: a map of 2 × 2 weights for each. Below, \
over the same steps, the losses: repeats from 2.1 to 0.4.

    A row of a map is a query, a column a key, and more ink is more weight. A step of the losses is
    below the middle of its map.

    Args:
        frames: the weights of each layer, by the step; evenly spaced steps, two to eight of them.
        losses: pairs of a step and a loss, by their name, from the first step to the last.

    Taught in chapter 13.
    """
    steps = sorted(frames)
    layers, tokens = checked(frames, steps)
    for name, curve in losses.items():
        if [curve[0][0], curve[-1][0]] != [steps[0], steps[-1]]:
            raise ValueError(
                f"losses must run from step {steps[0]} to step {steps[-1]}, as the frames do, got "
                f"{curve[0][0]} to {curve[-1][0]} for {name!r}"
            )
    each = (WIDEST - LEFT - RIGHT + GAP) / len(steps)
    size = min(each - GAP, 110)
    row = size + ROW_GAP
    top = TOP + layers * row + ABOVE
    said = "; ".join(
        f"{name} from {short(curve[0][1])} to {short(curve[-1][1])}"
        for name, curve in losses.items()
    )
    sheet = Drawing(
        WIDEST,
        top + PLOT + 38,
        f"A film strip of {layers} layer{'s' if layers > 1 else ''} at the steps "
        f"{', '.join(map(str, steps))}: a map of {tokens} × {tokens} weights for each. Below, over "
        f"the same steps, the losses: {said}.",
    )
    middles = {step: LEFT + n * each + size / 2 for n, step in enumerate(steps)}
    sheet.text("step", LEFT - 10, 16, align="end")
    for step in steps:
        sheet.text(str(step), middles[step], 16, bold=True)
        for layer, weights in enumerate(frames[step]):
            left = middles[step] - size / 2
            small_map(sheet, weights.tolist(), left, TOP + layer * row, size / tokens)
    for layer in range(layers):
        sheet.text(f"layer {layer}", LEFT - 8, TOP + layer * row + size / 2, align="end")
    plot(sheet, losses, middles, top)
    return sheet


def checked(frames: Mapping[int, Sequence[Tensor]], steps: Sequence[int]) -> tuple[int, int]:
    """How many layers and how many tokens all frames have."""
    apart = {later - step for step, later in pairwise(steps)}
    if not 2 <= len(steps) <= MOST_FRAMES or len(apart) > 1:
        raise ValueError(
            f"frames must be of 2 to {MOST_FRAMES} evenly spaced steps, got {[*steps]}"
        )
    shapes = {tuple(map(tuple, (map_.shape for map_ in frames[step]))) for step in steps}
    layers = shapes.pop()
    fits = 1 <= len(layers) <= MOST_LAYERS and len({*layers}) == 1 and not shapes
    if not fits or len(layers[0]) != 2 or not 1 <= layers[0][0] == layers[0][1] <= MOST_TOKENS:
        raise ValueError(
            f"frames must have the same 1 to {MOST_LAYERS} square maps at each step, of up to "
            f"{MOST_TOKENS} tokens, got {[*map(list, layers)]} at step {steps[0]}"
        )
    return len(layers), layers[0][0]


def small_map(
    sheet: Drawing, weights: Sequence[Sequence[float]], x: float, y: float, size: float
) -> None:
    """Cells without lines between them, which would be as wide as they are."""
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            if weight >= LEAST:
                sheet.box(
                    x + j * size, y + i * size, size, size, fill="more", opacity=weight, round=0
                )
    whole = size * len(weights)
    sheet.box(x, y, whole, whole, fill="none", line="soft", round=0)


def plot(
    sheet: Drawing, losses: Mapping[str, Curve], middles: Mapping[int, float], top: float
) -> None:
    """The losses from 0 up, each named at its end; the last one has the loudest ink."""
    (first, left), *_, (last, right) = middles.items()
    most = max((loss for curve in losses.values() for _, loss in curve), default=1) or 1
    bottom = top + PLOT

    def at(step: float, loss: float) -> tuple[float, float]:
        x = left + (right - left) * (step - first) / (last - first)
        return x, bottom - PLOT * loss / most

    for n in range(int(most) + 1):
        x, y = at(first, n)
        sheet.line((x, y), at(last, n), width=0.5, stroke_dasharray="2 4")
        sheet.text(str(n), x - 12, y, "soft", align="end")
    sheet.text("loss", LEFT - 8, top - 24, align="end")
    for n, (name, curve) in enumerate(losses.items()):
        ink = LOUD if n == len(losses) - 1 else "soft"
        sheet.line(*(at(step, loss) for step, loss in curve), ink=ink, width=2.2)
        x, _ = at(*curve[-1])
        below = [at(step, loss) for step, loss in curve]
        wide = across(name, sheet.letters)
        y = min(high for where, high in below if where >= x - wide)
        sheet.text(name, x, y - 14, ink, align="end", bold=True)
    for step in middles:
        sheet.text(str(step), middles[step], bottom + 18, "soft")
