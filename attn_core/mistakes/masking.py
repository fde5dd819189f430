"""Mistakes of the mask: what is hidden, and with what."""

from collections.abc import Callable

import torch
from torch import Tensor

from attn_core import stages
from attn_core.masks import Keep
from attn_core.mistakes import examples
from attn_core.mistakes.mistake import Formula, Inputs, Mistake

HIDDEN_IS_ZERO = "(weights[~keep] == 0).all()"


def only_masked(formula: Callable[[Tensor, Tensor], Tensor]) -> dict[str, Formula]:
    """The formula of the scaled scores and the mask, if there is one; else the scaled scores."""
    return {"masked": lambda a, scaled: scaled if a.keep is None else formula(scaled, a.keep)}


def upper_triangle(scaled: Tensor, keep: Tensor) -> Tensor:
    upper = torch.ones(keep.shape[-2:], device=scaled.device).triu(diagonal=1)
    return scaled.masked_fill(upper == 0, -torch.inf)


def read_anew(reading: Callable[[Keep, Tensor], Tensor]) -> dict[str, Formula]:
    """The masked scores, each part of the mask read in another way.

    A mask that was given as cells has no rule to misread: it stays, and the mistake is not seen.
    """

    def formula(a: Inputs, scaled: Tensor) -> Tensor:
        if a.keep is None or a.rule is None:
            return scaled
        cells = torch.ones_like(a.keep)
        for part in a.rule.parts():
            cells = cells & reading(part, a.keep)
        return stages.masked(scaled, cells)

    return {"masked": formula}


def aligned_to_top_left(rule: Keep, keep: Tensor) -> Tensor:
    """The mask as if query i stood at position i, whatever is in the cache."""
    L, S = keep.shape[-2:]
    if rule.cells is not None:
        return rule.dense(L, S, keep.device)
    return rule.tile(range(L), range(S), (S, S), keep.device)


def padding_in_the_rows(rule: Keep, keep: Tensor) -> Tensor:
    """The mask with each length or start counted along the queries instead of the keys."""
    L, S = keep.shape[-2:]
    if rule.lengths is None and rule.starts is None:
        return rule.dense(L, S, keep.device)
    # The same rule over as many keys as there are queries, turned: its columns become rows.
    return rule.dense(1, L, keep.device).mT


