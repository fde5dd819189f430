"""The six formulas backwards: from the gradient of the output to those of the queries and keys.

grad_output → grad_dropped → grad_weights → grad_masked → grad_scaled → grad_scores → grad_q and
grad_k; grad_v follows from grad_output directly. Each `grad_x` is the gradient of one number, such
as a loss, with respect to `x` of `stages.py`, and has the shape of `x`. Dao, "FlashAttention-2"
(2023), algorithm 2.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core.stages import Map, Rows


def grad_v(dropped: Map, grad_output: Float[Tensor, "*B L Dv"]) -> Float[Tensor, "*B S Dv"]:
    """What each value gets: the sum of the outputs' gradients, each times the value's weight.

    >>> grad_v(torch.tensor([[0.25, 0.75], [0.5, 0.5]]), torch.tensor([[2.0], [-2.0]]))
    tensor([[-0.5000],
            [ 0.5000]])

    Taught in chapter 13.
    """
    return dropped.mT @ grad_output


def grad_dropped(grad_output: Float[Tensor, "*B L Dv"], v: Float[Tensor, "*B S Dv"]) -> Map:
    """How much each value helps its query: the gradient of the output times the value.

    >>> grad_dropped(torch.tensor([[2.0]]), torch.tensor([[0.0], [4.0]]))
    tensor([[0., 8.]])

    Taught in chapter 13.
    """
    return grad_output @ v.mT


def grad_weights(grad_dropped: Map, survives: Bool[Tensor, "*B L S"] | None, p: float) -> Map:
    """grad_dropped times dropout's factor: 0 for a dropped weight, 1/(1 − p) for any other.

    >>> grad_weights(torch.tensor([[3.0, 8.0]]), torch.tensor([[False, True]]), 0.5)
    tensor([[ 0., 16.]])

    Taught in chapter 13.
    """
    return grad_dropped if survives is None else grad_dropped * survives / (1 - p)


def row_dot(grad_output: Float[Tensor, "*B L Dv"], output: Float[Tensor, "*B L Dv"]) -> Rows:
    """Σ weights · grad_weights of each row, computed without weights: grad_output · output.

    >>> row_dot(torch.tensor([[2.0], [-2.0]]), torch.tensor([[3.0], [2.0]]))
    tensor([ 6., -4.])

    The output is dropped · V, so both sums are the same, under dropout and with sinks, too.
    Taught in chapter 13.
    """
    return (grad_output * output).sum(-1)


def grad_masked(weights: Map, grad_weights: Map, row_dot: Rows) -> Map:
    """Back through the softmax: the weight, times how far its gradient is above the row's average.

    >>> grad_masked(torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0, 8.0]]), torch.tensor([6.0]))
    tensor([[-1.5000,  1.5000]])

    Exactly 0 where the weight is 0: for a hidden key, and in a row that keeps nothing. Each row
    sums to 0, unless a sink takes a part of it. Taught in chapter 13.
    """
    return weights * (grad_weights - row_dot[..., None])


def grad_scaled(grad_masked: Map, keep: Bool[Tensor, "*#B #L #S"] | None) -> Map:
    """Back through the mask: grad_masked where `keep` is True, 0 where it is not.

    >>> grad_scaled(torch.tensor([[0.5, 0.5]]), torch.tensor([[True, False]]))
    tensor([[0.5000, 0.0000]])

    It is also the gradient of the bias, before that is summed over the cells which share a number.
    Taught in chapter 13.
    """
    return grad_masked if keep is None else grad_masked.masked_fill(~keep, 0.0)


def slope(scores: Map, scale: float, softcap: float) -> Map:
    """By how much a softcap flattens each scaled score: 1 − tanh²(scores · scale / softcap).

    >>> slope(torch.tensor([[0.0, 3.0]]), 1.0, 2.0)
    tensor([[1.0000, 0.1807]])

    Taught in chapter 13.
    """
    return 1 - torch.tanh(scores * scale / softcap).square()


def grad_scores(grad_scaled: Map, scale: float, slope: Map | None = None) -> Map:
    """Back through the scale, and through the softcap if there is one.

    >>> grad_scores(torch.tensor([[-1.5, 1.5]]), 0.5)
    tensor([[-0.7500,  0.7500]])

    slope: that of the softcap. Taught in chapter 13.
    """
    return grad_scaled * scale if slope is None else grad_scaled * slope * scale


def grad_q(grad_scores: Map, k: Float[Tensor, "*B S D"]) -> Float[Tensor, "*B L D"]:
    """What each query gets: the sum of the keys, each times the gradient of its score.

    >>> grad_q(torch.tensor([[-1.5, 1.5], [2.0, -2.0]]), torch.tensor([[0.0], [1.0]]))
    tensor([[ 1.5000],
            [-2.0000]])

    Taught in chapter 13.
    """
    return grad_scores @ k


def grad_k(grad_scores: Map, q: Float[Tensor, "*B L D"]) -> Float[Tensor, "*B S D"]:
    """What each key gets: the sum of the queries, each times the gradient of its score.

    >>> grad_k(torch.tensor([[-1.5, 1.5], [2.0, -2.0]]), torch.tensor([[2.0], [0.0]]))
    tensor([[-3.],
            [ 3.]])

    Taught in chapter 13.
    """
    return grad_scores.mT @ q


def grad_sinks(sinks: Float[Tensor, "*#B #L"], row_max: Rows, row_sum: Rows, row_dot: Rows) -> Rows:
    """What each row gives its sink: minus the sink's share of the row, times `row_dot`.

    >>> one = torch.tensor([1.0])
    >>> grad_sinks(one, row_max=one, row_sum=2 * one, row_dot=6 * one)
    tensor([-3.])

    The sink has no value, so its share has the gradient 0, which is `row_dot` below the average.
    A head's sink gets the sum over its rows. Taught in chapter 13.
    """
    return -torch.exp(sinks - row_max) / row_sum * row_dot
