"""Attention on a GPU, in kernels of Triton: what cpu.py computes, with the same bits of dropout.

float16, bfloat16 and float32, computed in float32. The way back is that of gradients.py.
"""

from functools import partial

import torch
from torch import Tensor

from attn_core.checks import check_numbers, check_output, lengths_of
from attn_core.kernels import sdpa
from attn_core.kernels.gradients import Pass, is_live
from attn_core.kernels.triton.looks import cells, pooled
from attn_core.kernels.triton.passes import one_pass
from attn_core.record import Kernel


def forward(
    q, k, v, keep, scale, dropout, lead=None, output_alone=False
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """output in the dtype of v; row_max and row_sum, without gradient: see `cpu.forward`."""
    # The way back wants the output as it was before it was rounded.
    dtype = torch.float32 if is_live(q, k, v) else v.dtype
    looked_at = partial(checked, lead, dtype, output_alone and not is_live(q, k, v))
    output, *statistics = Pass.apply(looked_at, row_statistics, q, k, v, keep, scale, dropout)
    return output.to(v.dtype), tuple(statistics) or None


def checked(lead, dtype, may_be_torchs, q, k, v, keep, scale, dropout) -> tuple[Tensor, ...]:
    """The GPU gets its work first; whether all numbers are finite is asked while it computes."""
    lengths = lengths_of(q, k, v)
    statistics: list[Tensor] = []
    if may_be_torchs and dropout is None and sdpa.knows(keep, q, k, v, scale):
        output = sdpa.output(q, k, v, keep, scale)
    else:
        output, *statistics = one_pass(q, k, v, keep, scale, dropout, dtype)
    size = check_numbers(q, k, v, scale, lengths, lead)
    check_output(output, size, dropout, v.dtype)
    return output, *statistics


def row_statistics(q, k, keep, scale, batches: range, heads: range) -> tuple[Tensor, Tensor]:
    """row_max and row_sum of some heads: the same pass over one number a key."""
    part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
    row_max, row_sum = one_pass(q, k, k[..., :1], keep, scale, None)[1:]
    return row_max[part], row_sum[part]


KERNEL = Kernel(forward, row_statistics, cells, pooled=pooled)
