"""A product of queries and keys may be that of a linear layer, whose weights are learned keys."""

import pytest
import torch
from torch import nn
from torch.nn.functional import linear

from attn_core import watch

E, S = 6, 5
X = torch.linspace(-1, 1, 2 * 4 * E).sin().view(2, 4, E)


class Learned(nn.Module):
    """Attends to S learned keys with S learned values."""

    def __init__(self, how) -> None:
        super().__init__()
        self.keys, self.values = nn.Linear(E, S, bias=False), nn.Linear(S, 3, bias=False)
        self.query, self.how = nn.Parameter(torch.linspace(-1, 1, 2 * E).view(2, E)), how

    def forward(self, x):
        output, self.weights = self.how(self, x)
        return output


def external(model, x):
    weights = model.keys(x).softmax(-1)
    return model.values(weights), weights


def with_a_table(model, x):
    """A table as large as the keys alone may be added."""
    weights = (model.keys(x) * 0.5 + torch.linspace(0, 3, S)).softmax(-1)
    return model.values(weights), weights


def by_function(model, x):
    """One sequence against another."""
    weights = linear(x[0], x[1]).softmax(-1)
    return linear(weights, x[1].T.contiguous()), weights


def learned_queries(model, x):
    weights = (model.query @ x.mT + torch.linspace(0, 1, 4)).softmax(-1)
    return weights @ x, weights


def pooled(model, x):
    """A score for each token and each of S heads, that sums over the tokens."""
    weights = model.keys(x).softmax(1).transpose(1, 2)
    return weights @ x, weights


def beside_a_transform(model, x):
    """Tensors inside a transform of torch.func have no storage to be known by."""
    scores = model.keys(x)
    table = torch.vmap(lambda place: place.sin() + place)(torch.linspace(0, 3, S))
    weights = (scores + table).softmax(-1)
    return model.values(weights), weights


HOW = {
    "three axes": (external, X[:1]),
    "two axes": (external, X[0]),
    "four axes": (external, X[None, :1]),
    "turned": (external, X[:1].mT.contiguous().mT),
    "with a table": (with_a_table, X[:1]),
    "beside a transform": (beside_a_transform, X[:1]),
    "by the function": (by_function, X),
    "learned queries": (learned_queries, X),
    "pooled": (pooled, X),
}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("name", HOW)
def test_learned_keys(name, mode):
    how, x = HOW[name]
    torch.manual_seed(0)
    model = Learned(how)
    x = x.clone(memory_format=torch.preserve_format).requires_grad_()
    with mode(), watch(model, strict=True, check=True) as seen:
        model(x)
    weights = seen[0].stage("weights")
    expected = model.weights.reshape(weights.shape)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-6)
    if mode is torch.enable_grad:
        got, own = (
            torch.autograd.grad(each.square().sum(), x, retain_graph=True)[0]
            for each in (weights, expected)
        )
        torch.testing.assert_close(got, own, rtol=1e-4, atol=1e-6)


def test_learned_keys_under_autocast():
    model = Learned(external)
    with torch.no_grad(), watch(model, strict=True) as seen, torch.autocast("cpu", torch.bfloat16):
        model(X[:1])
    assert seen[0].q.dtype == torch.bfloat16
