"""torch.compile and torch.export: a call of any length, in training and out of it."""

import logging
import shutil
import subprocess
import sys
from functools import partial
from itertools import product

import pytest
import torch
from torch import nn

from attn_core import Dropout, attention, causal, padding, prefill, sweep, trace, window
from attn_core.compiling import closed
from attn_core.modules import CausalAttention, MultiHeadAttention
from attn_core.transformer import Transformer
from tests.attn_core.reference import drawn

SHORT, LONG = 6, 300  # tokens: whole maps, and tiles
needs_a_compiler = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None,
    reason="a C++ compiler (g++ or clang++) is missing, with which inductor builds its graphs",
)
BACKENDS = [
    "eager",
    pytest.param("inductor", marks=[pytest.mark.slow, needs_a_compiler]),
]
# What torch says of its own while it follows a call.
pytestmark = [pytest.mark.gate, pytest.mark.filterwarnings("ignore")]


def qkv(T):
    return [drawn(n, 1, 2, T, 4) for n in (1, 2, 3)]


CALLS = {
    "attention": lambda q, k, v: attention(q, k, v),
    "causal": lambda q, k, v: attention(q, k, v, keep=causal()),
    "padding": lambda q, k, v: attention(q, k, v, keep=padding([k.shape[2] - 1])),
    "cells": lambda q, k, v: attention(q, k, v, keep=q[0, 0] @ k[0, 0].mT > -9),
    "dropout": lambda q, k, v: attention(q, k, v, dropout=Dropout(0.5, 1)),
    "a record's output": lambda q, k, v: trace(q, k, v, keep=causal()).output,
    "all weights": lambda q, k, v: trace(q, k, v, keep=padding([3])).stage("weights"),
    "a tile": lambda q, k, v: trace(q, k, v).tile("weights", slice(0, 2), slice(0, 3), head=1),
    "an overview": lambda q, k, v: trace(q, k, v, keep=causal()).pooled("weights", (2, 2)),
    "lse": lambda q, k, v: trace(q, k, v, keep=padding([4])).lse,
    "row statistics": lambda q, k, v: trace(q, k, v).row_max + trace(q, k, v).row_sum,
    "a sweep": lambda q, k, v: sweep(q, k, v, scale=[0.5, 2.0]).output,
}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """Inductor takes a graph from disk that was made under another ATEN_CPU_CAPABILITY."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
        yield


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def between_operations(call, q, k, v):
    """With something to compile before and after."""
    return call(q.sin(), k + 1, v * 2).cos()


# What inductor gets, eager has followed: what stands before and after the call. A few show it.
FEW = {("causal", LONG), ("dropout", SHORT), ("a tile", LONG), ("a sweep", SHORT)}
COMPILED = [
    *product(["eager"], CALLS, [SHORT, LONG]),
    *(
        pytest.param("inductor", name, T, marks=[mark, needs_a_compiler])
        for name, T in product(CALLS, [SHORT, LONG])
        for mark in [pytest.mark.slow if (name, T) in FEW else pytest.mark.deep]
    ),
]


@pytest.mark.parametrize(("backend", "name", "T"), COMPILED)
def test_a_compiled_call_gives_what_it_gives(backend, name, T):
    call = partial(between_operations, CALLS[name])
    compiled = torch.compile(call, backend=backend)
    for _ in range(2):
        torch.testing.assert_close(compiled(*qkv(T)), call(*qkv(T)))


@pytest.mark.parametrize("T", [SHORT, LONG])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_module_learns_as_it_would(backend, T):
    """Two steps, with dropout that is counted, on a length that changes."""

    def learned(as_it_is):
        torch.manual_seed(0)
        module = MultiHeadAttention(8, 8, num_heads=2, keep=causal(), dropout=0.2).double()
        model = as_it_is(nn.Sequential(nn.LayerNorm(8).double(), module))
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for length in (T, T + 1):
            model(drawn(1, 2, length, 8)).square().sum().backward()
            optimizer.step()
        assert module.drop.steps == 2
        return module.state_dict()

    compiled, wanted = (
        learned(partial(torch.compile, backend=backend)),
        learned(lambda model: model),
    )
    for name, tensor in wanted.items():
        torch.testing.assert_close(compiled[name], tensor, msg=name)


def test_the_graph_is_broken_quietly(caplog):
    """Nothing is logged, and nothing is compiled again for the same shapes."""
    layer = CausalAttention(4, 4, dropout=0.1)
    compiled = torch.compile(layer, backend="eager")
    x = drawn(1, 2, LONG, 4).float()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            compiled(x)
        once = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        for _ in range(3):
            compiled(x)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == once
    assert caplog.text == ""


def test_the_compiler_is_loaded_by_who_compiles():
    assert closed(len) is closed(len)
    code = "import sys, torch, attn_core; assert 'torch._dynamo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


class Exported(nn.Module):
    """A call without parameters."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, q, k, v):
        return self.call(q, k, v)


