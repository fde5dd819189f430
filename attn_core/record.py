"""The record of one attention: q and k instead of the map, and every stage derived on demand."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.attribution import grad_weights
from attn_core.call import Call
from attn_core.checks import brief, check_cells, check_index, check_stage, check_tile, check_whole
from attn_core.compiling import between_graphs
from attn_core.derive import dead_rows, is_live, part_of_stage
from attn_core.engines.formulas import Engine, RowPair
from attn_core.masks import as_slice
from attn_core.source import Projection
from attn_core.stamps import Stamp, counting

Heads = tuple[range, range]  # some batches, some heads


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTrace(Call):
    """One attention, from which every number of every stage can be had again.

    >>> from attn_core import toy, trace
    >>> record = trace(*[toy.journey().x] * 3, scale=1.0)
    >>> record.tile("weights", slice(1, 2), slice(0, 3))
    tensor([[0.1385, 0.2379, 0.2333]])

    It costs O(T·D) memory: `row_max` and `row_sum` are the two numbers a row that turn any score
    into its weight, exp(masked − row_max)/row_sum. Those of a long head are computed when one of
    its weights is first asked for. The fields have 4 axes; `output`, `lse` and `stage` answer in
    the rank that was traced. Rabe and Staats, "Self-attention Does Not Need O(n²) Memory" (2021).

    Each answer is a copy that you may write into. A write into q, k, v or the mask's cells after
    the trace is noticed: the next question raises RuntimeError. torch does not count writes into
    tensors made under torch.inference_mode, so the record copies them: they take twice their
    memory and, from 512 tokens on, add less than a tenth to the trace's time. Other settings need
    another trace: dataclasses.replace raises ValueError. Taught in chapter 03.
    """

    output_4d: Float[Tensor, "B H L Dv"]  # what each query gets
    engine: Engine  # what derives the rest
    source: Projection | None = None  # where q, k and v come from, if that is known
    known: dict[Heads, tuple[Tensor, Tensor]] = field(default_factory=dict)  # row statistics
    stamp: Stamp = field(init=False)  # whether a tensor was written into since
    traced: dict[str, Any] = field(
        default_factory=dict
    )  # what all numbers belong to, for replace()

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

    def __deepcopy__(self, memo: dict) -> "AttentionTrace":
        """As through a file: without the graph of its gradients, of which torch makes no copy."""
        return pickle.loads(pickle.dumps(self))

    @property
    @between_graphs
    def row_max(self) -> Float[Tensor, "B H L"]:
        """The largest masked score of each row, 0 if it keeps nothing; without gradient."""
        return self._row_statistics(*self.everywhere)[0].clone()

    @property
    @between_graphs
    def row_sum(self) -> Float[Tensor, "B H L"]:
        """Σ exp(masked − row_max) of each row, 1 if it keeps nothing; without gradient."""
        return self._row_statistics(*self.everywhere)[1].clone()

    @property
    @between_graphs
    def output(self) -> Float[Tensor, "*lead L Dv"]:
        """What each query gets: its average of the values."""
        self.stamp.check(output=self.output_4d)
        return self.in_lead(self.output_4d.clone())

    @property
    @between_graphs
    def lse(self) -> Float[Tensor, "*lead L"]:
        """log Σ exp(masked) of each row; −inf for a row that keeps nothing.

        With gradients it goes through the whole map, and is refused above 2**26 cells.
        """
        statistics = self._row_statistics(*self.everywhere)
        dead = dead_rows(self, *statistics)
        if is_live(self):
            check_cells("masked", self.shape)
            masked = self._derive("masked", *self.everything)
            statistics = stages.row_statistics(masked, self.sinks_of(self.everywhere[1]))
        row_max, row_sum = statistics
        return self.in_lead(torch.where(dead, -torch.inf, row_max + torch.log(row_sum)))

    @between_graphs
    def stage(self, name: str) -> Float[Tensor, "*lead L cols"]:
        """A whole stage: scores, scaled, masked, weights, dropped [*, L, S] or output [*, L, Dv].

        >>> from attn_core import causal, toy, trace
        >>> trace(*[toy.notebook().x] * 3, keep=causal()).stage("masked")
        tensor([[4.9193,   -inf,   -inf],
                [4.0249, 3.5777,   -inf],
                [4.9193, 4.0249, 7.1554]])

        Refused above 2**26 cells: take `tile` or `pooled` then.
        """
        check_stage(name)
        if name == "output":
            self.check_unchanged()
            return self.output
        check_cells(name, self.shape)
        if name != "weights" or is_live(self):
            return self.in_lead(self._derive(name, *self.everything))
        self.check_unchanged()
        with torch.no_grad(), self._without_autocast():
            return self.in_lead(self.engine.weights(self))

    @between_graphs
    def tile(
        self,
        name: str,
        rows: slice | range,
        cols: slice | range,
        *,
        batch: int = 0,
        head: int = 0,
    ) -> Float[Tensor, "rows cols"]:
        """Some rows and columns of a stage of one head, at the cost of these cells.

        For "output" the columns are those of the values. Refused above 2**26 cells.
        """
        check_stage(name)
        b, h = self._one(batch, head)
        rows = check_range("rows", rows, self.size[0])
        cols = check_range("cols", cols, self.columns(name))
        check_tile(rows, cols)
        return self._derive(name, b, h, rows, cols)[0, 0]

    @between_graphs
    def pooled(
        self,
        name: str,
        shape: Sequence[int],
        how: str = "mean",
        *,
        batch: int = 0,
        head: int = 0,
    ) -> Float[Tensor, "rows cols"]:
        """An overview of a stage of one head: the mean or the max of blocks of cells.

        >>> from attn_core import toy, trace
        >>> trace(*[toy.journey().x] * 3).pooled("weights", (2, 2), "max")
        tensor([[0.2070, 0.1635],
                [0.1965, 0.1811]])

        shape: rows and columns of the overview. Block r of n holds rows r·L//n to (r+1)·L//n − 1.
        """
        check_stage(name)
        b, h = self._one(batch, head)
        shape = check_overview(shape, how, self.size[0], self.columns(name))

        def cells(rows: range, cols: range) -> Tensor:
            # Not in float16, whose sums overflow.
            return self._derive(name, b, h, rows, cols)[0, 0].to(self.float_type)

        self.check_unchanged()
        # The base class pools any cells, those with gradients, too.
        has_gradient = is_live(self) or (name == "output" and torch.is_grad_enabled())
        engine = Engine() if name == "output" or has_gradient else self.engine
        statistics = None
        if name in ("weights", "dropped") and not has_gradient:
            statistics = self._row_statistics(b, h)
        with self._without_autocast(), torch.set_grad_enabled(has_gradient):
            return engine.overview(
                self, name, (b.start, h.start), shape, how, statistics, derive=cells
            )

    @between_graphs
    def grad_weights(
        self,
        grad_output: Float[Tensor, "*lead L Dv"],
        rows: slice | range | None = None,
        cols: slice | range | None = None,
        *,
        batch: int | None = None,
        head: int | None = None,
    ) -> Float[Tensor, "*rows cols"]:
        """The gradient of a number with respect to the weights, from its gradient of the output.

        >>> from attn_core import toy, trace
        >>> x = toy.notebook().x.requires_grad_()
        >>> record = trace(x, x, x)
        >>> output = record.output
        >>> (grad_output,) = torch.autograd.grad(output[0].sum(), output)
        >>> record.grad_weights(grad_output)
        tensor([[7., 6., 8.],
                [0., 0., 0.],
                [0., 0., 0.]])

        grad_output: of that number, with respect to `output` [*lead, L, Dv].
        rows, cols, batch, head: a tile [rows, cols] of one head, as in `tile`; without any of them
            it is whole, [*lead, L, S]. Refused above 2**26 cells.

        No map has to be made in the forward pass: the output is dropped · V, so the gradient is
        grad_output · Vᵀ, and 0 for a weight that was dropped. Mask, bias, softcap and sinks make no
        difference to it. What torch dropped while `watch` looked on is not known, so call
        model.eval() before. ValueError if the shape is not that of the output. Taught in
        chapter 10.
        """
        return self._attribution(grad_output, (rows, cols, batch, head), times_weights=False)

    @between_graphs
    def attribution(
        self,
        grad_output: Float[Tensor, "*lead L Dv"],
        rows: slice | range | None = None,
        cols: slice | range | None = None,
        *,
        batch: int | None = None,
        head: int | None = None,
    ) -> Float[Tensor, "*rows cols"]:
        """Weights times their gradient: how much each weight adds to a number, to first order.

        >>> from attn_core import toy, trace
        >>> x = toy.notebook().x.requires_grad_()
        >>> record = trace(x, x, x)
        >>> output = record.output
        >>> (grad_output,) = torch.autograd.grad(output[0].sum(), output)
        >>> record.attribution(grad_output).sum(), output[0].sum().detach()
        (tensor(7.2454), tensor(7.2454))

        Arguments, shapes and errors are those of `grad_weights`. Each row sums to its output times
        grad_output. Chefer, Gur and Wolf, "Generic Attention-model Explainability for Interpreting
        Bi-Modal and Encoder-Decoder Transformers" (2021), average its positive part over the heads.
        Taught in chapter 10.
        """
        return self._attribution(grad_output, (rows, cols, batch, head), times_weights=True)

    def _attribution(
        self,
        grad_output: Tensor,
        asked: tuple[slice | range | None, slice | range | None, int | None, int | None],
        *,
        times_weights: bool,
    ) -> Tensor:
        is_whole = asked == (None, None, None, None)
        part = self.everything
        if not is_whole:
            rows, cols = (slice(None) if part is None else part for part in asked[:2])
            L, S = self.size
            tile = check_range("rows", rows, L), check_range("cols", cols, S)
            part = *self._one(asked[2] or 0, asked[3] or 0), *tile
        self.check_unchanged()
        with torch.no_grad(), self._without_autocast():
            cells = grad_weights(self, grad_output, part)
            if times_weights:
                cells = cells * self._derive("weights", *part)
        return self.in_lead(cells) if is_whole else cells[0, 0]

    def _one(self, batch: int, head: int) -> Heads:
        b = check_index("batch", batch, self.shape[0])
        h = check_index("head", head, self.shape[1])
        return range(b, b + 1), range(h, h + 1)

    def _derive(self, name: str, batches: range, heads: range, rows: range, cols: range) -> Tensor:
        """Any part of a stage, [B, H, rows, cols], from its rows of q and of k."""
        self.check_unchanged()
        part = batches, heads, rows, cols
        if name == "output" and not (torch.is_grad_enabled() and self.output_4d.requires_grad):
            # It is stored; derived, a row of it would cost all S cells of its map.
            self.stamp.check(output=self.output_4d)
            return self.output_4d.detach()[tuple(map(as_slice, part))].clone()
        with self._without_autocast():
            return part_of_stage(self, self.engine, name, part, self._row_statistics)

    def _row_statistics(self, batches: range, heads: range) -> RowPair:
        """row_max and row_sum of some heads, stored; computed when they are first asked for."""
        if self.everywhere in self.known:
            row_max, row_sum = self.known[self.everywhere]
            part = as_slice(batches), as_slice(heads)
            return row_max[part], row_sum[part]
        if (batches, heads) not in self.known:
            self.check_unchanged()
            with torch.no_grad(), self._without_autocast():
                self.known[batches, heads] = self.engine.row_statistics(self, batches, heads)
        return self.known[batches, heads]

    def _without_autocast(self) -> torch.autocast:
        return torch.autocast(self.q.device.type, enabled=False)

    def __repr__(self) -> str:
        B, H, L, S = self.shape
        sizes = f"B={B}, H={H}, L={L}, S={S}, D={self.q.shape[-1]}, Dv={self.v.shape[-1]}"
        if self.group > 1:
            sizes += f", heads of keys={self.k.shape[1]}"
        how = f"scale={self.scale:.4g}, keep={self.keep}, dropout={self.dropout}"
        more = {"bias": self.bias, "softcap": self.softcap}
        how += "".join(f", {name}={value}" for name, value in more.items() if value is not None)
        how += "" if self.sinks is None else f", sinks={self.sinks.shape[0]}"
        return f"AttentionTrace({sizes}, {how}, {self.q.dtype})"


def check_not_replaced(fields: Mapping[str, Any], traced: Mapping[str, Any]) -> None:
    """A record that dataclasses.replace makes has the output of the old one."""
    for name, value in traced.items():
        if fields[name] is not value:
            raise ValueError(
                f"{name} must stay as it was when it was traced, got another one from replace(): "
                "call trace() with it instead"
            )


def check_range(name: str, part: slice | range, size: int) -> range:
    """The indices of a slice or range of an axis of this size; at least one, rising, inside it."""
    if isinstance(part, slice):
        for end in (part.start, part.stop, part.step):
            if end is not None and not isinstance(end, Integral):
                raise TypeError(f"{name} must be a slice of whole numbers, got {part}")
        indices = range(*part.indices(size)) if part.step != 0 else range(0, 0, -1)
    elif isinstance(part, range):
        indices = part
    else:
        raise TypeError(f"{name} must be a slice or a range, got {type(part).__name__}")
    if indices.step < 0:
        raise ValueError(f"{name} must have a step of at least 1, got {part}")
    if len(indices) == 0:
        raise ValueError(f"{name} must name at least one of {size}, got {part}")
    if min(indices) < 0 or max(indices) >= size:
        raise ValueError(f"{name} must lie between 0 and {size - 1}, got {part}")
    return indices


def check_overview(shape: Sequence[int], how: str, rows: int, cols: int) -> tuple[int, int]:
    if how not in ("mean", "max"):
        raise ValueError(f"how must be 'mean' or 'max', got {brief(how)}")
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise TypeError(f"shape must be two whole numbers, got {brief(shape)}")
    if len(shape) != 2:
        raise ValueError(f"shape must be two whole numbers, got {len(shape)} of them")
    sizes = []
    for name, size, most in (("rows", shape[0], rows), ("columns", shape[1], cols)):
        sizes.append(check_whole(f"{name} of shape", size, least=1))
        if size > most:
            raise ValueError(f"{name} of shape must be at most {most}, got {size}")
    return sizes[0], sizes[1]
