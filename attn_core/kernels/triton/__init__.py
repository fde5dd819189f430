"""Attention on a GPU, in kernels of Triton: what cpu.py computes, with the same bits of dropout.

float16, bfloat16 and float32, computed in float32. The way back is that of gradients.py.
"""

from torch import Tensor

from attn_core.checks import check_numbers, check_output, lengths_of
from attn_core.kernels.gradients import Derived, is_live
from attn_core.kernels.triton.looks import cells, pooled
from attn_core.kernels.triton.passes import one_pass
from attn_core.record import Kernel


def forward(q, k, v, keep, scale, dropout, given=None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """output in the dtype of v; row_max and row_sum, without gradient: see `cpu.forward`."""
    # The GPU gets its work first; whether all numbers are finite is asked while it computes.
    lengths = lengths_of(q, k, v)
    if is_live(q, k, v):
        output, *statistics = Derived.apply(one_pass, q, k, v, keep, scale, dropout)
    else:
        output, *statistics = one_pass(q, k, v, keep, scale, dropout, v.dtype)
    output = output.to(v.dtype)
    size = check_numbers(*(given or (q, k, v)), scale, lengths)
    check_output(output, size, dropout)
    return output, tuple(statistics)


def row_statistics(q, k, keep, scale, batches: range, heads: range) -> tuple[Tensor, Tensor]:
    """row_max and row_sum of some heads: the same pass over a value of one number a key."""
    part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
    row_max, row_sum = one_pass(q, k, k[..., :1], keep, scale, None)[1:]
    return row_max[part], row_sum[part]


KERNEL = Kernel(forward, row_statistics, cells, pooled=pooled)
