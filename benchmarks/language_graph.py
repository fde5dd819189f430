"""The language model of the book as a graph for ONNX Runtime: what a page with that library loads.

It computes with the library's own operations for such a model: grouped attention with a cache,
norms joined with the sums before them, and products of one of three kinds. Their words differ only
as far as these kinds round.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attn_core.pretrained.gguf import BLOCK, GGUF, halves
from attn_core.pretrained.smollm2_135m import (
    BASE,
    EPS,
    HEADS,
    KV_HEADS,
    LAYERS,
    OF_LAYER,
    VOCABULARY,
    WIDTH,
)
from attn_core.rotary import Rotary

HEAD_DIM = WIDTH // HEADS
LONGEST = 128  # tokens, as in the page
OPSET, IR, CONTRIBUTED = 21, 10, "com.microsoft"
# How a matrix is stored. "float32": the published weights, as they are. "four bits": in blocks of
# 32 as published, but the library wants a whole number as the zero of a block where the file has a
# minimum in float16, so they are rounded once more. "eight bits": one scale for each output, and
# the rows that come in are rounded to eight bits, too.
KINDS = ("float32", "four bits", "eight bits")


def four_bits(weights: Tensor) -> list[Tensor]:
    """A matrix [outputs, inputs] as MatMulNBits takes it: bytes, scales and zeros of its blocks.

    >>> packed, scales, zeros = four_bits(torch.arange(64.0).view(1, 64))
    >>> packed.shape, scales.round(decimals=4), zeros
    (torch.Size([1, 2, 16]), tensor([2.0667, 4.2000]), tensor([0], dtype=torch.uint8))

    Two numbers share a byte, the first in its low bits, and so do the zeros of two blocks. A block
    runs from its least weight to its largest, or from 0.
    """
    blocks = weights.unflatten(1, (-1, BLOCK))
    least, most = blocks.amin(-1).clamp(max=0), blocks.amax(-1).clamp(min=0)
    scales = ((most - least) / 15).clamp(min=1e-8)
    zeros = (-least / scales).round()
    numbers = (blocks / scales[..., None] + zeros[..., None]).round().clamp(0, 15)
    return [pairs(numbers), scales.flatten(), pairs(zeros).flatten()]


def pairs(numbers: Tensor) -> Tensor:
    """Numbers of four bits, two a byte.

    >>> pairs(torch.tensor([1.0, 2.0, 15.0, 0.0]))
    tensor([33, 15], dtype=torch.uint8)
    """
    low, high = numbers.to(torch.uint8).unflatten(-1, (-1, 2)).unbind(-1)
    return low | high << 4


def eight_bits(weights: Tensor) -> list[Tensor]:
    """A matrix [outputs, inputs] as DynamicQuantizeMatMul takes it: transposed, and its scales.

    >>> numbers, scales = eight_bits(torch.tensor([[127.0, -64.0]]))
    >>> numbers.tolist(), scales.tolist()
    ([[127], [-64]], [1.0])
    """
    scales = weights.abs().amax(1) / 127
    numbers = (weights / scales[:, None]).round().to(torch.int8)
    return [numbers.T.contiguous(), scales]


class Graph:
    """Nodes and weights, as they are added; kind: of KINDS."""

    def __init__(self, kind: str, helper: Any, numpy_helper: Any) -> None:
        self.kind, self.helper, self.numpy_helper = kind, helper, numpy_helper
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, name: str, numbers: Tensor) -> str:
        self.weights.append(self.numpy_helper.from_array(numbers.numpy(), name))
        return name

    def add(self, kind: str, inputs: list[str], outputs: list[str], **settings: Any) -> str:
        """A node; its first output."""
        self.nodes.append(self.helper.make_node(kind, inputs, outputs, outputs[0], **settings))
        return outputs[0]

    def product(self, name: str, x: str, weights: Tensor) -> str:
        """x times a matrix [outputs, inputs]."""
        if self.kind == "float32":
            return self.add("MatMul", [x, self.weight(f"{name}.w", weights.T.contiguous())], [name])
        is_four = self.kind == "four bits"
        numbers = four_bits(weights) if is_four else eight_bits(weights)
        stored = [self.weight(f"{name}.{n}", of) for n, of in enumerate(numbers)]
        if not is_four:
            return self.add("DynamicQuantizeMatMul", [x, *stored], [name], domain=CONTRIBUTED)
        outputs, inputs = weights.shape
        return self.add(
            "MatMulNBits", [x, *stored], [name],
            domain=CONTRIBUTED, K=inputs, N=outputs, bits=4, block_size=BLOCK, accuracy_level=4,
        )  # fmt: skip

    def norm(self, name: str, x: str, gain: Tensor, beside: str = "") -> tuple[str, str]:
        """The normed rows of x, or of x + beside, and these rows themselves."""
        inputs = [x, *([beside] if beside else []), self.weight(f"{name}.gain", gain)]
        if not beside:
            normed = self.add("SimplifiedLayerNormalization", inputs, [name], axis=-1, epsilon=EPS)
            return normed, x
        rows = f"{name}.rows"
        outputs = [name, "", "", rows]
        kind = "SkipSimplifiedLayerNormalization"
        return self.add(kind, inputs, outputs, domain=CONTRIBUTED, epsilon=EPS), rows


def embedded(graph: Graph, blocks: Tensor) -> str:
    """The rows of the tokens, of which the file has blocks of eight bits."""
    shape = (VOCABULARY, WIDTH // BLOCK)
    whole = blocks[:, 2:].contiguous().view(torch.int8)
    numbers = graph.weight("embedding.numbers", whole.view(*shape, BLOCK))
    sizes = graph.weight("embedding.scales", halves(blocks[:, :2]).view(*shape, 1))
    found = graph.add("Gather", [numbers, "ids"], ["embedding.found"])
    wide = graph.add("Cast", [found], ["embedding.wide"], to=1)  # float32
    scale = graph.add("Gather", [sizes, "ids"], ["embedding.scale"])
    product = graph.add("Mul", [wide, scale], ["embedding.product"])
    flat = graph.weight("embedding.shape", torch.tensor([1, -1, WIDTH]))
    return graph.add("Reshape", [product, flat], ["embedding"])


def layer(graph: Graph, n: int, file: GGUF, x: str, beside: str) -> tuple[str, str]:
    """The rows behind its feed-forward, and those before it: the next norm adds the two."""
    weights = {ours: file.weight(f"blk.{n}.{theirs}.weight") for ours, theirs in OF_LAYER.items()}

    def product(name: str, x: str) -> str:
        return graph.product(f"{n}.{name}", x, weights[f"{name}.weight"])

    normed, rows = graph.norm(f"{n}.norm", x, weights["attention_norm.gain"], beside)
    heads = [product(f"attention.{name}", normed) for name in ("w_query", "w_key", "w_value")]
    mixed = graph.add(
        "GroupQueryAttention",
        [*heads, f"past.{n}.k", f"past.{n}.v", "last", "count", "cosines", "sines"],
        [f"{n}.heads", f"now.{n}.k", f"now.{n}.v"],
        domain=CONTRIBUTED, num_heads=HEADS, kv_num_heads=KV_HEADS,
        do_rotary=1, rotary_interleaved=1,
    )  # fmt: skip
    added = product("attention.out_proj", mixed)
    normed, rows = graph.norm(f"{n}.norm_2", added, weights["feed_forward_norm.gain"], rows)
    gate = product("feed_forward.gate", normed)
    share = graph.add("Sigmoid", [gate], [f"{n}.share"])
    active = graph.add("Mul", [gate, share], [f"{n}.active"])
    hidden = graph.add("Mul", [active, product("feed_forward.up", normed)], [f"{n}.hidden"])
    return product("feed_forward.down", hidden), rows


def made(file: GGUF, kind: str) -> Any:
    """The model as ONNX: inputs ids, last, count and past; outputs scores and now."""
    from onnx import TensorProto, helper, numpy_helper

    graph = Graph(kind, helper, numpy_helper)
    rates = torch.tensor(Rotary(HEAD_DIM, BASE, "interleaved").rates, dtype=torch.float64)
    angles = torch.outer(torch.arange(LONGEST).double(), rates)
    graph.weight("cosines", angles.cos().float())
    graph.weight("sines", angles.sin().float())
    embedding = "token_embd.weight"
    x, beside = embedded(graph, file.blocks(embedding).view(-1, 2 + BLOCK)), ""
    for n in range(LAYERS):
        x, beside = layer(graph, n, file, x, beside)
    rows = graph.add("Add", [x, beside], ["stream"])
    # Of what comes next, only the last token is asked.
    last = graph.add("Gather", [rows, graph.weight("end", torch.tensor([-1]))], ["row"], axis=1)
    normed, _ = graph.norm("norm", last, file.weight("output_norm.weight"))
    graph.product("scores", normed, file.weight(embedding))

    def value(name: str, shape: list[Any], kind: int = TensorProto.FLOAT) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    def caches(time: str) -> list[Any]:
        return [
            value(f"{time}.{n}.{part}", [1, KV_HEADS, f"{time}_tokens", HEAD_DIM])
            for n in range(LAYERS)
            for part in "kv"
        ]

    inputs = [
        value("ids", [1, "new"], TensorProto.INT64),
        value("last", [1], TensorProto.INT32),
        value("count", [], TensorProto.INT32),
        *caches("past"),
    ]
    outputs = [value("scores", [1, 1, VOCABULARY]), *caches("now")]
    whole = helper.make_graph(graph.nodes, "language", inputs, outputs, graph.weights)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIBUTED, 1)]
    return helper.make_model(whole, opset_imports=opsets, ir_version=IR)


def write(file: GGUF, kind: str, path: Path) -> None:
    """Writes the model. ImportError where the package onnx is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made(file, kind).SerializeToString())
