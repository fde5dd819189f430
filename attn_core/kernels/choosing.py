"""Which kernels compute: those of the device on which the tensors are."""

from functools import cache
from importlib.util import find_spec

import torch

from attn_core.checks import check_gpu
from attn_core.kernels import cpu
from attn_core.kernels.tiles import WIDEST
from attn_core.record import Kernel


def kernel_for(device: torch.device, dtype: torch.dtype, widest: int) -> Kernel:
    """Triton's kernels on a GPU, torch's operations elsewhere.

    On a GPU torch's operations compute what Triton's tiles have no room for, float64 and heads
    wider than WIDEST. RuntimeError with one sentence for a GPU that Triton does not serve.
    """
    if device.type != "cuda" or dtype == torch.float64 or widest > WIDEST:
        return cpu.KERNEL
    return triton_kernel(device)


@cache
def triton_kernel(device: torch.device) -> Kernel:
    capability = torch.cuda.get_device_capability(device)
    check_gpu(torch.cuda.get_device_name(device), capability, find_spec("triton"))
    # Only now: whoever has no GPU needs no Triton.
    from attn_core.kernels import triton

    return triton.KERNEL
