"""Somebody's array, as it comes: what may be diagnosed, and how exact its numbers are."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attn_core.checks import brief, check_dense, shape_of


def check_yours(yours: object) -> tuple[Tensor, float, float]:
    """Somebody's array in float64, the rounding of its dtype, and half of its last decimal.

    Half of the last decimal is 0 unless all numbers have three to five decimals.
    """
    if isinstance(yours, Tensor):
        check_holds_numbers(yours)
        cells = yours.detach().cpu()
    else:
        try:
            numbers = np.asarray(yours)
        except ValueError:
            raise ValueError("yours must have rows of one length, got a ragged list") from None
        if numbers.dtype.kind not in "fiu":
            raise TypeError(f"yours must hold numbers, got {brief(yours)} of {numbers.dtype}")
        # torch has no longdouble and no other order of bytes.
        is_own = numbers.dtype.kind == "f" and numbers.itemsize <= 8
        dtype = numbers.dtype.newbyteorder("=") if is_own else np.float64
        cells = torch.from_numpy(np.array(numbers, dtype=dtype))
    if cells.is_complex() or cells.dtype == torch.bool:
        raise TypeError(f"yours must hold numbers, got {cells.dtype}")
    if cells.ndim < 2 or 0 in cells.shape:
        raise ValueError(f"yours must have rows and columns, got {shape_of(cells)}")
    eps = torch.finfo(cells.dtype).eps if cells.is_floating_point() else 0.0
    cells = cells.double()
    finite = cells[cells.isfinite()]

    def has(places: int) -> bool:
        units = finite * 10**places
        # Where eps is coarser than the decimals, every number would have them.
        room = (units.abs() * eps).clamp(max=0.05) + 1e-9
        return bool(((units - units.round()).abs() <= room).all())

    places = next((n for n in (3, 4, 5) if finite.numel() > 3 and not has(2) and has(n)), None)
    return cells, eps, 0.0 if places is None else 0.5 * 10.0**-places


def check_holds_numbers(yours: Tensor) -> None:
    check_dense("yours", yours)
    if yours.is_meta:
        raise TypeError(f"yours must hold numbers, got a tensor on the device {yours.device}")


def check_fits_a_stage(cells: Tensor, stages: Sequence[Tensor]) -> None:
    shapes = dict.fromkeys(shape_of(stage) for stage in stages)
    if shape_of(cells) not in shapes and shape_of(cells.mT) not in shapes:
        raise ValueError(
            f"yours must have the shape of a stage, {' or '.join(map(str, shapes))}, "
            f"got {shape_of(cells)}"
        )


def check_no_nan(cells: Tensor) -> None:
    if cells.isnan().any():
        index = tuple(cells.isnan().nonzero()[0].tolist())
        raise ValueError(f"yours must hold numbers, got nan at {index}")
