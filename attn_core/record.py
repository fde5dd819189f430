"""The record of one attention: q and k instead of the map, and every stage derived on demand."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.asking import asked, check_overview, one_head, tile_of_head
from attn_core.checks import check_cells, check_stage
from attn_core.compiling import between_graphs
from attn_core.derive import dead_rows, is_live
from attn_core.engines.formulas import Engine
from attn_core.gradients import AttentionGradients
from attn_core.traced import Traced


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTrace(Traced):
    """One attention call, from which every number of every stage can be computed again.

    >>> from attn_core import toy, trace
    >>> record = trace(*[toy.journey().x] * 3, scale=1.0)
    >>> record.tile("weights", slice(1, 2), slice(0, 3))
    tensor([[0.1385, 0.2379, 0.2333]])

    It costs O(T·D) memory: `row_max` and `row_sum` are the two numbers per row that turn any score
    into its weight, exp(masked − row_max)/row_sum. For a long head, these two are computed when one
    of its weights is first requested. The fields have 4 axes; the results of `output`, `lse` and
    `stage` have the leading axes of the inputs to `trace`. Rabe and Staats, "Self-attention Does
    Not Need O(n²) Memory" (2021).

    Each result is a copy that you may write into. If q, k, v or the mask's cells are written into
    after the trace, the next request to the record raises RuntimeError. torch does not count writes
    into tensors made under torch.inference_mode, so the record copies such tensors. The copies
    double the memory that these tensors take and, from 512 tokens on, add less than a tenth to the
    trace's time. Other settings need another trace: dataclasses.replace raises ValueError. Taught
    in chapter 03.
    """

    @property
    @between_graphs
    def row_max(self) -> Float[Tensor, "B H L"]:
        """The largest masked score of each row, 0 if it keeps nothing; without gradient."""
        return self.row_statistics(*self.everywhere)[0].clone()

    @property
    @between_graphs
    def row_sum(self) -> Float[Tensor, "B H L"]:
        """Σ exp(masked − row_max) of each row, 1 if it keeps nothing; without gradient."""
        return self.row_statistics(*self.everywhere)[1].clone()

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

        With gradients, it is computed from the whole map, and is refused above 2**26 cells.
        """
        statistics = self.row_statistics(*self.everywhere)
        dead = dead_rows(self, *statistics)
        if is_live(self):
            check_cells("masked", self.shape)
            masked = self.derive("masked", self.everything)
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

        Refused above 2**26 cells; use `tile` or `pooled` instead.
        """
        check_stage(name)
        if name == "output":
            self.check_unchanged()
            return self.output
        check_cells(name, self.shape)
        if name != "weights" or is_live(self):
            return self.in_lead(self.derive(name, self.everything))
        self.check_unchanged()
        with torch.no_grad(), self.without_autocast():
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
        return self.derive(name, tile_of_head(self, name, rows, cols, batch, head))[0, 0]

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
        b, h = one_head(self, batch, head)
        shape = check_overview(shape, how, self.size[0], self.columns(name))

        def cells(rows: range, cols: range) -> Tensor:
            # Not in float16, whose sums overflow.
            return self.derive(name, (b, h, rows, cols))[0, 0].to(self.float_type)

        self.check_unchanged()
        # The base class pools any cells, those with gradients, too.
        has_gradient = is_live(self) or (name == "output" and torch.is_grad_enabled())
        engine = Engine() if name == "output" or has_gradient else self.engine
        statistics = None
        if name in ("weights", "dropped") and not has_gradient:
            statistics = self.row_statistics(b, h)
        with self.without_autocast(), torch.set_grad_enabled(has_gradient):
            return engine.overview(
                self, name, (b.start, h.start), shape, how, statistics, derive=cells
            )

    @between_graphs
    def gradients(self, grad_output: Float[Tensor, "*lead L Dv"]) -> AttentionGradients:
        """The backward pass as a record: what flows back through each stage to q, k and v.

        >>> from attn_core import toy, trace
        >>> x = toy.notebook().x.requires_grad_()
        >>> record = trace(x, x, x)
        >>> output = record.output
        >>> (grad_output,) = torch.autograd.grad(output[0].sum(), output)
        >>> record.gradients(grad_output).stage("grad_scores")[0]
        tensor([-0.0456, -0.0945,  0.1401])

        grad_output: the gradient of a number, such as a loss, with respect to `output`
            [*lead, L, Dv]. All its numbers must be finite. If it does not fit, ValueError or
            TypeError says so in one sentence.

        Taught in chapter 13.
        """
        return AttentionGradients.of(self, grad_output)

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
        """A number's gradient with respect to the weights, from that with respect to the output.

        >>> from attn_core import toy, trace
        >>> x = toy.notebook().x.requires_grad_()
        >>> record = trace(x, x, x)
        >>> output = record.output
        >>> (grad_output,) = torch.autograd.grad(output[0].sum(), output)
        >>> record.grad_weights(grad_output)
        tensor([[7., 6., 8.],
                [0., 0., 0.],
                [0., 0., 0.]])

        grad_output: the gradient of that number with respect to `output` [*lead, L, Dv].
        rows, cols, batch, head: a tile [rows, cols] of one head, as in `tile`; without any of them
            the result is whole, [*lead, L, S]. Refused above 2**26 cells.

        No map has to be made in the forward pass: the output is dropped · V, so the gradient is
        grad_output · Vᵀ, and 0 for a weight that was dropped. Mask, bias, softcap and sinks make no
        difference to it. A `watch` does not know which weights torch dropped, so call model.eval()
        first. ValueError if the shape is not that of the output. Taught in chapter 10.
        """
        return asked(self.gradients(grad_output), "grad_weights", rows, cols, batch, head)

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
        grads = self.grad_weights(grad_output, rows, cols, batch=batch, head=head)
        with torch.no_grad():
            return grads * asked(self, "weights", rows, cols, batch, head)

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
