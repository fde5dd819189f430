"""The steps of a generation as one attention: each adds its queries, and the keys only grow."""

import torch
from torch import Tensor

from attn_core.call import Call
from attn_core.masks import Keep


def continued(earlier: Call, later: Call) -> Call | None:
    """Both as one call, or None if the later is not a further step of the earlier.

    >>> steps = torch.arange(6.0).view(1, 1, 3, 2)
    >>> first, second = (Call.of(steps[:, :, at], *[steps[:, :, :n]] * 2) for at, n in
    ...                  ((slice(0, 1), 1), (slice(1, 2), 2)))
    >>> both = continued(first, second)
    >>> both.shape, both.keep
    ((1, 1, 2, 2), causal())
    """
    if not is_alike(earlier, later):
        return None
    q = torch.cat([earlier.q, later.q], 2)
    if is_same(earlier.k, later.k) and is_same(earlier.v, later.v):
        # A memory, of which each query sees the same part.
        return later.call_with(q=q) if is_unordered(later.keep, earlier.keep) else None
    keys, grown = earlier.k.shape[2], later.k.shape[2]
    if grown != keys + later.q.shape[2] or not has_first(later, earlier, keys):
        return None
    keep = causal_of_both(earlier, later)
    return None if keep is None else later.call_with(q=q, keep=keep)


def is_alike(earlier: Call, later: Call) -> bool:
    """Whether they have the same settings, and none that counts the rows of one of them."""
    plain = all(call.bias is None and call.dropout is None for call in (earlier, later))
    same = (earlier.scale, earlier.softcap, earlier.lead) == (
        later.scale,
        later.softcap,
        later.lead,
    )
    sinks = [call.sinks for call in (earlier, later) if call.sinks is not None]
    same_sinks = not sinks or (len(sinks) == 2 and torch.equal(*sinks))
    sizes = (earlier.q, later.q), (earlier.k, later.k), (earlier.v, later.v)
    fits = all(a.shape[:2] == b.shape[:2] and a.shape[3] == b.shape[3] for a, b in sizes)
    return plain and same and fits and same_sinks and earlier.q.dtype == later.q.dtype


def is_same(a: Tensor, b: Tensor) -> bool:
    return a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.stride() == b.stride()


def is_unordered(keep: Keep | None, other: Keep | None) -> bool:
    """Whether both are no mask, or one that says nothing of the distance of key and query."""
    if keep is None or other is None:
        return keep is other
    return keep == other and keep.before is None and keep.after is None and keep.cells is None


def has_first(later: Call, earlier: Call, keys: int) -> bool:
    """Whether the first keys and values of the one are those of the other, bit by bit."""
    return torch.equal(later.k[:, :, :keys], earlier.k) and torch.equal(
        later.v[:, :, :keys], earlier.v
    )


def causal_of_both(earlier: Call, later: Call) -> Keep | None:
    """The one rule that masks both; it hides the keys that came later from the earlier queries."""
    rules = [call.keep or Keep() for call in (earlier, later)]
    for call, rule in zip((earlier, later), rules, strict=True):
        hides_later_keys = rule.after == 0 or (rule.after is None and call.size[0] == 1)
        if not hides_later_keys or rule.lengths is not None or rule.cells is not None:
            return None
    reaches = {rule.before for rule in rules}
    for call, rule in zip((earlier, later), rules, strict=True):
        others = reaches - {rule.before}
        if rule.before is None and any(
            reach < call.size[1] - 1 for reach in others if reach is not None
        ):
            return None
    known = [reach for reach in reaches if reach is not None]
    if len(known) > 1 or rest(rules[0]) != rest(rules[1]):
        return None
    return Keep(**rest(rules[1]) | {"before": known[0] if known else None, "after": 0})


def rest(rule: Keep) -> dict:
    """What it says beside a band."""
    return vars(rule) | {"before": None, "after": None, "cached": None}
