"""The record of one attention: q and k instead of the map, and every stage derived on demand."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.checks import (
    check_cells,
    check_index,
    check_overview,
    check_range,
    check_stage,
    check_tile,
    check_unchanged,
    version_of,
)
from attn_core.compiling import between_graphs
from attn_core.dropout import Dropout
from attn_core.masks import Keep, of_heads
from attn_core.pooling import pool
from attn_core.precision import float_type, widened
from attn_core.source import Projection

TILE_CELLS = 2**22
RowPair = tuple[Float[Tensor, "b h L"], Float[Tensor, "b h L"]]
Heads = tuple[range, range]


@dataclass(frozen=True)
class Kernel:
    """What computes for a record, as its tensors' device wants it; all but `forward`
    without gradient.

    forward(q, k, v, keep, scale, dropout, given): output, and row_max and row_sum or None.
    row_statistics(q, k, keep, scale, batches, heads): row_max and row_sum of some heads.
    cells(queries, keys, statistics, keep, scale, name, part, size): any part of a stage, scores to
        weights, from its rows of q and of k and, for weights, of row_max and row_sum.
    weights(q, k, keep, scale): those of all heads; None: as cells.
    pooled(q, k, statistics, keep, scale, dropout, name, shape, how, batch, head): the overview of a
        stage, scores to dropped; None: from the cells.
    """

    forward: Callable[..., tuple[Float[Tensor, "B H L Dv"], RowPair | None]]
    row_statistics: Callable[..., RowPair]
    cells: Callable[..., Float[Tensor, "b h rows cols"]]
    weights: Callable[..., Float[Tensor, "B H L S"]] | None = None
    pooled: Callable[..., Float[Tensor, "rows cols"]] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTrace:
    """One attention, from which every number of every stage can be had again.

    >>> from attn_core import toy, trace
    >>> record = trace(*[toy.journey().x] * 3, scale=1.0)
    >>> record.tile("weights", slice(1, 2), slice(0, 3))
    tensor([[0.1385, 0.2379, 0.2333]])

    It costs O(T·D) memory: `row_max` and `row_sum` are the two numbers a row that turn any score
    into its weight, exp(masked − row_max)/row_sum. Those of a long head are computed when one of
    its weights is first asked for. The fields have 4 axes; `output`, `lse` and `stage` answer in
    the rank that was traced. Rabe and Staats, "Self-attention Does Not Need O(n²) Memory" (2021).
    Taught in chapter 03.
    """

    q: Float[Tensor, "B H L D"]  # the queries
    k: Float[Tensor, "B H S D"]  # the keys
    v: Float[Tensor, "B H S Dv"]  # the values
    keep: Keep | None  # what each query may see; None: everything
    scale: float  # what the scores are multiplied by
    dropout: Dropout | None  # which weights survive; None: all
    output_4d: Float[Tensor, "B H L Dv"]  # what each query gets
    lead: tuple[int, ...]  # the caller's axes before [L, D]
    kernel: Kernel  # what derives the row statistics, and all weights at once
    source: Projection | None = None  # where q, k and v come from, if that is known
    versions: dict = field(default_factory=dict)  # how often each tensor had been written in place
    known: dict[Heads, RowPair] = field(default_factory=dict)  # row statistics computed so far

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(B, H, L, S)."""
        return *self.q.shape[:3], self.k.shape[2]

    def columns(self, stage: str) -> int:
        """How many columns a stage has: S keys, or Dv value columns for "output"."""
        return self.v.shape[-1] if stage == "output" else self.k.shape[2]

    def check_unchanged(self) -> None:
        """Raises one sentence if q, k or v was written in place since it was traced."""
        check_unchanged({"q": self.q, "k": self.k, "v": self.v}, self.versions)

    def check_source_unchanged(self) -> None:
        """The same for what q, k and v were made from, as a training step changes its matrices."""
        self.check_unchanged()
        if self.source is not None:
            check_unchanged(self.source.tensors(), self.versions)

    def _check_output(self) -> None:
        self.check_unchanged()
        check_unchanged({"output": self.output_4d}, self.versions)

    def __getstate__(self) -> dict:
        """For copies and files."""
        self._check_output()
        self.check_source_unchanged()
        return dict(vars(self))

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        # The tensors of a copy count from their own beginning.
        vars(self)["versions"] = versions_of(self.q, self.k, self.v, self.output_4d, self.source)

    def __deepcopy__(self, memo: dict) -> "AttentionTrace":
        """As through a file: without the graph of its gradients, of which torch makes no copy."""
        return pickle.loads(pickle.dumps(self))

    @property
    @between_graphs
    def row_max(self) -> Float[Tensor, "B H L"]:
        """The largest masked score of each row, 0 if it keeps nothing; without gradient."""
        return self._row_statistics(*everything(self.q))[0].clone()

    @property
    @between_graphs
    def row_sum(self) -> Float[Tensor, "B H L"]:
        """Σ exp(masked − row_max) of each row, 1 if it keeps nothing; without gradient."""
        return self._row_statistics(*everything(self.q))[1].clone()

    @property
    def float_type(self) -> torch.dtype:
        """The dtype in which stages are computed: that of q, float32 at least."""
        return float_type(self.q)

    @property
    def output(self) -> Float[Tensor, "*lead L Dv"]:
        """What each query gets: its average of the values."""
        return self.output_4d.reshape(*self.lead, *self.output_4d.shape[2:])

    @property
    @between_graphs
    def lse(self) -> Float[Tensor, "*lead L"]:
        """log Σ exp(masked) of each row; −inf for a row that keeps nothing.

        With gradients it goes through the whole map, and is refused above 2**26 cells.
        """
        if self._is_live():
            check_cells("masked", self.shape)
            masked = self._derive("masked", *map(range, self.shape))
            row_max, row_sum = stages.row_statistics(masked)
        else:
            row_max, row_sum = self._row_statistics(*everything(self.q))
        lse = row_max + torch.log(row_sum)
        lse = torch.where(self._dead_rows(), -torch.inf, lse)
        return lse.reshape(*self.lead, lse.shape[-1])

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
            self._check_output()
            return self.output
        L, S = self.shape[2:]
        check_cells(name, self.shape)
        cells = self._all_weights() if name == "weights" and not self._is_live() else None
        if cells is None:
            cells = self._derive(name, *map(range, self.shape))
        return cells.reshape(*self.lead, L, S)

    def _all_weights(self) -> Float[Tensor, "B H L S"] | None:
        """Those of all heads, made at once; None: the kernel has no way to."""
        if self.kernel.weights is None:
            return None
        self.check_unchanged()
        with torch.no_grad(), torch.autocast(self.q.device.type, enabled=False):
            return self.kernel.weights(self.q, self.k, self.keep, self.scale)

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
        rows = check_range("rows", rows, self.shape[2])
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
        L, S = self.shape[2:]
        width = self.columns(name)
        shape = check_overview(shape, how, L, width)
        overview = None if name == "output" or self._is_live() else self.kernel.pooled
        if overview is not None:
            self.check_unchanged()
            given = self.q, self.k, self._statistics_for(name, b, h)
            settings = self.keep, self.scale, self.dropout
            return overview(*given, *settings, name, shape, how, b.start, h.start)

        def cells(rows: range, cols: range) -> Tensor:
            # Not in float16, whose sums overflow.
            return self._derive(name, b, h, rows, cols)[0, 0].to(self.float_type)

        seen = None
        if self.keep is not None and name in ("weights", "dropped"):
            seen = partial(self.keep.visible, shape=(L, S))
        return pool(cells, (L, width), shape, how, seen, self.q.device)

    def _one(self, batch: int, head: int) -> tuple[range, range]:
        b = check_index("batch", batch, self.shape[0])
        h = check_index("head", head, self.shape[1])
        return range(b, b + 1), range(h, h + 1)

    def _derive(self, name: str, batches: range, heads: range, rows: range, cols: range) -> Tensor:
        """Any part of a stage, [B, H, rows, cols], from its rows of q and of k."""
        self.check_unchanged()
        with torch.autocast(self.q.device.type, enabled=False):
            return self._cells(name, batches, heads, rows, cols)

    def _cells(self, name: str, batches: range, heads: range, rows: range, cols: range) -> Tensor:
        part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
        if name == "output" and not (torch.is_grad_enabled() and self.output_4d.requires_grad):
            # It is stored; derived, a row of it would cost all S cells of its map.
            self._check_output()
            return self.output_4d.detach()[part][:, :, as_slice(rows), as_slice(cols)]
        keys = range(self.shape[3]) if name == "output" else cols
        found = self._up_to_weights(name, batches, heads, rows, keys)
        if name not in ("dropped", "output"):
            return found
        if self.dropout is not None:
            survives = self.dropout.survives(batches, heads, rows, keys, self.q.device)
            found = stages.dropped(found, survives, self.dropout.p)
        if name == "dropped":
            return found
        v = self.v[part][..., as_slice(cols)]
        return stages.output(found, v.to(found.dtype)).to(self.v.dtype)

    def _up_to_weights(self, name, batches, heads, rows, cols) -> Tensor:
        """Scores, scaled, masked, or else weights."""
        if self._is_live():
            return self._by_formulas(name, batches, heads, rows, cols)
        queries, keys = self._rows(batches, heads, rows, cols)
        statistics = self._statistics_for(name, batches, heads)
        if statistics is not None:
            row_max, row_sum = (one[:, :, as_slice(rows)] for one in statistics)
            statistics = row_max, row_sum
        settings, part = (self.keep, self.scale, name), (batches, heads, rows, cols)
        return self.kernel.cells(queries, keys, statistics, *settings, part, self.shape[2:])

    def _statistics_for(self, name: str, batches: range, heads: range) -> RowPair | None:
        """Those of some heads, if a stage takes them."""
        if name in ("scores", "scaled", "masked"):
            return None
        return self._row_statistics(batches, heads)

    def _rows(self, batches, heads, rows, cols) -> tuple[Tensor, Tensor]:
        """The rows of q and of k from which a part of the map follows."""
        part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
        q, k = self.q[part][:, :, as_slice(rows)], self.k[part][:, :, as_slice(cols)]
        return widened(q), widened(k)

    def _by_formulas(self, name, batches, heads, rows, cols) -> Tensor:
        """The formulas one after the other, for gradients."""

        def scaled(cols: range) -> Tensor:
            scores = stages.scores(*self._rows(batches, heads, rows, cols))
            return scores if name == "scores" else stages.scaled(scores, self.scale)

        def masked(cols: range) -> Tensor:
            kept = None
            if self.keep is not None:
                tile = self.keep.tile(rows, cols, self.shape[2:], self.q.device)
                kept = of_heads(tile, batches, heads)
            return stages.masked(scaled(cols), kept)

        if name in ("scores", "scaled"):
            return scaled(cols)
        if name == "masked":
            return masked(cols)
        # Stored statistics are constants: through them the gradients would be silently off.
        return stages.weights(masked(cols), *stages.row_statistics(masked(range(self.shape[3]))))

    def _is_live(self) -> bool:
        """Whether weights that are derived now can be asked for gradients."""
        return torch.is_grad_enabled() and (self.q.requires_grad or self.k.requires_grad)

    def _row_statistics(self, batches: range, heads: range) -> RowPair:
        """row_max and row_sum of some heads, stored; computed when they are first asked for."""
        if everything(self.q) in self.known:
            part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
            row_max, row_sum = self.known[everything(self.q)]
            return row_max[part], row_sum[part]
        if (batches, heads) not in self.known:
            self.check_unchanged()
            with torch.no_grad(), torch.autocast(self.q.device.type, enabled=False):
                settings = self.keep, self.scale, batches, heads
                self.known[batches, heads] = self.kernel.row_statistics(self.q, self.k, *settings)
        return self.known[batches, heads]

    def _dead_rows(self) -> Tensor:
        """True for each row [B, H, L] that keeps nothing."""
        dead = (self.row_max == 0) & (self.row_sum == 1)
        if self.keep is None:
            return torch.zeros_like(dead)
        L, S = self.shape[2:]
        step = max(1, TILE_CELLS // S)
        for start in range(0, L, step):
            suspects = dead[..., start : start + step]
            if suspects.any():
                rows = range(start, min(start + step, L))
                kept = self.keep.tile(rows, range(S), (L, S), self.q.device).any(-1)
                suspects &= ~kept
        return dead

    def __repr__(self) -> str:
        B, H, L, S = self.shape
        sizes = f"B={B}, H={H}, L={L}, S={S}, D={self.q.shape[-1]}, Dv={self.v.shape[-1]}"
        how = f"scale={self.scale:.4g}, keep={self.keep}, dropout={self.dropout}"
        return f"AttentionTrace({sizes}, {how}, {self.q.dtype})"


def as_slice(part: range) -> slice:
    return slice(part.start, part.stop, part.step)


def everything(q: Tensor) -> Heads:
    """All batches and all heads."""
    return range(q.shape[0]), range(q.shape[1])


def versions_of(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    output: Tensor,
    source: Projection | None,
) -> dict[str, int | None]:
    """How often each tensor of a record has been written in place."""
    tensors = {"q": q, "k": k, "v": v, "output": output}
    if source is not None:
        tensors |= source.tensors()
    return {name: version_of(tensor) for name, tensor in tensors.items()}
