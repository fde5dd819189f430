"""The still of a model: its drawing in the first state as one picture, for paper and unscripted."""

import math
import re
from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.steps import Pass, Step, Steps
from attn_core.steps.operations import OPERATIONS
from attn_core.views.fonts import font_families
from attn_core.views.heat import INK
from attn_core.views.model_pass import read_and_written, side_of
from attn_core.views.multiples import color_of
from attn_core.views.picture import Picture

LAYER = re.compile(r"(encoder|decoder)\.(\d+)\.(\w+)")
# How a station is called in the drawing, by the end of its name; any other by its operation.
NAMES = {
    "w_query": "q",
    "w_key": "k",
    "w_value": "v",
    "out_proj": "W_out",
    "widen": "wider",
    "narrow": "back",
    "rotated_query": "q, rotated",
    "rotated_key": "k, rotated",
    "gate": "gate",
    "up": "up",
    "down": "down",
    "words_out": "scores",
}
PARTS = {
    "attention": "self-attention",
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
}
WIDE, ROW = 3.6, 0.66  # inches of a side, and of a group
MOST = 8  # stations in a row, heads taking the place of two
FEW = 1.5  # by which they are wider where there are few
GAP = 0.3  # a column that is left clear between two heads


def model_still(steps: Steps, payload: dict) -> Picture:
    """Each station as a strip of ink, left what reads and right what writes."""
    done, labels = read_and_written(steps, payload)
    sides = {side: in_rows(groups_of(steps, side)) for side in ("source", "target")}
    deepest = max(map(len, sides.values()))
    picture = Picture(figsize=(2 * WIDE, ROW * deepest + 0.7), dpi=110, facecolor="#ffffff")
    fonts = font_families("".join(word for words in labels.values() for word in words))
    tall = picture.get_figheight()
    for column, (side, groups) in enumerate(sides.items()):
        words = " ".join(labels[side]).replace("$", r"\$")
        title = f"{'reads' if side == 'source' else 'writes'}: {words}"
        left = column / 2 + 0.01
        picture.text(left, 1 - 0.2 / tall, title, color=INK, family=fonts, fontsize=10, va="center")
        for n, (name, group) in enumerate(groups):
            top = 1 - (0.44 + ROW * n) / tall
            picture.text(left, top, name, color="#5d5b69", fontsize=7.5, va="center")
            draw_group(picture, done, group, (left, top - 0.13 / tall))
    picture.alt = described(steps, labels)
    picture.summary = picture.alt
    return picture


def groups_of(steps: Steps, side: str) -> list[tuple[str, list[Step]]]:
    """The steps of a side as the page draws them: a group for each sublayer, with its name."""
    groups: list[tuple[str, list[Step]]] = []
    opened = ""
    for step in steps.values():
        layer = LAYER.match(step.name)
        if step.operation == "words" or side_of_drawing(steps, step) != side:
            continue
        key = side
        if layer:
            _, number, part = layer.groups()
            key = opened if part == "residuals" else f"layer {int(number) + 1}, {PARTS[part]}"
        if not groups or key != opened:
            groups.append((key if layer else "", []))
        groups[-1][1].append(step)
        opened = key
    return groups


def in_rows(groups: list[tuple[str, list[Step]]]) -> list[tuple[str, list[Step]]]:
    """A group with more stations than a row holds is as many rows, about equally long."""
    rows = []
    for name, group in groups:
        parts = math.ceil(sum(map(units, group)) / MOST)
        most = math.ceil(len(group) / parts)
        for start in range(0, len(group), most):
            rows.append(("" if start else name, group[start : start + most]))
    return rows


def units(step: Step) -> int:
    return 2 if step.operation == "attention" else 1


def side_of_drawing(steps: Steps, step: Step) -> str:
    layer = LAYER.match(step.name)
    if layer:
        return "source" if layer[1] == "encoder" else "target"
    return side_of(steps, step.name) if step.operation != "last_row" else "target"


def draw_group(
    picture: Picture, done: Pass, group: Sequence[Step], corner: tuple[float, float]
) -> None:
    """The strips of a group in a row, below and to the right of a corner."""
    wide, tall = picture.get_figwidth(), picture.get_figheight()
    unit = (WIDE - 0.2) / max(sum(map(units, group)), MOST / FEW) / wide
    x, top = corner
    for step in group:
        across, height = units(step), 0.3 / tall
        axes = picture.add_axes((x, top - height - 0.1 / tall, unit * across * 0.94, height))
        cells = strip(done, step)
        end = max((abs(n) for row in cells for n in row if n == n), default=1.0) or 1.0
        shown = [[color_of(n if n == n else float("inf"), end) for n in row] for row in cells]
        axes.imshow(shown, aspect="auto", interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(color="#c4c4cc", linewidth=0.5)
        axes.set_title(name_of(step), fontsize=7.5, color=INK, pad=1.5)
        x += unit * across


def strip(done: Pass, step: Step) -> list[list[float]]:
    """The numbers of a station: its output, or the weights of all heads side by side."""
    if step.operation != "attention":
        return done.value(step.name)[0].tolist()
    weights = done.value(step.name, "weights")[0]
    between: Tensor = torch.full((weights.shape[1], 1), float("nan"), dtype=weights.dtype)
    parts = [part for head in weights for part in (head, between)]
    return torch.cat(parts[:-1], dim=1).tolist()


def name_of(step: Step) -> str:
    """
    >>> name_of(Step("encoder.0.attention.w_query", "linear"))
    'q'
    """
    last = step.name.rpartition(".")[2]
    return NAMES.get(last) or OPERATIONS[step.operation].label or last


def described(steps: Steps, labels: dict[str, list[str]]) -> str:
    """The picture in words."""
    weights = sum(weight.numel() for weight in steps.weights.values())
    return (
        f"A model of {weights:,} weights reads “{' '.join(labels['source'])}” and goes on "
        f"after “{' '.join(labels['target'])}”. The numbers of its {len(steps)} steps are drawn as "
        "strips of ink, with a row for each word."
    )
