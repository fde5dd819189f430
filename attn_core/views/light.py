"""What a page gets of a text that was read before: the numbers of each layer, in few bytes.

views/page/core/language/light.js reads it. Everything is little endian.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.api import trace
from attn_core.masks import causal

MOST = 2**15 - 1  # of a number in 16 bits
PLACES = 4


def sent_heads(*parts: Float[Tensor, "T _ D"]) -> bytes:
    """q, k and v one after the other: the scales of each in float32, then its numbers in 16 bits.

    >>> len(sent_heads(torch.ones(2, 3, 4)))
    72

    The largest number of a token's head becomes ±32,767, so each is off by at most half a scale.
    """
    return b"".join(
        scales.astype("<f4").tobytes() + numbers.astype("<i2").tobytes()
        for scales, numbers in map(in_16_bits, parts)
    )


def in_16_bits(x: Float[Tensor, "*B D"]) -> tuple[np.ndarray, np.ndarray]:
    """A scale in float32 for each row [*B, 1], and numbers of 16 bits [*B, D]: x ≈ scale · number.

    >>> scales, numbers = in_16_bits(torch.tensor([[32767.0, -2.0], [0.0, 0.0]]))
    >>> scales.tolist(), numbers.tolist()
    ([[1.0], [0.0]], [[32767, -2], [0, 0]])
    """
    wide = x.double().numpy()
    scales = (abs(wide).max(-1, keepdims=True) / MOST).astype(np.float32)
    numbers = np.rint(wide / np.where(scales > 0, scales, 1).astype(np.float64))
    return scales, numbers.astype(np.int16)


def received(x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
    """The numbers that a page makes of what it was sent of x, in float32.

    >>> received(torch.tensor([32767.0, 0.3])).tolist()
    [32767.0, 0.0]
    """
    scales, numbers = in_16_bits(x)
    return torch.from_numpy(scales * numbers.astype(np.float32))


def sent_rows(*parts: Float[Tensor, "T E"]) -> bytes:
    """Rows of the residual stream in three bytes a number: a float32 without its last eight bits.

    >>> sent_rows(torch.tensor([[1.0]])).hex()
    '00803f'

    A number is off by at most 2^−16 of itself. In 16 bits the largest of a row would leave nothing
    of the others.
    """
    bits = np.concatenate([part.float().numpy().ravel() for part in parts]).view(np.uint32)
    rounded = (bits + 0x80) >> 8
    return rounded.astype("<u4")[:, None].view(np.uint8)[:, :3].tobytes()


def small_maps(weights: Float[Tensor, "H T T"]) -> bytes:
    """Each weight that a causal mask leaves as a byte, 255 for 1, row after row, head after head.

    >>> list(small_maps(torch.tensor([[[1.0, 0.0], [0.2, 0.8]]])))
    [255, 51, 204]
    """
    rows, columns = np.tril_indices(weights.shape[-1])
    return np.rint(255 * weights.double().numpy()[:, rows, columns]).astype(np.uint8).tobytes()


def measures(weights: Float[Tensor, "H T T"], ids: Sequence[int]) -> dict[str, list[float]]:
    """What each head does, as views/page/core/measures.js has it: means over the rows, four places.

    >>> measures(torch.tensor([[[1.0, 0.0], [0.25, 0.75]]]), [7, 9])
    {'previous': [0.25], 'first': [0.625], 'own': [0.875]}

    induction: on what came after the last earlier copy of the row's token; left out where no token
    comes again.
    """
    last: dict[int, int] = {}
    after = []
    for at, token in enumerate(ids):
        if token in last and last[token] + 1 != at:
            after.append((at, last[token] + 1))
        last[token] = at
    count = len(ids)
    places = {
        "previous": [(at, at - 1) for at in range(1, count)],
        "first": [(at, 0) for at in range(count)],
        "own": [(at, at) for at in range(count)],
        "induction": after,
    }
    means = {}
    for name, cells in places.items():
        if cells:
            rows, columns = zip(*cells, strict=True)
            mean = weights.double()[:, rows, columns].mean(-1)
            means[name] = [round(x, PLACES) for x in mean.tolist()]
    return means


def weights_of(q: Float[Tensor, "T H D"], k: Float[Tensor, "T Hk D"]) -> Float[Tensor, "H T T"]:
    """The weights that a page derives of what it was sent, in float64."""
    q, k = (received(x).double().transpose(0, 1) for x in (q, k))
    return trace(q[None], k[None], k[None], keep=causal()).stage("weights")[0]
