"""Tables of cells as rules: a mask or a bias that a model wrote out, read back."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core.masks import Keep, in_four_axes

HIDDEN = -1e4  # an added number from here down hides its cell: no weight is left in any dtype


def recognise(cells: Bool[Tensor, "..."], batch: int = 1) -> Keep | None:
    """The rule that gives a table of cells, or the cells themselves; None if they keep everything.

    >>> recognise(torch.ones(3, 5).tril(2).bool())
    causal()
    >>> recognise(torch.tensor([[[[True, True, False]]], [[[True, False, False]]]]), batch=2)
    padding([2, 1])
    >>> recognise(torch.tensor([[True, False, True]]))
    Dense(1, 1, 1, 3)

    cells: [#B, #H, L, S], or fewer axes; a rule is a band, starts and lengths that give every cell
    of it. batch: how many sequences there are, also where one table serves them all.
    """
    table = in_four_axes(cells)
    if table.shape[1] > 1 and bool((table == table[:, :1]).all()):
        table = table[:, :1]
    if table.shape[0] > 1 and bool((table == table[:1]).all()):
        table = table[:1]
    if bool(table.all()):
        return None
    if table.shape[1] == 1 and bool(table.any()):
        size = table.shape[2], table.shape[3]
        for rule in candidates(table, batch):
            made = rule.dense(*size, table.device)
            if bool((made == table).all()):
                return rule
    return Keep(cells=table.clone())


def candidates(table: Bool[Tensor, "#B 1 L S"], batch: int) -> Iterator[Keep]:
    """Rules that may give these cells, the shorter ones first."""
    L, S = table.shape[2:]
    position = torch.arange(S - L, S, device=table.device)[:, None]
    distance = (torch.arange(S, device=table.device) - position)[table.any(0)[0]]
    before, after = -int(distance.min()), int(distance.max())
    columns = table[:, 0].any(1).int()
    starts = columns.argmax(-1)
    stops = S - columns.flip(-1).argmax(-1)
    both = {"before": before, "after": after}
    bands: list[dict[str, Any]] = [{}, {"after": after}, both, {"before": before}]
    some = {
        "starts": starts.expand(batch).tolist() if bool((starts > 0).any()) else None,
        "lengths": stops.expand(batch).tolist() if bool((stops < S).any()) else None,
    }
    known = {
        name: tuple(numbers) for name, numbers in some.items() if numbers and name in vars(Keep())
    }
    rows: list[dict[str, Any]] = [{}, *({name: known[name]} for name in known)]
    if len(known) == 2:
        rows.append(known)
    for row, band in product(rows, bands):
        yield Keep(**row, **band)


def hidden_and_rest(
    table: Float[Tensor, "..."],
) -> tuple[Bool[Tensor, "..."] | None, Float[Tensor, "..."] | None]:
    """A table of numbers that are added: the cells that it hides, and what it adds to the others.

    >>> hidden_and_rest(torch.tensor([[0.0, -torch.inf], [0.5, 0.0]]))
    (tensor([[False,  True],
            [False, False]]), tensor([[0.0000, 0.0000],
            [0.5000, 0.0000]]))

    Either is None where there is none of it.
    """
    hidden = table <= HIDDEN
    if not bool(hidden.any()):
        return None, table if bool(table.any()) else None
    rest = table.masked_fill(hidden, 0.0)
    return hidden, rest if bool(rest.any()) else None
