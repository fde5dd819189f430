"""A mask laid into a part of a map: what no row sees is left out, cells are checked at its edge."""

from bisect import bisect_left
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.masks import Keep, of_heads

HEIGHT = 256  # rows of a strip


def strips(
    keep: Keep | None, rows: range, cols: range, size: tuple[int, int], height: int = HEIGHT
) -> Iterator[tuple[slice, slice]]:
    """Some rows at a time, and of the columns those that they may see: by their places in both.

    >>> from attn_core import causal
    >>> list(strips(causal(), range(0, 300), range(200, 400), (500, 500)))
    [(slice(0, 256, None), slice(0, 56, None)), (slice(256, 300, None), slice(0, 100, None))]

    size: that of the map, (L, S). height: how many rows at most. Rows that see none of the columns
    are left out.
    """
    for first in range(0, len(rows), height):
        strip = slice(first, min(first + height, len(rows)))
        visible = range(size[1]) if keep is None else keep.visible(rows[strip], size)
        seen = places(cols, visible)
        if seen.start < seen.stop:
            yield strip, seen


def mask_(
    cells: Float[Tensor, "b h rows cols"],
    keep: Keep | None,
    part: tuple[range, range, range, range],
    size: tuple[int, int],
    least: float = -torch.inf,
) -> Float[Tensor, "b h rows cols"]:
    """The cells themselves, `least` written where the mask does not keep them.

    >>> from attn_core import causal
    >>> part = range(1), range(1), range(0, 2), range(0, 3)
    >>> mask_(torch.ones(1, 1, 2, 3), causal(), part, (5, 5))
    tensor([[[[1., -inf, -inf],
              [1., 1., -inf]]]])

    part: the batches, heads, rows and columns of the cells in a map of `size` (L, S). least: a
    lower bound for the cells, −inf for scores, 0 for their exponentials. The mask is asked only
    about columns that not all of these rows see. Taught in chapter 06.
    """
    if keep is None:
        return cells
    batches, heads, rows, cols = part
    clear = places(cols, keep.unmasked(rows, size))
    if clear.start >= clear.stop:
        clear = slice(len(cols), len(cols))
    for edge in (slice(0, clear.start), slice(clear.stop, len(cols))):
        if edge.start < edge.stop:
            tile = of_heads(keep.tile(rows, cols[edge], size, cells.device), batches, heads)
            # A lid on each cell is faster than a choice, where one mask serves many heads.
            cells[..., edge].clamp_(max=torch.where(tile, torch.inf, least))
    return cells


def places(cols: range, within: range) -> slice:
    """Which of some columns lie in a range: from which place on, up to which.

    >>> places(range(0, 10, 2), range(3, 7))
    slice(2, 4, None)
    """
    return slice(bisect_left(cols, within.start), bisect_left(cols, within.stop))
