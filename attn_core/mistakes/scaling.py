"""Mistakes of the scale, and of what goes into softmax before the mask."""

from torch import Tensor

from attn_core import stages
from attn_core.mistakes import examples
from attn_core.mistakes.mistake import FORMULAS, Inputs, Mistake


def drop_scores(a: Inputs, scores: Tensor) -> Tensor:
    return stages.dropped(stages.scaled(scores, a.scale), a.survives, a.p)


SCALING = (
    Mistake(
        name="no-scale",
        title="no scale",
        does="The scores go into softmax as they are, not divided by √d_k.",
        symptom=(
            "Rows too sharp, the more so the wider the keys: one weight near 1, the rest near 0."
        ),
        invisible="Keys of width 1, and any record whose scale is 1.",
        wrong="weights = torch.softmax(q @ k.mT, dim=-1)",
        right="weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)",
        check="torch.allclose(scaled * k.shape[-1] ** 0.5, scores)",
        source=("delzac/cntkx#10", "mlc-ai/mlc-llm#3426", "1-15", "3-02"),
        where="scaled",
        formulas={"scaled": lambda a, scores: scores},
        seen_on=examples.plain,
        unseen_on=examples.one_scale,
    ),
    Mistake(
        name="scale-by-model-width",
        title="the scale 1/√d_model",
        does="The divisor is the root of the model's width, not of the width of one head's keys.",
        symptom="Rows too flat, by the same factor everywhere; no shape tells.",
        invisible="One head with keys as wide as the model.",
        wrong="scaled = scores / d_model ** 0.5",
        right="scaled = scores / k.shape[-1] ** 0.5",
        check="torch.allclose(scaled * k.shape[-1] ** 0.5, scores)",
        source=("YutaroOgawa/pytorch_advanced#174", "omihub777/ViT-CIFAR#11"),
        where="scaled",
        formulas={"scaled": lambda a, scores: scores / a.model_width**0.5},
        seen_on=examples.projected,
        unseen_on=examples.plain,
    ),
    Mistake(
        name="scale-after-softmax",
        title="the scale after softmax",
        does="Softmax gets the bare scores, and its weights are scaled afterwards.",
        symptom="Every row sums to the scale, 1/√d_k, and is too sharp.",
        invisible="Keys of width 1, and any record whose scale is 1.",
        wrong="weights = torch.softmax(scores, dim=-1) * scale",
        right="weights = torch.softmax(scores * scale, dim=-1)",
        check="((weights.sum(-1) - 1).abs() < 1e-5).all()",
        source=("FrancescoSaverioZuppichini/ViT#2",),
        where="scaled",
        formulas={
            "scaled": lambda a, scores: scores,
            "weights": lambda a, masked: FORMULAS["weights"](a, masked) * a.scale,
        },
        seen_on=examples.plain,
        unseen_on=examples.one_scale,
    ),
    Mistake(
        name="dropout-on-scores",
        title="dropout on the scores",
        does="Dropout sets scores to 0 before softmax, which is no weight of 0: exp(0) = 1.",
        symptom="No weight is 0. A dropped key can even gain: a score of −3 becomes a score of 0.",
        invisible="Without dropout: in eval.",
        wrong="weights = torch.softmax(dropout(scaled), dim=-1)",
        right="dropped = dropout(torch.softmax(scaled, dim=-1))",
        check="(dropped[~survives] == 0).all()",
        source=("PaddlePaddle/Parakeet#74", "0-17"),
        where="scaled",
        formulas={"scaled": drop_scores, "dropped": lambda a, weights: weights},
        seen_on=lambda: examples.dropping(0.5),
        unseen_on=examples.plain,
    ),
)
