"""How a mistake of a module is run: right and wrong, on the same x and the same weights."""

import math
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from attn_core import toy
from attn_core.api import trace
from attn_core.layers import DecoderLayer, LayerNorm, PositionalEncoding, Residual
from attn_core.masks import causal, of_cells
from attn_core.mistakes import layers
from attn_core.mistakes.mistake import Run
from attn_core.modules import Head, MultiHeadAttention, Part, SelfAttention, StackedHeads, each
from attn_core.record import AttentionTrace

Kind = TypeVar("Kind")


def filled(module: Part) -> Part:
    """The module with small weights from a rule; gains stay 1."""
    with torch.no_grad():
        for n, (name, part) in enumerate(module.named_parameters()):
            if not name.endswith("gain"):
                count = torch.arange(part.numel())
                part.copy_((((count * 7 + 3 * n) % 11 - 5) / 5).view(part.shape))
    return module.requires_grad_(False)


def words() -> Tensor:
    """Two sentences of six words, three numbers each."""
    x = toy.journey().x
    return torch.stack((x, x.flip(0)))


def wide_words() -> Tensor:
    """The three words of chapter 04, width 4, in two orders."""
    x = toy.three_tokens().x
    return torch.stack((x, x.flip(0)))


def reading(x: Tensor) -> AttentionTrace:
    """The attention that reads x next."""
    return filled(SelfAttention(x.shape[-1], 2)).trace(x)


def several_heads(kind: type[MultiHeadAttention], hidden: bool) -> Run:
    module = filled(kind(3, 4, 1 if hidden else 2))
    record = module.trace(words())
    rows = module.w_query(words())
    names = {"q": record.q, "k": record.k, "rows": rows, "D": record.q.shape[-1]}
    return Run(record, names)


def mask_on_heads(kind: type[MultiHeadAttention], hidden: bool) -> Run:
    module = filled(kind(4, 6, 3, keep=None if hidden else causal()))
    record = module.trace(wide_words())
    return Run(record, {"weights": record.stage("weights")})


def merged(kind: type[MultiHeadAttention], hidden: bool) -> Run:
    module = filled(kind(3, 4, 1 if hidden else 2))
    nn.init.eye_(module.out_proj.weight)
    nn.init.zeros_(module.out_proj.bias)
    made = module(words())
    names = {"merged": made, "heads": module.trace(words()).output}
    return Run(reading(made), names)


def along_tokens(kind: type[StackedHeads], hidden: bool) -> Run:
    """All heads as one attention: side by side as heads, or one under the other as tokens."""
    module = filled(kind(4, 2, num_heads=1 if hidden else 2))
    x = toy.three_tokens().x[None]
    records = [head.trace(x) for head in each(module.heads, Head)]
    axis = 2 if kind is layers.HeadsAlongTokens else 1
    q, k, v = (torch.cat([getattr(r, name) for r in records], axis) for name in "qkv")
    keep = causal().dense(3, 3)
    if axis == 2:
        keep = torch.block_diag(*[keep[0, 0].float()] * len(records)).bool()
    names = {"made": module(x), "x": x, "heads": module.heads}
    return Run(trace(q, k, v, keep=of_cells(keep)), names)


def norm(kind: type[LayerNorm], hidden: bool) -> Run:
    x = torch.arange(6.0).view(2, 3, 1).expand(2, 3, 4) if hidden else wide_words()
    normed = kind(4).requires_grad_(False)(x)
    return Run(reading(normed), {"normed": normed})


def exponent(kind: type[PositionalEncoding], hidden: bool) -> Run:
    width = 2 if hidden else 4
    places = filled(kind(width, longest=8))
    table = places(torch.zeros(1, 3, width))[0]
    names = {"table": table, "width": width, "math": math}
    return Run(reading(places(wide_words()[..., :width])), names)


def along_batch(kind: type[PositionalEncoding], hidden: bool) -> Run:
    places = filled(kind(4, longest=8))
    x = wide_words()[:1, :1] if hidden else wide_words()
    return Run(reading(places(x)), {"table": places(torch.zeros(2, 3, 4))[0]})


def one_attention(kind: type[DecoderLayer], hidden: bool) -> Run:
    layer = filled(kind(4, 2, hidden=8))
    if hidden:
        layer.cross_attention.load_state_dict(layer.self_attention.state_dict())
    x, memory = wide_words()
    before = layer(x[None], memory[None])
    reads = layer.self_attention if kind is layers.OneAttention else layer.cross_attention
    asking = layer.residuals[0](x[None], layer.self_attention)
    record = trace(*reads.split_heads(asking, memory[None]))
    with torch.no_grad():
        layer.cross_attention.out_proj.bias.add_(1.0)
        layer.cross_attention.out_proj.weight.mul_(2.0)
    return Run(record, {"before": before, "after": layer(x[None], memory[None])})


def after_norm(kind: type[Residual], hidden: bool) -> Run:
    residual = filled(kind(4, dropout=0.0 if hidden else 0.5, seed=7))
    nn.init.constant_(residual.norm.bias, 0.25)
    x = wide_words()
    stream = residual(x, torch.zeros_like)
    return Run(reading(stream), {"stream": stream, "norm": residual.norm, "x": x})


def either(
    make: Callable[[type[Kind], bool], Run], right: type[Kind], wrong: type[Kind]
) -> Callable[[bool, bool], Run]:
    """How a mistake is run: (wrong?, where it is unseen?)."""
    return lambda is_wrong, hidden: make(wrong if is_wrong else right, hidden)


def remade(q: Tensor, k: Tensor, v: Tensor, record: AttentionTrace, keep=None) -> AttentionTrace:
    """A record of other heads, in the caller's rank."""
    lead = record.lead
    parts = [t.detach().reshape(*lead, *t.shape[-2:]) for t in (q, k, v)]
    keep = record.keep if keep is None else keep
    return trace(*parts, keep=keep, scale=record.scale, dropout=record.dropout)


def split_by_view(record: AttentionTrace) -> AttentionTrace:
    heads = record.q, record.k, record.v
    q, k, v = (t.transpose(1, 2).contiguous().view(t.shape) for t in heads)
    return remade(q, k, v, record)


def first_head_for_all(record: AttentionTrace) -> AttentionTrace:
    q, k, v = (t[:, :1].expand_as(t) for t in (record.q, record.k, record.v))
    return remade(q, k, v, record)


def mask_read_as_heads(record: AttentionTrace) -> AttentionTrace:
    """Only where there are as many heads as queries and one mask for all; else it would not fit."""
    H, L, S = record.shape[1:]
    if record.keep is None or H != L or len(record.lead) < 2:
        return record
    cells = record.keep.dense(L, S, record.q.device)
    if cells.shape[:2] != (1, 1):
        return record
    return remade(record.q, record.k, record.v, record, of_cells(cells[0, 0].unsqueeze(1)))
