"""Whether numbers are finite, asked in as few looks as can tell."""

import math

import torch
from torch import Tensor

from attn_core.bias import check_finite_bias
from attn_core.call import Call
from attn_core.checks import check_all_finite, is_sample, largest
from attn_core.dropout import Dropout
from attn_core.engines.scaling import scale_
from attn_core.engines.tiles import parts
from attn_core.precision import float_type


def check_numbers(call: Call) -> float:
    """`check_finite` and `check_scores`, in one pass over each tensor as long as all is well.

    Returns an upper bound for the numbers of v, which `check_output` needs.
    """
    sizes = at_most(lengths_of(call.q, call.k, call.v))
    info = torch.finfo(call.float_type)
    scores = call.q.shape[-1] * sizes[0] * sizes[1] * max(1.0, abs(call.scale))
    # A table may hold the largest float, beside which a small score is rounded away.
    added = 0.0 if call.bias is None else call.bias.largest(call.size)
    if not (scores + added <= info.max * (1 + info.eps / 8) and sizes[2] < info.max):
        check_finite(call)
        check_scores(call)
    return sizes[2]


def check_finite(call: Call) -> None:
    """Looks at the inputs: in the results a mask can hide a NaN, and −inf can pass for a mask."""
    if call.bias is not None and call.bias.table is not None:
        check_finite_bias("bias", call.bias.table)
    for name, four_axes in (("q", call.q), ("k", call.k), ("v", call.v)):
        if not math.isfinite(largest(four_axes)):
            check_all_finite(name, call.in_lead(four_axes))


def check_scores(call: Call) -> None:
    """No score may pass the largest float: one at −inf would look like a key that is masked.

    Looks at the scores themselves, some rows at a time, where the sizes of q and k alone don't
    tell that they are finite.
    """
    most = torch.finfo(call.float_type).max
    largest_q, largest_k = largest(call.q), largest(call.k)
    batches, heads, all_rows, cols = call.everything
    for rows in parts(all_rows, 256):
        part = batches, heads, rows, cols
        q, k = (tensor.detach() for tensor in call.queries_and_keys(part))
        cells = q @ k.mT
        size = largest(cells) * max(1.0, abs(call.scale))
        if not size <= most:
            raise ValueError(
                f"q, k and scale must give scores below {most:.2g}, the largest {call.float_type}, "
                f"got numbers up to {largest_q:.2g} and {largest_k:.2g} and scale {call.scale:.4g}"
            )
        if call.bias is not None and not math.isfinite(largest(scale_(cells, call, part))):
            added = call.bias.largest(call.size)
            raise ValueError(
                f"bias must leave scores below {most:.2g}, the largest {call.float_type}, "
                f"got numbers up to {added:.2g} beside scaled scores up to {size:.2g}"
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
    """An upper bound for the numbers of tensors of these lengths.

    It is not finite if one of them isn't, or if squares overflow; with room for rounding and for
    squares below the smallest float. A GPU is waited for, once.
    """
    return [2 * length + 1e-18 for length in lengths.tolist()]


def check_output(
    output: Tensor, size: float, dropout: Dropout | None = None, dtype: torch.dtype | None = None
) -> None:
    """Averages of finite values are finite, up to what dropout's 1/(1 − p) makes of them.

    size: an upper bound for the values. dtype: that of the output that is returned.
    """
    dtype = output.dtype if dtype is None else dtype
    if size / (1 - (dropout.p if dropout else 0.0)) < torch.finfo(dtype).max:
        return
    if not math.isfinite(largest(output.to(dtype))):
        raise ValueError(f"v must give a finite output, got an overflow in {dtype}")
