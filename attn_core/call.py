"""What one attention is asked: three tensors and their settings, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from attn_core import masks
from attn_core.bias import Bias, Part, of_each_head, of_table
from attn_core.checks import (
    FLOATS,
    check_dense,
    check_is,
    check_scale,
    check_softcap,
    check_tensor,
    shape_of,
)
from attn_core.dropout import Dropout
from attn_core.masks import Keep, as_slice, check_broadcast, of_cells, of_heads
from attn_core.precision import float_type, upcast

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """One attention before it is computed: its tensors with four axes, and its settings.

    >>> call = Call.of(*[torch.ones(2, 5, 3)] * 3)
    >>> call.shape, call.lead
    ((2, 1, 5, 5), (2,))
    """

    q: Float[Tensor, "B H L D"]  # the queries
    k: Float[Tensor, "B Hkv S D"]  # the keys; H is a multiple of their heads
    v: Float[Tensor, "B Hkv S Dv"]  # the values
    keep: Keep | None  # what each query may see; None: everything
    scale: float  # what the scores are multiplied by
    dropout: Dropout | None  # which weights survive; None: all
    lead: tuple[int, ...]  # the caller's axes before [L, D]
    bias: Bias | None = field(default=None, kw_only=True)  # what is added to the scaled scores
    softcap: float | None = field(default=None, kw_only=True)  # no scaled score passes this size
    sinks: Float[Tensor, "H"] | None = field(default=None, kw_only=True)  # a score more a head

    @classmethod
    def of(
        cls,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        keep: Tensor | Keep | None = None,
        scale: float | None = None,
        dropout: Dropout | None = None,
        *,
        bias: Tensor | Bias | None = None,
        softcap: float | None = None,
        sinks: Tensor | None = None,
    ) -> "Call":
        """Of a caller's tensors, whatever their rank; checked but for the numbers of q, k and v."""
        check_qkv(q, k, v)
        check_is("dropout", dropout, Dropout)
        scale, softcap = check_scale(scale, q), check_softcap(softcap, q)
        q4, k4, v4 = with_four_axes(q), with_four_axes(k), with_four_axes(v)
        call = cls(q4, k4, v4, None, scale, dropout, tuple(q.shape[:-2]), softcap=softcap)
        if keep is not None:
            call = replace(call, keep=call.as_keep(keep))
        if bias is not None:
            call = replace(call, bias=call.as_bias(bias))
        return call if sinks is None else replace(call, sinks=call.as_sinks(sinks))

    def call_with(self, **changes: Any) -> "Call":
        """The call with other tensors or settings; a plain one, also where this is a record."""
        return Call(**{f.name: getattr(self, f.name) for f in fields(Call)} | changes)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(B, H, L, S)."""
        return *self.q.shape[:3], self.k.shape[2]

    @property
    def size(self) -> tuple[int, int]:
        """(L, S)."""
        return self.q.shape[2], self.k.shape[2]

    @property
    def everywhere(self) -> tuple[range, range]:
        """All batches and all heads."""
        return range(self.q.shape[0]), range(self.q.shape[1])

    @property
    def everything(self) -> Part:
        """All batches, heads, rows and columns."""
        return *self.everywhere, range(self.q.shape[2]), range(self.k.shape[2])

    @property
    def float_type(self) -> torch.dtype:
        """The dtype in which stages are computed: that of q, float32 at least."""
        return float_type(self.q)

    def columns(self, stage: str) -> int:
        """How many columns a stage has: S keys; Dv value columns for "output", "grad_output"."""
        return self.v.shape[-1] if stage.endswith("output") else self.k.shape[2]

    @property
    def group(self) -> int:
        """How many heads of the queries share one head of the keys."""
        return self.q.shape[1] // self.k.shape[1]

    def of_all_heads(self, tensor: Tensor) -> Tensor:
        """All of k or v, for each head of the queries its own, in float32 at least."""
        return upcast(tensor if self.group == 1 else tensor.repeat_interleave(self.group, 1))

    def of_heads(self, name: str, batches: range, heads: range, positions: range) -> Tensor:
        """The rows of "k" or "v" that some heads of the queries meet, in float32 at least."""
        rows = getattr(self, name)[as_slice(batches), :, as_slice(positions)]
        if self.group == 1:
            return upcast(rows[:, as_slice(heads)])
        return upcast(rows[:, [head // self.group for head in heads]])

    def queries_and_keys(self, part: Part) -> tuple[Tensor, Tensor]:
        """The rows of q and of k from which a part of the map follows, in float32 at least."""
        batches, heads, rows, cols = part
        q = self.q[as_slice(batches), as_slice(heads), as_slice(rows)]
        return upcast(q), self.of_heads("k", batches, heads, cols)

    def of_query_heads(self, heads: slice) -> "Call":
        """The call of some heads of the queries, as many as there are heads of the keys."""
        keep = self.keep
        if keep is not None and keep.cells is not None and keep.cells.shape[1] > 1:
            keep = replace(keep, cells=keep.cells[:, heads])
        bias = None if self.bias is None else self.bias.of_heads(heads)
        sinks = None if self.sinks is None else self.sinks[heads]
        return self.call_with(q=self.q[:, heads], keep=keep, bias=bias, sinks=sinks)

    def keep_of(self, part: Part) -> Bool[Tensor, "#b #h rows cols"] | None:
        """The mask of a part of the map."""
        if self.keep is None:
            return None
        batches, heads, rows, cols = part
        return of_heads(self.keep.tile(rows, cols, self.size, self.q.device), batches, heads)

    def bias_of(self, part: Part, dtype: torch.dtype | None = None) -> Tensor | None:
        """What is added to a part of the map."""
        dtype = self.float_type if dtype is None else dtype
        return None if self.bias is None else self.bias.tile(part, self.size, dtype)

    def sinks_of(self, heads: range, dtype: torch.dtype | None = None) -> Tensor | None:
        """The sinks of some heads, [h, 1], to be met by each of their rows."""
        dtype = self.float_type if dtype is None else dtype
        return None if self.sinks is None else self.sinks[as_slice(heads), None].to(dtype)

    def added(self) -> dict[str, Tensor]:
        """The tensors of the bias and the sinks, by name."""
        named = {} if self.bias is None else self.bias.tensors()
        return named if self.sinks is None else named | {"sinks": self.sinks}

    def check_plain(self, name: str) -> None:
        """Raises one sentence if there is more than q, k, v, mask, scale and dropout.

        The mistakes of `attn_core.mistakes` are changes of the six formulas without any of it.
        """
        more = ["bias"] * (self.bias is not None) + ["softcap"] * (self.softcap is not None)
        more += ["sinks"] * (self.sinks is not None) + ["shared heads of keys"] * (self.group > 1)
        if more:
            raise ValueError(
                f"{name} must have no bias, softcap, sinks or shared heads of keys here, "
                f"got {' and '.join(more)}"
            )

    def with_added(self, **tensors: Tensor) -> "Call":
        """The call with others of these tensors."""
        sinks = tensors.pop("sinks", self.sinks)
        bias = replace(self.bias, **tensors) if self.bias is not None else None
        return self.call_with(bias=bias, sinks=sinks)

    def in_lead(self, tensor: Tensor) -> Tensor:
        """[B, H, …] in the caller's rank: [*lead, …]."""
        return tensor.reshape(*self.lead, *tensor.shape[2:])

    def as_keep(self, keep: Tensor | Keep) -> Keep:
        """A caller's mask as a rule for the four axes; one sentence if it does not fit."""
        rule = keep if isinstance(keep, Keep) else of_cells(keep)
        if rule.cells is not None:
            if rule is not keep:
                check_broadcast(rule.cells, (*self.lead, *self.size))
            rule = replace(rule, cells=cells_of(rule.cells, self.lead, self.shape))
        rule.check(self.shape, self.q.device)
        return rule

    def as_bias(self, bias: Tensor | Bias) -> Bias:
        """A caller's bias for the four axes; one sentence if it does not fit."""
        if not isinstance(bias, Bias):
            rule = of_table(bias)
            check_broadcast(bias, (*self.lead, *self.size), "bias")
        else:
            rule = bias
        rule.check(self.shape, self.q.device)
        if rule.table is not None:
            table = cells_of(rule.table, self.lead, self.shape, "bias")
            rule = replace(rule, table=without_graph(table))
        return rule

    def as_sinks(self, sinks: Tensor) -> Tensor:
        """A caller's sinks, one for each head of the queries."""
        sinks = without_graph(of_each_head("sinks", sinks, 1))
        if sinks.shape[0] != self.shape[1]:
            raise ValueError(
                f"sinks must be one for each of the {self.shape[1]} heads, got {sinks.shape[0]}"
            )
        if sinks.device != self.q.device:
            raise ValueError(f"sinks must be on q's device {self.q.device}, got {sinks.device}")
        if not torch.isfinite(sinks.detach()).all():
            raise ValueError(f"sinks must be finite, got {sinks.cpu().tolist()}")
        return sinks


