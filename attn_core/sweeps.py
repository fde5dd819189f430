"""One attention under many settings at once; what several settings share is computed once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.api import without_autocast
from attn_core.call import Call
from attn_core.checks import brief, check_is, check_no_sample, check_scale, check_sweep
from attn_core.compiling import between_graphs
from attn_core.dropout import Dropout
from attn_core.engines.finite import check_numbers, check_output
from attn_core.engines.formulas import softmax_
from attn_core.masks import Keep
from attn_core.precision import upcast

Setting = TypeVar("Setting", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Sweep:
    """What `sweep` found: the first axes are the settings, the others those of a record."""

    weights: Float[Tensor, "scale keep *lead L S"]
    dropped: Float[Tensor, "scale keep dropout *lead L S"]
    output: Float[Tensor, "scale keep dropout *lead L Dv"]


@between_graphs
def sweep(
    q: Float[Tensor, "*lead L D"],
    k: Float[Tensor, "*lead S D"],
    v: Float[Tensor, "*lead S Dv"],
    *,
    scale: Sequence[float | None] = (None,),
    keep: Sequence[Tensor | Keep | None] = (None,),
    dropout: Sequence[Dropout | None] = (None,),
) -> Sweep:
    """Attention for every combination of scale, mask and dropout, each as `trace` gives it.

    >>> from attn_core import causal, sweep, toy
    >>> x = toy.journey().x
    >>> found = sweep(x, x, x, scale=[1.0, 4.0], keep=[None, causal()])
    >>> found.weights.shape, found.output.shape
    (torch.Size([2, 2, 6, 6]), torch.Size([2, 2, 1, 6, 3]))
    >>> found.weights[:, 0, 1]
    tensor([[0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581],
            [0.0489, 0.4253, 0.3932, 0.0314, 0.0182, 0.0830]])

    scale, keep, dropout: lists of what `trace` takes; all else, errors included, is as in `trace`.

    The scores are computed once, the weights once for each different pair of scale and mask, and
    dropout's random words once for each different seed. Up to B·H·L·S = 65,536 cells, the weights
    equal those of `trace` bit for bit. Above that, and in the output, a sum may be taken in another
    order, so results may differ by rounding. In all, there may be at most 2**26 weights. Taught in
    chapter 05.
    """
    for name, settings in (("scale", scale), ("keep", keep), ("dropout", dropout)):
        check_settings(name, settings)
    for setting in dropout:
        check_is("dropout", setting, Dropout)
    call = Call.of(q, k, v)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        check_no_sample(name, tensor)
    scales = [check_scale(setting, q) for setting in scale]
    # The largest scale is the one that can overflow.
    size = check_numbers(call.call_with(scale=max(scales, key=abs)))
    check_sweep((len(scale), len(keep), len(dropout), *call.shape))
    factors, of_scale = distinct(scales)
    made = {id(setting): None if setting is None else call.as_keep(setting) for setting in keep}
    masks, of_keep = distinct([made[id(setting)] for setting in keep])
    with without_autocast(q.device):
        weights = all_weights(call.q, call.of_all_heads(call.k), factors, masks)
        if len(factors) < len(scale) or len(masks) < len(keep):
            weights = weights[of_scale][:, of_keep]
        dropped = all_dropped(weights, dropout)
        # Not stages.output, for which the values would be repeated for each setting.
        output = torch.einsum("...bhls,bhsd->...bhld", dropped, call.of_all_heads(call.v))
        output = output.to(v.dtype)
    for setting in dropout:
        check_output(output, size, setting)
    lead = q.shape[:-2]
    results = (tensor.reshape(*tensor.shape[:-4], *lead, *tensor.shape[-2:])
             for tensor in (weights, dropped, output))  # fmt: skip
    return Sweep(*results)


def distinct(settings: Sequence[Setting]) -> tuple[list[Setting], list[int]]:
    """The settings that differ, and for each setting the place of its equal among them.

    >>> distinct([1.0, 0.5, 1.0])
    ([1.0, 0.5], [0, 1, 0])
    """
    places: dict[Setting, int] = {}
    of_each = [places.setdefault(setting, len(places)) for setting in settings]
    return list(places), of_each


def all_weights(
    q: Tensor, k: Tensor, factors: Sequence[float], masks: Sequence[Keep | None]
) -> Float[Tensor, "scale keep B H L S"]:
    scores = stages.scores(upcast(q), upcast(k))
    scale = torch.tensor(factors, dtype=scores.dtype, device=q.device).view(-1, 1, 1, 1, 1)
    scaled = scores * scale
    L, S = scores.shape[2:]
    dense = [None if keep is None else keep.dense(L, S, q.device) for keep in masks]
    masked = torch.stack([stages.masked(scaled, cells) for cells in dense], dim=1)
    alive = [keep is None or bool(keep.unmasked(range(L), (L, S))) for keep in masks]
    return softmax_(masked, all(alive))[0]


def all_dropped(weights: Tensor, dropout: Sequence[Dropout | None]) -> Tensor:
    """The weights after each dropout, their random words drawn once a seed.

    As stages.dropped, in one product for all: temporaries of each setting took as long again.
    """
    words: dict[int, Tensor] = {}
    B, H, L, S = weights.shape[2:]
    everything = range(B), range(H), range(L), range(S)
    survives = []
    for setting in dropout:
        if setting is None:
            survives.append(weights.new_ones(weights.shape[2:], dtype=torch.bool))
            continue
        if setting.seed not in words:
            words[setting.seed] = setting.words(*everything, weights.device)
        survives.append(setting.decide(words[setting.seed]))
    shares = [1.0 if setting is None else 1 - setting.p for setting in dropout]
    share = torch.tensor(shares, dtype=weights.dtype, device=weights.device)
    return (weights.unsqueeze(2) * torch.stack(survives)).div_(share.view(-1, 1, 1, 1, 1))


def check_settings(name: str, settings: object) -> None:
    if not isinstance(settings, (list, tuple)):
        raise TypeError(f"{name} must be a list of settings, got {brief(settings)}")
    if not settings:
        raise ValueError(f"{name} must name at least one setting, got an empty list")
