"""What one attention is asked: three tensors and their settings, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core import masks
from attn_core.checks import (
    FLOATS,
    check_dense,
    check_is,
    check_scale,
    check_tensor,
    shape_of,
)
from attn_core.dropout import Dropout
from attn_core.masks import Keep, as_slice, check_broadcast, of_cells
from attn_core.precision import float_type, upcast

DEVICES = ("cpu", "cuda")
Part = tuple[range, range, range, range]  # batches, heads, rows and columns of a map


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """One attention before it is computed: its tensors with four axes, and its settings.

    >>> call = Call.of(*[torch.ones(2, 5, 3)] * 3)
    >>> call.shape, call.lead
    ((2, 1, 5, 5), (2,))
    """

    q: Float[Tensor, "B H L D"]  # the queries
    k: Float[Tensor, "B H S D"]  # the keys
    v: Float[Tensor, "B H S Dv"]  # the values
    keep: Keep | None  # what each query may see; None: everything
    scale: float  # what the scores are multiplied by
    dropout: Dropout | None  # which weights survive; None: all
    lead: tuple[int, ...]  # the caller's axes before [L, D]

    @classmethod
    def of(
        cls,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        keep: Tensor | Keep | None = None,
        scale: float | None = None,
        dropout: Dropout | None = None,
    ) -> "Call":
        """Of a caller's tensors, whatever their rank; checked but for the numbers themselves."""
        check_qkv(q, k, v)
        check_is("dropout", dropout, Dropout)
        scale = check_scale(scale, q)
        q4, k4, v4 = with_four_axes(q), with_four_axes(k), with_four_axes(v)
        call = cls(q4, k4, v4, None, scale, dropout, tuple(q.shape[:-2]))
        return call if keep is None else replace(call, keep=call.as_keep(keep))

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
        """How many columns a stage has: S keys, or Dv value columns for "output"."""
        return self.v.shape[-1] if stage == "output" else self.k.shape[2]

    def queries_and_keys(self, part: Part) -> tuple[Tensor, Tensor]:
        """The rows of q and of k from which a part of the map follows, in float32 at least."""
        batches, heads, rows, cols = map(as_slice, part)
        return upcast(self.q[batches, heads, rows]), upcast(self.k[batches, heads, cols])

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


def with_four_axes(tensor: Tensor) -> Tensor:
    """[T, D] → [1, 1, T, D], [B, T, D] → [B, 1, T, D], [..., H, T, D] → [B, H, T, D]."""
    if tensor.requires_grad and not torch.is_grad_enabled():
        # A view made here would ask for gradients of its own, which never reach the caller.
        tensor = tensor.detach()
    if tensor.ndim == 2:
        return tensor[None, None]
    if tensor.ndim == 3:
        return tensor[:, None]
    return tensor if tensor.ndim == 4 else tensor.reshape(-1, *tensor.shape[-3:])


def cells_of(
    cells: Tensor, lead: tuple[int, ...], shape: tuple[int, int, int, int]
) -> Bool[Tensor, "B H L S"]:
    """Cells that are written for the caller's axes, or for [B, H, L, S] already."""
    if len(lead) < 2 and cells.ndim == 4:
        return cells
    check_broadcast(cells, (*lead, *shape[2:]))
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
        if tensor.shape[:-2] != lead:
            wanted, advice = f"q's leading axes {tuple(lead)}", ""
            if tensor.ndim != q.ndim:
                wanted = f"as many axes as q {shape_of(q)}"
            elif is_grouped(tensor.shape[:-2], lead):
                times = lead[-1] // tensor.shape[-3]
                advice = f": repeat each head, {name}.repeat_interleave({times}, dim=-3)"
            raise ValueError(f"{name} must have {wanted}, got {shape_of(tensor)}{advice}")
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
