"""What a step does: the list of operations, each formula once, in the dtype of its inputs.

OPERATIONS, at the end, is the one place that says what an operation takes. The page gets the same
list: `python -m tools.page_operations` writes it there.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_core.api import trace
from attn_core.checks import check_length
from attn_core.layers import sinusoids
from attn_core.steps.operation import (
    STATISTICS,
    Attended,
    Inputs,
    Made,
    Operation,
    Parameter,
    Rows,
    Setting,
    Settings,
    Weights,
)


def leaf(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """What is given, not made."""
    return {"output": inputs[0]}


def embed(inputs: Sequence[Int[Tensor, "B T"]], weights: Weights, settings: Settings) -> Made:
    """The table's row of each word, times a number."""
    return {"output": weights["weight"][inputs[0]] * settings["times"]}


def add_positions(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x plus the row of its place: of a table, or sines and cosines."""
    [x] = inputs
    if settings["off"]:
        return {"output": x}
    T, E = x.shape[1:]
    return {"output": x + position_rows(T, E, weights, settings).to(x)}


def position_rows(T: int, E: int, weights: Weights, settings: Settings) -> Float[Tensor, "T E"]:
    if settings["kind"] == "sinusoids":
        return sinusoids(T, E)
    check_length(T, len(weights["table"]))
    return weights["table"][:T]


def add_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x plus the same row of a table, everywhere."""
    return {"output": inputs[0] + weights["table"][settings["row"]]}


def linear(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each row times a matrix, plus a bias."""
    return {"output": affine(inputs[0], matrix(weights, settings), weights.get("bias"))}


def matrix(weights: Weights, settings: Settings) -> Float[Tensor, "F E"]:
    """A row for each number that is made, as torch keeps it."""
    weight = weights["weight"]
    return weight.mT if settings["transposed"] else weight


def affine(x: Tensor, weight: Float[Tensor, "F E"], bias: Float[Tensor, "F"] | None) -> Tensor:
    made = x @ weight.mT
    return made if bias is None else made + bias


def attention(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The six stages of each head, and their outputs side by side."""
    heads = [split(x, settings["num_heads"]) for x in inputs]
    q, k, v = heads
    record = trace(q, k, v, keep=settings["keep"], scale=settings["scale"])
    outputs = record.output
    if off := list(settings["heads_off"]):
        outputs = outputs.index_fill(1, torch.tensor(off, device=outputs.device), 0.0)
    return Attended(record, outputs.transpose(1, 2).flatten(2))


def split(x: Rows, num_heads: int) -> Float[Tensor, "B H T D"]:
    """Head h owns columns h·D to (h+1)·D − 1."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def add(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x + y; with x switched off y alone."""
    x, y = inputs
    if x.shape != y.shape:
        shapes = f"{tuple(x.shape)} and {tuple(y.shape)}"
        raise ValueError(f"the inputs of add must have one shape, got {shapes}")
    return {"output": y if settings["off"] else x + y}


def layer_norm(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each row to mean 0 and variance 1, then times a gain plus a bias."""
    [x] = inputs
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).square().mean(-1, keepdim=True)
    normed = (x - mean) / (variance + settings["eps"]).sqrt()
    output = x if settings["off"] else normed * weights["gain"] + weights["bias"]
    return {"mean": mean, "variance": variance, "normed": normed, "output": output}


def relu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """max(0, x)."""
    return {"output": inputs[0].clamp(min=0)}


def gelu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·Φ(x), where Φ is the share of a normal distribution below x."""
    return {"output": inputs[0] * torch.special.ndtr(inputs[0])}


def tanh(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The hyperbolic tangent."""
    return {"output": inputs[0].tanh()}


def softmax(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """exp(x − max)/Σ of each row."""
    [x] = inputs
    row_max = x.amax(-1)
    exps = (x - row_max[..., None]).exp()
    row_sum = exps.sum(-1)
    return {"row_max": row_max, "row_sum": row_sum, "output": exps / row_sum[..., None]}


def concat(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The inputs side by side."""
    return {"output": torch.cat(list(inputs), dim=-1)}


def gru(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """A state that is changed word by word: torch's gates r, z and n, in this order.

    inputs: what the words bring, [B, T, 3E], and the state before the first, [B, 1, E], or none,
    which counts as zeros.
    """
    brought, *start = inputs
    state = start[0][:, 0] if start else brought.new_zeros(len(brought), brought.shape[-1] // 3)
    made: dict[str, list[Tensor]] = {name: [] for name in GRU_STAGES}
    for word in brought.unbind(1):
        recurrent = affine(state, weights["weight_hh"], weights["bias_hh"])
        of_word, of_state = word.chunk(3, dim=-1), recurrent.chunk(3, dim=-1)
        reset = (of_word[0] + of_state[0]).sigmoid()
        update = (of_word[1] + of_state[1]).sigmoid()
        candidate = (of_word[2] + reset * of_state[2]).tanh()
        state = (1 - update) * candidate + update * state
        rows = recurrent, reset, update, candidate, state
        for name, row in zip(GRU_STAGES, rows, strict=True):
            made[name].append(row)
    return {name: torch.stack(rows, dim=1) for name, rows in made.items()}


def last_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The last row alone."""
    return {"output": inputs[0][:, -1:]}


def repeat(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The one row of the first input, once for each row of the second."""
    row, wanted = inputs
    return {"output": row.expand(-1, wanted.shape[1], -1)}


ATTENTION_STAGES = ("scores", "scaled", "masked", "weights", "dropped", "output", "merged")
GRU_STAGES = ("recurrent", "reset", "update", "candidate", "state")

NEEDED, OPTIONAL = Parameter(), Parameter(is_optional=True)
OFF = Setting("flag", default=False, is_switch=True)

OPERATIONS: dict[str, Operation] = {
    "words": Operation(leaf, takes=(0, 0), settings={"side": Setting("text")}),
    "given": Operation(leaf, takes=(0, 0), is_on_page=False),
    "embed": Operation(
        embed, parameters={"weight": NEEDED}, settings={"times": Setting("number", default=1.0)}
    ),
    "add_positions": Operation(
        add_positions,
        parameters={"table": Parameter(unless=("kind", "sinusoids"))},
        settings={
            "kind": Setting("choice", default="table", choices=("table", "sinusoids")),
            "off": OFF,
        },
        switches={"positions_off": {"off": True}},
    ),
    "add_row": Operation(
        add_row, parameters={"table": NEEDED}, settings={"row": Setting("whole", least=0)}
    ),
    "linear": Operation(
        linear,
        parameters={"weight": NEEDED, "bias": OPTIONAL},
        settings={"transposed": Setting("flag", default=False)},
    ),
    "attention": Operation(
        attention,
        takes=(3, 3),
        stages=ATTENTION_STAGES,
        statistics=STATISTICS,
        settings={
            "num_heads": Setting("whole", least=1),
            "scale": Setting("number"),
            "keep": Setting("mask", default=None),
            "heads_off": Setting("heads", default=(), is_switch=True),
        },
        switches={"heads_off": None, "mask_off": {"keep": None}, "scale_off": {"scale": 1.0}},
    ),
    "add": Operation(
        add, takes=(2, 2), settings={"off": OFF}, switches={"residuals_off": {"off": True}}
    ),
    "layer_norm": Operation(
        layer_norm,
        stages=("mean", "variance", "normed", "output"),
        parameters={"gain": NEEDED, "bias": NEEDED},
        settings={"eps": Setting("number", least=0), "off": OFF},
        switches={"norms_off": {"off": True}},
    ),
    "relu": Operation(relu),
    "gelu": Operation(gelu),
    "tanh": Operation(tanh),
    "softmax": Operation(softmax, statistics=STATISTICS),
    "concat": Operation(concat, takes=(1, None)),
    "gru": Operation(
        gru,
        takes=(1, 2),
        stages=GRU_STAGES,
        parameters={"weight_hh": NEEDED, "bias_hh": NEEDED},
    ),
    "last_row": Operation(last_row),
    "repeat": Operation(repeat, takes=(2, 2)),
}
