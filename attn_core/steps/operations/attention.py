"""Attention: its record, and the heads side by side."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages_backward as back
from attn_core.api import trace
from attn_core.arithmetic import Workings, above_average_text, kept_terms, seen_keys
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    STATISTICS,
    Attended,
    Backward,
    Inputs,
    Made,
    Operation,
    Rows,
    Setting,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import nothing, passed_on, product_text, products

QUERIES, KEYS, VALUES = range(3)  # the inputs
# Those of a backward step: the gradient, these three, and two stages of the forward pass.
GRADIENT, WEIGHTS, OUTPUT = 0, 4, 5
INPUT_GRADIENTS = ("grad_q", "grad_k", "grad_v")


def attention(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The six stages of each head, and their outputs side by side."""
    heads = settings["num_heads"]
    kv_heads = settings["num_kv_heads"] or heads
    q, k, v = (split(x, n) for x, n in zip(inputs, (heads, kv_heads, kv_heads), strict=True))
    record = trace(q, k, v, keep=settings["keep"], scale=settings["scale"])
    outputs = record.output
    if off := list(settings["heads_off"]):
        outputs = outputs.index_fill(1, torch.tensor(off, device=outputs.device), 0.0)
    return Attended(record, side_by_side(outputs))


def side_by_side(heads: Float[Tensor, "B H T D"]) -> Rows:
    return heads.transpose(1, 2).flatten(2)


def split(x: Rows, num_heads: int) -> Float[Tensor, "B H T D"]:
    """Head h owns columns h·D to (h+1)·D − 1."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def attention_line(cell: Cell) -> Line:
    """The stages of a head as `attn_core.workings` writes them, and `merged`."""
    if cell.stage == "merged":
        return merged(cell)
    head, row = cell.index[:2]
    lines = Workings(cell.run.record(cell.step.name), cell.batch, head, row)
    if cell.stage in STATISTICS:
        term = lines.row_max_term() if cell.stage == "row_max" else lines.row_sum_term()
        return Line(term.how, lambda: statistic_parts(cell, lines))
    return Line(lines.term(cell.stage, cell.index[2]).how, lambda: parts(cell, lines))


def merged(cell: Cell) -> Line:
    """head 2, column 5 = 0.3124."""
    row, column = cell.index
    width = cell.run.record(cell.step.name).columns("output")
    head, d = divmod(column, width)
    if head in cell.settings["heads_off"]:
        return Line(f"0, because head {head} is switched off")
    how = f"head {head}, column {d} = {written(cell.value)}"
    return Line(how, lambda: [cell.at("output", head, row, d)])


def statistic_parts(cell: Cell, lines: Workings) -> Iterable[Cell]:
    head, row = cell.index
    if lines.is_dead:
        return ()
    seen = seen_keys(lines.masked)
    kept = [seen[n] for n in kept_terms(len(seen))]
    shown = [cell.at(lines.before_softmax, head, row, j) for j in kept]
    return shown if cell.stage == "row_max" else [*shown, cell.at("row_max", head, row)]


def parts(cell: Cell, lines: Workings) -> Iterable[Cell]:
    """The numbers in a line of one of the six stages."""
    head, row, column = cell.index
    if cell.stage == "scores":
        return [
            *projected(cell, QUERIES, head, row, len(lines.query)),
            *projected(cell, KEYS, lines.key_head, column, len(lines.query)),
        ]
    if cell.stage == "scaled":
        return [cell.at("scores", *cell.index)]
    if cell.stage == "masked":
        return [cell.at("scaled", *cell.index)] if lines.keeps[column] else ()
    if cell.stage == "weights":
        statistics = cell.at("row_max", head, row), cell.at("row_sum", head, row)
        return [cell.at(lines.before_softmax, *cell.index), *statistics]
    if cell.stage == "dropped":
        return [cell.at("weights", *cell.index)]
    shown = kept_terms(lines.width)
    width = cell.run.record(cell.step.name).columns("output")
    return [
        *(cell.at(lines.mixing, head, row, j) for j in shown),
        *(cell.input(VALUES, j, lines.key_head * width + column) for j in shown),
    ]


def projected(cell: Cell, n: int, head: int, position: int, width: int) -> list[Cell]:
    """The shown numbers of a head's query or key."""
    return [cell.input(n, position, head * width + d) for d in kept_terms(width)]


