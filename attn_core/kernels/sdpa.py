"""torch's own attention, where it gives what `attention` promises; it keeps its row statistics."""

import torch
from torch import Tensor, finfo, float32
from torch.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
from torch.nn.attention import SDPBackend
from torch.nn.functional import scaled_dot_product_attention

from attn_core.masks import Keep
from attn_core.precision import widened

MOST_HEADS = 65_535  # or batches: so many blocks fit on one axis of a launch


def knows(keep: Keep | None, q: Tensor, k: Tensor, v: Tensor, scale: float) -> bool:
    """Whether torch's attention gives ours, and in tiles.

    Its `is_causal` is aligned to the top left, so for L == S; other masks would have to be written
    out for it as L×S cells. It hides cells by −inf before it multiplies by the scale, which gives
    NaN at 0 and +inf below: those that a mask hides, and on a GPU those beyond the last key.
    """
    is_square = keep is not None and keep.is_causal and q.shape[2] == k.shape[2]
    if scale < finfo(float32).tiny or not (keep is None or is_square):
        return False
    return has_tiles(q, k, v, is_square)


def has_tiles(q: Tensor, k: Tensor, v: Tensor, is_causal: bool) -> bool:
    """Whether torch has tiles for such tensors; else it makes the whole map."""
    if q.device.type == "cpu":
        # For values of another width than the keys', and where flash attention is switched off
        # (torch.nn.attention.sdpa_kernel), there are none.
        return torch._fused_sdp_choice(q, k, v, is_causal=is_causal) != SDPBackend.MATH.value
    if max(q.shape[:2]) > MOST_HEADS:
        return False
    asked = SDPAParams(q, k, v, None, 0.0, is_causal, False)
    return can_use_flash_attention(asked) or can_use_efficient_attention(asked)


def output(q: Tensor, k: Tensor, v: Tensor, keep: Keep | None, scale: float) -> Tensor:
    """The output [B, H, L, Dv] under a mask that torch knows, in float32 at least on the CPU."""
    if q.device.type == "cpu":
        # Half precision is hardly faster here, and rounds more.
        q, k, v = widened(q), widened(k), widened(v)
    return scaled_dot_product_attention(q, k, v, is_causal=keep is not None, scale=scale)
