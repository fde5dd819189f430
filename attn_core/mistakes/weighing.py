"""Mistakes from the softmax on: the weights, and dropout."""

import torch
from torch import Tensor

from attn_core.mistakes import examples
from attn_core.mistakes.mistake import FORMULAS, Inputs, Mistake

ROWS_SUM_TO_ONE = "((weights.sum(-1) - 1).abs() < 1e-5).all()"


def divided(a: Inputs, masked: Tensor) -> Tensor:
    shares = masked if a.keep is None else masked.masked_fill(~a.keep, 0.0)
    return shares / shares.sum(-1, keepdim=True)


def masked_weights(a: Inputs, masked: Tensor) -> Tensor:
    weights = FORMULAS["weights"](a, masked)
    return weights if a.keep is None else weights * a.keep


def naive(a: Inputs, masked: Tensor) -> Tensor:
    """A row that keeps nothing stays 0: that it may become nan is another mistake."""
    keeps_none = masked.isneginf().all(-1, keepdim=True)
    weights = torch.exp(masked) / torch.exp(masked).sum(-1, keepdim=True)
    return weights.masked_fill(keeps_none, 0.0)


def not_rescaled(a: Inputs, weights: Tensor) -> Tensor:
    return weights if a.survives is None else weights * a.survives


def rescaled_by_p(a: Inputs, weights: Tensor) -> Tensor:
    return weights if a.survives is None or a.p == 0 else weights * a.survives / a.p


