"""Whether a record says what the model computed: its output, row by row."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.api import without_autocast
from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.engines.formulas import FORMULAS
from attn_core.masks import Keep, of_heads
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
        places = [(b, h, range(i, min(i + STRIP, L)))
                  for b in range(B) for h in heads for i in range(0, L, STRIP)]  # fmt: skip
    else:
        some = {(0, heads[0], 0), (B // 2, heads[len(heads) // 2], L // 2)}
        some.add((B - 1, heads[-1], L - 1))
        places = [(b, h, range(i, i + 1)) for b, h, i in some]
    worst = 0.0
    with torch.no_grad(), without_autocast(call.q.device):
        for b, h, rows in places:
            part = rows_of(call, b, h, rows)
            ours = FORMULAS.forward(part)[0].float()
            error = (ours - theirs[b, h, rows.start : rows.stop].float()).abs().amax().item()
            if not error <= tolerance(part):
                worst = max(worst, error) if error == error else torch.inf
    return worst or None


def rows_of(call: Call, batch: int, head: int, rows: range) -> Call:
    """Some queries of one head, as a call with one head of its own."""
    b, h = range(batch, batch + 1), range(head, head + 1)
    own = head // call.group
    one = slice(batch, batch + 1), slice(own, own + 1)
    changes: dict = {"lead": (1, 1), "dropout": None}
    if call.keep is not None:
        tile = call.keep.tile(rows, range(call.size[1]), call.size, call.q.device)
        changes["keep"] = Keep(cells=of_heads(tile, b, h))
    if call.bias is not None:
        changes["bias"] = Bias(table=call.bias_of((b, h, rows, range(call.size[1]))))
    if call.sinks is not None:
        changes["sinks"] = call.sinks[head : head + 1]
    q = call.q[batch : batch + 1, head : head + 1, rows.start : rows.stop]
    k, v = call.k[one].detach(), call.v[one].detach()
    return call.call_with(q=q.detach(), k=k, v=v, **changes)


def tolerance(call: Call) -> float:
    """What rounding can do to a row: each score is rounded, and so are sums of products."""
    unit, fine = torch.finfo(call.q.dtype).eps, torch.finfo(call.float_type).eps
    if call.q.is_cuda and call.q.dtype == torch.float32:
        unit = torch.finfo(torch.float16).eps  # where torch may multiply in TF32
    scores = FORMULAS.cells(call, "masked", call.everything, None)
    highest = scores.masked_fill(scores <= HIDDEN, 0.0).abs().amax().item()
    longest = call.q.norm(dim=-1).amax() * call.k.norm(dim=-1).amax() * abs(call.scale)
    room = ROUNDINGS * unit * (1 + highest) + SUMMANDS * fine * (1 + longest.item())
    return room * call.v.abs().amax().item()
