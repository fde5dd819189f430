"""Which heads attend differently in two runs."""

from collections.abc import Sequence
from typing import NamedTuple, overload

import torch

from attn_core.engines.tiles import parts
from attn_core.record import AttentionTrace
from attn_core.watching.captured import Captured
from attn_core.watching.seen import THE_MODEL, Seen, in_columns

CELLS = 2**22  # of a map at a time
ROWS = 20  # of a table


class Difference(NamedTuple):
    """By how much one head differs between two runs."""

    path: str
    head: int
    distance: float  # 0: the same weights; 1: no key in common


class Unlike(NamedTuple):
    """A module whose weights cannot be compared."""

    path: str
    why: str


class Comparison(Sequence[Difference]):
    """What `compare` gives: a sequence of (path, head, distance), printed as a table.

    The greatest distance is first. The table has the first 20; `comparison[:50]` has more.

    unlike: what could not be compared, as tuples (path, why).
    """

    def __init__(self, rows: Sequence[Difference], unlike: Sequence[Unlike]) -> None:
        self.rows = sorted(rows, key=lambda row: -row.distance)
        self.unlike = list(unlike)

    @overload
    def __getitem__(self, place: int) -> Difference: ...
    @overload
    def __getitem__(self, place: slice) -> list[Difference]: ...
    def __getitem__(self, place: int | slice) -> Difference | list[Difference]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        cells = [(path or THE_MODEL, str(head), f"{distance:.4f}")
                 for path, head, distance in self.rows[:ROWS]]  # fmt: skip
        lines = in_columns([("path", "head", "distance"), *cells])
        more = len(self) - ROWS
        lines += [f"and {more} more"] * (more > 0)
        lines += [f"not compared: {path or 'the model'} ({why})" for path, why in self.unlike]
        return "\n".join(lines)


def compare(seen: Seen, other: Seen) -> Comparison:
    """By how much the weights of each head differ between two runs.

    >>> import torch
    >>> from torch import nn
    >>> from attn_core import watch
    >>> from attn_core.watching import compare
    >>> model = nn.MultiheadAttention(4, 2, batch_first=True)
    >>> x, y = torch.linspace(-1, 1, 40).sin().view(2, 1, 5, 4)
    >>> with watch(model) as seen, torch.no_grad():
    ...     output = model(x, x, x)
    >>> with watch(model) as other, torch.no_grad():
    ...     output = model(y, y, y)
    >>> len(compare(seen, other)), compare(seen, seen)[0].distance
    (2, 0.0)

    seen, other: what `watch` gave, of one model on two inputs of equal size or of two models with
        the same paths. To be compared, a path must have the same number of heads, queries and keys
        in both.

    The distance is the total variation, ½ Σ |weight − other weight| over the keys, on average over
    queries and batch: the share of its weights that a head has moved to other keys. No map is made
    whole. A path that cannot be compared is listed with the reason; ValueError if none can.
    Taught in chapter 10.
    """
    for name, value in (("seen", seen), ("other", other)):
        if not isinstance(value, Seen):
            raise TypeError(f"{name} must be what watch gave, got {type(value).__name__}")
    rows, unlike = [], []
    for path in dict.fromkeys((*seen, *other)):
        ours, theirs = (of_path(each, path) for each in (seen, other))
        why = why_unlike(ours, theirs)
        if why:
            unlike.append(Unlike(path, why))
            continue
        pairs = [(a.record, b.record) for a, b in zip(ours, theirs, strict=True)]
        for head in range(ours[0].at_first.shape[1]):
            distances = [distance(a, b, head) for a, b in pairs]
            rows.append(Difference(path, head, sum(distances) / len(distances)))
    if not rows:
        path, why = unlike[0]
        raise ValueError(
            f"other must have an attention of the same size as seen, got none; {path!r}: {why}"
        )
    return Comparison(rows, unlike)


def of_path(seen: Seen, path: str) -> list[Captured]:
    return [one for one in seen.captured if one.path == path]


def why_unlike(ours: Sequence[Captured], theirs: Sequence[Captured]) -> str:
    """Nothing, if they can be compared."""
    if not ours or not theirs:
        return f"only {'seen' if ours else 'other'} has it"
    if len(ours) != len(theirs):
        return f"it attended {len(ours)} and {len(theirs)} times"
    for a, b in zip(ours, theirs, strict=True):
        if a.at_first.shape != b.at_first.shape:
            return f"its weights are {a.at_first.shape} and {b.at_first.shape}"
    heads = {one.at_first.shape[1] for one in ours}
    return "" if len(heads) == 1 else f"it attended with {sorted(heads)} heads"


def distance(record: AttentionTrace, other: AttentionTrace, head: int) -> float:
    """The total variation of one head, on average over batch and queries."""
    B, _, L, S = record.shape
    total = 0.0
    with torch.no_grad():
        for batch in range(B):
            for rows in parts(range(L), max(1, CELLS // S)):
                ours, theirs = (
                    each.tile("weights", rows, slice(None), batch=batch, head=head)
                    for each in (record, other)
                )
                total += (ours - theirs.to(ours)).abs().sum().item() / 2
    return total / (B * L)
