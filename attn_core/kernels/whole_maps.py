"""Attention on whole maps, by the six formulas: what the pass over tiles gives as well."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.checks import adds_up, check_numbers, check_output
from attn_core.kernels.tiles import Rows
from attn_core.masks import Keep
from attn_core.precision import widened

SMALL = 2**16  # cells of a map that is made whole
Heads = Float[Tensor, "B H L Dv"]
Map = Float[Tensor, "B H L S"]


def is_small(q: Tensor, k: Tensor) -> bool:
    return q.numel() * k.shape[2] <= SMALL * q.shape[3]


def whole(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """The six formulas one after the other; row_max and row_sum."""
    return attended(scaled_scores(q, k, scale), v, keep, dropout)


def whole_and_checked(q, k, v, keep, scale, dropout, lead=None) -> tuple[Heads, tuple[Rows, Rows]]:
    """The same in the dtype of v; two sums tell whether all numbers are finite.

    One that is not finite in q or in k makes a score that is not, one in v an output.
    """
    scaled = scaled_scores(q, k, scale)
    scores_are_finite = adds_up(scaled)
    output, row_max, row_sum = attended(scaled, v, keep, dropout)
    if output.dtype != v.dtype:
        output = output.to(v.dtype)
    if not (scores_are_finite and adds_up(output)):
        check_numbers(q, k, v, scale, lead=lead)
        check_output(output, math.inf)
    return output, (row_max, row_sum.detach() if row_sum.requires_grad else row_sum)


def whole_weights(q, k, keep, scale) -> tuple[Map, Rows, Rows]:
    """Scores to weights; row_max and row_sum."""
    return softmax_(*masked(scaled_scores(q, k, scale), keep))


def attended(scaled: Map, v: Tensor, keep, dropout) -> tuple[Heads, Rows, Rows]:
    """From scaled scores to the output; row_max and row_sum."""
    cells, row_max, row_sum = softmax_(*masked(scaled, keep))
    if dropout is not None:
        survives = dropout.survives(*map(range, cells.shape), cells.device)
        cells = stages.dropped(cells, survives, dropout.p)
    return stages.output(cells, widened(v)), row_max, row_sum


def scaled_scores(q, k, scale) -> Map:
    return stages.scaled(stages.scores(widened(q), widened(k)), scale)


def masked(scaled: Map, keep: Keep | None) -> tuple[Map, bool]:
    """The next stage, and whether each of its rows is known to keep something."""
    if keep is None:
        return scaled, True
    L, S = scaled.shape[2:]
    is_alive = bool(keep.unmasked(range(L), (L, S)))
    return stages.masked(scaled, keep.dense(L, S, scaled.device)), is_alive


def softmax_(
    masked: Float[Tensor, "*lead L S"], is_alive: bool
) -> tuple[Float[Tensor, "*lead L S"], Float[Tensor, "*lead L"], Float[Tensor, "*lead L"]]:
    """Weights, row_max and row_sum; each exponential is taken once, in the place of its score.

    is_alive: whether each row is known to keep something.
    """
    row_max = masked.detach().amax(-1)
    if not is_alive:
        dead = row_max == -torch.inf
        row_max = row_max.masked_fill(dead, 0.0)
    exps = masked.sub_(row_max.unsqueeze(-1)).exp_()
    row_sum = exps.sum(-1)
    if not is_alive:
        row_sum = row_sum.masked_fill(dead, 1.0)
    return exps / row_sum.unsqueeze(-1), row_max, row_sum
