"""`trace` and `attention` on a GPU, beside torch's flash attention and FlexAttention.

    make bench-gpu

Both sides of a ratio are taken in turn; times are those that pass until the GPU has done all that
it was given.
"""

import json
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attn_core import attention, causal, trace
from attn_core.call import Call
from benchmarks import peers, report
from benchmarks.kernels import faster, inputs, no_slower, row
from benchmarks.timing import duration, in_turn

LENGTHS, MILLION, OVERVIEW = (8192, 32_768), 1_048_576, (512, 512)
HEADS, WIDTH = 32, 64
OURS = "trace", "attention"


def of_length(T: int) -> str:
    return f"GPU, T = {T:,}, half precision: output and row statistics, against SDPA's flash"


OF_A_MILLION = f"GPU, {MILLION:,} tokens, one head: row statistics and a 512² overview"
GOALS = {
    **dict.fromkeys(map(of_length, LENGTHS), "≥ 0.7× of its throughput"),
    OF_A_MILLION: "runs, memory O(T)",
}
NEEDS_A_GPU = "make {} needs a GPU that torch can use; this machine has none."
NOT_MEASURED = "not measured: no GPU here; `make bench-gpu` measures it"


def of_gpu(rows: list[dict]) -> list[dict]:
    """These rows in the section of the GPU."""
    return [line | {"section": "gpu"} for line in rows]


def after_the_gpu() -> float:
    """The time when the GPU has done all that it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def flash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """SDPA by its flash backend and no other."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return peers.torch_alone(q, k, v, is_causal=True)


def flex(T: int, device: str) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """FlexAttention with a causal block mask, compiled where there is a GPU."""
    blocks = create_block_mask(lambda b, h, i, j: i >= j, None, None, T, T, device=device)
    attend = torch.compile(flex_attention) if device == "cuda" else flex_attention
    return lambda q, k, v: attend(q, k, v, block_mask=blocks)


def throughput(T: int, heads: int, device: str, rounds: int = 30) -> list[dict]:
    """Output and row statistics of causal heads in half precision, and the output alone."""
    from attn_core.engines.triton.passes import one_pass

    q, k, v = (tensor.to(device, torch.float16) for tensor in inputs(1, heads, T, WIDTH))
    attend = flex(T, device)
    calls = {
        "trace": lambda: trace(q, k, v, keep=causal()).row_max,
        "kernel": lambda: one_pass(Call.of(q, k, v, causal())),
        "attention": lambda: attention(q, k, v, keep=causal()),
        "flash": lambda: flash(q, k, v),
        "SDPA": lambda: peers.torch_alone(q, k, v, is_causal=True),
        "FlexAttention": lambda: attend(q, k, v),
    }
    times = in_turn(calls, rounds, clock=after_the_gpu)
    products = 2 * heads * T * T * WIDTH  # 4·T²·D a head, of which a causal mask leaves half
    speeds = ", ".join(
        f"{f'`{name}`' if name in OURS else name} {products / median(each) / 1e12:.0f}"
        for name, each in times.items()
    )
    note = f"{tuple(q.shape)}, `float16`, causal; TFLOP/s: {speeds}"
    kernel = f"its kernel alone, T = {T:,}, against"
    rows = [
        faster(of_length(T), 0.7, times, "trace", "flash", note),
        faster(f"{kernel} SDPA's flash", None, times, "kernel", "flash"),
        faster(f"{kernel} FlexAttention", None, times, "kernel", "FlexAttention"),
        no_slower(f"`attention`, T = {T:,}, against SDPA", 1.05, times, "attention", "SDPA"),
    ]
    return of_gpu(rows)


def tiles(T: int, device: str, rounds: int = 30) -> list[dict]:
    """A tile of a long map, and all weights of a short one."""
    tensors = [tensor.to(device, torch.float16) for tensor in inputs(1, 1, T, WIDTH)]
    record = trace(*tensors, keep=causal())
    side = min(512, T)
    part = range(T - side, T)
    small = [tensor.to(device, torch.float16) for tensor in inputs(1, 16, min(T, 2048), WIDTH)]
    calls = {
        "tile": lambda: record.tile("weights", part, part),
        "weights": lambda: trace(*small, keep=causal()).stage("weights"),
        "textbook": lambda: peers.textbook(*small),
    }
    times = in_turn(calls, rounds, clock=after_the_gpu)
    shape = tuple(small[0].shape)
    rows = [
        row(f"a tile of {side} × {side} weights, T = {T:,}", "", duration(median(times["tile"]))),
        faster(
            f"all weights, {shape}, against the textbook form", None, times, "weights", "textbook"
        ),
    ]
    return of_gpu(rows)


def long_text(T: int, shape: tuple[int, int], device: str) -> list[dict]:
    """Row statistics and an overview of one long head: time, and memory beside q, k and v."""
    q, k, v = (tensor.to(device, torch.float16) for tensor in inputs(1, 1, T, WIDTH))
    on_gpu = torch.cuda.is_available()

    def look() -> Tensor:
        return trace(q, k, v, keep=causal()).pooled("weights", shape, "max")

    before = torch.cuda.memory_allocated() if on_gpu else 0
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    (taken,) = in_turn({"look": look}, 1, clock=after_the_gpu)["look"]
    extra = torch.cuda.max_memory_allocated() - before if on_gpu else 0
    most = 4 * T * WIDTH * q.element_size()  # a copy of q, k and v, and the output
    is_linear = on_gpu and extra < most and bool(look().isfinite().all())
    ours = f"{taken:.1f} s, {extra / 1e6:.0f} MB beside q, k and v"
    return of_gpu([row(OF_A_MILLION, GOALS[OF_A_MILLION], ours, met=is_linear)])


def unmeasured() -> list[dict]:
    """The rows of a machine without a GPU."""
    return of_gpu([row(what, goal, "–", note=NOT_MEASURED) for what, goal in GOALS.items()])


def main(command: str) -> None:
    if command == "unmeasured":
        if "gpu" not in json.loads(report.RESULTS.read_text(encoding="utf-8")):
            report.store(unmeasured(), "On a GPU", "make bench", ("torch",))
        return
    if not torch.cuda.is_available():
        sys.exit(NEEDS_A_GPU.format(command))
    if command == "bench-gpu":
        with torch.no_grad():
            rows = [line for T in LENGTHS for line in throughput(T, HEADS, "cuda")]
            rows += tiles(LENGTHS[1], "cuda") + long_text(MILLION, OVERVIEW, "cuda")
        title = f"On a GPU: {torch.cuda.get_device_name()}"
        report.store(rows, title, "make bench-gpu", ("torch", "triton"))


if __name__ == "__main__":
    main(sys.argv[1])
