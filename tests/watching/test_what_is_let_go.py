"""What a model computed beside q, k and v is let go, and what cannot attend is not looked at."""

import gc
from weakref import ref

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu

from attn_core import watch
from attn_core.watching.dispatching import Dispatching
from tests.watching.forms import by_softmax

B, T, E, H = 2, 6, 16, 4
X = torch.linspace(-1, 1, B * T * E).sin().view(B, T, E)


class Block(nn.Module):
    """A layer as of Llama: no biases, rotary positions, a gate, and a residual stream."""

    def __init__(self, form, bias: bool) -> None:
        super().__init__()
        self.form, self.made = form, {}
        self.norms = nn.ModuleList(nn.RMSNorm(E) for _ in range(2))
        self.qkv, self.out_proj = nn.Linear(E, 3 * E, bias), nn.Linear(E, E, bias)
        self.gate, self.up, self.down = (
            nn.Linear(n, m, bias) for n, m in ((E, 32), (E, 32), (32, E))
        )

    def made_here(self, **tensors):
        """Remembers activations for as long as they live."""
        self.made |= {name: ref(tensor) for name, tensor in tensors.items()}
        return next(iter(tensors.values()))

    def forward(self, x):
        normed = self.made_here(normed=self.norms[0](x))
        q, k, v = (x.unflatten(-1, (H, -1)).transpose(1, 2) for x in self.qkv(normed).chunk(3, -1))
        turned = self.made_here(turned=torch.cat([-q[..., 2:], q[..., :2]], -1))
        q = q * torch.ones(T, E // H) + turned * torch.ones(T, E // H)
        output = self.made_here(output=self.form(q, k, v)[0].transpose(1, 2).flatten(2))
        x = self.made_here(x=x + self.made_here(projected=self.out_proj(output)))
        normed = self.made_here(second=self.norms[1](x))
        inner = silu(self.gate(normed)) * self.made_here(up=self.up(normed))
        return x + self.made_here(down=self.down(self.made_here(inner=inner)))


def by_sdpa(q, k, v):
    return scaled_dot_product_attention(q, k, v, is_causal=True), None


def blocks(form, bias=False):
    torch.manual_seed(0)
    return nn.Sequential(*(Block(form, bias) for _ in range(3)))


def alive(block):
    return [name for name, tensor in block.made.items() if tensor() is not None]


@pytest.mark.parametrize("form", [by_sdpa, by_softmax()], ids=["sdpa", "softmax"])
def test_activations_do_not_live_on(form):
    model = blocks(form)
    with torch.no_grad(), watch(model, strict=True) as seen:
        model(X)
        gc.collect()
        # What the last products were made of is kept until the next one.
        assert [alive(block) for block in model[:2]] == [[], []]
        assert set(alive(model[2])) <= {"normed", "inner"}
    gc.collect()
    assert not alive(model[2])
    assert len(seen.all()) == 3


def test_a_sum_of_many_tables_ends_a_chain():
    """Such as a residual stream of matrices that are no weights of the model."""
    tables = [torch.zeros(T, T) for _ in range(40)]
    kept = [ref(table) for table in tables]

    class Adds(nn.Module):
        def forward(self, q, k):
            stream = q @ k.T
            while tables:
                stream = stream + tables.pop()
            self.alive = sum(table() is not None for table in kept)
            return scaled_dot_product_attention(stream, stream, stream)

    model = Adds()
    with torch.no_grad(), watch(model):
        model(X[0], X[1])
    assert model.alive < 20


@pytest.mark.parametrize(("bias", "fewest"), [(True, 0), (False, 25)])
def test_operations_of_functions_that_cannot_attend_are_not_followed(monkeypatch, bias, fewest):
    counted = []
    dispatch = Dispatching.__torch_dispatch__

    def counting(self, func, *args):
        counted.append(func)
        return dispatch(self, func, *args)

    monkeypatch.setattr(Dispatching, "__torch_dispatch__", counting)
    model = blocks(by_sdpa, bias)
    with torch.no_grad(), watch(model, strict=True):
        model(X)
    assert len(counted) <= 3 * fewest
