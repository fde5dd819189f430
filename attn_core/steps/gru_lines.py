"""The lines of a GRU: its gates, and the state that they mix."""

from attn_core.arithmetic import factor, kept_terms
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.lines import affine_text

GATES = {"reset": 0, "update": 1, "candidate": 2}  # which third of what the word brings


def gru(cell: Cell) -> Line:
    """Each stage has its line: (1 - 0.41)·0.7 + 0.41·(-0.2) = 0.331."""
    row, column = cell.index
    width = cell.run.value(cell.step.name).shape[-1]
    if cell.stage == "recurrent":
        return recurrent(cell, width)
    if cell.stage == "state":
        return state(cell)
    third = GATES[cell.stage] * width + column
    brought, recalled = cell.input(0, row, third), cell.at("recurrent", row, third)
    value = written(cell.value)
    if cell.stage != "candidate":
        how = f"σ({written(brought.value)} + {factor(recalled.value)}) = {value}"
        return Line(how, lambda: [brought, recalled])
    reset = cell.at("reset", row, column)
    product = f"{factor(reset.value, recalled.value)}·{factor(recalled.value, reset.value)}"
    how = f"tanh({written(brought.value)} + {product}) = {value}"
    return Line(how, lambda: [brought, reset, recalled])


def recurrent(cell: Cell, width: int) -> Line:
    """What the state before brings to the gates."""
    column = cell.index[1]
    before = [previous(cell, i) for i in range(width)]
    x = [0.0 if number is None else number.value for number in before]
    weight, bias = (cell.weights[role][column] for role in ("weight_hh", "bias_hh"))
    how = affine_text(x, weight, bias)
    shown = [part for i in kept_terms(width) if (part := before[i]) is not None]
    return Line(f"{how} = {written(cell.value)}", lambda: shown)


def state(cell: Cell) -> Line:
    row, column = cell.index
    update, candidate = cell.at("update", row, column), cell.at("candidate", row, column)
    before = previous(cell, column)
    old = 0.0 if before is None else before.value
    how = (
        f"(1 - {written(update.value)})·{factor(candidate.value)} + "
        f"{written(update.value)}·{factor(old)} = {written(cell.value)}"
    )
    return Line(how, lambda: [part for part in (update, candidate, before) if part is not None])


def previous(cell: Cell, column: int) -> Cell | None:
    """A number of the state before; None where it starts from nothing, which counts as 0."""
    row = cell.index[0]
    if row > 0:
        return cell.at("state", row - 1, column)
    return cell.input(1, 0, column) if len(cell.step.inputs) > 1 else None
