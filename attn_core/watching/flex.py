"""flex_attention, whose mask and bias are functions of places."""

from collections.abc import Callable

import torch
from torch import Tensor

from attn_core.watching.arguments import Arguments
from attn_core.watching.axes import Unreadable


def of_flex(args: tuple) -> Arguments:
    """The arguments of the operator: q, k, v, score_mod, block_mask, scale and more."""
    q, k, v, score_mod, block_mask, scale = args[:6]
    (B, H, L), S = q.shape[:-1], k.shape[-2]
    if k.shape[0] != B:
        k, v = (tensor.expand(B, *tensor.shape[1:]) for tensor in (k, v))
    places = torch.meshgrid(
        *(torch.arange(size, device=q.device) for size in (B, H, L, S)), indexing="ij"
    )
    visible = spread(block_mask[-1], places)
    # A score_mod adds, or is something that a record cannot say.
    zero, one = (torch.full((B, H, L, S), number, device=q.device) for number in (0.0, 1.0))
    added = score_mod_of(score_mod, zero, places)
    if not torch.allclose(score_mod_of(score_mod, one, places) - added, one):
        raise Unreadable("its score_mod does more than add to the scores")
    return Arguments(q, k, v, scale, hidden=((~visible, -torch.inf),), added=(added,))


def spread(mask_mod: Callable, places: tuple[Tensor, ...]) -> Tensor:
    """A mask_mod at all places; it may look numbers up in tables, so it takes one at a time."""
    flat = [place.reshape(-1) for place in places]
    return torch.vmap(mask_mod)(*flat).reshape(places[0].shape)


def score_mod_of(score_mod: Callable, scores: Tensor, places: tuple[Tensor, ...]) -> Tensor:
    flat = [place.reshape(-1) for place in places]
    return torch.vmap(score_mod)(scores.reshape(-1), *flat).reshape(scores.shape)
