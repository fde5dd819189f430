"""The dtype to compute in: half precision is for storing."""

import torch
from torch import Tensor


def float_type(tensor: Tensor) -> torch.dtype:
    """The tensor's dtype, float32 at least.

    >>> float_type(torch.zeros(2, dtype=torch.float16)), float_type(torch.zeros(2).double())
    (torch.float32, torch.float64)
    """
    return torch.promote_types(tensor.dtype, torch.float32)


def upcast(tensor: Tensor) -> Tensor:
    """In float32 at least."""
    # The short way first: in a call of six words three tensors are upcast.
    return tensor.to(float_type(tensor)) if tensor.dtype.itemsize < 4 else tensor