def attention_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Back through the six stages of each head, by the formulas of stages_backward.

    Heads that share a key and its value add up what they bring to it. Nothing is dropped here, so
    the gradients of weights and of dropped weights are the same.
    """
    gradient, *rows, shares, output = inputs
    heads = settings["num_heads"]
    kv_heads = settings["num_kv_heads"] or heads
    q, k, v = (split(x, n) for x, n in zip(rows, (heads, kv_heads, kv_heads), strict=True))
    keys, values = (x.repeat_interleave(heads // kv_heads, dim=1) for x in (k, v))
    grad_output = split(gradient, heads)
    if off := list(settings["heads_off"]):
        grad_output = grad_output.index_fill(1, torch.tensor(off, device=gradient.device), 0.0)
    keep = settings["keep"]
    grad_weights = back.grad_dropped(grad_output, values)
    row_dot = back.row_dot(grad_output, output)
    grad_masked = back.grad_masked(shares, grad_weights, row_dot)
    dense = None if keep is None else keep.dense(q.shape[-2], k.shape[-2]).to(q.device)
    grad_scaled = back.grad_scaled(grad_masked, dense)
    grad_scores = back.grad_scores(grad_scaled, settings["scale"])
    return {
        "grad_output": grad_output,
        "row_dot": row_dot,
        "grad_dropped": grad_weights,
        "grad_weights": grad_weights,
        "grad_masked": grad_masked,
        "grad_scaled": grad_scaled,
        "grad_scores": grad_scores,
        "grad_q": side_by_side(back.grad_q(grad_scores, keys)),
        "grad_k": side_by_side(shared(back.grad_k(grad_scores, q), kv_heads)),
        "grad_v": side_by_side(shared(back.grad_v(shares, grad_output), kv_heads)),
    }


def shared(of_heads: Float[Tensor, "B H S D"], kv_heads: int) -> Float[Tensor, "B K S D"]:
    """What the heads of each group bring to the key or value that they share."""
    return of_heads.unflatten(1, (kv_heads, -1)).sum(2)


def attention_backward_line(cell: Cell) -> Line:
    """Each stage has its line: 0.25 · (0 - 6) = -1.5."""
    if cell.stage in INPUT_GRADIENTS:
        return of_input(cell)
    head, row, *rest = cell.index
    if cell.stage == "grad_output":
        if head in cell.settings["heads_off"]:
            return nothing(f"head {head} is switched off")
        width = cell.array("grad_output").shape[-1]
        return passed_on(cell.input(GRADIENT, row, head * width + rest[0]))
    if cell.stage == "row_dot":
        return products(
            cell,
            cell.array("grad_output")[head, row],
            cell.input_array(OUTPUT)[head, row],
            lambda d: [cell.at("grad_output", head, row, d), cell.input(OUTPUT, head, row, d)],
        )
    if cell.stage in ("grad_dropped", "grad_weights"):
        return help_of_value(cell)
    if cell.stage == "grad_scores":
        grad, scale = cell.at("grad_scaled", *cell.index), cell.settings["scale"]
        return Line(f"{product_text(grad.value, scale)} = {written(cell.value)}", lambda: [grad])
    keep = cell.settings["keep"]
    if cell.stage == "grad_scaled" and keep is not None:
        kept = keep.dense(*cell.input_array(WEIGHTS).shape[-2:]).expand(
            *cell.run.value(cell.step.name, "grad_scaled").shape
        )
        if not kept[(cell.batch, *cell.index)]:
            return nothing("the mask does not keep it")
        return passed_on(cell.at("grad_masked", *cell.index))
    share, grad = cell.input(WEIGHTS, *cell.index), cell.at("grad_weights", *cell.index)
    row_dot = cell.at("row_dot", head, row)
    how = f"{above_average_text(share.value, grad.value, row_dot.value)} = {written(cell.value)}"
    return Line(how, lambda: [share, grad, row_dot])


def help_of_value(cell: Cell) -> Line:
    """How much the value of a key helps the query: the gradient of its output times the value."""
    head, row, key = cell.index
    gradient = cell.array("grad_output")[head, row]
    first = head // group_of(cell) * len(gradient)
    return products(
        cell,
        gradient,
        cell.input_array(1 + VALUES)[key, first : first + len(gradient)],
        lambda d: [cell.at("grad_output", head, row, d), cell.input(1 + VALUES, key, first + d)],
    )


def group_of(cell: Cell) -> int:
    """How many heads share a key."""
    heads = cell.settings["num_heads"]
    return heads // (cell.settings["num_kv_heads"] or heads)


def of_input(cell: Cell) -> Line:
    """A number of grad_q, grad_k or grad_v: -1.5·0 + 1.5·1 = 1.5."""
    place, column = cell.index
    n, group = INPUT_GRADIENTS.index(cell.stage), group_of(cell)
    heads = cell.settings["num_heads"] // (1 if n == QUERIES else group)
    width = cell.array(cell.stage).shape[-1] // heads
    head, d = divmod(column, width)
    if n == QUERIES:
        first = head // group * width
        return products(
            cell,
            cell.array("grad_scores")[head, place],
            cell.input_array(1 + KEYS)[:, first + d],
            lambda key: [
                cell.at("grad_scores", head, place, key),
                cell.input(1 + KEYS, key, first + d),
            ],
        )
    # Those who read this key, one head after the other: rows as long as `left` and `right`.
    heads_of_key = range(head * group, (head + 1) * group)
    readers = [(h, row) for h in heads_of_key for row in range(cell.array("grad_output").shape[1])]
    if n == KEYS:
        queries = cell.input_array(1 + QUERIES).unflatten(-1, (-1, width))
        left = cell.array("grad_scores")[heads_of_key, :, place].flatten()
        right = queries[:, heads_of_key, d].T.flatten()
    else:
        left = cell.input_array(WEIGHTS)[heads_of_key, :, place].flatten()
        right = cell.array("grad_output")[heads_of_key, :, d].flatten()

    def parts(i: int) -> list[Cell]:
        h, row = readers[i]
        if n == KEYS:
            query = cell.input(1 + QUERIES, row, h * width + d)
            return [cell.at("grad_scores", h, row, place), query]
        return [cell.input(WEIGHTS, h, row, place), cell.at("grad_output", h, row, d)]

    return products(cell, left, right, parts)


ATTENTION = Operation(
    "attention",
    attention,
    attention_line,
    takes=(3, 3),
    stages=("scores", "scaled", "masked", "weights", "dropped", "output", "merged"),
    statistics=STATISTICS,
    settings={
        "num_heads": Setting("whole", least=1),
        "num_kv_heads": Setting("whole", default=None, least=1),
        "scale": Setting("number"),
        "keep": Setting("mask", default=None),
        "heads_off": Setting("heads", default=(), is_switch=True),
    },
    switches={"heads_off": None, "mask_off": {"keep": None}, "scale_off": {"scale": 1.0}},
    label="heads",
    backward=Backward(
        attention_backward,
        attention_backward_line,
        inputs=INPUT_GRADIENTS,
        stages=(
            "grad_output",
            "grad_dropped",
            "grad_weights",
            "grad_masked",
            "grad_scaled",
            "grad_scores",
        ),
        statistics=("row_dot",),
        reads=("inputs", "weights", "output"),
    ),
)
