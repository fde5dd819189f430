"""Attentions as people write them: forms that give their output and the weights they computed."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

B, H, L, D = 2, 4, 6, 8
CAUSAL = torch.ones(L, L).tril().bool()
PADDED = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None]
LEFT = torch.tensor([[True] * 6, [False] * 2 + [True] * 4])[:, None, None]
LEAST = torch.finfo(torch.float32).min
SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])
DISTANCE = torch.arange(L) - torch.arange(L)[:, None]


class Attends(nn.Module):
    """q, k and v of x [B, T, E], in heads; then a form."""

    def __init__(self, form, heads_of_keys: int = H, **linear) -> None:
        super().__init__()
        self.form, self.num_heads = form, H
        self.heads = (H, heads_of_keys, heads_of_keys)
        self.project = nn.ModuleList(nn.Linear(16, n * D, **linear) for n in self.heads)

    def forward(self, x: Tensor) -> Tensor:
        parts = [
            linear(x).unflatten(-1, (n, D)).transpose(1, 2)
            for linear, n in zip(self.project, self.heads, strict=True)
        ]
        output, self.weights = self.form(*parts)
        return output.transpose(1, 2).flatten(2)


def by_torch(**how):
    """scaled_dot_product_attention, and the weights that its arguments mean."""

    def attend(q, k, v):
        output = scaled_dot_product_attention(q, k, v, **how)
        if how.get("enable_gqa"):
            k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
        scores = q.double() @ k.double().mT * how.get("scale", 1 / math.sqrt(D))
        mask = how.get("attn_mask", torch.zeros(()))
        if how.get("is_causal"):
            mask = CAUSAL[: q.shape[2], : k.shape[2]]  # aligned to the top left
        is_bool = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, -torch.inf) if is_bool else scores + mask
        return output, scores.softmax(-1).nan_to_num()

    return attend


def of_first(queries: int, keys: int):
    """sdpa's is_causal where there are not as many queries as keys."""

    def attend(q, k, v):
        return by_torch(is_causal=True)(q[:, :, :queries], k[:, :, :keys], v[:, :, :keys])

    return attend


def by_softmax(between=lambda scores: scores, after=lambda weights: weights):
    """matmul, what `between` does to the scores, softmax, matmul."""

    def attend(q, k, v):
        weights = after(between(q @ k.mT / math.sqrt(D)).softmax(-1))
        return weights @ v, weights

    return attend


def by_einsum(q, k, v):
    """Heads last, so that the softmax goes over an axis in the middle."""
    scores = torch.einsum("bhid,bhjd->bijh", q, k) * D**-0.5
    weights = scores.masked_fill(~CAUSAL[None, ..., None], -torch.inf).softmax(2)
    return torch.einsum("bijh,bhjd->bhid", weights, v), weights.permute(0, 3, 1, 2)


def by_values_first(q, k, v):
    """The same product, written from the other side."""
    weights = (k @ q.mT).softmax(-2)
    return torch.einsum("bhjd,bhji->bhid", v, weights), weights.mT


def by_three_axes(q, k, v):
    q, k, v = (part.reshape(B * H, L, D) for part in (q, k, v))
    weights = torch.bmm(q * D**-0.5, k.mT).softmax(-1)
    return torch.bmm(weights, v).view(B, H, L, D), weights.view(B, H, L, L)


def by_baddbmm(q, k, v):
    """BLOOM's: ALiBi is what the product is added to."""
    alibi = (SLOPES[:, None, None] * torch.arange(L)).repeat(B, 1, 1)
    q, k, v = (part.reshape(B * H, L, D) for part in (q, k, v))
    scores = alibi.baddbmm(q, k.mT, beta=0.5, alpha=D**-0.5).view(B, H, L, L)
    weights = (scores + torch.zeros(L, L).masked_fill(~CAUSAL, LEAST)).softmax(-1)
    return torch.bmm(weights.view(B * H, L, L), v).view(B, H, L, D), weights