def with_four_axes(tensor: Tensor) -> Tensor:
    """[T, D] → [1, 1, T, D], [B, T, D] → [B, 1, T, D], [..., H, T, D] → [B, H, T, D]."""
    tensor = without_graph(tensor)
    if tensor.ndim == 2:
        return tensor[None, None]
    if tensor.ndim == 3:
        return tensor[:, None]
    return tensor if tensor.ndim == 4 else tensor.reshape(-1, *tensor.shape[-3:])


def without_graph(tensor: Tensor) -> Tensor:
    """The tensor; under no_grad without its history, which a view made there would not pass on."""
    return tensor.detach() if tensor.requires_grad and not torch.is_grad_enabled() else tensor


def cells_of(
    cells: Tensor, lead: tuple[int, ...], shape: tuple[int, int, int, int], name: str = "keep"
) -> Shaped[Tensor, "B H L S"]:
    """Cells that are written for the caller's axes, or for [B, H, L, S] already."""
    if len(lead) < 2 and cells.ndim == 4:
        return cells
    check_broadcast(cells, (*lead, *shape[2:]), name)
    if len(lead) == 1 and cells.ndim == 3:
        return cells[:, None]
    if len(lead) > 2 and cells.ndim > 3:
        spread = cells.expand(*lead, *cells.shape[-2:])
        return spread.reshape(*shape[:2], *cells.shape[-2:])
    return masks.in_four_axes(cells)


