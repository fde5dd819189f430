"""Pairs of a query's or a key's numbers, rotated by their position."""

from attn_core.arithmetic import angle_text, rotated_text
from attn_core.digits import written
from attn_core.rotary import PAIRINGS, Rotary
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    OFF,
    Backward,
    Inputs,
    Made,
    Operation,
    Setting,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import switched_off


def rotary(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each head's pairs rotated; row t stands at position t."""
    [x] = inputs
    rule = rule_of(settings)
    angle = rule.angles(rule.places(x, None)).expand(len(x), -1, -1)
    return {"angle": angle, "output": x if settings["off"] else rule.rotate(x)}


def rule_of(settings: Settings) -> Rotary:
    return Rotary(settings["head_dim"], settings["base"], settings["pairing"])


def rotary_line(cell: Cell) -> Line:
    """0.43 · cos(0.03) - 0.12 · sin(0.03) = 0.4262, and the angle."""
    row, column = cell.index
    rule = rule_of(cell.settings)
    if cell.stage == "angle":
        return Line(f"{angle_text(rule, row, column)} = {written(cell.value)}")
    x = cell.input(0, row, column)
    if cell.is_off:
        return switched_off(x, "positions are")
    head, d = divmod(column, rule.head_dim)
    pair, partner, is_first = rule.pair_of(d)
    other = cell.input(0, row, head * rule.head_dim + partner)
    angle = cell.at("angle", row, pair)
    how = rotated_text(x.value, other.value, angle.value, is_first)
    return Line(f"{how} = {written(cell.value)}", lambda: [x, other, angle])


def rotary_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The gradient rotated by the same angles, the other way round."""
    gradient, _ = inputs
    if settings["off"]:
        return {"grad_input": gradient}
    rule = rule_of(settings)
    return {"grad_input": rule.rotate(gradient, -rule.places(gradient, None))}


def rotary_backward_line(cell: Cell) -> Line:
    """0.43 · cos(0.03) + 0.12 · sin(0.03) = 0.4334."""
    row, column = cell.index
    gradient = cell.input(0, row, column)
    if cell.is_off:
        return switched_off(gradient, "positions are")
    rule = rule_of(cell.settings)
    head, d = divmod(column, rule.head_dim)
    pair, partner, is_first = rule.pair_of(d)
    other, angle = cell.input(0, row, head * rule.head_dim + partner), cell.input(1, row, pair)
    how = rotated_text(gradient.value, other.value, angle.value, not is_first)
    return Line(f"{how} = {written(cell.value)}", lambda: [gradient, other, angle])


ROTARY = Operation(
    "rotary",
    rotary,
    rotary_line,
    label="rotated",
    stages=("angle", "output"),
    settings={
        "head_dim": Setting("whole", least=2),
        "base": Setting("number", default=10000.0, least=1),
        "pairing": Setting("choice", default="halves", choices=PAIRINGS),
        "off": OFF,
    },
    switches={"positions_off": {"off": True}},
    backward=Backward(rotary_backward, rotary_backward_line, reads=("angle",)),
)
