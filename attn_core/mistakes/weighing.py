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
        does="Softmax runs down the columns: the queries share out each key.",
        symptom="The columns sum to 1 and the rows do not; hidden columns become nan.",
        invisible=(
            "A table in which every row and every column holds the same numbers in some order, as "
            "for two words at a right angle. To be symmetric is not enough."
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
        does="exp of the scores themselves, without subtracting the row's maximum first.",
        symptom=(
            "nan where a score is above 88.7 (float32), inf/inf, and where all of a row are below "
            "−104, 0/0. Zeros where the sum alone is too large, as for three scores of 88."
        ),
        invisible=(
            "Scores near 0, a few tens at most. And this check does not see a row whose scores all "
            "lie a little above −104: its weights are coarse, yet they add up to 1."
        ),
        wrong="weights = torch.exp(scaled) / torch.exp(scaled).sum(-1, keepdim=True)",
        right="weights = torch.softmax(scaled, dim=-1)",
        check=ROWS_SUM_TO_ONE,
        source=("pytorch/executorch#18407", "0-05"),
        where="weights",
        formulas={"weights": naive},
        seen_on=examples.large,
        unseen_on=examples.plain,
    ),
    Mistake(
        name="nan-in-empty-row",
        title="a softmax over nothing",
        does="A row that keeps nothing goes through softmax: (−∞) − (−∞) is nan.",
        symptom="nan in that row, and in the next layer everywhere.",
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
        does="The scores are divided by their sum, with no exp.",
        symptom=(
            "Rows sum to 1; but a negative score is a negative weight, and a sum of 0 gives nan."
        ),
        invisible="Equal scores along each row, unless they are 0.",
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
        does="Softmax shares out over all keys, then the hidden weights are set to 0.",
        symptom="Rows sum to less than 1, the more so the more is hidden.",
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
        does="The weights are rounded to read them better, and used so.",
        symptom="Rows sum to 0.9 or 1.1, and the outputs are off in their first decimal.",
        invisible="Weights that have one decimal, as for five equal keys.",
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
        title="dropout already in them",
        does="What dropout has left is handed out under the name of the weights.",
        symptom=(
            "Rows of “weights” that do not sum to 1 in training, with zeros and numbers above 1."
        ),
        invisible="Without dropout: in eval.",
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
        does="What survives is not divided by 1 − p.",
        symptom="In training all outputs are too small, on average by the factor 1 − p.",
        invisible="Without dropout, and with p = 0.",
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
        does="What survives is divided by p, the share that is dropped, and not by 1 − p.",
        symptom="With p = 0.1 everything that survives is ten times as large.",
        invisible="p = 0.5, where 1/p and 1/(1 − p) are the same.",
        wrong="dropped = weights * survives / p",
        right="dropped = weights * survives / (1 - p)",
        check="torch.allclose(dropped[survives] * (1 - p), weights[survives])",
        source=("rasbt/LLMs-from-scratch#431", "NVIDIA/apex#816"),
        where="dropped",
        formulas={"dropped": rescaled_by_p},
        seen_on=lambda: examples.dropping(0.1),
        unseen_on=lambda: examples.dropping(0.5),
    ),
    Mistake(
        name="dropout-thrown-away",
        title="dropout thrown away",
        does="A slip in a name: what dropout returns goes to a variable that nobody reads.",
        symptom="Two passes in training are equal, bit for bit. No error, no warning.",
        invisible="Without dropout: in eval.",
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
