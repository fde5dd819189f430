"""Every error that a reader can see: which argument, what it must be, what it was."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

STAGES = ("scores", "scaled", "masked", "weights", "dropped", "output")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MOST_CELLS = 2**26


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def check_qkv(q: Tensor, k: Tensor, v: Tensor) -> None:
    """q [*, L, D], k [*, S, D], v [*, S, Dv]: floats of one dtype on one device, no empty axis."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a torch tensor, got {type(tensor).__name__}")
        if tensor.dtype not in FLOATS:
            raise TypeError(
                f"{name} must be float16, bfloat16, float32 or float64, got {tensor.dtype}"
            )
        if tensor.ndim < 2:
            raise ValueError(f"{name} must have at least 2 axes [T, D], got {shape_of(tensor)}")
        if 0 in tensor.shape:
            raise ValueError(f"{name} must have no empty axis, got {shape_of(tensor)}")
        if tensor.device.type not in ("cpu", "cuda"):
            raise ValueError(f"{name} must be on cpu or cuda, got {tensor.device}")
    for name, tensor in (("k", k), ("v", v)):
        if tensor.dtype != q.dtype:
            raise TypeError(f"{name} must have q's dtype {q.dtype}, got {tensor.dtype}")
        if tensor.device != q.device:
            raise ValueError(f"{name} must be on q's device {q.device}, got {tensor.device}")
        if tensor.ndim != q.ndim:
            raise ValueError(
                f"{name} must have as many axes as q {shape_of(q)}, got {shape_of(tensor)}"
            )
        if tensor.shape[:-2] != q.shape[:-2]:
            raise ValueError(
                f"{name} must have q's leading axes {shape_of(q)[:-2]}, got {shape_of(tensor)}"
            )
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must have q's width {q.shape[-1]}, got {shape_of(k)}")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"v must have one row for each of the {k.shape[-2]} keys, got {shape_of(v)}"
        )


def check_scale(scale: float | None, head_dim: int) -> float:
    """The scale as a float; 1/√D unless given."""
    if scale is None:
        return 1 / math.sqrt(head_dim)
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise TypeError(f"scale must be a number or None, got {type(scale).__name__}")
    if not math.isfinite(scale):
        raise ValueError(f"scale must be finite, got {scale}")
    return float(scale)


def check_bool_keep(keep: object) -> None:
    if not isinstance(keep, Tensor):
        raise TypeError(
            "keep must be a bool tensor (True = keep), a mask such as causal(), or None, "
            f"got {type(keep).__name__}"
        )
    if keep.dtype != torch.bool:
        raise TypeError(f"keep must be a bool tensor (True = keep), got {keep.dtype}")


def check_broadcast(keep: Tensor, shape: Sequence[int]) -> None:
    try:
        fits = torch.broadcast_shapes(keep.shape, shape) == torch.Size(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"keep must broadcast to {tuple(shape)}, got {shape_of(keep)}")


def check_keep_device(keep: Tensor, device: torch.device) -> None:
    if keep.device != device:
        raise ValueError(f"keep must be on q's device {device}, got {keep.device}")


def check_whole(name: str, value: object, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return value


def check_lengths(lengths: Sequence[int] | Tensor) -> tuple[int, ...]:
    if isinstance(lengths, Tensor):
        if lengths.ndim != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
            raise ValueError(
                "lengths must be one whole number for each sequence, "
                f"got a {lengths.dtype} tensor of shape {shape_of(lengths)}"
            )
        lengths = lengths.tolist()
    if isinstance(lengths, (str, bytes)) or not isinstance(lengths, Sequence):
        raise TypeError(f"lengths must be a list of whole numbers, got {type(lengths).__name__}")
    if not lengths:
        raise ValueError("lengths must name at least one sequence, got an empty list")
    return tuple(check_whole(f"lengths[{b}]", n) for b, n in enumerate(lengths))


def check_padding(lengths: tuple[int, ...], batch: int, keys: int) -> None:
    if len(lengths) != batch:
        raise ValueError(
            f"lengths must name one length for each of the {batch} sequences, got {len(lengths)}"
        )
    if max(lengths) > keys:
        raise ValueError(f"lengths must be at most the {keys} keys, got {max(lengths)}")


def check_prefill(cached: int, queries: int, keys: int) -> None:
    if keys != cached + queries:
        raise ValueError(
            f"prefill({cached}) over {queries} queries must have {cached + queries} keys, "
            f"got {keys}"
        )


def check_dropout(p: float, seed: int) -> None:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"p must be a number, got {type(p).__name__}")
    if not 0 <= p < 1:
        raise ValueError(f"p must be at least 0 and below 1, got {p}")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed must be a whole number, got {seed!r}")
    if not 0 <= seed < 2**53:
        raise ValueError(f"seed must be at least 0 and below 2**53, got {seed}")


