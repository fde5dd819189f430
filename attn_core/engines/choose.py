"""Which engine computes: the only place that decides."""

from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import torch

from attn_core.call import Call
from attn_core.engines import torch_sdpa
from attn_core.engines.formulas import FORMULAS, Engine, is_small
from attn_core.engines.gradients import needs_gradients
from attn_core.engines.tiled import TILED
from attn_core.engines.tiles import WIDEST
from attn_core.engines.torch_sdpa import TORCH_SDPA, TORCH_SDPA_ON_GPU
from attn_core.masks import Keep


def engine_for(call: Call, output_alone: bool = False) -> Engine:
    """The engine of a call; the first line that fits.

    | tensors | call | engine |
    |---|---|---|
    | on a GPU, of 4 bytes or less, heads up to 256 wide | `attention`, without gradients and \
dropout, all keys or causal and square | torch's attention |
    | the same | without bias, softcap and sinks, a head of keys for each head of queries | \
kernels of Triton |
    | anywhere | up to 65,536 cells | the six formulas on whole maps |
    | on the CPU, values as wide as keys | without dropout and softcap, and without gradients of \
bias and sinks | torch's attention |
    | anywhere | any | tiles in torch's operations |

    output_alone: whether nothing but the output will be asked for. RuntimeError with one sentence
    for a GPU that Triton does not serve.
    """
    is_on_gpu = call.q.device.type == "cuda"
    may_be_torchs = is_on_gpu and not needs_gradients(call.q, call.k, call.v)
    if is_on_gpu and is_tritons(call):
        triton = triton_engine(call.q.device)
        is_torchs = output_alone and may_be_torchs and torch_sdpa.serves_gpu(call)
        return TORCH_SDPA_ON_GPU if is_torchs else triton
    if is_small(call):
        return FORMULAS
    if torch_sdpa.serves(call):
        return TORCH_SDPA
    return TORCH_SDPA_ON_GPU if may_be_torchs and torch_sdpa.serves_gpu(call) else TILED


def is_tritons(call: Call) -> bool:
    """Whether Triton's tiles have room for a call."""
    widest = max(call.q.shape[-1], call.v.shape[-1])
    # A mask is a band, lengths and cells to them; what it may learn to say beside takes tiles.
    known = dict.fromkeys(("before", "after", "lengths", "cells", "cached"))
    is_known = call.keep is None or replace(call.keep, **known) == Keep()
    is_plain = call.group == 1 and call.softcap is None and not call.added()
    return call.q.dtype != torch.float64 and widest <= WIDEST and is_known and is_plain


@cache
def triton_engine(device: torch.device) -> Engine:
    capability = torch.cuda.get_device_capability(device)
    check_gpu(torch.cuda.get_device_name(device), capability, find_spec("triton"))
    # Only now: whoever has no GPU needs no Triton.
    from attn_core.engines import triton

    return triton.TRITON


def check_gpu(name: str, capability: tuple[int, int], triton: object) -> None:
    """What the kernels for GPUs need: Triton, and a GPU that it serves."""
    if triton is None:
        raise RuntimeError(
            f"q, k and v are on {name}, whose kernels need Triton, which is not installed: "
            "pip install triton"
        )
    if capability < (8, 0):
        had = ".".join(map(str, capability))
        raise RuntimeError(
            f"q, k and v are on {name}, of compute capability {had}, "
            "and Triton's kernels need 8.0: put them on the CPU"
        )
