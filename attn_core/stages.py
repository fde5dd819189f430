"""The six formulas of attention, plain and exact: what every faster form is measured against.

scores → scaled → masked → weights → dropped → output. Queries are rows, keys are columns.
Vaswani et al., "Attention Is All You Need" (2017), equation 1, in six steps.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Rows = Float[Tensor, "*B L"]
Map = Float[Tensor, "*B L S"]


def scores(q: Float[Tensor, "*B L D"], k: Float[Tensor, "*B S D"]) -> Map:
    """How well each query fits each key: their dot product.

    >>> scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[11.,  2.]])

    Taught in chapter 03.
    """
    return q @ k.mT


def scaled(
    scores: Map,
    scale: float,
    softcap: float | None = None,
    bias: Float[Tensor, "*#B #L #S"] | None = None,
) -> Map:
    """The scores times one number, usually 1/√D, so that they don't grow with the width D.

    >>> scaled(torch.tensor([[11.0, 2.0]]), 0.5)
    tensor([[5.5000, 1.0000]])

    softcap: no scaled score exceeds this size: it becomes softcap · tanh(scaled / softcap). bias:
    what is added after that. Taught in chapter 04, the reason in chapter 05, cap and bias in
    chapter 06.
    """
    cells = scores * scale
    if softcap is not None:
        cells = softcap * torch.tanh(cells / softcap)
    return cells if bias is None else cells + bias


def masked(scaled: Map, keep: Bool[Tensor, "*#B #L #S"] | None) -> Map:
    """The scaled scores where `keep` is True, −inf where it is not.

    >>> masked(torch.tensor([[5.5, 1.0]]), torch.tensor([[True, False]]))
    tensor([[5.5000,   -inf]])

    Taught in chapter 06.
    """
    return scaled if keep is None else scaled.masked_fill(~keep, -torch.inf)


def row_statistics(masked: Map, sinks: Float[Tensor, "*#B #L"] | None = None) -> tuple[Rows, Rows]:
    """Two numbers per row from which its softmax follows: the maximum and Σ exp(masked − maximum).

    >>> row_statistics(torch.tensor([[1.0, 1.0, -torch.inf]]))
    (tensor([1.]), tensor([2.]))

    A row that keeps nothing has maximum 0 and sum 1. The maximum is a shift that cancels in the
    softmax, so no gradient flows through it. Milakov and Gimelshein, "Online normalizer
    calculation for softmax" (2018). Taught in chapter 03.

    sinks: an additional score for each row, with no key or value, which takes its share of the sum.
    Taught in chapter 06.
    """
    highest = masked.detach().amax(-1)
    if sinks is not None:
        highest = torch.maximum(highest, sinks.detach())
    dead = highest == -torch.inf
    row_max = highest.masked_fill(dead, 0.0)
    row_sum = torch.exp(masked - row_max[..., None]).sum(-1)
    if sinks is not None:
        row_sum = row_sum + torch.exp(sinks - row_max)
    return row_max, row_sum.masked_fill(dead, 1.0)


def weights(masked: Map, row_max: Rows, row_sum: Rows) -> Map:
    """The softmax of each row: numbers from 0 to 1 that sum to 1, or zeros where nothing is kept.

    >>> weights(torch.tensor([[1.0, 1.0, -torch.inf]]), torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([[0.5000, 0.5000, 0.0000]])

    Taught in chapter 03.
    """
    return torch.exp(masked - row_max[..., None]) / row_sum[..., None]


def dropped(weights: Map, survives: Bool[Tensor, "*B L S"] | None, p: float) -> Map:
    """The weights that survive dropout, times 1/(1 − p) so that their expectation is unchanged.

    >>> dropped(torch.tensor([[0.75, 0.25]]), torch.tensor([[False, True]]), 0.5)
    tensor([[0.0000, 0.5000]])

    Taught in chapter 07.
    """
    return weights if survives is None else weights * survives / (1 - p)


def output(dropped: Map, v: Float[Tensor, "*B S Dv"]) -> Float[Tensor, "*B L Dv"]:
    """For each query, the average of the values, weighted by that query's weights.

    >>> output(torch.tensor([[0.75, 0.25]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
    tensor([[3., 2.]])

    Taught in chapter 03.
    """
    return dropped @ v
