"""Attention: its record, and the heads side by side."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.api import trace
from attn_core.arithmetic import Workings, kept_terms
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    STATISTICS,
    Attended,
    Inputs,
    Made,
    Operation,
    Rows,
    Setting,
    Settings,
    Weights,
)

QUERIES, KEYS, VALUES = range(3)  # the inputs


def attention(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The six stages of each head, and their outputs side by side."""
    heads = settings["num_heads"]
    kv_heads = settings["num_kv_heads"] or heads
    q, k, v = (split(x, n) for x, n in zip(inputs, (heads, kv_heads, kv_heads), strict=True))
    record = trace(q, k, v, keep=settings["keep"], scale=settings["scale"])
    outputs = record.output
    if off := list(settings["heads_off"]):
        outputs = outputs.index_fill(1, torch.tensor(off, device=outputs.device), 0.0)
    return Attended(record, outputs.transpose(1, 2).flatten(2))


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
    shown = [cell.at(lines.before_softmax, head, row, j) for j in kept_terms(lines.width)]
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
)
