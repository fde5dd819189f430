"""Attention rollout: how much of each token reaches each place through all layers."""

import torch
from torch import Tensor

from attn_core.watching.captured import Captured
from attn_core.watching.named import Only, chosen, is_cross
from attn_core.watching.seen import Seen


def rollout(seen: Seen, *, only: Only = None) -> Tensor:
    """How much of each token reaches each place through the layers of a model, [B, T, T].

    >>> import torch
    >>> from torch import nn
    >>> from attn_core import watch
    >>> from attn_core.watching import rollout
    >>> layer = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
    >>> model = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
    >>> with watch(model) as seen, torch.no_grad():
    ...     output = model(torch.ones(1, 5, 8))
    >>> rollout(seen)[0, 4]
    tensor([0.1500, 0.1500, 0.1500, 0.1500, 0.4000])

    seen: what `watch` gave.
    only: the self-attentions to follow: a path, several paths, or a function that takes a path and
        says True or False. A path includes the modules inside it.

    Each layer mixes half of what its heads take, on average, with half of what the token had
    before, as a residual connection adds it: 0.5·A + 0.5·I. The layers are multiplied in the order
    in which they ran; row i says where the numbers at place i come from. Rows sum to 1, except with
    sinks and for rows that see no key. ValueError if the attentions are not all of the same size,
    or if the paths of some say that they are cross-attentions; in that case, choose with `only`.
    Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020). Taught in chapter 10.
    """
    followed = self_attentions(seen, only)
    T = followed[0].at_first.shape[2]
    product: Tensor | None = None
    with torch.no_grad():
        for one in followed:
            record = one.record
            weights = record.stage("weights").reshape(record.shape).mean(1)
            weights = (weights + torch.eye(T, device=weights.device, dtype=weights.dtype)) / 2
            product = weights if product is None else weights @ product.to(weights)
    assert product is not None
    return product


def self_attentions(seen: Seen, only: Only) -> list[Captured]:
    """Those that are chosen, all of one size."""
    if not isinstance(seen, Seen):
        raise TypeError(f"seen must be what watch gave, got {type(seen).__name__}")
    is_chosen = chosen(only, list(seen), "what was seen", "list(seen)")
    followed = [one for one in seen.captured if is_chosen(one.path)]
    if not followed:
        raise ValueError("only must choose at least one attention that was seen, got none")
    sizes = {one.path: (one.at_first.shape[0], *one.at_first.size) for one in followed}
    of_first, (_, L, S) = followed[0].path, sizes[followed[0].path]
    odd = [path for path, size in sizes.items() if size != sizes[of_first]]
    if L != S or odd:
        path = of_first if L != S else odd[0]
        B, L, S = sizes[path]
        raise ValueError(
            f"rollout must follow self-attentions of one size, got {path!r} with {L} × {S} in a "
            f"batch of {B}" + f" beside {of_first!r}" * (L == S) + ": choose some with only="
        )
    crossing = [one.path for one in followed if only is None and is_cross(one.path)]
    if crossing:
        raise ValueError(
            f"rollout must follow self-attentions alone, got {crossing[0]!r}: choose some with "
            "only="
        )
    return followed