def by_two_axes(q, k, v):
    heads = [(q[b, h] @ k[b, h].mT).softmax(-1) for b in range(B) for h in range(H)]
    values = [weights @ v[i // H, i % H] for i, weights in enumerate(heads)]
    return torch.stack(values).view(B, H, L, D), torch.stack(heads)


def by_groups(q, k, v):
    """Grouped queries side by side, one product a head of keys."""
    q = q.reshape(B, 2, -1, D)
    weights = (q @ k.mT).view(B, H, L, L).softmax(-1)
    return (weights.view(B, 2, -1, L) @ v).view(B, H, L, D), weights


def by_repeated(repeat):
    def attend(q, k, v):
        return by_softmax()(q, repeat(k), repeat(v))

    return attend


def expanded(tensor: Tensor) -> Tensor:
    return tensor[:, :, None].expand(-1, -1, 2, -1, -1).reshape(B, H, L, D)


def with_sink(place: int, shift: bool = False):
    def attend(q, k, v):
        scores = (q @ k.mT * 0.3).masked_fill(~CAUSAL, -torch.inf)
        sink = torch.linspace(-1, 1, H).view(1, H, 1, 1).expand(B, H, L, 1)
        scores = torch.cat([scores, sink] if place else [sink, scores], -1)
        if shift:
            scores = scores - scores.amax(-1, keepdim=True)
        weights = scores.softmax(-1)
        weights = weights[..., :-1] if place else weights[..., 1:]
        return weights @ v, weights

    return attend


def pooled(q, k, v):
    """One query for all sentences."""
    query = q[:1, 0, 0]
    weights = (k[:, 0] @ query.mT).softmax(1).transpose(1, 2)
    return (weights @ v[:, 0])[:, None].expand(B, H, 1, D), weights


def added(table: Tensor):
    return by_softmax(lambda scores: scores + table)


def of_bool(mask: Tensor, value: float) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, value)


CAUSALLY = of_bool(CAUSAL, LEAST)
PADDING = "padding([6, 4])"
ALIBI = SLOPES.view(H, 1, 1) * DISTANCE
FORMS = {  # name: (form, heads of keys, what the mask is recognised as)
    "sdpa": (by_torch(), H, "None"),
    "sdpa, causal": (by_torch(is_causal=True), H, "causal()"),
    "sdpa, causal, fewer queries": (of_first(4, L), H, "Keep(None, -2)"),
    "sdpa, causal, fewer keys": (of_first(L, 4), H, "Keep(None, 2)"),
    "sdpa, table": (by_torch(attn_mask=CAUSAL & PADDED), H, f"causal() & {PADDING}"),
    "sdpa, numbers": (by_torch(attn_mask=of_bool(CAUSAL, -torch.inf)), H, "causal()"),
    "sdpa, scale": (by_torch(scale=0.7), H, "None"),
    "matmul": (by_softmax(), H, "None"),
    "masked_fill": (by_softmax(lambda s: s.masked_fill(~CAUSAL, LEAST)), H, "causal()"),
    "in place": (by_softmax(lambda s: s.mul_(2).masked_fill_(~CAUSAL, -1e9)), H, "causal()"),
    "where": (by_softmax(lambda s: torch.where(PADDED, s, -torch.inf)), H, PADDING),
    "added": (added(of_bool(CAUSAL, -torch.inf)), H, "causal()"),
    "added -10000": (added(of_bool(PADDED, -1e4)), H, PADDING),
    "two masks": (
        by_softmax(lambda s: s.masked_fill(~CAUSAL, -torch.inf) + of_bool(PADDED, LEAST)),
        H,
        f"causal() & {PADDING}",
    ),
    "window": (added(of_bool(CAUSAL & (DISTANCE > -3), LEAST)), H, "window(2, 0)"),
    "no rule": (added(of_bool(CAUSAL.flip(0) | CAUSAL, LEAST)), H, "Dense(1, 1, 6, 6)"),
    "zeros after": (
        by_softmax(lambda s: s + CAUSALLY, lambda w: w.masked_fill(~CAUSAL, 0)), H, "causal()"
    ),
    "half": (by_softmax(lambda s: s.double(), lambda w: w.float()), H, "None"),
    "einsum": (by_einsum, H, "causal()"),
    "other way round": (by_values_first, H, "None"),
    "three axes": (by_three_axes, H, "None"),
    "two axes": (by_two_axes, H, "None"),
    "scaled by head": (by_softmax(lambda s: s * SLOPES.view(H, 1, 1)), H, "None"),
    "pooled": (pooled, H, "None"),
    "sdpa, grouped": (by_torch(enable_gqa=True), 2, "None"),
    "sdpa, bias": (by_torch(attn_mask=ALIBI), H, "None"),
    "side by side": (by_groups, 2, "None"),
    "expanded": (by_repeated(expanded), 2, "None"),
    "repeated": (by_repeated(lambda t: t.repeat_interleave(2, 1)), 2, "None"),
    "bias": (by_softmax(lambda s: (s + ALIBI) * 2), H, "None"),
    "alibi": (by_softmax(lambda s: s - ALIBI.abs() + CAUSALLY), H, "causal()"),
    "baddbmm": (by_baddbmm, H, "causal()"),
    "softcap": (by_softmax(lambda s: (s / 3).tanh() * 3 + CAUSALLY), H, "causal()"),
    "sink": (with_sink(1), H, "causal()"),
    "sink, shifted": (with_sink(1, shift=True), H, "causal()"),
    "sink first": (with_sink(0), H, "causal()"),
    "left padding": (
        by_torch(attn_mask=CAUSAL & LEFT), H, "causal() & padding(starts=[0, 2])"
    ),
    "rows that a number hides": (added(of_bool(CAUSAL & LEFT, LEAST)), H, "Dense(2, 1, 6, 6)"),
}  # fmt: skip


def dropped(q, k, v):
    weights = (q @ k.mT).softmax(-1)
    return dropout(weights, 0.5, training=True) @ v, weights
