"""What several modules ask of their arguments: which one, what it must be, what it was."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TypeVar

import torch
from torch import Tensor

# As tensordict asks it; torch has no public way.
from torch._C._functorch import get_unwrapped, is_batchedtensor, is_functorch_wrapped_tensor

from attn_core.precision import float_type

STAGES = ("scores", "scaled", "masked", "weights", "dropped", "output")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MOST_CELLS = 2**26
Fits = TypeVar("Fits")


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def check_scale(scale: float | None, q: Tensor) -> float:
    """The scale as a float. Defaults to 1/√D."""
    if scale is None:
        return 1 / math.sqrt(q.shape[-1])
    if not is_number(scale):
        raise TypeError(f"scale must be a number or None, got {type(scale).__name__}")
    try:
        number = float(scale)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"scale must be finite, got {number}")
    if abs(number) > torch.finfo(float_type(q)).max:
        raise ValueError(f"scale must be finite in {float_type(q)}, got {number}")
    return number


def check_softcap(softcap: float | None, q: Tensor) -> float | None:
    """The cap as a float, or None."""
    if softcap is None:
        return None
    if not is_number(softcap):
        raise TypeError(f"softcap must be a number or None, got {type(softcap).__name__}")
    if not 0 < softcap <= torch.finfo(float_type(q)).max:
        raise ValueError(f"softcap must be above 0 and finite in {float_type(q)}, got {softcap}")
    return float(softcap)


def is_number(value: object) -> bool:
    """Python's and NumPy's numbers, but not True and False."""
    return isinstance(value, Real) and not isinstance(value, bool)


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


def check_length(length: int, longest: int) -> None:
    if length > longest:
        raise ValueError(f"x must have at most {longest} tokens, got {length}")


def check_words(name: str, words: Sequence[str]) -> None:
    if not words:
        raise ValueError(f"{name} must have at least one word, got none")


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


def check_is(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__} or None, got {type(value).__name__}")


def is_transformed(tensor: Tensor) -> bool:
    """Whether a transform of torch.func follows what is made of a tensor."""
    return is_functorch_wrapped_tensor(tensor)


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


def check_stage(stage: str, stages: Sequence[str] = STAGES) -> None:
    if not isinstance(stage, str) or stage not in stages:
        raise ValueError(f"stage must be one of {', '.join(stages)}, got {brief(stage)}")


def check_made_by_trace(name: str, value: object, kind: type[Fits]) -> Fits:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be an {kind.__name__}, got {type(value).__name__}")
    return value


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


def check_all_finite(name: str, tensor: Tensor) -> None:
    """Names the first number that is not finite."""
    is_finite = torch.isfinite(tensor)
    if not is_finite.all():
        index = tuple((~is_finite).nonzero()[0].tolist())
        raise ValueError(f"{name} must be finite, got {tensor[index].item()} at {index}")


def largest(tensor: Tensor) -> float:
    """The largest absolute value, NaN if there is one."""
    return tensor.detach().abs().amax().item()
