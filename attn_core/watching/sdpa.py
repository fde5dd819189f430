"""scaled_dot_product_attention, whose arguments say all of it."""

from typing import Any

import torch
from torch import Tensor

from attn_core.masks import Keep
from attn_core.watching.arguments import Arguments, in_two


def of_sdpa(named: dict[str, Any], heads: int | None) -> Arguments:
    """The arguments of a call of scaled_dot_product_attention, as it computes them."""
    q, k, v = as_autocast(named["query"], named["key"], named["value"])
    mask: Tensor | None = named.get("attn_mask", named.get("attn_bias"))
    L, S = q.shape[-2], k.shape[-2]
    # torch's is_causal is aligned to the top left: query i sees the keys up to number i.
    keep = Keep(after=L - S) if named.get("is_causal") else None
    lead = q.shape[:-2]
    if k.shape[:-2] != lead and not named.get("enable_gqa"):
        lead = torch.broadcast_shapes(lead, k.shape[:-2], v.shape[:-2])
        q, k, v = (tensor.expand(*lead, *tensor.shape[-2:]) for tensor in (q, k, v))
    hidden: tuple[tuple[Tensor, float], ...] = ()
    added: tuple[Tensor, ...] = ()
    if mask is not None and mask.dtype == torch.bool:
        hidden = ((~mask, -torch.inf),)
    elif mask is not None:
        added = (mask,)
    arguments = Arguments(
        q, k, v,
        scale=named.get("scale"),
        keep=keep,
        hidden=hidden,
        added=added,
        p=float(named.get("dropout_p") or 0.0),
    )  # fmt: skip
    return in_two(arguments, heads)


def as_autocast(*tensors: Tensor) -> list[Tensor]:
    """As autocast hands them to attention."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return list(tensors)
    dtype = torch.get_autocast_dtype(kind)
    return [t.to(dtype) if t.dtype == torch.float32 else t for t in tensors]
