"""Triton's kernels, on a GPU when there is one and else in Triton's interpreter on the CPU."""

import os

import pytest
import torch
from hypothesis import settings

from tests import missing

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    # Read when triton is imported, and so before any test is.
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.hookimpl(trylast=True)  # after tests.patience, which makes the profile "book"
def pytest_configure(config):
    settings.register_profile("triton", settings.get_profile("book"), max_examples=25)
    settings.load_profile("triton")


@pytest.fixture
def triton():
    """The engine of Triton's kernels."""
    pytest.importorskip("triton", reason=missing.TRITON)
    from attn_core.engines import triton

    return triton


@pytest.fixture
def kernels(triton, monkeypatch):
    """Triton's kernels, which `trace` and `attention` choose on a GPU, and here on the CPU as well.

    On the CPU tiles are small, so that short maps cross their ends.
    """
    from attn_core.engines import choose
    from attn_core.engines.triton import launch

    def chosen(call, output_alone=False):
        return triton.TRITON if choose.is_tritons(call) else choose.engine_for(call, output_alone)

    if DEVICE == "cpu":
        monkeypatch.setattr("attn_core.api.engine_for", chosen)
        small = {launch.WIDEST: launch.Tiling(32, 16, num_warps=4, num_stages=2)}
        monkeypatch.setattr(launch, "HALF", small)
        monkeypatch.setattr(launch, "FLOAT32", small)
    return triton