MASKING = (
    Mistake(
        name="no-mask",
        title="no mask",
        does="The mask is left out.",
        symptom=(
            "There are weights above the diagonal or on padding, and in training the loss is too "
            "good to be true."
        ),
        invisible="Where every query may see every key, as when one token is decoded with a cache.",
        wrong="weights = torch.softmax(scaled, dim=-1)",
        right="weights = torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1)",
        check=HIDDEN_IS_ZERO,
        source=("2-02", "2-10"),
        where="masked",
        formulas=only_masked(lambda scaled, _: scaled),
        seen_on=examples.masked,
        unseen_on=examples.seen_by_all,
    ),
    Mistake(
        name="mask-turned",
        title="the mask turned round",
        does="True is taken to mean “hide” where it means “keep”, or the other way round.",
        symptom="Each query sees what it must not see, and nothing else.",
        invisible="Without a mask.",
        wrong="masked = scaled.masked_fill(keep, -torch.inf)",
        right="masked = scaled.masked_fill(~keep, -torch.inf)",
        check=HIDDEN_IS_ZERO,
        source=("lucidrains/x-transformers#160", "InseeFrLab/torchTextClassifiers#92"),
        where="masked",
        formulas=only_masked(lambda scaled, keep: stages.masked(scaled, ~keep)),
        seen_on=examples.padded,
        unseen_on=examples.plain,
    ),
    Mistake(
        name="upper-triangle-kept",
        title="the upper triangle kept",
        does="The triangle above the diagonal marks what to hide, but the code keeps it.",
        symptom="Each word sees only the words after it, and the last word sees nothing.",
        invisible="Without a mask.",
        wrong="masked = scaled.masked_fill(torch.triu(ones, diagonal=1) == 0, -torch.inf)",
        right="masked = scaled.masked_fill(torch.triu(ones, diagonal=1) == 1, -torch.inf)",
        check=HIDDEN_IS_ZERO,
        source=("dotnet/TorchSharp#1227", "rasbt/LLMs-from-scratch#1061", "2-01"),
        where="masked",
        formulas=only_masked(upper_triangle),
        seen_on=examples.masked,
        unseen_on=examples.plain,
    ),
    Mistake(
        name="mask-added",
        title="a mask of ones and zeros added",
        does=(
            "A mask of ones and zeros is added to the scores, but an additive mask must consist of "
            "0 and −∞."
        ),
        symptom=(
            "So nothing is hidden. The mask only makes a kept key weigh e times as much as before, "
            "relative to a hidden one."
        ),
        invisible="Without a mask, and in the weights of a row that keeps every key.",
        wrong="masked = scaled + keep",
        right="masked = scaled + torch.zeros(L, S).masked_fill(~keep, -torch.inf)",
        check=HIDDEN_IS_ZERO,
        source=("pytorch/pytorch#21518", "timeseriesAI/tsai#171"),
        where="masked",
        formulas=only_masked(lambda scaled, keep: scaled + keep),
        seen_on=examples.masked,
        unseen_on=examples.seen_by_all,
        silent_from="weights",
    ),
    Mistake(
        name="mask-multiplied",
        title="the mask multiplied in",
        does=(
            "The scores are multiplied by the mask, so a hidden score becomes 0 instead of −∞, and "
            "exp(0) = 1."
        ),
        symptom="Hidden keys get a weight, which is the same for all hidden keys in a row.",
        invisible="Where every query may see every key.",
        wrong="masked = scaled * keep",
        right="masked = scaled.masked_fill(~keep, -torch.inf)",
        check=HIDDEN_IS_ZERO,
        source=("georg-wolflein/good-features#1",),
        where="masked",
        formulas=only_masked(lambda scaled, keep: scaled * keep),
        seen_on=examples.masked,
        unseen_on=examples.seen_by_all,
    ),
    Mistake(
        name="minus-1e9",
        title="−1e9 in the place of −∞",
        does=(
            "Hidden scores become −1e9 instead of −∞. As long as the row keeps a key, this hides "
            "them just as well."
        ),
        symptom=(
            "A row that keeps nothing gives equal weights to all the keys that it must not see, "
            "and looks healthy."
        ),
        invisible="In the weights, as long as every row keeps at least one key.",
        wrong="masked = scaled.masked_fill(~keep, -1e9)",
        right="masked = scaled.masked_fill(~keep, -torch.inf)  # and a row that keeps nothing: 0",
        check="(output[~keep.any(-1)] == 0).all()",
        source=("hyunwoongko/transformer#40", "3-12"),
        where="masked",
        formulas=only_masked(lambda scaled, keep: scaled.masked_fill(~keep, -1e9)),
        seen_on=examples.empty_rows,
        unseen_on=examples.masked,
        silent_from="weights",
    ),
    Mistake(
        name="mask-ignores-cache",
        title="a mask that ignores the cache",
        does=(
            "Query i is treated as if it were at place i, although it comes after all the keys in "
            "the cache."
        ),
        symptom=(
            "With a cache, the first new word sees only one key; the others that it should see are "
            "hidden."
        ),
        invisible="With as many queries as keys, as in training and in the first pass.",
        wrong="keep = torch.tril(torch.ones(L, S)).bool()  # and is_causal=True",
        right="keep = torch.tril(torch.ones(L, S), diagonal=S - L).bool()",
        check="(weights[..., -1, :] > 0).all()",
        source=("pytorch/pytorch#144858", "pytorch/pytorch#108108", "2-04"),
        where="masked",
        formulas=read_anew(aligned_to_top_left),
        seen_on=examples.cached,
        unseen_on=examples.masked,
    ),
    Mistake(
        name="padding-on-queries",
        title="padding hidden as queries",
        does=(
            "The padding mask runs along the rows, so it hides padded queries and shows padded "
            "keys."
        ),
        symptom="Real words give weight to padding, and the rows of the padding keep nothing.",
        invisible="Without padding, when all sentences of the batch have the same length.",
        wrong="keep = is_word[:, None, :, None]",
        right="keep = is_word[:, None, None, :]",
        check=HIDDEN_IS_ZERO,
        source=("hyunwoongko/transformer#40", "bentrevett/pytorch-seq2seq#96"),
        where="masked",
        formulas=read_anew(padding_in_the_rows),
        seen_on=examples.padded,
        unseen_on=examples.full,
    ),
)