STRICT = pytest.param(
    True,
    id="strict",
    marks=pytest.mark.skipif(
        not hasattr(torch.compiler, "is_exporting"),
        reason="this torch does not say when it exports strictly; a newer one does",
    ),
)


@pytest.mark.parametrize("strict", [pytest.param(False, id=""), STRICT])
@pytest.mark.parametrize("T", [SHORT, LONG])
@pytest.mark.parametrize("name", ["attention", "causal", "padding", "dropout"])
def test_an_exported_call_gives_what_it_gives(name, T, strict):
    exported = torch.export.export(Exported(CALLS[name]), tuple(qkv(T)), strict=strict)
    other = [tensor + 1 for tensor in qkv(T)]
    torch.testing.assert_close(exported.module()(*other), CALLS[name](*other))


# A strict export does not know the masks that are tensors.
VARYING = {
    "all keys": lambda q, k: None,
    "causal": lambda q, k: causal(),
    "window": lambda q, k: window(2, 1),
    "padding": lambda q, k: padding([3]),
    "prefill": lambda q, k: prefill(2),
    "joined": lambda q, k: prefill(2) & window(3) & padding([4]),
    "cells": lambda q, k: q[0] @ k[0].mT > 0,
    "joined cells": lambda q, k: (q[0] @ k[0].mT > 0) & causal(),
}


RULES = [pytest.param(name, *STRICT.values, marks=STRICT.marks) for name in list(VARYING)[:-2]]


@pytest.mark.parametrize(("name", "strict"), [*((name, False) for name in VARYING), *RULES])
def test_an_exported_call_takes_other_lengths(name, strict):
    def call(q, k, v):
        return attention(q, k, v, keep=VARYING[name](q, k))

    def tensors(T):
        return [drawn(n, 1, 2, T + more, 4) for n, more in ((1, 0), (2, 2), (3, 2))]

    n = torch.export.Dim("n", min=2, max=512)
    sizes = {"dynamic_shapes": {"q": {2: n}, "k": {2: n + 2}, "v": {2: n + 2}}, "strict": strict}
    exported = torch.export.export(Exported(call), tuple(tensors(SHORT)), **sizes).module()
    for T in (3, SHORT, LONG):
        torch.testing.assert_close(exported(*tensors(T)), call(*tensors(T)))


def test_an_exported_module_gives_what_it_gives():
    module = MultiHeadAttention(8, 8, num_heads=2, keep=causal(), dropout=0.2).eval()
    x = drawn(1, 2, LONG, 8).float()
    exported = torch.export.export(module, (x,), strict=False)
    torch.testing.assert_close(exported.module()(x), module(x))


def test_an_exported_transformer_takes_padding_on_the_left():
    model = Transformer(9, 9, width=8, num_heads=2, hidden=8, num_layers=1, longest=600).eval()

    def arguments(T):
        is_word = torch.arange(T) >= torch.tensor([[0], [1]])
        places = (is_word.cumsum(1) - 1).clamp(0)
        return torch.arange(2 * T).view(2, T) % 9, is_word[:, None, None], places

    class Encoder(nn.Module):
        def forward(self, source, source_keep, source_positions):
            return model.encode(source, source_keep, source_positions)

    n = torch.export.Dim("n", min=2, max=512)
    exported = torch.export.export(
        Encoder(), arguments(6), dynamic_shapes=({1: n}, {3: n}, {1: n}), strict=False
    )
    torch.testing.assert_close(exported.module()(*arguments(9)), model.encode(*arguments(9)))


def test_an_export_of_a_map_too_large_is_refused():
    q = torch.zeros(8200, 1)
    with pytest.raises(ValueError, match=r"^stage 'weights' must have at most 2\*\*26 cells"):
        torch.export.export(Exported(CALLS["attention"]), (q, q, q), strict=False)
