"""torch's own attention, where it gives what `attention` promises; it keeps its row statistics."""

from torch import Tensor, finfo, float32
from torch.nn.functional import scaled_dot_product_attention

from attn_core.masks import Causal, Keep


def knows(keep: Keep | None, q: Tensor, k: Tensor, scale: float) -> bool:
    """Whether torch knows the mask: its `is_causal` is aligned to the top left, so for L == S.

    It multiplies its −inf by the scale, which gives NaN at 0 and +inf below. Other masks would
    have to be written out for it as L×S cells.
    """
    if keep is None:
        return True
    is_square = isinstance(keep, Causal) and q.shape[2] == k.shape[2]
    return is_square and scale >= finfo(float32).tiny


def output(q: Tensor, k: Tensor, v: Tensor, keep: Keep | None, scale: float) -> Tensor:
    """The output [B, H, L, Dv] under a mask that torch knows."""
    return scaled_dot_product_attention(q, k, v, is_causal=keep is not None, scale=scale)
