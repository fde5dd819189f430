"""What the page's training must give, as attn_core.learning gives it: vectors for `node --test`.

    python -m generate.training_vectors    # writes them again, after a formula has changed

A few steps with each setting; tests/test_page_training.py compares every number of many more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from attn_core.learning import SGD, AdamW, AttentionOnly, RepeatedSegments, Training, Update
from attn_core.masks import Keep
from publishing.notebooks.outputs import vectors_differ

STORED = (
    Path(__file__).parents[1] / "attn_core" / "views" / "page" / "test" / "training-vectors.json"
)
STEPS = 12
EACH = 41  # of the weights and gradients every so many is compared
# As the page asks for them.
CASES: dict[str, dict[str, Any]] = {
    "as it begins": {},
    "one layer": {"layers": 1},
    "no mask": {"isMasked": False},
    "a start token": {"task": {"hasStart": True}},
    "one length": {"task": {"shortest": 4, "longest": 4}},
    "SGD": {"optimiser": {"kind": "sgd", "lr": 0.5, "weightDecay": 0.1}},
    "AdamW": {"optimiser": {"lr": 0.1, "weightDecay": 0.1, "beta1": 0.8, "beta2": 0.9, "eps": 0.1}},
    "other sizes": {
        "seed": 2**52 + 2**33 + 3, "texts": 3, "width": 6, "layers": 3,
        "task": {"letters": 11, "places": 7, "shortest": 1, "longest": 11},
    },
}  # fmt: skip
TASK = {"hasStart": "has_start"}
RATES = {"weightDecay": "weight_decay"}
PARTS = {"m_hat": "mHat", "v_hat": "vHat"}


def training_of(asked: dict[str, Any]) -> Training:
    """The training that the page makes of these settings."""
    task = RepeatedSegments(
        **{TASK.get(name, name): value for name, value in asked.get("task", {}).items()}
    )
    seed = asked.get("seed", 1)
    model = AttentionOnly(
        len(task.vocabulary),
        task.length,
        width=asked.get("width", 16),
        num_layers=asked.get("layers", 2),
        keep=None if asked.get("isMasked", True) else Keep(),
        seed=seed,
    )
    optimiser = optimiser_of(asked.get("optimiser", {}))
    return Training(task, model, optimiser, seed=seed, texts=asked.get("texts", 16))


def optimiser_of(asked: dict[str, Any]) -> SGD | AdamW:
    settings = {RATES.get(name, name): value for name, value in asked.items()}
    if settings.pop("kind", "adamw") == "sgd":
        return SGD(**settings)
    betas = settings.pop("beta1", None), settings.pop("beta2", None)
    return AdamW(**settings) if None in betas else AdamW(betas=betas, **settings)


def flat(training: Training, part: str) -> torch.Tensor:
    """A part of the last update of all weights, in the page's order."""
    return torch.cat([getattr(update, part).flatten() for update in training.updates.values()])


def update_of(update: Update, *index: int) -> dict[str, float]:
    """The parts of the update of one weight, by the page's names."""
    parts = update._asdict()
    if (moments := parts.pop("moments")) is not None:
        parts |= {"m": moments.m, "v": moments.v}
    named = {PARTS.get(name, name): part for name, part in parts.items() if part is not None}
    return {name: digits(part[index])[0] for name, part in named.items()}


def digits(numbers: torch.Tensor | Iterable[float]) -> list[float]:
    """To 13 digits: the last bits are the processor's."""
    flat = numbers.flatten().tolist() if isinstance(numbers, torch.Tensor) else numbers
    return [float(f"{x:.13g}") for x in flat]


def case(asked: dict[str, Any]) -> dict[str, Any]:
    training = training_of(asked)
    task, seed = training.task, training.seed
    texts = [task.text(seed, number) for number in range(3)] + [task.example(seed)]
    first = torch.cat([weight.flatten() for _, weight in training.weights()])
    steps = []
    for _ in range(STEPS):
        shares = [digits(layer) for layer in training.shares()]
        steps.append({"losses": digits(training.step()[1:]), "shares": shares})
    name = list(training.updates)[-1]
    return {
        "asked": asked,
        "texts": [text._asdict() for text in texts],
        "parameters": {name: list(weight.shape) for name, weight in training.weights()},
        "first": digits(first[::EACH]),
        "steps": steps,
        "maps": [digits(weights) for weights in training.maps()],
        "gradients": digits(flat(training, "gradient")[::EACH]),
        "weights": digits(flat(training, "after")[::EACH]),
        "updates": {
            weight: update_of(training.updates[weight], 1, 2) for weight in ("positions", name)
        },
    }


def text() -> str:
    """A line for each case."""
    cases = (f"{json.dumps(name)}: {json.dumps(case(asked))}" for name, asked in CASES.items())
    return "{\n" + ",\n".join(cases) + "\n}\n"


if __name__ == "__main__" and (not STORED.exists() or vectors_differ(STORED, text())):
    STORED.write_text(text(), encoding="utf-8")
