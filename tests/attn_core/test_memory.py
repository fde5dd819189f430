"""No whole map, not even for a moment: measured, on every route, whatever torch does behind it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
T = 4096
MAP = 4 * T * T  # bytes of one head's map in float32: 67 MB
# A few megabytes would do; torch.compile takes 36 for itself.
MOST = 3 * MAP // 4

CALLS = {
    "values narrower than keys": "attention(q, k, v[..., :32])",
    "values wider than keys": "attention(q[..., :32], k[..., :32], v)",
    "keys transposed in memory": "attention(q, k.mT.contiguous().mT, v)",
    "values transposed in memory": "attention(q, k, v.mT.contiguous().mT)",
    "every second number": "attention(q[..., ::2], k[..., ::2], v[..., ::2])",
    "flash attention switched off": "without_flash(lambda: attention(q, k, v))",
    "causal, values narrower": "attention(q, k, v[..., :32], keep=causal())",
    "causal, flash attention switched off": (
        "without_flash(lambda: attention(q, k, v, keep=causal()))"
    ),
    "padding": "attention(q, k, v, keep=padding([4000]))",
    "a window": "attention(q, k, v, keep=window(100))",
    "dropout": "attention(q, k, v, dropout=Dropout(0.1, 0))",
    "float64": "attention(q[:, :1].double(), k[:, :1].double(), v[:, :1].double())",
    "float16": "attention(q.half(), k.half(), v.half())",
    "a negative scale": "attention(q, k, v, scale=-0.1)",
    "a record": "trace(q, k, v[..., :32]).lse",
    "a record, keys transposed": "trace(q, k.mT.contiguous().mT, v).lse",
    "the record of a way back": (
        "trace(q, k, v[..., :32], keep=causal()).gradients(v[..., :32] + 1).grad_k"
    ),
    "a part of a way back": (
        "trace(q, k, v).gradients(v + 1).tile('grad_scores', range(5), range(T))"
    ),
    "an overview of a way back": ("trace(q, k, v).gradients(v + 1).pooled('grad_scores', (4, 4))"),
    "gradients": "attention(q.requires_grad_(), k, v).sum().backward()",
    "gradients with a graph": (
        "torch.autograd.grad(attention(q.requires_grad_(), k, v).sum(), q, create_graph=True)"
    ),
    "torch.func.grad": "torch.func.grad(lambda q: attention(q, k, v).sum())(q)",
    "torch.vmap": "torch.vmap(lambda q, k, v: attention(q, k, v), in_dims=1)(q, k, v)",
    "per-sample gradients": (
        "torch.vmap(torch.func.grad(lambda q, k: attention(q, k, k).sum()), in_dims=1)(q, k)"
    ),
    "torch.compile": "torch.compile(lambda q: attention(q, k, v[..., :32]), backend='eager')(q)",
}
PROGRAM = """
import json, re, sys
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from attn_core import Dropout, attention, causal, padding, trace, window


def without_flash(call):
    with sdpa_kernel(SDPBackend.MATH):
        return call()


def peak():  # not ru_maxrss: that of a child starts at what its parent held
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def inputs(T):
    return torch.linspace(-2, 2, 3 * 2 * T * 64).view(3, 1, 2, T, 64).unbind()


grown = {}
for name, call in json.loads(sys.argv[1]).items():
    for T in (1024, 4096):  # the short one first: it loads what the call needs
        q, k, v = inputs(T)
        call_here = call if T == 4096 else call.replace("4000", "1000")
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = peak()
        eval(call_here)
        grown[name] = peak() - before
print(json.dumps(grown))
"""


@pytest.fixture(scope="module")
def grown():
    """By how many bytes a process grows in each call."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peaks of memory are read from Linux's /proc/self/clear_refs, not there")
    command = [sys.executable, "-c", PROGRAM, json.dumps(CALLS)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.slow
@pytest.mark.xdist_group("memory")
@pytest.mark.parametrize("name", CALLS)
def test_no_call_makes_a_map(name, grown):
    assert grown[name] < MOST, f"{grown[name] / 1e6:.0f} MB; a map takes {MAP / 1e6:.0f} MB"


def test_a_map_would_be_seen():
    """torch's own attention, where it has no tiles, makes one."""
    call = {"a map": "torch.nn.functional.scaled_dot_product_attention(q, k, v[..., :32])"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(call)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(run.stdout)["a map"] > MAP
