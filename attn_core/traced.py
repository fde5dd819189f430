"""One attention after it was computed: what it was asked, what it gave, what derives the rest."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.call import Call, Part
from attn_core.derive import part_of_stage
from attn_core.engines.formulas import Engine, RowPair
from attn_core.masks import as_slice
from attn_core.source import Projection
from attn_core.stamps import Stamp, counting

Heads = tuple[range, range]  # some batches, some heads


@dataclass(frozen=True, eq=False, repr=False)
class Traced(Call):
    """A call with its output, its engine, and the stamps of its tensors; `record` asks it."""

    output_4d: Float[Tensor, "B H L Dv"]  # what each query gets
    engine: Engine  # what derives the rest
    source: Projection | None = None  # where q, k and v come from, if that is known
    known: dict[Heads, tuple[Tensor, Tensor]] = field(default_factory=dict)  # row statistics
    stamp: Stamp = field(init=False)  # whether a tensor was written into since
    traced: dict[str, Any] = field(default_factory=dict)  # what all belongs to, for replace()

    def __post_init__(self) -> None:
        if self.traced:
            object.__setattr__(self, "stamp", self.traced["stamp"])
            check_not_replaced(vars(self), self.traced)
            return
        object.__setattr__(self, "stamp", Stamp(**self._own_copies()))
        # Not who computes, nor what was stored on the way: no number depends on them.
        others = ("engine", "known", "traced")
        self.traced.update((name, x) for name, x in vars(self).items() if name not in others)

    def _own_copies(self) -> dict[str, Tensor]:
        """All that a record holds, which counts its writes from now on."""
        made_from = {} if self.source is None else self.source.tensors()
        tensors = {**self._inputs(), "output": self.output_4d, **made_from}
        if not any(tensor.is_inference() for tensor in tensors.values()):
            return tensors
        for name in ("q", "k", "v", "output_4d"):
            object.__setattr__(self, name, counting(getattr(self, name)))
        added = self.with_added(**{name: counting(x) for name, x in self.added().items()})
        object.__setattr__(self, "bias", added.bias)
        object.__setattr__(self, "sinks", added.sinks)
        if self.source is not None:
            object.__setattr__(self, "source", self.source.each(counting))
        if self.keep is not None and self.keep.cells is not None:
            object.__setattr__(self, "keep", replace(self.keep, cells=counting(self.keep.cells)))
        return self._own_copies()

    def _inputs(self) -> dict[str, Tensor]:
        """The tensors that each number follows from, by names that an error can use."""
        inputs = {"q": self.q, "k": self.k, "v": self.v} | self.added()
        if self.keep is not None and self.keep.cells is not None:
            inputs["keep"] = self.keep.cells
        return inputs

    def check_unchanged(self) -> None:
        """Raises one sentence if q, k, v or keep was written in place since it was traced."""
        self.stamp.check(**self._inputs())

    def check_source_unchanged(self) -> None:
        """The same for what q, k and v were made from, as a training step changes its matrices."""
        self.check_unchanged()
        if self.source is not None:
            self.stamp.check(**self.source.tensors())

    def __getstate__(self) -> dict:
        """For copies and files."""
        self.check_source_unchanged()
        self.stamp.check(output=self.output_4d)
        return vars(self) | {"traced": {}}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        # The tensors of a copy count from their own beginning.
        self.__post_init__()

    def __deepcopy__(self, memo: dict) -> "Traced":
        """As through a file: without the graph of its gradients, of which torch makes no copy."""
        return pickle.loads(pickle.dumps(self))

    def derive(self, name: str, part: Part) -> Float[Tensor, "b h rows cols"]:
        """Any part of a stage, from its rows of q and of k."""
        self.check_unchanged()
        if name == "output" and not (torch.is_grad_enabled() and self.output_4d.requires_grad):
            # It is stored; derived, a row of it would cost all S cells of its map.
            self.stamp.check(output=self.output_4d)
            return self.output_4d.detach()[tuple(map(as_slice, part))].clone()
        with self.without_autocast():
            return part_of_stage(self, self.engine, name, part, self.row_statistics)

    def row_statistics(self, batches: range, heads: range) -> RowPair:
        """row_max and row_sum of some heads, stored; computed when they are first asked for."""
        if self.everywhere in self.known:
            row_max, row_sum = self.known[self.everywhere]
            part = as_slice(batches), as_slice(heads)
            return row_max[part], row_sum[part]
        if (batches, heads) not in self.known:
            self.check_unchanged()
            with torch.no_grad(), self.without_autocast():
                self.known[batches, heads] = self.engine.row_statistics(self, batches, heads)
        return self.known[batches, heads]

    def without_autocast(self) -> torch.autocast:
        """In which all is derived: lower precision is the caller's to choose, by q's dtype."""
        return torch.autocast(self.q.device.type, enabled=False)


def check_not_replaced(fields: Mapping[str, Any], traced: Mapping[str, Any]) -> None:
    """A record that dataclasses.replace makes has the output of the old one."""
    for name, value in traced.items():
        if fields[name] is not value:
            raise ValueError(
                f"{name} must stay as it was when it was traced, got another one from replace(): "
                "call trace() with it instead"
            )
