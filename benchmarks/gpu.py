"""Triton's kernels on a GPU, beside torch's SDPA by its flash backend.

make bench-gpu
"""

import sys
import time
from collections.abc import Callable

import torch

from attn_core import causal
from benchmarks import peers, report
from benchmarks.kernels import faster, inputs, row

LENGTHS, MILLION, OVERVIEW = (8192, 32_768), 1_048_576, (512, 512)
NEEDS_A_GPU = "make {} needs a GPU that torch can use; this machine has none."


def seconds(call: Callable[[], object], rounds: int) -> list[float]:
    """Wall time of each round, with all that the GPU was given done."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    call()
    found = []
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        call()
        wait()
        found.append(time.perf_counter() - start)
    return found


def throughput(T: int, heads: int, device: str, rounds: int = 15) -> list[dict]:
    """Output and row statistics of causal heads in half precision, 64 wide."""
    from attn_core.kernels import triton

    q, k, v = (tensor.to(device, torch.float16) for tensor in inputs(1, heads, T, 64))
    times = {
        "ours": seconds(lambda: triton.forward(q, k, v, causal(), 0.125, None), rounds),
        "theirs": seconds(lambda: peers.torch_alone(q, k, v), rounds),
    }
    what = f"output and row statistics, {tuple(q.shape)}, float16, causal, against SDPA"
    return [faster(what, 0.7, times, "ours", "theirs") | {"section": "gpu"}]


def long_text(T: int, shape: tuple[int, int], device: str) -> list[dict]:
    """Row statistics and an overview of one long head: time, and memory beside q, k and v."""
    from attn_core.kernels import triton

    q, k, v = (tensor.to(device, torch.float16) for tensor in inputs(1, 1, T, 64))
    on_gpu = torch.cuda.is_available()
    before = torch.cuda.memory_allocated() if on_gpu else 0

    def look() -> torch.Tensor:
        _, row_max, row_sum = triton.forward(q, k, v, causal(), 0.125, None)
        rows = row_max, row_sum, causal(), 0.125, None
        return triton.pooled(q, k, *rows, "weights", shape, "max", 0, 0)

    (taken,) = seconds(look, 1)
    extra = torch.cuda.max_memory_allocated() - before if on_gpu else 0
    is_linear = on_gpu and extra < 16 * T * 64 and bool(look().isfinite().all())
    what = f"{T:,} tokens, one head: row statistics and an overview of {shape[0]} × {shape[1]}"
    ours = f"{taken:.1f} s, {extra / 1e6:.0f} MB beside q, k and v"
    return [row(what, "runs, memory O(T)", ours, met=is_linear) | {"section": "gpu"}]


def main(command: str) -> None:
    if not torch.cuda.is_available():
        sys.exit(NEEDS_A_GPU.format(command))
    if command == "bench-gpu":
        found = [line for T in LENGTHS for line in throughput(T, 16, "cuda")]
        found += long_text(MILLION, OVERVIEW, "cuda")
        title = f"On a GPU: {torch.cuda.get_device_name()}"
        report.store(found, title, "make bench-gpu", ("torch", "triton"))


if __name__ == "__main__":
    main(sys.argv[1])
