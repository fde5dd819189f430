"""Tables of cells as rules: a mask or a bias that a model wrote out, read back."""

from itertools import product
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core.bias import Bias
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


def candidates(table: Bool[Tensor, "#B 1 L S"], batch: int) -> list[Keep]:
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
        "starts": starts.expand(batch).cpu().tolist() if bool((starts > 0).any()) else None,
        "lengths": stops.expand(batch).cpu().tolist() if bool((stops < S).any()) else None,
    }
    known = {name: tuple(numbers) for name, numbers in some.items() if numbers}
    rows: list[dict[str, Any]] = [{}, *({name: known[name]} for name in known)]
    if len(known) == 2:
        rows.append(known)
    rules = [Keep(**row, **band) for row, band in product(rows, bands)]
    # A band that ends before the query is what nobody writes, if lengths say the same.
    return sorted(rules, key=lambda keep: (keep.after or 0) < 0)


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


def recognise_bias(
    table: Float[Tensor, "#B #H #L #S"], visible: Bool[Tensor, "#B #H L S"] | None, heads: int
) -> Bias:
    """The rule that gives a table of added numbers wherever a query sees a key, or the table.

    >>> away = torch.arange(3) - torch.arange(3)[:, None]
    >>> recognise_bias(away[None, None] * 0.5, None, heads=2)
    relative(2, 5)
    >>> recognise_bias(away.abs()[None, None] * -0.5, None, heads=1)
    alibi(1,)

    Either rule depends on the distance of key and query alone. One with gradients stays a table.
    """
    L, S = table.shape[2:]
    if L == 1 or S == 1 or table.requires_grad:
        return Bias(table=table)
    seen = table.new_ones(1, dtype=torch.bool) if visible is None else visible
    reach = max(L, S) - 1
    column = torch.arange(S, device=table.device) - torch.arange(L, device=table.device)[:, None]
    column = column - (S - L) + reach
    # Of each distance the number that is visible somewhere; then whether it is so everywhere.
    cells = torch.where(seen, table, -torch.inf).amax(0).flatten(1)
    values = cells.new_full((len(cells), 2 * reach + 1), -torch.inf)
    values = values.scatter_reduce(1, column.flatten().expand(len(cells), -1), cells, "amax")
    if not bool((~seen | (values[:, column] == table)).all()):
        return Bias(table=table)
    values = values.expand(heads, -1)
    slopes = values[:, reach - 1].neg()
    distance = torch.arange(-reach, reach + 1, device=table.device).abs()
    if bool(((values == slopes[:, None] * -distance) | (values == -torch.inf)).all()):
        return Bias(slopes=slopes)
    return Bias(relative=values.where(values > -torch.inf, 0.0))
