"""The masks of a model, read once each: one of them often serves all layers."""

from collections.abc import Sequence
from functools import reduce
from math import prod
from operator import add, and_

import torch
from torch import Tensor

from attn_core.bias import Bias, Part
from attn_core.call import Call
from attn_core.masks import Keep
from attn_core.recognising import hidden_and_rest, recognise, recognise_bias
from attn_core.watching.tracked import geometry

Place = tuple[int, int, range]  # a batch, a head and its rows

ABSORBS = -1e8  # added to a score in float32, a number from here down leaves nothing of it


class Masks:
    """What was read of masks, for as long as their tensors live and stay as they are."""

    def __init__(self) -> None:
        self.known: dict[tuple, tuple] = {}
        self.rows: dict[tuple, Tensor] = {}

    def read(
        self,
        hidden: Sequence[tuple[Tensor, float]],
        added: Sequence[Tensor],
        shape: tuple[int, ...],
    ) -> tuple[Keep | None, Bias | None]:
        """The rule or cells of all of them, and what they add.

        hidden: tables that are True where a score is hidden, with the number that was put there.
        """
        tables = *(table for table, _ in hidden), *added
        if not tables:
            return None, None
        key = shape, *map(identity, tables), *(value for _, value in hidden)
        if None in key:
            return joined(hidden, added, shape)
        if key not in self.known:
            # The tables are kept beside what they say, so that no other gets their address.
            self.known[key] = joined(hidden, added, shape), tables
        return self.known[key][0]

    def hidden(self, call: Call, places: Sequence[Place]) -> Tensor | None:
        """What the mask of a call hides in these places, [n, rows, S]; True is hidden."""
        keep = call.keep
        if keep is None:
            return None
        key = keep, call.size, call.q.device, *places
        hidden = self.rows.get(key)
        if hidden is None:
            tiles = [call.keep_of(part) for part in parts_of(call, places)]
            hidden = ~torch.cat([tile for tile in tiles if tile is not None])[:, 0]
            if keep.cells is None and len(places) > 1:
                self.rows[key] = hidden
        return hidden


def parts_of(call: Call, places: Sequence[Place]) -> list[Part]:
    """Whole rows of a map."""
    keys = range(call.size[1])
    return [(range(b, b + 1), range(h, h + 1), rows, keys) for b, h, rows in places]


def identity(table: Tensor) -> tuple | None:
    """Equal for the same numbers in the same place; None if writes into it are not counted."""
    if table.is_inference():
        return None
    return table.untyped_storage()._cdata, table._version, geometry(table)


def joined(
    hidden: Sequence[tuple[Tensor, float]], added: Sequence[Tensor], shape: tuple[int, ...]
) -> tuple[Keep | None, Bias | None]:
    biases = []
    masks = [(table, filled_with(value)) for table, value in hidden]
    for table in added:
        cells, rest = hidden_and_rest(table)
        if cells is not None:
            masks.append((cells, table))
        if rest is not None:
            biases.append(in_axes(rest, shape))
    keep = None
    if masks:
        cells = reduce(and_, (~table for table, _ in masks))
        cells = in_rank(cells, shape)
        if any(bool((level > -torch.inf).any()) for _, level in masks):
            cells, levels = opened(cells, masks, shape)
            biases += levels
        keep = recognise(cells, prod(shape[:-3] if len(shape) > 3 else shape[:-2]))
    if not biases:
        return keep, None
    visible = cells if masks else None
    heads = shape[-3] if len(shape) > 3 else 1
    return keep, recognise_bias(reduce(add, biases), visible, heads)


def filled_with(value: float) -> Tensor:
    """What was put in the place of a score, as a number that leaves nothing of it if added."""
    return torch.tensor(value if value < ABSORBS else value * 1e26)


def opened(
    cells: Tensor, masks: Sequence[tuple[Tensor, Tensor]], shape: tuple[int, ...]
) -> tuple[Tensor, list[Tensor]]:
    """Rows hidden entirely by finite numbers: softmax prefers what was hidden least."""
    dead = ~cells.any(-1, keepdim=True)
    if not bool(dead.any()):
        return cells, []
    zero = torch.zeros((), device=cells.device)
    levels = [
        in_rank(torch.where(table, level.to(table.device).float(), zero), shape)
        for table, level in masks
    ]
    level = torch.where(dead, reduce(add, levels), zero)
    is_open = dead & (level > -torch.inf)
    level = torch.where(is_open, level, zero)
    return cells | is_open, [level]


def in_rank(cells: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Of the caller's axes to [#B, #H, L, S]."""
    return in_axes(cells, shape).expand(-1, -1, *shape[-2:])


def in_axes(table: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same, where an axis that makes no difference stays of size 1."""
    table = table.reshape((1,) * (len(shape) - table.ndim) + tuple(table.shape))
    return table if table.ndim == 4 else table[None, None] if table.ndim == 2 else table[:, None]
