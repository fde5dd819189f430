"""The measurements of `make bench-gpu`, at lengths that Triton's interpreter can bear."""

import pytest
import torch

from benchmarks import gpu, report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def _triton():
    pytest.importorskip("triton", reason="Triton is not installed: it has wheels for Linux only")


def test_its_rows():
    found = gpu.throughput(40, 2, DEVICE, rounds=1) + gpu.long_text(40, (2, 2), DEVICE)
    assert all(set(line) == set(report.KEYS) and line["goal"] for line in found)
    assert {line["section"] for line in found} == {"gpu"}
    assert found[1]["met"] is torch.cuda.is_available()
