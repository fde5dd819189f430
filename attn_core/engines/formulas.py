"""Attention on whole maps, by the six formulas; what every other engine gives as well."""

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.call import Call, Part
from attn_core.compiling import is_exporting
from attn_core.engines.finite import adds_up, check_numbers, check_output
from attn_core.engines.scaling import scale_
from attn_core.engines.strips import HEIGHT, mask_, strips
from attn_core.masks import Keep
from attn_core.pooling import pool
from attn_core.precision import upcast
from attn_core.threads import parallel_map

SMALL = 2**16  # cells of a map that is made whole
Rows = Float[Tensor, "B H L"]
RowPair = tuple[Rows, Rows]  # row_max and row_sum
Heads = Float[Tensor, "B H L Dv"]
Map = Float[Tensor, "B H L S"]


class Engine:
    """What computes for a call. This one makes whole maps; the others know a faster way."""

    def forward(self, call: Call) -> tuple[Heads, RowPair | None]:
        """The output in the dtype of v; row_max and row_sum, without gradient, if on the way.

        Raises one sentence if q, k or v holds a number that is not finite, or if they produce one.
        """
        return whole_and_checked(call)

    def row_statistics(self, call: Call, batches: range, heads: range) -> RowPair:
        """row_max and row_sum of some heads, without gradient."""
        part = batches, heads, *call.everything[2:]
        return stages.row_statistics(self.cells(call, "masked", part, None), call.sinks_of(heads))

    def weights(self, call: Call) -> Map:
        """The weights of all heads, without gradient."""
        sinks = call.sinks_of(call.everywhere[1])
        return softmax_(*masked(scaled_scores(call), call.keep), sinks)[0]

    def cells(
        self, call: Call, name: str, part: Part, statistics: RowPair | None
    ) -> Float[Tensor, "b h rows cols"]:
        """Scores, scaled, masked or weights of any part of a map, without gradient.

        statistics: row_max and row_sum of its rows, for weights.
        """
        return cells(call, name, part, statistics)

    def overview(
        self,
        call: Call,
        name: str,
        place: tuple[int, int],
        shape: tuple[int, int],
        how: str,
        statistics: RowPair | None,
        derive: Callable[[range, range], Tensor],
    ) -> Float[Tensor, "rows cols"]:
        """A stage of the head at `place`, its cells pooled to a map of `shape`.

        derive: gives any rows and columns of it, for engines that have no faster way.
        """
        seen = None
        if call.keep is not None and name in ("weights", "dropped"):
            seen = partial(call.keep.visible, shape=call.size)
        size = call.size[0], call.columns(name)
        return pool(derive, size, shape, how, seen, call.q.device)


def is_small(call: Call) -> bool:
    return math.prod(call.shape) <= SMALL


def whole(call: Call) -> Heads:
    """The output by the six formulas one after the other."""
    return attended(call, scaled_scores(call))[0]


def whole_and_checked(call: Call) -> tuple[Heads, RowPair]:
    """The same in the dtype of v, row_max and row_sum; two sums tell whether all are finite.

    A number that is not finite in q or in k makes a score that is not, one in v an output.
    """
    scaled = scaled_scores(call)
    scores_are_finite = adds_up(scaled)
    output, row_max, row_sum = attended(call, scaled)
    if output.dtype != call.v.dtype:
        output = output.to(call.v.dtype)
    if not (scores_are_finite and adds_up(output)):
        check_numbers(call)
        check_output(output, math.inf)
    return output, (row_max, row_sum.detach() if row_sum.requires_grad else row_sum)


def attended(call: Call, scaled: Map) -> tuple[Heads, Rows, Rows]:
    """From scaled scores to the output; row_max and row_sum."""
    sinks = call.sinks_of(call.everywhere[1])
    cells, row_max, row_sum = softmax_(*masked(scaled, call.keep), sinks)
    if call.dropout is not None:
        batches, heads, rows, cols = map(range, cells.shape)
        survives = call.dropout.survives(batches, heads, rows, cols, cells.device)
        cells = stages.dropped(cells, survives, call.dropout.p)
    return stages.output(cells, call.of_all_heads(call.v)), row_max, row_sum


def scaled_scores(call: Call) -> Map:
    # No part of the map by ranges, which would fix a length that torch.export lets vary.
    scores = stages.scores(upcast(call.q), call.of_all_heads(call.k))
    bias = None if call.bias is None else call.bias.dense(*call.size, scores.dtype)
    return stages.scaled(scores, call.scale, call.softcap, bias)


def masked(scaled: Map, keep: Keep | None) -> tuple[Map, bool]:
    """The next stage, and whether each of its rows is known to keep something."""
    if keep is None:
        return scaled, True
    L, S = scaled.shape[2:]
    is_alive = not is_exporting() and bool(keep.unmasked(range(L), (L, S)))
    return stages.masked(scaled, keep.dense(L, S, scaled.device)), is_alive


def softmax_(
    masked: Float[Tensor, "*lead L S"],
    is_alive: bool,
    sinks: Float[Tensor, "*#lead #L"] | None = None,
) -> tuple[Float[Tensor, "*lead L S"], Float[Tensor, "*lead L"], Float[Tensor, "*lead L"]]:
    """Weights, row_max and row_sum; each exponential is taken once, in the place of its score.

    is_alive: whether each row is known to keep something. sinks: a score more for each row.
    """
    row_max = masked.detach().amax(-1)
    if sinks is not None:
        is_alive, row_max = True, torch.maximum(row_max, sinks.detach())
    if not is_alive:
        dead = row_max == -torch.inf
        row_max = row_max.masked_fill(dead, 0.0)
    exps = masked.sub_(row_max.unsqueeze(-1)).exp_()
    row_sum = exps.sum(-1)
    if sinks is not None:
        row_sum = row_sum + torch.exp(sinks - row_max)
    if not is_alive:
        row_sum = row_sum.masked_fill(dead, 1.0)
    return exps / row_sum.unsqueeze(-1), row_max, row_sum


def cells(
    call: Call, name: str, part: Part, statistics: RowPair | None
) -> Float[Tensor, "b h rows cols"]:
    """Any part of a map, up to its weights, in place, as nobody else holds the cells yet."""
    queries, keys = call.queries_and_keys(part)
    if name in ("scores", "scaled"):
        out = stages.scores(queries, keys)
        return out if name == "scores" else scale_(out, call, part)
    batches, heads, rows, cols = part
    least = -torch.inf if statistics is None else 0.0
    out = queries.new_empty(tuple(map(len, part)))

    def derive(some: slice) -> None:
        out[:, :, some] = least
        for _, seen in strips(call.keep, rows[some], cols, call.size):  # none, or one
            inside = batches, heads, rows[some], cols[seen]
            block = scale_(stages.scores(queries[:, :, some], keys[:, :, seen]), call, inside)
            if statistics is None:
                out[:, :, some, seen] = mask_(block, call.keep, inside, call.size)
                continue
            row_max, row_sum = (each[:, :, some, None] for each in statistics)
            # Hidden only after exp, which is slow at −inf; of a hidden score it may be infinite.
            mask_(block.sub_(row_max).exp_(), call.keep, inside, call.size, least)
            torch.div(block, row_sum, out=out[:, :, some, seen])

    pieces = [slice(first, first + HEIGHT) for first in range(0, len(rows), HEIGHT)]
    parallel_map(derive, pieces, out.numel(), out.device)
    return out


FORMULAS = Engine()
