"""A GRU: its gates, and the state that they mix."""

from torch import Tensor, stack

from attn_core.arithmetic import factor, kept_terms
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Inputs, Made, Operation, Parameter, Settings, Weights
from attn_core.steps.operations.sums import affine, affine_text

STAGES = ("recurrent", "reset", "update", "candidate", "state")
GATES = {"reset": 0, "update": 1, "candidate": 2}  # which third of what the word brings


def gru(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """A state that is changed word by word: torch's gates r, z and n, in this order.

    inputs: what the words bring, [B, T, 3E], and the state before the first, [B, 1, E], or none,
    which counts as zeros.
    """
    brought, *start = inputs
    state = start[0][:, 0] if start else brought.new_zeros(len(brought), brought.shape[-1] // 3)
    made: dict[str, list[Tensor]] = {name: [] for name in STAGES}
    for word in brought.unbind(1):
        recurrent = affine(state, weights["weight_hh"], weights["bias_hh"])
        of_word, of_state = word.chunk(3, dim=-1), recurrent.chunk(3, dim=-1)
        reset = (of_word[0] + of_state[0]).sigmoid()
        update = (of_word[1] + of_state[1]).sigmoid()
        candidate = (of_word[2] + reset * of_state[2]).tanh()
        state = (1 - update) * candidate + update * state
        rows = recurrent, reset, update, candidate, state
        for name, row in zip(STAGES, rows, strict=True):
            made[name].append(row)
    return {name: stack(rows, dim=1) for name, rows in made.items()}


def gru_line(cell: Cell) -> Line:
    """Each stage has its line: (1 - 0.41)·0.7 + 0.41·(-0.2) = 0.331."""
    row, column = cell.index
    if cell.stage == "recurrent":
        return recurrent(cell)
    if cell.stage == "state":
        return state(cell)
    third = GATES[cell.stage] * cell.width + column
    brought, recalled = cell.input(0, row, third), cell.at("recurrent", row, third)
    value = written(cell.value)
    if cell.stage != "candidate":
        how = f"σ({written(brought.value)} + {factor(recalled.value)}) = {value}"
        return Line(how, lambda: [brought, recalled])
    reset = cell.at("reset", row, column)
    product = f"{factor(reset.value, recalled.value)}·{factor(recalled.value, reset.value)}"
    how = f"tanh({written(brought.value)} + {product}) = {value}"
    return Line(how, lambda: [brought, reset, recalled])


def recurrent(cell: Cell) -> Line:
    """What the state before brings to the gates."""
    column = cell.index[1]
    before = [previous(cell, i) for i in range(cell.width)]
    x = [0.0 if number is None else number.value for number in before]
    weight, bias = (cell.weights[role][column] for role in ("weight_hh", "bias_hh"))
    how = affine_text(x, weight, bias)
    shown = [part for i in kept_terms(cell.width) if (part := before[i]) is not None]
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


GRU = Operation(
    "gru",
    gru,
    gru_line,
    takes=(1, 2),
    stages=STAGES,
    parameters={"weight_hh": Parameter("E E/3"), "bias_hh": Parameter("E")},
    label="states",
)
