"""A chain that ended in a product with values, read as the arguments of one attention."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from attn_core.watching.arguments import Arguments, in_two
from attn_core.watching.axes import (
    Axis,
    Labelled,
    Unreadable,
    aligned,
    length,
    sources,
)
from attn_core.watching.chain import Chain


@dataclass
class Places:
    """Where each axis of a record is among those of the scores."""

    lead: list[Axis]
    lead_of_keys: list[Axis]  # without the groups that share a head of keys
    query: Axis
    key: Axis
    queries: Labelled
    keys: Labelled


def places(chain: Chain) -> Places:
    """Which factor of the product is the keys: the one over whose rows the softmax went."""
    assert chain.softmax is not None
    axes = list(chain.softmax.axes)
    key = axes.pop(chain.softmax.over)
    if sources(key) == {"wide"} and chain.beside_sink is not None and not chain.has_sink:
        key = chain.beside_sink
    of_keys = "row" if sources(key) == {"row"} else "column"
    of_queries = "column" if of_keys == "row" else "row"
    if sources(key) - {of_keys}:
        raise Unreadable("its softmax goes over more than its keys")
    all_of_queries = [i for i, axis in enumerate(axes) if sources(axis) == {of_queries}]
    none = [i for i, axis in enumerate(axes) if not axis]
    query: Axis = ()
    if all_of_queries or none:
        query = axes.pop((all_of_queries or none)[-1])
    while len(axes) > 2 and sources(axes[-1]) == {of_queries}:
        axes[-2:] = [axes[-2] + axes[-1]]
    lead_of_keys = list(axes)
    if lead_of_keys:
        last = list(lead_of_keys[-1])
        while last and last[-1].source == of_queries:
            last.pop()
        lead_of_keys[-1] = tuple(last)
    *batch, row, column = chain.axes_at_first
    factors = {
        "row": Labelled(chain.left, (*batch, row)),
        "column": Labelled(chain.right.mT, (*batch, column)),
    }
    return Places(axes, lead_of_keys, query, key, factors[of_queries], factors[of_keys])


@dataclass
class Reading:
    """What the steps before a softmax add up to."""

    scale: float = 1.0
    softcap: float | None = None
    hidden: list[tuple[Labelled, float]] = field(default_factory=list)
    added: list[tuple[Labelled, float]] = field(default_factory=list)
    factors: list[Labelled] = field(default_factory=list)  # of single rows of q or of k
    is_shifted: bool = False  # by a number that softmax does not see

    def read(self, what: str, operand: Any, number: float) -> None:
        if what == "times":
            self.multiply(operand)
        elif what == "plus" and isinstance(operand, (int, float)):
            self.is_shifted = True
        elif what == "plus":
            self.added.append((operand, number))
        elif what == "hide":
            self.hidden.append((operand, number))
        elif what == "sink":
            if self.is_shifted or any(not table.axes[-1] for table, _ in self.added):
                raise Unreadable("its scores are moved before its sink is put beside them")
        elif self.softcap is not None or self.added or self.hidden or self.is_shifted:
            raise Unreadable("it has a mask or a bias inside its softcap")
        else:
            self.softcap = 1.0

    def multiply(self, operand: Any) -> None:
        if not isinstance(operand, (int, float)):
            if self.softcap is not None or self.added:
                raise Unreadable("it multiplies its scores by a table after adding to them")
            self.factors.append(operand)
            return
        if self.softcap is None:
            self.scale *= operand
        else:
            self.softcap *= operand
        self.added = [(table, number * operand) for table, number in self.added]
        if operand <= 0 and (self.hidden or self.added or self.softcap is not None):
            raise Unreadable("it multiplies masked or biased scores by a number below 0")


def arguments_of(chain: Chain, values: Labelled, heads: int | None) -> Arguments:
    """q, k, v and the rest, in the order [*lead, L, D]; Unreadable if a record cannot say it.

    heads: how many there are, for scores in which they are one axis with the batch.
    """
    at, reading = places(chain), Reading()
    for deed in chain.deeds:
        reading.read(*deed)
    scores = [*at.lead, at.query, at.key]
    lead = [length(axis) for axis in at.lead]
    q = aligned(at.queries, [*at.lead, at.query])
    k = aligned(at.keys, [*at.lead_of_keys, at.key])
    v = aligned(values, [*at.lead_of_keys, at.key])
    for factor in reading.factors:
        q, k = multiplied(q, k, aligned(factor, scores))
    q = q.expand(*lead, *q.shape[-2:])
    if lead:
        lead[-1] = length(at.lead_of_keys[-1])
        k, v = (tensor.expand(*lead, *tensor.shape[-2:]) for tensor in (k, v))
    softcap = reading.softcap
    tables = [(aligned(table, scores), number) for table, number in reading.added]
    sinks = None
    if chain.sink is not None:
        sinks = sinks_of(aligned(chain.sink, scores[:-1]).expand(q.shape[:-1]))
    arguments = Arguments(
        q, k, v,
        scale=reading.scale * (1.0 if softcap is None else softcap),
        hidden=tuple((aligned(mask, scores), number) for mask, number in reading.hidden),
        added=tuple(scaled(table, n) for table, n in tables if counts(table, k)),
        softcap=softcap,
        sinks=sinks,
        p=chain.dropout,
    )  # fmt: skip
    return in_two(arguments, heads)


def counts(table: Tensor, k: Tensor) -> bool:
    """Whether it changes a softmax, which ignores what is the same for all keys of a row."""
    return table.shape[-1] > 1 and k.shape[-2] > 1


def multiplied(q: Tensor, k: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
    """A factor of each query's scores belongs to q, one of each key's to k."""
    if factor.shape[-1] == 1:
        return q * factor.to(q.dtype), k
    if factor.shape[-2] == 1:
        return q, k * factor.mT.to(k.dtype)
    raise Unreadable("it multiplies its scores by a table")


def sinks_of(column: Tensor) -> Tensor:
    """One number a head, of a column [*lead, L]."""
    by_head = column[None] if column.ndim < 2 else column.reshape(-1, *column.shape[-2:])
    sinks = by_head[0, :, 0]
    if not bool((by_head == sinks[:, None]).all()):
        raise Unreadable("its sink is not one number a head")
    return sinks.float()


def scaled(table: Tensor, number: float) -> Tensor:
    """The table itself where it can be: one mask serves all layers, and is read once."""
    return table if number == 1 else table * number
