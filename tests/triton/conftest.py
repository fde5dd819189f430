"""Triton's kernels, on a GPU when there is one and else in Triton's interpreter on the CPU."""

import os

import pytest
import torch
from hypothesis import settings

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    # Read when triton is imported, and so before any test is.
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.hookimpl(trylast=True)  # after tests.patience, which makes the profile "book"
def pytest_configure(config):
    settings.register_profile("triton", settings.get_profile("book"), max_examples=25)
    settings.load_profile("triton")


@pytest.fixture
def kernels(monkeypatch):
    """Triton's kernels, which `trace` and `attention` choose on a GPU, and here on the CPU as well.

    On the CPU tiles are small, so that short maps cross their ends.
    """
    pytest.importorskip("triton", reason="Triton is not installed: it has wheels for Linux only")
    from attn_core.kernels import choosing, cpu, triton
    from attn_core.kernels.triton import launch

    def chosen(device, dtype, widest):
        is_theirs = dtype != torch.float64 and widest <= choosing.WIDEST
        return triton.KERNEL if is_theirs else cpu.KERNEL

    if DEVICE == "cpu":
        monkeypatch.setattr("attn_core.kernels.kernel_for", chosen)
        small = {launch.WIDEST: launch.Tiling(32, 16, num_warps=4, num_stages=2)}
        monkeypatch.setattr(launch, "HALF", small)
        monkeypatch.setattr(launch, "FLOAT32", small)
    return triton
