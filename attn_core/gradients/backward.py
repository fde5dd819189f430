"""The record of one backward pass: every gradient of every stage, derived on demand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.arithmetic import Term
from attn_core.asking import check_overview, one_head, tile_of_head
from attn_core.bias import Bias
from attn_core.call import Part, with_four_axes
from attn_core.checks import (
    check_all_finite,
    check_cells,
    check_no_sample,
    check_stage,
    check_tensor,
    shape_of,
)
from attn_core.compiling import between_graphs
from attn_core.gradients.cells import BEHIND_SOFTMAX, STAGES, part_of_stage
from attn_core.gradients.inputs import of_source, of_tensors
from attn_core.gradients.lines import ROLES, SourceLines, workings
from attn_core.pooling import CELLS, pool
from attn_core.precision import upcast
from attn_core.stages_backward import row_dot
from attn_core.stamps import Stamp, counting
from attn_core.traced import Traced


@dataclass(frozen=True, eq=False, repr=False)
class AttentionGradients:
    """What flows back through one attention call, from the gradient of its output.

    >>> from attn_core import trace
    >>> q = torch.tensor([[3.0], [1.0]]).log()
    >>> k, v = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [4.0]])
    >>> record = trace(q, k, v, scale=1.0)
    >>> record.stage("weights")
    tensor([[0.2500, 0.7500],
            [0.5000, 0.5000]])
    >>> grads = record.gradients(torch.tensor([[2.0], [-2.0]]))
    >>> grads.stage("grad_scores")
    tensor([[-1.5000,  1.5000],
            [ 2.0000, -2.0000]])
    >>> grads.workings("grad_masked", 0, 1).written(0)
    'grad_masked[0, 1] = 0.7500 · (8 - 6.0000) = 1.5000'

    `AttentionTrace.gradients` makes it. The stages are those of the record, in the order in which
    the gradient passes them: grad_output, grad_dropped, grad_weights, grad_masked, grad_scaled,
    grad_scores. Each is the gradient with respect to the stage of that name. From grad_masked on,
    the gradient is exactly 0 for a hidden key and in a row that keeps nothing.

    It costs O(T·D) memory at any length: on its way back a softmax needs one number for each row,
    `row_dot` = grad_output · output, and the weights are derived from q and k again. Dao,
    "FlashAttention-2" (2023), algorithm 2.

    Numbers are computed in float32 at least and have the leading axes of the inputs to `trace`;
    each result is a copy. If the record lacks something, such as sinks, its gradient is None.
    Second derivatives are left to torch.autograd: no gradient flows through these numbers. If q, k,
    v or grad_output is written into, the next request raises RuntimeError. Taught in chapter 13.
    """

    record: Traced
    grad_output_4d: Float[Tensor, "B H L Dv"]
    stamp: Stamp = field(init=False)  # whether the gradient was written into since

    def __post_init__(self) -> None:
        object.__setattr__(self, "grad_output_4d", counting(self.grad_output_4d.detach()))
        object.__setattr__(self, "stamp", Stamp(grad_output=self.grad_output_4d))

    def __reduce__(self) -> tuple:
        """For copies and files."""
        self._check_unchanged()
        return AttentionGradients, (self.record, self.grad_output_4d)

    @classmethod
    def of(cls, record: Traced, grad_output: Tensor) -> "AttentionGradients":
        """From the gradient of the output in the caller's rank, checked."""
        check_grad_output(record, grad_output)
        return cls(record, with_four_axes(grad_output))

    @property
    @between_graphs
    def row_dot(self) -> Float[Tensor, "*lead L"]:
        """grad_output · output of each row, which is Σ weights · grad_weights."""
        self._check_unchanged()
        return self.record.in_lead(self._row_dot.clone())

    @property
    def grad_q(self) -> Float[Tensor, "*lead L D"]:
        """The gradient of the queries."""
        return self.record.in_lead(self._input("q"))

    @property
    def grad_k(self) -> Float[Tensor, "*lead S D"]:
        """The gradient of the keys, summed over the heads of the queries that share a key."""
        return self._in_lead_of_keys(self._input("k"))

    @property
    def grad_v(self) -> Float[Tensor, "*lead S Dv"]:
        """The gradient of the values, summed over the heads of the queries that share a value."""
        return self._in_lead_of_keys(self._input("v"))

    @property
    def grad_bias(self) -> Bias | None:
        """The gradient of each tensor that makes the bias: a table has four axes here."""
        bias = self.record.bias
        return (
            None if bias is None else Bias(**{name: self._input(name) for name in bias.tensors()})
        )

    @property
    def grad_sinks(self) -> Float[Tensor, "H"] | None:
        """The gradient of each head's sink."""
        return None if self.record.sinks is None else self._input("sinks")

    @property
    def grad_x(self) -> Float[Tensor, "*B T E"] | None:
        """The gradient of a source's x, through the queries, the keys and the values."""
        return self._source("x")

    @property
    def grad_w_query(self) -> Float[Tensor, "E HD"] | None:
        """The gradient of a source's matrix of the queries."""
        return self._source("w_query")

    @property
    def grad_w_key(self) -> Float[Tensor, "E HkvD"] | None:
        """The gradient of a source's matrix of the keys."""
        return self._source("w_key")

    @property
    def grad_w_value(self) -> Float[Tensor, "E HkvDv"] | None:
        """The gradient of a source's matrix of the values."""
        return self._source("w_value")

    @property
    def grad_biases(self) -> tuple[Tensor, Tensor, Tensor] | None:
        """The gradients of a source's biases, of query, key and value."""
        query, key, value = (self._source(f"bias_{role}") for role in ROLES.values())
        return None if query is None or key is None or value is None else (query, key, value)

    @between_graphs
    def stage(self, name: str) -> Float[Tensor, "*lead L cols"]:
        """A whole stage: [*, L, S], grad_output [*, L, Dv].

        Refused above 2**26 cells; use `tile` or `pooled` instead.
        """
        check_stage(name, STAGES)
        check_cells(name, self.record.shape)
        batches, heads, rows, _ = self.record.everything
        part = batches, heads, rows, range(self.record.columns(name))
        return self.record.in_lead(self._derive(name, part))

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

        For "grad_output" the columns are those of the values. Refused above 2**26 cells.
        """
        check_stage(name, STAGES)
        return self._derive(name, tile_of_head(self.record, name, rows, cols, batch, head))[0, 0]

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

        shape: rows and columns of the overview. Block r of n holds rows r·L//n to (r+1)·L//n − 1.
        """
        check_stage(name, STAGES)
        record = self.record
        b, h = one_head(record, batch, head)
        size = record.size[0], record.columns(name)
        shape = check_overview(shape, how, *size)
        seen = None
        # A maximum may be below the zeros that would be left out.
        if how == "mean" and record.keep is not None and name in BEHIND_SOFTMAX:
            seen = partial(record.keep.visible, shape=record.size)

        def cells(rows: range, cols: range) -> Tensor:
            return self._derive(name, (b, h, rows, cols))[0, 0]

        if name in BEHIND_SOFTMAX:  # once, before threads share the work
            cells(range(1), range(1))
        # Less at a time than in the forward pass: each cell is made of several stages.
        with torch.no_grad(), record.without_autocast():
            return pool(cells, size, shape, how, seen, record.q.device, CELLS // 32)

    @between_graphs
    def workings(
        self,
        name: str,
        row: int,
        col: int | None = None,
        *,
        batch: int | None = None,
        head: int | None = None,
    ) -> Term:
        """How one number is computed, as a tree down to grad_output, q, k and v.

        >>> from attn_core import toy, trace
        >>> x = toy.notebook().x
        >>> grads = trace(x, x, x, scale=1.0).gradients(torch.ones(3, 5))
        >>> print(grads.workings("grad_dropped", 0, 1))
        grad_dropped[0, 1] = 1·1 + 1·1 + 1·1 + 1·2 + 1·1 = 6
          grad_output[0] = (1, 1, 1, 1, 1)
          v[1] = (1, 1, 1, 2, 1)

        name: a stage, "row_dot" (row alone), "grad_q", "grad_k" or "grad_v". With a source, it can
            also be "grad_x", "grad_w_query", "grad_w_key" or "grad_w_value", or "grad_bias_query",
            "grad_bias_key" or "grad_bias_value", for which row is the bias's column.
        batch, head: needed if there are several; for grad_k and grad_v, `head` is a head of the
            keys.

        Everything is computed in float64 from the stored numbers. The lines of the forward pass are
        those of `attn_core.workings`; with a source, they go on to x and the matrices. Taught in
        chapter 13.
        """
        self._check_unchanged()
        self.record.check_source_unchanged()
        with torch.no_grad(), self.record.without_autocast():
            return workings(self._lines, name, row, col, batch, head)

    def _check_unchanged(self) -> None:
        self.record.check_unchanged()
        self.record.stamp.check(output=self.record.output_4d)
        self.stamp.check(grad_output=self.grad_output_4d)

    def _derive(self, name: str, part: Part) -> Float[Tensor, "b h rows cols"]:
        self._check_unchanged()
        with torch.no_grad(), self.record.without_autocast():
            cells = part_of_stage(self.record, name, part, self._grad_output, lambda: self._row_dot)
            return cells.add_(0.0)  # which turns −0 into 0

    def _input(self, name: str) -> Tensor:
        self._check_unchanged()
        return self._inputs[name].clone()

    def _source(self, name: str) -> Tensor | None:
        if self.record.source is None:
            return None
        self._check_unchanged()
        self.record.check_source_unchanged()
        grad = self._sources.get(name)
        return None if grad is None else grad.clone()

    def _in_lead_of_keys(self, tensor: Float[Tensor, "B Hkv ..."]) -> Tensor:
        lead = self.record.lead
        # Only where there is an axis of heads may the keys have fewer.
        lead = (*lead[:-1], tensor.shape[1]) if len(lead) > 1 else lead
        return tensor.reshape(*lead, *tensor.shape[2:])

    @cached_property
    def _grad_output(self) -> Float[Tensor, "B H L Dv"]:
        """In the dtype in which everything is derived."""
        return self.grad_output_4d.to(self.record.float_type)

    @cached_property
    def _row_dot(self) -> Float[Tensor, "B H L"]:
        with torch.no_grad():
            return row_dot(self._grad_output, self._output)

    @cached_property
    def _output(self) -> Float[Tensor, "B H L Dv"]:
        """The record's; where that was rounded to 16 bits, computed once more."""
        record = self.record
        if record.output_4d.dtype == record.float_type:
            return record.output_4d.detach()
        q, k, v = (upcast(x.detach()) for x in (record.q, record.k, record.v))
        with torch.no_grad(), record.without_autocast():
            return record.engine.forward(record.call_with(q=q, k=k, v=v))[0]

    @cached_property
    def _inputs(self) -> dict[str, Tensor]:
        # Outside of inference mode, as the pass asks which tensors need a gradient.
        with torch.inference_mode(False), torch.no_grad(), self.record.without_autocast():
            return of_tensors(self.record, self._grad_output, self._output)

    @cached_property
    def _sources(self) -> dict[str, Tensor]:
        source = self.record.source
        assert source is not None
        with torch.no_grad(), self.record.without_autocast():
            return of_source(source, *(self._inputs[name] for name in "qkv"))

    @cached_property
    def _lines(self) -> SourceLines:
        return SourceLines(self.record, self.grad_output_4d)

    def __repr__(self) -> str:
        return f"AttentionGradients of {self.record!r}"


def check_grad_output(record: Traced, grad_output: Tensor) -> None:
    check_tensor("grad_output", grad_output)
    check_no_sample("grad_output", grad_output)
    shape = (*record.lead, record.size[0], record.v.shape[-1])
    if grad_output.shape != shape:
        raise ValueError(
            f"grad_output must have the shape of output, {shape}, got {shape_of(grad_output)}"
        )
    if not grad_output.is_floating_point():
        raise TypeError(f"grad_output must be of floating point, got {grad_output.dtype}")
    if grad_output.device != record.q.device:
        raise ValueError(
            f"grad_output must be on q's device {record.q.device}, got {grad_output.device}"
        )
    check_all_finite("grad_output", grad_output)
