"""What a record says where it gives no gradient of its weights."""

import pytest
import torch

from attn_core import trace

LONG = trace(*[torch.linspace(-1, 1, 24_000).sin().view(2, 6000, 2)] * 3)


@pytest.mark.parametrize(
    ("ask", "kind", "sentence"),
    [
        (
            {"grad_output": torch.ones(2, 6)},
            ValueError,
            "must have the shape of output, (2, 6000, 2)",
        ),
        ({"grad_output": 3}, TypeError, "grad_output must be a torch tensor, got int"),
        ({"grad_output": torch.ones(2, 6000, 2).int()}, TypeError, "must be of floating point"),
        (
            {"grad_output": torch.ones(2, 6000, 2, device="meta")},
            ValueError,
            "must be on q's device cpu, got meta",
        ),
        (
            {},
            ValueError,
            "at most 2**26 cells to be made whole, got (2, 1, 6000, 6000): take one part",
        ),
        ({"rows": slice(0, 3), "batch": 2}, ValueError, "batch must be at least 0 and below 2"),
        ({"rows": 3}, TypeError, "rows must be a slice or a range, got int"),
    ],
    ids=["shape", "kind", "dtype", "device", "size", "batch", "rows"],
)
def test_gradients_of_weights(ask, kind, sentence):
    with pytest.raises(kind) as error:
        LONG.grad_weights(**{"grad_output": torch.ones(2, 6000, 2)} | ask)
    assert sentence in str(error.value)
