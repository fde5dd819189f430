"""Each form of attention that people write becomes a record with the weights that it computed."""

import pytest
import torch

from attn_core import watch
from tests.watching.forms import FORMS, Attends


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_form(name, mode):
    form, heads_of_keys, keep = FORMS[name]
    torch.manual_seed(0)
    model = Attends(form, heads_of_keys)
    x = torch.randn(2, 6, 16).requires_grad_()
    with mode(), watch(model, strict=True, check=True) as seen:
        model(x)
    records, expected = seen.all(), model.weights.reshape(-1, *seen[-1].size).double()
    maps = [record.stage("weights").reshape(-1, *record.size) for record in records]
    weights = torch.cat(maps).double()
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-6)
    assert repr(records[-1].keep) == keep
    if mode is torch.enable_grad:
        slopes = [
            torch.autograd.grad(w.square().sum(), x, retain_graph=True)[0]
            for w in (weights, expected)
        ]
        torch.testing.assert_close(*slopes, rtol=1e-4, atol=1e-6)
        return
    assert not any(tensor.requires_grad for tensor in (records[-1].q, records[-1].k, records[-1].v))
    assert records[-1].k.shape[1] in (heads_of_keys, 1)


@pytest.mark.parametrize(
    ("name", "bias"),
    [("bias", "relative(4, 11)"), ("alibi", "alibi(4,)"), ("baddbmm", "table(2, 4, 1, 6)")],
)
def test_a_bias_is_a_rule_where_it_is_one(name, bias):
    model = Attends(FORMS[name][0])
    with torch.no_grad(), watch(model) as seen:
        model(torch.ones(2, 6, 16))
    assert repr(seen[0].bias) == bias
