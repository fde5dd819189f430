"""Wrong formulas that `diagnose` recognises and the gallery of chapter 14 does not show."""

import torch
from torch import Tensor

from attn_core import stages
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.mistake import FORMULAS, Inputs, Variant


def diagonal_hidden(a: Inputs, scaled: Tensor) -> Tensor:
    """The mask without the place of each query, which counts from the last key."""
    if a.keep is None:
        return scaled
    L, S = scaled.shape[-2:]
    own = torch.eye(L, S + L, dtype=torch.bool, device=scaled.device).roll(S - L, -1)[:, :S]
    return stages.masked(scaled, a.keep & ~own)


def one_key_too_many(a: Inputs, scaled: Tensor) -> Tensor:
    """Each query sees what the next one sees, too."""
    if a.keep is None:
        return scaled
    following = torch.cat([a.keep[..., 1:, :], a.keep[..., -1:, :]], dim=-2)
    return stages.masked(scaled, a.keep | following)


SLIPS: dict[str, Variant] = {
    slip.name: slip
    for slip in (
        Variant(
            name="divided-by-width",
            title="scores divided by d_k, not by √d_k",
            where="scaled",
            formulas={"scaled": lambda a, scores: scores / a.q.shape[-1]},
        ),
        Variant(
            name="times-root",
            title="scores multiplied by √d_k, not divided by it",
            where="scaled",
            formulas={"scaled": lambda a, scores: scores * a.q.shape[-1] ** 0.5},
        ),
        Variant(
            name="diagonal-hidden",
            title="the diagonal hidden, so that no word sees itself",
            where="masked",
            formulas={"masked": diagonal_hidden},
        ),
        Variant(
            name="one-key-too-many",
            title="one key too many seen, the one after each word",
            where="masked",
            formulas={"masked": one_key_too_many},
        ),
        Variant(
            name="softmax-twice",
            title="softmax taken twice",
            where="weights",
            formulas={"weights": lambda a, masked: FORMULAS["weights"](a, masked).softmax(-1)},
        ),
    )
}

# All that is made again of a record and compared.
REPLAYED: dict[str, Variant] = {
    **{name: mistake for name, mistake in MISTAKES.items() if mistake.is_replayed},
    **SLIPS,
}
