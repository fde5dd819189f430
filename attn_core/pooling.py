"""An overview of a map that is too large to be looked at: blocks of its cells, pooled."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.threads import parallel_map

CELLS = 2**22  # of the map at a time


def pool(
    cells: Callable[[range, range], Float[Tensor, "rows cols"]],
    size: tuple[int, int],
    shape: tuple[int, int],
    how: str,
    seen: Callable[[range], range] | None = None,
    device: torch.device | str | None = None,
    at_a_time: int = CELLS,
) -> Float[Tensor, "n m"]:
    """The mean or the max of each block of a map of which `cells` gives any part.

    >>> whole = torch.arange(12.0).reshape(3, 4)
    >>> pool(lambda rows, cols: whole[rows.start : rows.stop], (3, 4), (2, 2), "max")
    tensor([[ 1.,  3.],
            [ 9., 11.]])

    size: rows and columns of the map; shape: those of the overview. Block r of n holds rows r·L//n
    to (r+1)·L//n − 1 of L. seen: from which to which column some rows hold anything but zeros, of
    a map without a number below zero. device: that of the cells. at_a_time: for how many cells
    `cells` is asked. Taught in chapter 11.
    """
    (L, width), (n, m) = size, shape
    step = max(1, at_a_time // width)
    columns = torch.arange(width, device=device)
    block = torch.div((columns + 1) * m - 1, width, rounding_mode="floor")
    reduce = "amax" if how == "max" else "sum"
    # Zeros that were left out count in a mean, and no maximum is below them.
    start_at = -torch.inf if how == "max" and seen is None else 0.0

    def row(r: int) -> Tensor:
        rows, parts = range(r * L // n, (r + 1) * L // n), []
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            # Rows that see nothing are asked for one of their zeros.
            cols = range(width) if seen is None else seen(some) or range(1)
            tile = cells(some, cols)
            tile = tile.amax(0) if how == "max" else tile.sum(0)
            place = block[cols.start : cols.stop]
            parts.append(tile.new_full((m,), start_at).scatter_reduce(0, place, tile, reduce))
        table = torch.stack(parts)
        count = torch.bincount(block, minlength=m) * len(rows)
        return table.amax(0) if how == "max" else table.sum(0) / count

    return torch.stack(parallel_map(row, range(n), L * width, device))
