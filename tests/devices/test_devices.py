"""A device for all that a notebook makes: what is moved there, what is drawn, what is said."""

import os
import sys

import pytest
import torch

from attn_core.devices import On, put_tensors_on
from tests.processes import ran

pytestmark = pytest.mark.gate


def test_what_is_made_without_a_device_is_made_there():
    with On("meta"):
        made = [torch.tensor([1.0]), torch.arange(3), torch.randn(2), torch.nn.Linear(2, 3).weight]
        here = torch.ones(2, device="cpu")
    assert {tensor.device.type for tensor in made} == {"meta"}
    assert here.device.type == "cpu"
    assert torch.ones(1).device.type == "cpu", "no longer, once it has ended"


def test_gradients_are_asked_for_as_before():
    with On("cpu"):
        assert torch.ones(2, requires_grad=True).is_leaf
        assert torch.ones(2, requires_grad=True).requires_grad
        assert not torch.rand(2).requires_grad


def test_numbers_are_drawn_as_without_it():
    def drawn():
        torch.manual_seed(5)
        layer = torch.nn.Linear(2, 3)
        torch.nn.init.normal_(layer.bias, 1.0, std=0.5)
        return [layer.weight, layer.bias, torch.rand(3), torch.empty(2).uniform_(2.0, 3.0)]

    plain = drawn()
    with On("cpu"):
        there = drawn()
    assert all(map(torch.equal, plain, there))


def test_it_prints_as_without_it():
    live = torch.tensor([1.0, 2.0], requires_grad=True)
    tensors = [live, 2 * live, torch.nn.Parameter(torch.zeros(2)), torch.arange(3)]
    plain = [str(tensor) for tensor in tensors]
    with On("cpu"):
        assert [str(tensor) for tensor in tensors] == plain
        assert f"{live[0]:.2f} {live.tolist()}" == "1.00 [1.0, 2.0]"


LIVE_ELSEWHERE = """
import torch
from attn_core.devices import On
from tests.devices import pretend

library = pretend.register()
with On(pretend.NAME):
    made = 2 * torch.ones(1, requires_grad=True)
    with torch.no_grad():
        print(made)
"""


def test_it_prints_what_has_a_gradient_where_none_are_followed():
    """A copy on the CPU that is made there comes from nothing."""
    done = ran(sys.executable, "-c", LIVE_ELSEWHERE)
    assert done.stdout == "tensor([2.], grad_fn=<MulBackward0>)\n", done.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="this is what a machine without a GPU says")
@pytest.mark.parametrize("name", ["cuda", "nowhere"])
def test_a_device_that_is_not_there_is_one_sentence(name):
    wanted = f"ATTN_DEVICE must be cpu, as torch finds no GPU here, got '{name}'"
    with pytest.raises(ValueError, match=f"^{wanted}$"):
        put_tensors_on(name)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_variable_is_read_by_the_import(device):
    code = "import attn_core, torch; print(torch.ones(2).device)"
    done = ran(sys.executable, "-c", code, env=os.environ | {"ATTN_DEVICE": device})
    assert done.stdout == f"{device}\n", done.stderr
