"""Weights times their gradient of a number, for each attention of a model that was watched."""

import pytest
import torch
from torch import nn

from attn_core import watch
from tests.attn_core.reference import drawn
from tests.errors.sentences import refused
from tests.watching.forms import FORMS, Attends


@pytest.mark.parametrize("name", FORMS)
def test_each_form_has_that_of_autograd(name):
    form, heads_of_keys, _ = FORMS[name]
    torch.manual_seed(0)
    model = Attends(form, heads_of_keys)
    with watch(model, strict=True) as seen:
        output = model(torch.randn(2, 6, 16))
    parts = output * drawn(1, *output.shape).float()
    found = seen.attribution(parts.sum())[""]
    found = found if type(found) is list else [found]
    maps = torch.cat([each.reshape(-1, *each.shape[-2:]) for each in found])
    heads = len(maps) // len(output)
    rows = parts.unflatten(-1, (heads, -1)).sum(-1).transpose(1, 2).reshape(-1, output.shape[1])
    torch.testing.assert_close(maps.sum(-1), rows.detach(), rtol=1e-4, atol=1e-5)
    if model.weights.requires_grad:
        (grad,) = torch.autograd.grad(parts.sum(), model.weights, allow_unused=True)
        if grad is not None:
            wanted = (grad * model.weights).detach().reshape(maps.shape)
            torch.testing.assert_close(maps, wanted.to(maps), rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, batch_first=True)


def test_of_a_model_each_path_has_its_own(model):
    x, y = drawn(1, 1, 5, 8).float(), drawn(2, 1, 3, 8).float()
    with watch(model) as seen:
        output = model(x, y)
    found = seen.attribution(output[0, 2, 0])
    assert list(found) == list(seen)
    assert {path: tuple(each.shape) for path, each in found.items()} == {
        "encoder.layers.0.self_attn": (1, 2, 5, 5),
        **{f"decoder.layers.{n}.self_attn": (1, 2, 3, 3) for n in range(2)},
        **{f"decoder.layers.{n}.multihead_attn": (1, 2, 3, 5) for n in range(2)},
    }
    # The last decoder layer is followed by what looks at each place alone.
    last = found["decoder.layers.1.multihead_attn"]
    assert last[:, :, :2].count_nonzero() == 0
    assert last[:, :, 2].count_nonzero() == 10
    again = seen.attribution(output[0, 2, 0])
    assert all(torch.equal(found[path], again[path]) for path in found)


def test_a_module_that_ran_twice_has_a_list():
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x = drawn(3, 1, 4, 8).float()
    with watch(layer) as seen:
        first, second = (layer(x, x, x)[0] for _ in range(2))
    found = seen.attribution(second.sum())[""]
    assert [bool(each.count_nonzero()) for each in found] == [False, True]
    assert first.requires_grad


def test_what_cannot_be_attributed_is_said(model):
    x, y = drawn(1, 1, 5, 8).float(), drawn(2, 1, 3, 8).float()
    with watch(model) as seen:
        output = model(x, y)
    with watch(model) as without, torch.no_grad():
        model(x, y)
    torch.manual_seed(1)
    dropping = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True)
    with watch(dropping) as dropped:
        once = dropping(x, x, x)[0]
    number = output.sum()
    for kind, sentence, ask in [
        (TypeError, "number must be a torch tensor, got float", lambda: seen.attribution(1.0)),
        (ValueError, "number must be one number, got (1, 3, 8): choose one, as of a logit, or add "
         "them up", lambda: seen.attribution(output)),
        (RuntimeError, "number must have a gradient, got none: compute it from the model's output "
         "inside watch, without torch.no_grad()", lambda: seen.attribution(number.detach())),
        (RuntimeError, "seen must have been recorded with gradients, got an attention without: run "
         "the model inside watch without torch.no_grad()", lambda: without.attribution(number)),
        (RuntimeError, "seen must have been recorded without dropout, got '' with it: call "
         "model.eval() before", lambda: dropped.attribution(once.sum())),
    ]:  # fmt: skip
        refused(ask, kind, sentence)