WEIGHING = (
    Mistake(
        name="softmax-over-queries",
        title="softmax over queries",
        does=(
            "Softmax runs down the columns, so the queries compete for each key instead of the "
            "keys competing for each query."
        ),
        symptom=(
            "Columns add up to 1 and rows do not. A key that is hidden from every query has a "
            "column of nan."
        ),
        invisible=(
            "In a table whose rows and columns all have the same sum of exps, such as that of two "
            "word vectors of equal length at right angles. A symmetric table is not enough."
        ),
        wrong="weights = torch.softmax(scaled, dim=-2)  # or dim=1 of [B, L, S]",
        right="weights = torch.softmax(scaled, dim=-1)",
        check=ROWS_SUM_TO_ONE,
        source=(
            "labmlai/annotated_deep_learning_paper_implementations#146",
            "PetrochukM/PyTorch-NLP#2",
            "fastnlp/fastNLP#254",
        ),
        where="weights",
        formulas={"weights": lambda a, masked: torch.softmax(masked, -2)},
        seen_on=examples.plain,
        unseen_on=examples.mirrored,
    ),
    Mistake(
        name="naive-softmax",
        title="a softmax that overflows",
        does=(
            "exp is applied to the scores themselves, without first subtracting the largest score "
            "of the row."
        ),
        symptom=(
            "In float32 a score above 88.7 gives nan (inf/inf), and so does a row whose scores "
            "are all below −104 (0/0). If only the sum is too large, as with three scores of 88, "
            "the whole row becomes 0."
        ),
        invisible=(
            "With scores of at most a few tens, positive or negative. `weights.isfinite().all()` "
            "would miss the row that becomes 0. The check above misses one case too: a row whose "
            "scores are all a little above −104 has imprecise weights, but they add up to 1."
        ),
        wrong="weights = torch.exp(scaled) / torch.exp(scaled).sum(-1, keepdim=True)",
        right="weights = torch.softmax(scaled, dim=-1)",
        check=ROWS_SUM_TO_ONE,
        source=("pytorch/pytorch#63132", "pyg-team/pytorch_geometric#53", "0-05"),
        where="weights",
        formulas={"weights": naive},
        seen_on=examples.large,
        unseen_on=examples.plain,
    ),
    Mistake(
        name="nan-in-empty-row",
        title="a softmax over nothing",
        does=(
            "A row that keeps no key goes through softmax, which subtracts −∞ from −∞ and gets nan."
        ),
        symptom="Here only this row is nan, but in the next layer every row of the sentence is.",
        invisible="Where every row keeps at least one key.",
        wrong="weights = torch.softmax(masked, dim=-1)",
        right="weights = torch.softmax(masked, dim=-1).masked_fill(~keep, 0.0)",
        check="output.isfinite().all()",
        source=("pytorch/pytorch#103963", "robertknight/rten#1321", "4-12"),
        where="weights",
        formulas={"weights": lambda a, masked: torch.softmax(masked, -1)},
        seen_on=examples.empty_rows,
        unseen_on=examples.masked,
    ),
    Mistake(
        name="divided-by-sum",
        title="division by the sum instead of softmax",
        does="The scores are divided by their sum, without exp.",
        symptom=(
            "Rows add up to 1, but scores of both signs give negative weights, and a sum of 0 "
            "gives inf or nan."
        ),
        invisible=(
            "Where all scores of a row are equal and not 0. The check misses a row whose scores "
            "all have the same sign; compare such a row with torch.softmax."
        ),
        wrong="weights = scaled / scaled.sum(-1, keepdim=True)",
        right="weights = torch.softmax(scaled, dim=-1)",
        check="(weights >= 0).all()",
        source=("0-06",),
        where="weights",
        formulas={"weights": divided},
        seen_on=examples.signed,
        unseen_on=examples.alike,
    ),
    Mistake(
        name="mask-after-softmax",
        title="the mask after softmax",
        does="Softmax includes all keys, and the hidden weights are set to 0 only afterwards.",
        symptom=(
            "Rows add up to less than 1, because the share of the hidden keys is missing. And the "
            "future leaks through the sum that softmax divides by: if a later word changes, the "
            "weights in the earlier rows change too."
        ),
        invisible="Where every query may see every key.",
        wrong="weights = torch.softmax(scaled, dim=-1) * keep",
        right="weights = torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1)",
        check=ROWS_SUM_TO_ONE,
        source=("huggingface/pytorch-image-models#2236",),
        where="masked",
        formulas={"masked": lambda a, scaled: scaled, "weights": masked_weights},
        seen_on=examples.masked,
        unseen_on=examples.seen_by_all,
    ),
    Mistake(
        name="rounded-weights",
        title="rounding to one decimal",
        does=(
            "The weights are rounded for display, and then the rounded weights are used in the "
            "computation."
        ),
        symptom=(
            "Some rows add up to 0.9 or 1.1, and the outputs can be off in their first decimal."
        ),
        invisible=(
            "Where the weights have only one decimal anyway, as with five equal keys. The check "
            "misses a row in which the rounding errors cancel."
        ),
        wrong="weights = torch.round(weights, decimals=1)",
        right="torch.round(weights, decimals=1)  # shown, and not kept",
        check=ROWS_SUM_TO_ONE,
        source=("1-01",),
        where="weights",
        formulas={"weights": lambda a, masked: FORMULAS["weights"](a, masked).round(decimals=1)},
        seen_on=examples.unscaled,
        unseen_on=examples.alike,
    ),
    Mistake(
        name="dropped-as-weights",
        title="dropout already in the weights",
        does="The weights after dropout are returned as if they were the weights before it.",
        symptom=(
            "In training the rows of “weights” have zeros in them and do not add up to 1, though "
            "the output is right."
        ),
        invisible="Without dropout, as in eval, and always in the output.",
        wrong="weights = dropout(torch.softmax(masked, dim=-1)); return weights @ v, weights",
        right="dropped = dropout(weights); return dropped @ v, weights",
        check=ROWS_SUM_TO_ONE,
        source=("karpathy/ng-video-lecture#30", "pytorch/pytorch#42929", "3-13", "4-28"),
        where="weights",
        formulas={
            "weights": lambda a, masked: FORMULAS["dropped"](a, FORMULAS["weights"](a, masked)),
            "dropped": lambda a, weights: weights,
        },
        seen_on=lambda: examples.dropping(0.5),
        unseen_on=examples.plain,
    ),
    Mistake(
        name="dropout-not-rescaled",
        title="dropout not rescaled",
        does="The weights that survive are not divided by 1 − p.",
        symptom="In training every output is too small by a factor of 1 − p.",
        invisible="Without dropout, or with p = 0.",
        wrong="dropped = weights * survives",
        right="dropped = weights * survives / (1 - p)",
        check="torch.allclose(dropped[survives] * (1 - p), weights[survives])",
        source=("nelson-liu/paraphrase-id-tensorflow#33",),
        where="dropped",
        formulas={"dropped": not_rescaled},
        seen_on=lambda: examples.dropping(0.5),
        unseen_on=lambda: examples.dropping(0.0),
    ),
    Mistake(
        name="dropout-over-p",
        title="dropout rescaled by 1/p",
        does=(
            "The weights that survive are divided by p, the share that is dropped, instead of by 1 "
            "− p."
        ),
        symptom=(
            "With p = 0.1 each surviving weight becomes ten times as large, instead of 1.11 times."
        ),
        invisible="At p = 0.5, where 1/p and 1/(1 − p) are the same, and without dropout.",
        wrong="dropped = weights * survives / p",
        right="dropped = weights * survives / (1 - p)",
        check="torch.allclose(dropped[survives] * (1 - p), weights[survives])",
        source=("lmjohns3/theanets#123", "kaldi-asr/kaldi#2814", "rasbt/LLMs-from-scratch#431"),
        where="dropped",
        formulas={"dropped": rescaled_by_p},
        seen_on=lambda: examples.dropping(0.1),
        unseen_on=lambda: examples.dropping(0.5),
    ),
    Mistake(
        name="dropout-thrown-away",
        title="dropout thrown away",
        does=(
            "Because of a slip in a name, the result of dropout goes into a variable that nobody "
            "reads."
        ),
        symptom=(
            "Two passes in training give the same output to the last bit, without an error or a "
            "warning."
        ),
        invisible="Without dropout, as in eval.",
        wrong="atten_weigths = dropout(atten_weights)",
        right="atten_weights = dropout(atten_weights)",
        check="(dropped[~survives] == 0).all()",
        source=("zhouhaoyi/Informer2020#97", "0-03"),
        where="dropped",
        formulas={"dropped": lambda a, weights: weights},
        seen_on=lambda: examples.dropping(0.5),
        unseen_on=examples.plain,
    ),
)