def check_qkv(q: Tensor, k: Tensor, v: Tensor) -> None:
    """q [*, L, D], k [*, S, D], v [*, S, Dv]: floats of one dtype on one device, no empty axis."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        check_tensor(name, tensor)
        check_dense(name, tensor)
        if tensor.dtype not in FLOATS:
            raise TypeError(
                f"{name} must be float16, bfloat16, float32 or float64, got {tensor.dtype}"
            )
        if tensor.ndim < 2:
            raise ValueError(f"{name} must have at least 2 axes [T, D], got {shape_of(tensor)}")
        if tensor.numel() == 0:
            raise ValueError(f"{name} must have no empty axis, got {shape_of(tensor)}")
        if not tensor.is_cpu and tensor.device.type not in DEVICES:
            raise ValueError(f"{name} must be on {' or '.join(DEVICES)}, got {tensor.device}")
    lead, dtype, device = q.shape[:-2], q.dtype, q.device
    for name, tensor in (("k", k), ("v", v)):
        if tensor.dtype != dtype:
            raise TypeError(f"{name} must have q's dtype {dtype}, got {tensor.dtype}")
        if tensor.device != device:
            raise ValueError(f"{name} must be on q's device {device}, got {tensor.device}")
        if tensor.shape[:-2] != lead and not is_grouped(tensor.shape[:-2], lead):
            wanted = f"q's leading axes {tuple(lead)}"
            if tensor.ndim != q.ndim:
                wanted = f"as many axes as q {shape_of(q)}"
            elif len(lead) > 1:
                wanted += f", or a number of heads that divides {lead[-1]}"
            raise ValueError(f"{name} must have {wanted}, got {shape_of(tensor)}")
    if v.shape[:-2] != k.shape[:-2]:
        raise ValueError(f"v must have the heads of k {shape_of(k)}, got {shape_of(v)}")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must have q's width {q.shape[-1]}, got {shape_of(k)}")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"v must have one row for each of the {k.shape[-2]} keys, got {shape_of(v)}"
        )


def is_grouped(lead: Sequence[int], of_queries: Sequence[int]) -> bool:
    """Whether some heads of the queries share one of these, and all else is alike."""
    return (
        len(lead) > 1
        and lead[:-1] == of_queries[:-1]
        and lead[-1] < of_queries[-1]
        and of_queries[-1] % lead[-1] == 0
    )