def check_is(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__} or None, got {type(value).__name__}")


def check_finite(q: Tensor, k: Tensor, v: Tensor, results: Sequence[Tensor]) -> None:
    """Looks at the results, which are small, and at the inputs only when something is wrong."""
    if all(bool(torch.isfinite(r).all()) for r in results):
        return
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        bad = ~torch.isfinite(tensor)
        if bad.any():
            index = tuple(bad.nonzero()[0].tolist())
            raise ValueError(f"{name} must be finite, got {tensor[index].item()} at {index}")
    raise ValueError(
        f"q, k and v must give finite scores and outputs, got an overflow in {results[-1].dtype}"
    )


def check_stage(stage: str) -> None:
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}, got {stage!r}")


def check_cells(stage: str, shape: Sequence[int]) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"stage {stage!r} must have at most 2**26 cells to be made whole, got {tuple(shape)}: "
            "take one part with tile() or an overview with pooled()"
        )


def check_index(name: str, index: int, size: int) -> int:
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"{name} must be a whole number, got {index!r}")
    if not 0 <= index < size:
        raise ValueError(f"{name} must be at least 0 and below {size}, got {index}")
    return index


def check_range(name: str, part: slice | range, size: int) -> range:
    """The indices of a slice or range of an axis of this size; at least one, all inside it."""
    if isinstance(part, slice):
        found = range(*part.indices(size))
    elif isinstance(part, range):
        found = part
    else:
        raise TypeError(f"{name} must be a slice or a range, got {type(part).__name__}")
    if len(found) == 0:
        raise ValueError(f"{name} must name at least one of {size}, got {part}")
    if min(found) < 0 or max(found) >= size:
        raise ValueError(f"{name} must lie between 0 and {size - 1}, got {part}")
    return found


def check_overview(shape: Sequence[int], how: str, rows: int, cols: int) -> tuple[int, int]:
    if how not in ("mean", "max"):
        raise ValueError(f"how must be 'mean' or 'max', got {how!r}")
    if len(shape) != 2:
        raise ValueError(f"shape must be two whole numbers, got {tuple(shape)}")
    for name, size, most in (("rows", shape[0], rows), ("columns", shape[1], cols)):
        check_whole(f"{name} of shape", size, least=1)
        if size > most:
            raise ValueError(f"{name} of shape must be at most {most}, got {size}")
    return shape[0], shape[1]


def check_source(name: str, wanted: Tensor, given: Tensor) -> None:
    """The projection of x must be what was handed in as q, k or v, up to rounding."""
    if wanted.shape != given.shape:
        raise ValueError(
            f"source must give {name} of shape {shape_of(wanted)}, got {shape_of(given)}"
        )
    error = (wanted - given).abs().max().item()
    most = 1e-4 * max(1.0, wanted.abs().max().item())
    if error > most:
        raise ValueError(f"source must give {name}, got numbers that are off by {error:.2g}")


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor was written in place; inference tensors don't count."""
    return None if tensor.is_inference() else tensor._version


def check_unchanged(tensors: dict[str, Tensor], versions: dict[str, int | None]) -> None:
    for name, tensor in tensors.items():
        if version_of(tensor) != versions[name]:
            raise RuntimeError(
                f"{name} must stay as it was when it was traced, got a tensor changed in place: "
                "trace it again, or trace a clone"
            )
