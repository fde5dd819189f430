"""Each form of attention that people write becomes a record with the weights that it computed."""

import pytest
import torch

from attn_core import watch
from tests.watching.forms import RULES, Attends

FORMS = RULES


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_form(name, mode):
    form, heads_of_keys, keep = FORMS[name]
    torch.manual_seed(0)
    model = Attends(form, heads_of_keys)
    with mode(), watch(model, strict=True, check=True) as seen:
        model(torch.randn(2, 6, 16))
    expected = model.weights.detach().reshape(-1, *seen[-1].size).double()
    maps = [record.stage("weights").detach().reshape(-1, *record.size) for record in seen.all()]
    torch.testing.assert_close(torch.cat(maps).double(), expected, rtol=0, atol=1e-6)
    assert repr(seen[-1].keep) == keep
    assert seen[-1].k.shape[1] in (heads_of_keys, 1)
    assert mode is torch.enable_grad or not seen[-1].q.requires_grad
