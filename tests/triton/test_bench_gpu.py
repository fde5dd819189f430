"""The measurements of `make bench-gpu`, at lengths that Triton's interpreter can bear."""

import pytest
import torch

from benchmarks import gpu, report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytestmark = [
    # Where there is no GPU, FlexAttention is not compiled, and says so.
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
    # What compiles it uses what torch no longer wants to be used.
    pytest.mark.filterwarnings("ignore:`torch.jit.script"),
]


@pytest.mark.usefixtures("kernels")
def test_its_rows():
    with torch.no_grad():
        lines = gpu.throughput(40, 2, DEVICE, rounds=1) + gpu.tiles(40, DEVICE, rounds=1)
        lines += gpu.long_text(40, (2, 2), DEVICE)
    assert all(set(line) == set(report.KEYS) and line["measured"]["ours"] for line in lines)
    assert {line["section"] for line in lines} == {"gpu"}
    assert lines[-1]["met"] is torch.cuda.is_available()
    assert {line["what"] for line in lines} > {gpu.of_length(40), gpu.OF_A_MILLION}


def test_flash_is_torchs_own():
    q, k, v = torch.randn(3, 1, 2, 20, 16, device=DEVICE, dtype=torch.float16)
    attend, wanted = gpu.flex(20, DEVICE), gpu.peers.torch_alone(q, k, v, is_causal=True)
    for output in (gpu.flash(q, k, v), attend(q, k, v), gpu.peers.textbook(q, k, v)[0]):
        torch.testing.assert_close(output, wanted, rtol=1e-2, atol=1e-2)
