"""Whether a record says what the model computed: its output, row by row."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from attn_core import stages
from attn_core.api import without_autocast
from attn_core.call import Call
from attn_core.engines.finite import check_numbers, check_output
from attn_core.engines.tiles import parts
from attn_core.masks import as_slice
from attn_core.precision import upcast
from attn_core.recognising import HIDDEN
from attn_core.watching.masking import Masks, Place, parts_of

STRIP = 64  # rows that are compared at a time
ROUNDINGS = 8  # in the dtype of the model, of a score and of a weight
SUMMANDS = 64  # whose roundings may add up, in float32 at least


@dataclass(frozen=True)
class Sample:
    """Rows of a model's output, to be compared with what a call gives in the same places."""

    call: Call
    places: Sequence[Place]
    theirs: Tensor  # [places, rows, Dv]

    @classmethod
    def each(
        cls, call: Call, output: Tensor, is_whole: bool, heads: Sequence[int]
    ) -> Iterator["Sample"]:
        """All rows if is_whole; else the first, the middle and the last of some heads.

        output: of as many numbers as that of the call, in the same order. heads: those that are
        compared, in order.
        """
        B, H, L, _ = call.shape
        if not heads:
            return
        theirs = output.reshape(B, H, L, call.v.shape[-1])
        if is_whole:
            strips = product(range(B), heads, parts(range(L), STRIP))
            groups = [[strip] for strip in strips]
        else:
            ends = {(0, heads[0], 0), (B - 1, heads[-1], L - 1)}
            some = ends | {(B // 2, heads[len(heads) // 2], L // 2)}
            groups = [[(b, h, range(i, i + 1)) for b, h, i in sorted(some)]]
        for places in groups:
            rows = torch.stack([theirs[b, h, as_slice(rows)] for b, h, rows in places])
            yield cls(call, places, rows.detach())


def difference(samples: Iterable[Sample], masks: Masks) -> float | None:
    """By how much the model's output differs from the record's; None if by rounding alone."""
    worst = 0.0
    for sample in samples:
        with torch.no_grad(), without_autocast(sample.theirs.device):
            rows = Rows(sample.call, sample.places, masks)
            for error, most in rows.errors(sample.theirs):
                if error != error:
                    check_numbers(sample.call)  # says which number is not finite
                    check_output(rows.output, math.inf)
                if not error <= most:
                    worst = max(worst, error) if error == error else torch.inf
    return worst or None


class Rows:
    """Some rows of each of n heads: their masked scores [n, rows, S] and output [n, rows, Dv].

    In few operations, which each attention of a model pays for.
    """

    def __init__(self, call: Call, places: Sequence[Place], masks: Masks) -> None:
        self.call = call
        self.q = torch.stack([call.q[b, h, as_slice(rows)] for b, h, rows in places])
        self.k, self.v = (
            torch.stack([tensor[b, h // call.group] for b, h, _ in places])
            for tensor in (call.k, call.v)
        )
        hidden, bias = masks.hidden(call, places), bias_of(call, places)
        scores = torch.bmm(upcast(self.q), upcast(self.k).mT)
        cells = stages.scaled(scores, call.scale, call.softcap, bias)
        self.masked = cells if hidden is None else cells.masked_fill(hidden, -torch.inf)
        if call.sinks is None:
            weights = self.masked.softmax(-1)
        else:
            sinks = torch.stack([call.sinks[h] for _, h, _ in places])
            beside = sinks.to(cells.dtype).view(-1, 1, 1).expand(*cells.shape[:2], 1)
            weights = torch.cat([self.masked, beside], -1).softmax(-1)[..., :-1]
        if hidden is not None:
            weights = weights.masked_fill(hidden, 0.0)  # a row without a key has none, too
        self.output = torch.bmm(weights, upcast(self.v)).float()

    def errors(self, theirs: Tensor) -> Iterator[tuple[float, float]]:
        """By how much the output of each head differs, and what rounding can do to it.

        Each score is rounded, and so are sums of products.
        """
        unit, fine = torch.finfo(self.q.dtype).eps, torch.finfo(self.call.float_type).eps
        if self.q.is_cuda and self.q.dtype == torch.float32:
            unit = torch.finfo(torch.float16).eps  # where torch may multiply in TF32
        errors = (self.output - theirs.float()).abs().amax((1, 2))
        # No number of an output is larger than those of v, and scores of 0 are rounded least.
        least = self.output.abs().amax((1, 2)) * (ROUNDINGS * unit + SUMMANDS * fine)
        found = torch.stack([errors, least]).T.cpu().tolist()
        if all(error <= most for error, most in found):
            return iter(map(tuple, found))
        highest = self.masked.masked_fill(self.masked <= HIDDEN, 0.0).abs().amax((1, 2))
        longest = largest_norm(self.q) * largest_norm(self.k) * abs(self.call.scale)
        room = ROUNDINGS * unit * (1 + highest) + SUMMANDS * fine * (1 + longest)
        room = (room * self.v.abs().amax((1, 2))).float()
        return iter(map(tuple, torch.stack([errors, room]).T.cpu().tolist()))


def bias_of(call: Call, places: Sequence[Place]) -> Tensor | None:
    if call.bias is None:
        return None
    tiles = [call.bias_of(part) for part in parts_of(call, places)]
    return torch.cat([tile for tile in tiles if tile is not None])[:, 0]


def largest_norm(tensor: Tensor) -> Tensor:
    """The length of the longest vector of each head."""
    return torch.linalg.vector_norm(tensor, dim=-1).amax(-1)
