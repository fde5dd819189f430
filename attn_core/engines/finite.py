"""Whether numbers are finite, asked in as few looks as can tell."""

import math

import torch
from torch import Tensor

from attn_core.checks import is_sample, largest
from attn_core.dropout import Dropout
from attn_core.precision import float_type


def check_numbers(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    lead: tuple[int, ...] | None = None,
) -> float:
    """`check_finite` and `check_scores`, in one pass over each tensor as long as all is well.

    lead: the caller's axes before the last two, if they are others than those of q, k and v. Gives
    what no number of v is larger than, which `check_output` wants.
    """
    sizes = at_most(lengths_of(q, k, v))
    most = torch.finfo(float_type(q)).max
    scores = q.shape[-1] * sizes[0] * sizes[1] * max(1.0, abs(scale))
    if not (scores < most and sizes[2] < most):
        lead = q.shape[:-2] if lead is None else lead
        check_finite(*(tensor.reshape(*lead, *tensor.shape[-2:]) for tensor in (q, k, v)))
        check_scores(q, k, scale)
    return sizes[2]


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
    largest_q, largest_k = largest(q), largest(k)
    if q.shape[-1] * largest_q * largest_k * max(1.0, abs(scale)) < most:
        return
    columns = k.detach().to(dtype).mT
    for rows in q.detach().to(dtype).split(256, dim=-2):
        if not largest(rows @ columns) * max(1.0, abs(scale)) <= most:
            raise ValueError(
                f"q, k and scale must give scores below {most:.2g}, the largest {dtype}, "
                f"got numbers up to {largest_q:.2g} and {largest_k:.2g} and scale {scale:.4g}"
            )


def adds_up(tensor: Tensor) -> bool:
    """Whether the sum of all numbers is finite: then each of them is.

    Of a sample there is no number to look at: it is taken as it comes.
    """
    return is_sample(tensor) or math.isfinite(tensor.sum().item())


def lengths_of(*tensors: Tensor) -> Tensor:
    """The length of each tensor's numbers as one vector."""
    dtype = float_type(tensors[0])
    return torch.stack([torch.linalg.vector_norm(each.detach(), dtype=dtype) for each in tensors])


def at_most(lengths: Tensor) -> list[float]:
    """What no number of tensors of these lengths is larger than.

    It is not finite if one of them isn't, or if squares overflow; with room for rounding and for
    squares below the smallest float. A GPU is waited for, once.
    """
    return [2 * length + 1e-18 for length in lengths.tolist()]


def check_output(
    output: Tensor, size: float, dropout: Dropout | None = None, dtype: torch.dtype | None = None
) -> None:
    """Averages of finite values are finite, up to what dropout's 1/(1 − p) makes of them.

    size: what no value is larger than. dtype: in which the output is handed out.
    """
    dtype = output.dtype if dtype is None else dtype
    if size / (1 - (dropout.p if dropout else 0.0)) < torch.finfo(dtype).max:
        return
    if not math.isfinite(largest(output.to(dtype))):
        raise ValueError(f"v must give a finite output, got an overflow in {dtype}")
