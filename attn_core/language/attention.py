"""Attention with fewer heads of keys than of queries, rotary positions and a cache."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from attn_core.api import attention, trace
from attn_core.checks import brief, check_batch, check_whole
from attn_core.masks import Keep, causal
from attn_core.modules import both_masks, projection
from attn_core.record import AttentionTrace
from attn_core.rotary import Rotary
from attn_core.steps import ModuleCall, explain
from attn_core.steps.rules import attention_settings


@dataclass
class Cache:
    """The keys and values of one attention layer for all tokens so far; a call adds new ones.

    >>> cache = Cache()
    >>> attention = GroupedQueryAttention(8, num_heads=2, num_kv_heads=1)
    >>> _ = attention(torch.zeros(1, 5, 8), cache=cache)
    >>> _ = attention(torch.zeros(1, 1, 8), cache=cache)
    >>> len(cache), cache.k.shape
    (6, torch.Size([1, 1, 6, 4]))

    k, v: [B, num_kv_heads, T, head_dim]; None while it is empty. Keys are stored after their
    rotation. Taught in chapter 12.
    """

    k: Tensor | None = None
    v: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.k is None else self.k.shape[-2]

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values, the new ones last."""
        if (self.k is None) != (self.v is None):
            kept = "v" if self.k is None else "k"
            raise ValueError(f"a cache must have both k and v or neither, got {kept} alone")
        if self.k is not None and self.v is not None:
            if len(k) != len(self.k):
                raise ValueError(
                    f"x must have the {len(self.k)} sentences of its cache, got {len(k)}"
                )
            k, v = torch.cat([self.k, k], dim=-2), torch.cat([self.v, v], dim=-2)
        self.k, self.v = k, v
        return k, v


class GroupedQueryAttention(nn.Module):
    """Causal self-attention whose heads of queries share heads of keys and values, in groups.

    >>> attention = GroupedQueryAttention(12, num_heads=6, num_kv_heads=2, rotary=Rotary(2))
    >>> attention(torch.zeros(1, 5, 12)).shape, attention.w_key.out_features
    (torch.Size([1, 5, 12]), 4)

    Query head h reads key head h // (num_heads / num_kv_heads); nothing is copied. With as many
    heads of keys as of queries, it is multi-head attention; with one head of keys, it is
    multi-query attention.

    num_kv_heads: must divide num_heads.
    head_dim: the width of one head. Defaults to width / num_heads.
    rotary: rotates queries and keys, not values. With None, they have no positions.
    keep: which keys a query may see. Defaults to causal(); window(W - 1) is a sliding window.

    Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
    Checkpoints" (2023), 2.2. Taught in chapter 12.
    """

    def __init__(
        self,
        width: int,
        num_heads: int,
        num_kv_heads: int,
        *,
        head_dim: int | None = None,
        rotary: Rotary | None = None,
        keep: Keep | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        check_groups(num_heads, num_kv_heads)
        self.head_dim = check_head_dim(head_dim, width, num_heads, rotary)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.rotary = rotary
        self.keep = causal() if keep is None else keep
        self.w_query = nn.Linear(width, num_heads * self.head_dim, bias=bias)
        self.w_key = nn.Linear(width, num_kv_heads * self.head_dim, bias=bias)
        self.w_value = nn.Linear(width, num_kv_heads * self.head_dim, bias=bias)
        self.out_proj = nn.Linear(num_heads * self.head_dim, width, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "B L E"],
        *,
        keep: Keep | Tensor | None = None,
        positions: Shaped[Tensor, "*P L"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B L E"]:
        """x [B, L, width]: all tokens, or only the new ones if the cache holds the others.

        positions: the place of each row, [L] or [B, L]. Defaults to the places after the cache.
        """
        q, k, v = self.split_heads(x, positions, len(cache or ()))
        if cache is not None:
            k, v = cache.extend(k, v)
        heads = attention(q, k, v, keep=both_masks(self.keep, keep, x))
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def trace(
        self,
        x: Float[Tensor, "B L E"],
        *,
        keep: Keep | Tensor | None = None,
        positions: Shaped[Tensor, "*P L"] | None = None,
    ) -> AttentionTrace:
        """The record of all heads before out_proj, traced back through the rotation to x."""
        places = None if self.rotary is None else positions
        made = projection(x, self.w_query, self.w_key, self.w_value)
        source = replace(made, rotary=self.rotary, positions=places)
        keep = both_masks(self.keep, keep, x)
        return trace(*self.split_heads(x, positions), keep=keep, source=source)

    def split_heads(
        self, x: Float[Tensor, "B L E"], positions: Tensor | None = None, cached: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """q [B, H, L, D], rotated; k [B, num_kv_heads, L, D], rotated; v not rotated."""
        check_batch("x", x, self.w_query.in_features)
        rows = self.w_query(x), self.w_key(x), self.w_value(x)
        q, k, v = (t.unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for t in rows)
        if self.rotary is not None:
            if positions is None:
                positions = torch.arange(cached, cached + x.shape[1], device=x.device)
            q, k = self.rotary.rotate(q, positions), self.rotary.rotate(k, positions)
        return q, k, v


@explain(GroupedQueryAttention)
def of_groups(
    module: GroupedQueryAttention, call: ModuleCall, value: object, child: str | None
) -> None:
    if child != "out_proj":
        return
    for name in ("positions", "cache"):
        if call.arguments.get(name) is not None:
            raise ValueError(
                f"{name} must be None where recording sees an attention, got "
                f"{brief(call.arguments[name])}: record a text whole, from its first token"
            )
    with call.unseen():
        record = module.trace(call.input, keep=call.arguments.get("keep"))
    q, k, v = (call.child(name) for name in ("w_query", "w_key", "w_value"))
    if (rotary := module.rotary) is not None:
        settings: dict[str, Any] = vars(rotary)
        q = call.add("rotated_query", "rotary", [q], settings=settings)
        k = call.add("rotated_key", "rotary", [k], settings=settings)
    settings = attention_settings(record, module.num_heads)
    if module.num_kv_heads != module.num_heads:
        settings["num_kv_heads"] = module.num_kv_heads
    call.add("", "attention", [q, k, v], settings=settings, made=value, record=record)


def check_groups(num_heads: int, num_kv_heads: int) -> None:
    check_whole("num_heads", num_heads, least=1)
    check_whole("num_kv_heads", num_kv_heads, least=1)
    if num_heads % num_kv_heads:
        raise ValueError(f"num_kv_heads must divide num_heads {num_heads}, got {num_kv_heads}")


def check_head_dim(head_dim: int | None, width: int, num_heads: int, rotary: Rotary | None) -> int:
    if head_dim is None:
        if width % num_heads:
            raise ValueError(
                f"num_heads must divide the width {width} where head_dim is not given, "
                f"got {num_heads}"
            )
        head_dim = width // num_heads
    check_whole("head_dim", head_dim, least=1)
    if rotary is not None and rotary.head_dim != head_dim:
        raise ValueError(f"rotary must have the head_dim {head_dim}, got {rotary.head_dim}")
    return head_dim
