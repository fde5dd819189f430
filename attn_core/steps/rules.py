"""What our modules and torch's compute, step by step: one rule for each kind."""

import math

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from attn_core.checks import brief
from attn_core.layers import (
    FeedForward,
    LayerNorm,
    PositionalEncoding,
    Residual,
    WordEmbedding,
    sinusoids,
)
from attn_core.modules import Head, MultiHeadAttention, SelfAttentionV1, StackedHeads
from attn_core.precision import float_type
from attn_core.record import AttentionTrace
from attn_core.steps.explaining import ModuleCall, explain

ACTIVATIONS = {
    torch.relu: "relu",
    nn.functional.relu: "relu",
    nn.functional.gelu: "gelu",
    torch.tanh: "tanh",
}


@explain(nn.Linear)
def of_linear(module: nn.Linear, call: ModuleCall, value: object, child: str | None) -> None:
    parameters = {"weight": "weight", "bias": "bias"}
    call.add("", "linear", [call.argument()], parameters, made=value)


@explain(nn.Embedding)
def of_embedding(module: nn.Embedding, call: ModuleCall, value: object, child: str | None) -> None:
    words = (call.parent or call).find(call.input, call.name)
    if words is not None:  # else the calling module has made numbers itself, and knows of what
        times = math.sqrt(module.embedding_dim) if isinstance(module, WordEmbedding) else 1.0
        call.add("", "embed", [words], {"weight": "weight"}, {"times": times}, made=value)


@explain(PositionalEncoding)
def of_positions(
    module: PositionalEncoding, call: ModuleCall, value: object, child: str | None
) -> None:
    if call.arguments.get("positions") is not None:
        raise ValueError(
            "positions must be None where recording sees them added, got "
            f"{brief(call.arguments['positions'])}: a step adds the rows of 0, 1, 2, …, "
            "so record a sentence without padding"
        )
    table, settings = {"table": "positions"}, {}
    if torch.equal(module.positions, sinusoids(*module.positions.shape).to(module.positions)):
        table, settings = {}, {"kind": "sinusoids"}
    call.add("", "add_positions", [call.argument()], table, settings, made=value)


@explain(LayerNorm)
def of_norm(module: LayerNorm, call: ModuleCall, value: object, child: str | None) -> None:
    parameters = {"gain": "gain", "bias": "bias"}
    call.add("", "layer_norm", [call.argument()], parameters, {"eps": module.eps}, made=value)


@explain(nn.RMSNorm)
def of_rms_norm(module: nn.RMSNorm, call: ModuleCall, value: object, child: str | None) -> None:
    if not module.elementwise_affine or len(module.normalized_shape) != 1:
        return
    eps = module.eps
    if eps is None:  # that of the type in which torch computes: float32 for half precision
        eps = torch.finfo(float_type(call.input)).eps
    call.add("", "rms_norm", [call.argument()], {"gain": "weight"}, {"eps": eps}, made=value)


@explain(FeedForward)
def of_feed_forward(
    module: FeedForward, call: ModuleCall, value: object, child: str | None
) -> None:
    if child == "drop" and module.activation in ACTIVATIONS:
        call.add("activation", ACTIVATIONS[module.activation], [call.child("widen")], made=value)


@explain(Residual)
def of_residual(module: Residual, call: ModuleCall, value: object, child: str | None) -> None:
    if child in ("norm", None):
        call.add("sum", "add", [call.argument(), call.child("drop")], made=value)


@explain(MultiHeadAttention)
def of_heads(
    module: MultiHeadAttention, call: ModuleCall, value: object, child: str | None
) -> None:
    if child == "out_proj":
        with call.unseen():
            record = module.trace(**call.arguments)
        projected = [call.child(name) for name in ("w_query", "w_key", "w_value")]
        settings = attention_settings(record, module.num_heads)
        call.add("", "attention", projected, settings=settings, made=value, record=record)


@explain(Head)
def of_head(module: Head, call: ModuleCall, value: object, child: str | None) -> None:
    x, is_bare = call.argument(), isinstance(module, SelfAttentionV1)
    projected = []
    for name in ("w_query", "w_key", "w_value"):
        parameters = {"weight": f"{name}.weight", "bias": f"{name}.bias"}
        if is_bare:
            parameters = {"weight": name}
        settings = {"transposed": True} if is_bare else {}
        projected.append(call.add(name, "linear", [x], parameters, settings))
    record = module.trace(**call.arguments)
    settings = attention_settings(record, num_heads=1)
    call.add("", "attention", projected, settings=settings, made=value, record=record)


@explain(StackedHeads)
def of_stacked(module: StackedHeads, call: ModuleCall, value: object, child: str | None) -> None:
    if child is None:
        heads = [call.child(f"heads.{n}") for n in range(len(module.heads))]
        call.add("merged", "concat", heads, made=value)


def attention_settings(record: AttentionTrace, num_heads: int) -> dict:
    return {"num_heads": num_heads, "scale": record.scale, "keep": record.keep}


@explain(nn.GRU)
def of_gru(module: nn.GRU, call: ModuleCall, value: object, child: str | None) -> None:
    if module.num_layers > 1 or module.bidirectional or not (module.batch_first and module.bias):
        return
    words = call.argument()
    start = [call.argument("hx")] if call.arguments.get("hx") is not None else []
    parameters = {"weight": "weight_ih_l0", "bias": "bias_ih_l0"}
    brought = call.add("input" if call.path else "gru.input", "linear", [words], parameters)
    parameters = {"weight_hh": "weight_hh_l0", "bias_hh": "bias_hh_l0"}
    states = value[0] if isinstance(value, tuple) else None
    if isinstance(states, PackedSequence):
        check_one_length(states)
        states, _ = pad_packed_sequence(states, batch_first=True)
    call.know(value, call.add("", "gru", [brought, *start], parameters, made=states))


def check_one_length(packed: PackedSequence) -> None:
    sizes: Tensor = packed.batch_sizes
    if sizes.min() != sizes.max():
        raise ValueError(
            "sentences must be of one length where recording sees a GRU read them, "
            f"got {int(sizes[0])} sentences, of which {int(sizes[-1])} have the longest"
        )
