"""Any part of a map, in torch's operations: what a record's tiles are made of."""

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.hiding import hide_, strips
from attn_core.masks import Keep


def cells(
    queries: Float[Tensor, "b h rows D"],
    keys: Float[Tensor, "b h cols D"],
    statistics: tuple[Float[Tensor, "b h rows"], Float[Tensor, "b h rows"]] | None,
    keep: Keep | None,
    scale: float,
    name: str,
    part: tuple[range, range, range, range],
    size: tuple[int, int],
) -> Float[Tensor, "b h rows cols"]:
    """Scores, scaled, masked or weights, in place, as nobody else holds the cells yet.

    statistics: row_max and row_sum of the rows, for weights. part: the batches, heads, rows and
    columns of the cells in a map of `size` (L, S).
    """
    if name in ("scores", "scaled"):
        found = stages.scores(queries, keys)
        return found if name == "scores" else found.mul_(scale)
    batches, heads, rows, cols = part
    least = -torch.inf if statistics is None else 0.0
    found = queries.new_full(tuple(map(len, part)), least)
    for strip, seen in strips(keep, rows, cols, size):
        inside = batches, heads, rows[strip], cols[seen]
        block = stages.scores(queries[:, :, strip], keys[:, :, seen]).mul_(scale)
        if statistics is None:
            found[:, :, strip, seen] = hide_(block, keep, inside, size)
            continue
        row_max, row_sum = (one[:, :, strip, None] for one in statistics)
        # Hidden only after exp, which is slow at −inf; of a hidden score it may be infinite.
        hide_(block.sub_(row_max).exp_(), keep, inside, size, least)
        torch.div(block, row_sum, out=found[:, :, strip, seen])
    return found
