"""A record as the page computes it, in float64: a picture shows no processor's rounding."""

import math

import torch

from attn_core.api import trace
from attn_core.views.given import GivenWeights, Numbers

MOST = 2**20  # cells of all heads: a longer record is asked as it is


def in_float64(record: Numbers) -> Numbers:
    """The same attention of the same numbers, without gradients.

    >>> from attn_core import toy
    >>> in_float64(trace(*[toy.journey().x] * 3)).stage("weights").dtype
    torch.float64
    """
    if isinstance(record, GivenWeights):
        return record
    if record.q.dtype == torch.float64 or math.prod(record.shape) > MOST:
        return record
    q, k, v = (tensor.detach().double() for tensor in (record.q, record.k, record.v))
    own = record.with_added(**{name: tensor.detach() for name, tensor in record.added().items()})
    return trace(
        q, k, v, keep=own.keep, scale=own.scale, dropout=own.dropout,
        bias=own.bias, softcap=own.softcap, sinks=own.sinks,
    )  # fmt: skip
