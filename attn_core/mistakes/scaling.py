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
        does="The scores go into softmax without being divided by √d_k.",
        symptom=(
            "Rows come out too sharp, and the wider the keys, the sharper they are. With wide "
            "keys, one weight is often near 1 and the rest near 0."
        ),
        invisible="Where the keys have width 1, or where the scale is set to 1.",
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
        does=(
            "The scores are divided by the root of the model's width instead of the root of the "
            "width of one head's keys."
        ),
        symptom=(
            "All scaled scores are too small by the same factor, so the rows come out too flat, "
            "but no shape changes."
        ),
        invisible="With one head whose keys are as wide as the model.",
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
        does="Softmax gets the unscaled scores, and the weights are scaled afterwards.",
        symptom="Every row adds up to 1/√d_k instead of 1, and is as sharp as without a scale.",
        invisible="Where the keys have width 1, or where the scale is set to 1.",
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
        does=(
            "Dropout sets some scores to 0 before softmax, but a score of 0 is not a weight of 0: "
            "exp(0) = 1."
        ),
        symptom=(
            "In training no weight is 0, and a dropped key can even gain: a score of −3 becomes a "
            "score of 0."
        ),
        invisible="Without dropout, as in eval.",
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
