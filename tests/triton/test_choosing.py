"""Which kernels compute on which device, and what is said where Triton does not serve a GPU."""

import subprocess
import sys

import pytest
import torch

from attn_core.kernels import choosing, cpu

GPU = torch.device("cuda", 0)


@pytest.fixture
def gpu(monkeypatch):
    """What torch says of a GPU that may not be there."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100")
    choosing.triton_kernel.cache_clear()
    yield monkeypatch
    choosing.triton_kernel.cache_clear()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_a_gpu_gets_tritons_kernels(gpu, dtype):
    pytest.importorskip("triton", reason="Triton is not installed: it has wheels for Linux only")
    from attn_core.kernels import triton

    assert choosing.kernel_for(GPU, dtype, 256) is triton.KERNEL


@pytest.mark.parametrize(
    ("device", "dtype", "widest"),
    [("cpu", torch.float32, 64), (GPU, torch.float64, 64), (GPU, torch.float32, 257)],
    ids=str,
)
def test_all_else_gets_torchs_operations(gpu, device, dtype, widest):
    assert choosing.kernel_for(torch.device(device), dtype, widest) is cpu.KERNEL


def test_a_gpu_without_triton_is_one_sentence(gpu):
    gpu.setattr(choosing, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError) as caught:
        choosing.kernel_for(GPU, torch.float32, 64)
    assert str(caught.value) == (
        "q, k and v must be on the CPU where Triton is not installed (pip install triton), "
        "got them on NVIDIA H100"
    )


def test_a_gpu_that_is_too_old_is_one_sentence(gpu):
    gpu.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    gpu.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    with pytest.raises(RuntimeError) as caught:
        choosing.kernel_for(GPU, torch.float32, 64)
    assert str(caught.value) == (
        "q, k and v must be on the CPU or on a GPU of compute capability 8.0 or more, "
        "got them on Tesla T4, which has 7.5"
    )


def test_the_cpu_needs_no_triton():
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "import torch, attn_core\n"
        "print(attn_core.trace(*[torch.ones(4, 2)] * 3).stage('weights')[0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "tensor([0.2500, 0.2500, 0.2500, 0.2500])\n"
