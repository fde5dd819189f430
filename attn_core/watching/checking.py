"""Whether a record says what the model computed: its output, row by row."""

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor

from attn_core import stages
from attn_core.api import without_autocast
from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.engines.formulas import FORMULAS, scaled_scores, softmax_
from attn_core.engines.tiles import parts
from attn_core.masks import Keep, as_slice
from attn_core.precision import upcast
from attn_core.recognising import HIDDEN

STRIP = 64  # rows that are compared at a time
ROUNDINGS = 8  # in the dtype of the model, of a score and of a weight
SUMMANDS = 64  # whose roundings may add up, in float32 at least


def difference(call: Call, output: Tensor, is_whole: bool, heads: Sequence[int]) -> float | None:
    """By how much the model's output differs from the record's; None if by rounding alone.

    output: of as many numbers, in the same order. is_whole: all rows are compared; else the
    first, the middle and the last of some heads. heads: those that are compared, in order.
    """
    B, H, L, _ = call.shape
    if not heads:
        return None
    theirs = output.reshape(B, H, L, call.v.shape[-1])
    if is_whole:
        strips = product(range(B), heads, parts(range(L), STRIP))
        groups = [[strip] for strip in strips]
    else:
        some = {(0, heads[0], 0), (B // 2, heads[len(heads) // 2], L // 2)}
        some.add((B - 1, heads[-1], L - 1))
        groups = [[(b, h, range(i, i + 1)) for b, h, i in some]]
    worst = 0.0
    with torch.no_grad(), without_autocast(call.q.device):
        for places in groups:
            part = rows_of(call, places)
            ours, room = output_and_room(part)
            these = torch.stack([theirs[b, h, as_slice(rows)] for b, h, rows in places])
            errors = (ours - these.float()).abs().amax((-2, -1))
            for error, most in torch.stack([errors, room]).T.cpu().tolist():
                if error != error:
                    FORMULAS.forward(part)  # says which number is not finite
                if not error <= most:
                    worst = max(worst, error) if error == error else torch.inf
    return worst or None


def rows_of(call: Call, places: Sequence[tuple[int, int, range]]) -> Call:
    """As many queries of each of some heads, as a call of one batch with these heads."""
    own = [(b, h // call.group) for b, h, _ in places]
    changes: dict = {"lead": (1, len(places)), "dropout": None}
    keys = range(call.size[1])
    tiles = [(range(b, b + 1), range(h, h + 1), rows, keys) for b, h, rows in places]
    keeps = [keep for tile in tiles if (keep := call.keep_of(tile)) is not None]
    biases = [bias for tile in tiles if (bias := call.bias_of(tile)) is not None]
    if keeps:
        changes["keep"] = Keep(cells=torch.cat(keeps, 1))
    if biases:
        changes["bias"] = Bias(table=torch.cat(biases, 1))
    if call.sinks is not None:
        changes["sinks"] = torch.cat([call.sinks[h : h + 1] for _, h, _ in places])
    q = torch.stack([call.q[b, h, as_slice(rows)] for b, h, rows in places])[None]
    k, v = (torch.stack([tensor[b, h] for b, h in own])[None] for tensor in (call.k, call.v))
    return call.call_with(q=q.detach(), k=k.detach(), v=v.detach(), **changes)


def output_and_room(call: Call) -> tuple[Tensor, Tensor]:
    """The output of each head [H, L, Dv], and what rounding can do to it [H].

    Each score is rounded, and so are sums of products.
    """
    unit, fine = torch.finfo(call.q.dtype).eps, torch.finfo(call.float_type).eps
    if call.q.is_cuda and call.q.dtype == torch.float32:
        unit = torch.finfo(torch.float16).eps  # where torch may multiply in TF32
    # Whole maps, without the care that large ones need: each attention of a model pays for this.
    cells = scaled_scores(call)
    if call.keep is not None:
        cells = stages.masked(cells, call.keep.cells)
    highest = cells.masked_fill(cells <= HIDDEN, 0.0).abs().amax((0, 2, 3))
    weights, *_ = softmax_(cells, False, call.sinks_of(call.everywhere[1]))
    output = stages.output(weights, upcast(call.v))
    longest = largest_norm(call.q) * largest_norm(call.k) * abs(call.scale)
    room = ROUNDINGS * unit * (1 + highest) + SUMMANDS * fine * (1 + longest)
    return output[0].float(), (room * call.v.abs().amax((0, 2, 3))).float()


def largest_norm(tensor: Tensor) -> Tensor:
    """The length of the longest vector of each head."""
    return torch.linalg.vector_norm(tensor, dim=-1).amax((0, 2))
