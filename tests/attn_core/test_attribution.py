"""The gradient of the weights, against the one that autograd finds through the whole map."""

import pytest
import torch

from attn_core import Dropout, alibi, causal, trace


def numbers(*shape, dtype=torch.float32):
    torch.manual_seed(0)
    return torch.randn(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("lead", "settings"),
    [
        ((), {}),
        ((3,), {"keep": causal()}),
        ((2, 3, 4), {"dropout": Dropout(0.4, 3), "keep": numbers(5, 7) > 0}),
        ((2, 4), {"heads_of_keys": 2, "dropout": Dropout(0.4, 3)}),
        (
            (2, 4),
            {
                "bias": alibi(torch.tensor([0.5, 0.25, 0.1, 0.0])),
                "softcap": 2.0,
                "sinks": numbers(4),
            },
        ),
        ((2, 4), {"dtype": torch.bfloat16}),
        ((2, 4), {"dtype": torch.float64}),
    ],
    ids=["two axes", "mask", "dropout", "shared keys", "bias", "bfloat16", "float64"],
)
def test_gradient_of_autograd(lead, settings):
    dtype = settings.pop("dtype", torch.float32)
    of_keys = (*lead[:-1], settings.pop("heads_of_keys", lead[-1])) if lead else lead
    q, k, v = (numbers(*shape, dtype=dtype)
               for shape in ((*lead, 5, 6), (*of_keys, 7, 6), (*of_keys, 7, 4)))  # fmt: skip
    record = trace(q, k, v, **settings)
    weights = record.stage("weights").requires_grad_()
    dropped = weights
    if record.dropout is not None:
        survives = record.dropout.survives(*record.everything, "cpu").reshape(weights.shape)
        dropped = weights * survives / (1 - record.dropout.p)
    if of_keys != lead:
        v = v.repeat_interleave(lead[-1] // of_keys[-1], -3)
    grad_output = numbers(*lead, 5, 4, dtype=dtype)
    number = (dropped @ v.to(weights.dtype) * grad_output).sum()
    (expected,) = torch.autograd.grad(number, weights)
    got, share = record.grad_weights(grad_output), record.attribution(grad_output)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)
    finer = record.grad_weights(grad_output.double())
    torch.testing.assert_close(finer, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(share, expected * weights.detach(), rtol=0, atol=1e-6)
    batch, head = record.shape[0] - 1, record.shape[1] - 1
    cells = share.reshape(record.shape)
    tile = record.attribution(grad_output, slice(1, 3), range(6, 7), batch=batch, head=head)
    torch.testing.assert_close(tile, cells[batch, head, 1:3, 6:7])
    for part, wanted in (
        ({"rows": range(1, 3)}, cells[0, 0, 1:3]),
        ({"cols": slice(6, 7)}, cells[0, 0, :, 6:7]),
        ({"batch": batch}, cells[batch, 0]),
        ({"head": head}, cells[0, head]),
    ):
        torch.testing.assert_close(record.attribution(grad_output, **part), wanted)
    of_head = record.grad_weights(grad_output, head=head)
    torch.testing.assert_close(of_head, got.reshape(record.shape)[0, head])


LONG = trace(*[numbers(2, 6000, 2)] * 3)


def test_a_tile_of_what_is_refused_whole():
    assert LONG.grad_weights(torch.ones(2, 6000, 2), slice(5999, None)).shape == (1, 6000)
