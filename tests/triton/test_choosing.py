"""Which kernels compute on which device, and what is said where Triton does not serve a GPU."""

import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch

from attn_core import Dropout, causal, padding, prefill, window
from attn_core.call import Call
from attn_core.engines import choose, torch_sdpa
from attn_core.engines.formulas import FORMULAS
from attn_core.engines.tiled import TILED
from attn_core.masks import Keep

pytestmark = pytest.mark.gate

GPU = torch.device("cuda", 0)


@pytest.fixture
def gpu(monkeypatch):
    """What torch says of a GPU that may not be there."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", {GPU: (8, 0)}.get)
    monkeypatch.setattr(torch.cuda, "get_device_name", {GPU: "NVIDIA A100"}.get)
    choose.triton_engine.cache_clear()
    yield monkeypatch
    choose.triton_engine.cache_clear()


def outside(device, dtype, wide, requires_grad=False):
    """A tensor of 600 tokens on a device that may not be there; only its outside is asked."""
    tensor = torch.empty(1, 2, 600, wide, dtype=dtype, device="meta")
    return SimpleNamespace(
        device=torch.device(device),
        dtype=dtype,
        shape=tensor.shape,
        is_cpu=False,
        requires_grad=requires_grad,
    )


def served(wanted):
    """What stands in for torch's own answer: it is asked about a call."""
    return lambda call: isinstance(call, Call) and wanted


def on(device, dtype=torch.float32, widest=64, keep=None, live=()):
    """A call of such tensors. widest: of q, k and v. live: those that ask for gradients."""
    wide = (widest,) * 3 if isinstance(widest, int) else widest
    given = (outside(device, dtype, w, name in live) for name, w in zip("qkv", wide, strict=True))
    return Call(*given, keep, 1.0, None, ())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_a_gpu_gets_tritons_kernels(gpu, triton, dtype):
    gpu.setattr(torch_sdpa, "serves_gpu", served(True))
    assert choose.engine_for(on(GPU, dtype, 256)) is triton.TRITON


MASKS = causal(), window(3, 2), padding([9]), prefill(0), causal() & torch.eye(600).bool()


@dataclass(frozen=True)
class Dilated(Keep):
    step: int = 1


@pytest.mark.parametrize("keep", [*MASKS, MASKS[1] & MASKS[2] & MASKS[3]])
def test_tritons_kernels_know_these_masks_and_no_other(gpu, triton, keep):
    assert choose.engine_for(on(GPU, keep=keep)) is triton.TRITON
    for other in (Dilated(step=2), padding(starts=[9])):
        assert choose.engine_for(on(GPU, keep=other)) is TILED


@pytest.mark.parametrize("serves", [True, False])
@pytest.mark.parametrize(
    ("dtype", "widest"),
    [(torch.float64, 64), (torch.float32, (257, 257, 64)), (torch.float32, (64, 64, 257))],
    ids=str,
)
def test_what_triton_has_no_room_for_gets_torchs(gpu, dtype, widest, serves):
    gpu.setattr(torch_sdpa, "serves_gpu", served(serves))
    wanted = torch_sdpa.TORCH_SDPA_ON_GPU if serves else TILED
    assert choose.engine_for(on(GPU, dtype, widest)) is wanted


@pytest.mark.parametrize("serves", [True, False])
def test_an_output_alone_is_torchs_where_it_has_tiles(gpu, triton, serves):
    gpu.setattr(torch_sdpa, "serves_gpu", served(serves))
    engine = choose.engine_for(on(GPU), output_alone=True)
    assert engine is (torch_sdpa.TORCH_SDPA_ON_GPU if serves else triton.TRITON)


@pytest.mark.parametrize("live", "qkv")
def test_with_gradients_a_gpu_gets_tritons_kernels(gpu, triton, live):
    gpu.setattr(torch_sdpa, "serves_gpu", served(True))
    assert choose.engine_for(on(GPU, live=live), output_alone=True) is triton.TRITON


@pytest.mark.parametrize(
    ("T", "settings", "wanted"),
    [
        (256, {}, FORMULAS),
        (257, {}, torch_sdpa.TORCH_SDPA),
        (257, {"keep": causal() & padding([9])}, torch_sdpa.TORCH_SDPA),
        (257, {"dropout": Dropout(0.1, 1)}, TILED),
    ],
    ids=["small", "large", "a mask", "dropout"],
)
def test_on_the_cpu(T, settings, wanted):
    x = torch.ones(T, 4)
    assert choose.engine_for(Call.of(x, x, x, **settings)) is wanted
    assert choose.engine_for(Call.of(x, x, x, **settings), output_alone=True) is wanted
    if T > 256:
        assert choose.engine_for(Call.of(x, x, x[:, :3], **settings)) is TILED


def test_a_gpu_without_triton_is_one_sentence(gpu):
    gpu.setattr(choose, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError) as caught:
        choose.engine_for(on(GPU))
    assert str(caught.value) == (
        "q, k and v are on NVIDIA A100, whose kernels need Triton, which is not installed: "
        "pip install triton"
    )


def test_a_gpu_that_is_too_old_is_one_sentence(gpu, triton):
    gpu.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    gpu.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    with pytest.raises(RuntimeError) as caught:
        choose.engine_for(on(GPU))
    assert str(caught.value) == (
        "q, k and v are on Tesla T4, of compute capability 7.5, and Triton's kernels need 8.0: "
        "put them on the CPU"
    )


def test_the_cpu_needs_no_triton():
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "import torch, attn_core\n"
        "print(attn_core.trace(*[torch.ones(4, 2)] * 3).stage('weights')[0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "tensor([0.2500, 0.2500, 0.2500, 0.2500])\n"
