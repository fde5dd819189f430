"""A GRU: its gates, and the state that they mix."""

from collections.abc import Iterator

import torch
from torch import Tensor, stack

from attn_core.arithmetic import difference, factor, kept_terms, numbers, sum_of_products
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    Backward,
    Inputs,
    Made,
    Operation,
    Parameter,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import added, passed_on, product_text, products
from attn_core.steps.operations.sums import affine, affine_text, sum_text

STAGES = ("recurrent", "reset", "update", "candidate", "state")
BACK = ("grad_state", "grad_recurrent", "grad_before", "grad_input")
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


def gru_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Back through the words, the last first: each state hands on to the one before it.

    Werbos, "Backpropagation through time: what it does and how to do it" (1990).
    """
    gradient, _, *start, recurrent, reset, update, candidate, state = inputs
    before = torch.cat([start[0] if start else torch.zeros_like(state[:, :1]), state[:, :-1]], 1)
    recalled = recurrent.chunk(3, dim=-1)[2]
    handed_on = torch.zeros_like(state[:, 0])
    made: dict[str, list[Tensor]] = {name: [] for name in BACK}
    for t in reversed(range(state.shape[1])):
        grad_state = gradient[:, t] + handed_on
        grad_candidate = grad_state * (1 - update[:, t]) * (1 - candidate[:, t].square())
        grad_update = (
            grad_state * (before[:, t] - candidate[:, t]) * update[:, t] * (1 - update[:, t])
        )
        grad_reset = grad_candidate * recalled[:, t] * reset[:, t] * (1 - reset[:, t])
        grad_brought = torch.cat([grad_reset, grad_update, grad_candidate], -1)
        grad_recurrent = torch.cat([grad_reset, grad_update, grad_candidate * reset[:, t]], -1)
        handed_on = grad_state * update[:, t] + grad_recurrent @ weights["weight_hh"]
        rows = grad_state, grad_recurrent, handed_on, grad_brought
        for name, row in zip(BACK, rows, strict=True):
            made[name].insert(0, row)
    stages = {name: stack(rows, dim=1) for name, rows in made.items()}
    return stages | {
        "grad_start": stages["grad_before"][:, :1],
        "grad_weight_hh": stages["grad_recurrent"].mT @ before,
        "grad_bias_hh": stages["grad_recurrent"].sum(1),
    }


def gru_backward_line(cell: Cell) -> Line:
    """Each stage has its line: 0.31 · (1 - 0.41) · (1 - (0.7)²) = 0.0933."""
    if cell.stage == "grad_start":
        return passed_on(cell.at("grad_before", *cell.index))
    if cell.stage in ("grad_weight_hh", "grad_bias_hh"):
        return of_parameter(cell)
    row, column = cell.index
    if cell.stage == "grad_state":
        gradient = cell.input(0, row, column)
        if row == len(cell.array("grad_state")) - 1:
            return passed_on(gradient)
        later = cell.at("grad_before", row + 1, column)
        how = sum_text(gradient.value, later.value, cell.value)
        return Line(how, lambda: [gradient, later])
    if cell.stage == "grad_before":
        return of_state_before(cell)
    gate, i = divmod(column, cell.array("grad_state").shape[-1])
    if cell.stage == "grad_recurrent":
        brought = cell.at("grad_input", row, column)
        if gate != GATES["candidate"]:
            return passed_on(brought)
        reset = of_forward(cell, "reset", row, i)
        how = f"{product_text(brought.value, reset.value)} = {written(cell.value)}"
        return Line(how, lambda: [brought, reset])
    return of_gate(cell, gate, i)


def of_gate(cell: Cell, gate: int, i: int) -> Line:
    """A number of what the word brought to a gate: through its σ or tanh."""
    row = cell.index[0]
    state, candidate = cell.at("grad_state", row, i), of_forward(cell, "candidate", row, i)
    update = of_forward(cell, "update", row, i)
    if gate == GATES["candidate"]:
        how = (
            f"{factor(state.value)} · (1 - {factor(update.value)}) · "
            f"(1 - ({written(candidate.value)})²)"
        )
        return Line(f"{how} = {written(cell.value)}", lambda: [state, update, candidate])
    if gate == GATES["update"]:
        before = state_before(cell, row, i)
        old = 0.0 if before is None else before.value
        share, above = factor(update.value), difference(old, candidate.value)
        how = f"{factor(state.value)} · ({above}) · {share} · (1 - {share})"
        parts = [part for part in (state, before, candidate, update) if part is not None]
        return Line(f"{how} = {written(cell.value)}", lambda: parts)
    width = cell.array("grad_state").shape[-1]
    of_candidate = cell.at("grad_input", row, GATES["candidate"] * width + i)
    recalled = of_forward(cell, "recurrent", row, GATES["candidate"] * width + i)
    reset = of_forward(cell, "reset", row, i)
    share = factor(reset.value)
    how = (
        f"{product_text(of_candidate.value, recalled.value)} · {share} · (1 - {share}) = "
        f"{written(cell.value)}"
    )
    return Line(how, lambda: [of_candidate, recalled, reset])


def of_state_before(cell: Cell) -> Line:
    """What a state hands on to the one before: by the update, and by all gates."""
    row, column = cell.index
    state, update = cell.at("grad_state", row, column), of_forward(cell, "update", row, column)
    recurrent = numbers(cell.array("grad_recurrent")[row])
    weight = numbers(cell.weights["weight_hh"][:, column])
    how = (
        f"{factor(state.value)}·{factor(update.value)} + "
        f"{sum_of_products(list(zip(recurrent, weight, strict=True)))} = {written(cell.value)}"
    )
    gates = kept_terms(len(recurrent))
    return Line(how, lambda: [state, update, *(cell.at("grad_recurrent", row, g) for g in gates)])


def of_parameter(cell: Cell) -> Line:
    """A product for each word; of a bias the gradients alone."""
    made = cell.index[0]
    gradients = cell.array("grad_recurrent")[:, made]
    if cell.stage == "grad_bias_hh":
        return added(cell, gradients, lambda row: cell.at("grad_recurrent", row, made))
    states = [state_before(cell, row, cell.index[1]) for row in range(len(gradients))]
    before = torch.stack([gradients.new_tensor(0.0 if s is None else s.value) for s in states])

    def parts(row: int) -> Iterator[Cell]:
        yield cell.at("grad_recurrent", row, made)
        if (state := states[row]) is not None:
            yield state

    return products(cell, gradients, before, parts)


def of_forward(cell: Cell, stage: str, *index: int) -> Cell:
    """A number of a stage of the forward step, which are the last inputs."""
    return cell.input(len(cell.step.inputs) - len(STAGES) + STAGES.index(stage), *index)


def state_before(cell: Cell, row: int, column: int) -> Cell | None:
    """The state before a word; None where it starts from nothing, which counts as 0."""
    if row > 0:
        return of_forward(cell, "state", row - 1, column)
    has_start = len(cell.step.inputs) > 2 + len(STAGES)
    return cell.input(2, 0, column) if has_start else None


GRU = Operation(
    "gru",
    gru,
    gru_line,
    takes=(1, 2),
    stages=STAGES,
    parameters={"weight_hh": Parameter("E E/3"), "bias_hh": Parameter("E")},
    label="states",
    backward=Backward(
        gru_backward,
        gru_backward_line,
        inputs=("grad_input", "grad_start"),
        stages=("grad_state", "grad_recurrent", "grad_before"),
        reads=("inputs", *STAGES),
    ),
)
