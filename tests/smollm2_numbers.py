"""Numbers of SmolLM2 that the page must have, and what Python has for each."""

import random

import pytest
import torch

from attn_core.pretrained.smollm2_135m import HIDDEN, LAYERS, VOCABULARY, WIDTH
from attn_core.steps import Steps

# float32 has 5.5e-5 of the scores' own rounding, and the page sums in another order than torch.
NEAR = 1e-3
# Steps of a layer, and how wide their rows are; of keys and values a third of the model's.
OF_LAYER = {
    "attention_norm": WIDTH,
    "attention.w_query": WIDTH,
    "attention.rotated_key": WIDTH // 3,
    "attention.w_value": WIDTH // 3,
    "attention": WIDTH,
    "attention.out_proj": WIDTH,
    "attention_sum": WIDTH,
    "feed_forward_norm": WIDTH,
    "feed_forward.gate": HIDDEN,
    "feed_forward.activation": HIDDEN,
    "feed_forward.product": HIDDEN,
    "feed_forward.down": WIDTH,
    "sum": WIDTH,
}
# The page keeps them of each layer, in float32.
KEPT = ("rotated_query", "rotated_key", "w_value", "attention_sum", "sum")

Number = tuple[str, list[int], str | None]


def drawn(seed: int, count: int, tokens: int) -> list[Number]:
    """Some numbers of a text: the embedding, any step of any layer, weights, scores, chances."""
    draw = random.Random(seed)
    numbers: list[Number] = [
        ("embedding", [draw.randrange(tokens), draw.randrange(WIDTH)], None),
        ("norm", [draw.randrange(tokens), draw.randrange(WIDTH)], None),
        ("unembedding", [draw.randrange(tokens), draw.randrange(VOCABULARY)], None),
        ("chances", [draw.randrange(tokens), draw.randrange(VOCABULARY)], None),
    ]
    while len(numbers) < count:
        layer, row = draw.randrange(LAYERS), draw.randrange(tokens)
        name = draw.choice([*OF_LAYER, "weights"])
        if name == "weights":
            place = [draw.randrange(9), row, draw.randrange(row + 1)]
            numbers.append((f"layers.{layer}.attention", place, "weights"))
        else:
            place = [row, draw.randrange(OF_LAYER[name])]
            numbers.append((f"layers.{layer}.{name}", place, None))
    return numbers


def wanted(steps: Steps, number: Number) -> float:
    """What Python has, from the recorded steps of a pass over the text."""
    name, index, stage = number
    if name == "chances":
        row = steps["unembedding"].value[0, index[0]]
        return float(torch.softmax(row, dim=-1)[index[1]])
    if stage:
        return float(steps.record(name).stage(stage)[0][tuple(index)])
    if name.endswith(".attention"):
        output = steps.record(name).stage("output")[0]
        return float(output.mT.flatten(0, 1)[index[1], index[0]])
    return float(steps[name].value[0].flatten(1)[tuple(index)])


def check(number: Number, made: dict, value: float) -> bool:
    """Whether the fast path kept it; AssertionError if the page has another number."""
    name = number[0]
    assert made["value"] == pytest.approx(value, rel=NEAR, abs=NEAR), number
    assert made["parts"] > 0, number
    if not made["near"]:
        return False
    assert abs(made["near"]["exact"] - made["value"]) <= made["near"]["bound"], number
    assert made["near"]["bound"] < NEAR * max(1, abs(value)), number
    assert name == "unembedding" or name.rpartition(".")[2] in KEPT, number
    return True
