"""What the page's language model must give: a small model's numbers, for `node --test`.

    python -m generate.language_vectors    # writes them again, after a formula has changed

The weights are drawn as they are stored, in Q4_1 and Q8_0. Everything is computed in float64, with
a bound on how far float32 may be from it. Roundings count as independent, so the variances of their
errors add (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019). To
first order, each operation adds those of its own roundings to what its inputs bring. The bound is
eight standard deviations; one for the worst case would be thousands of times as large.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attn_core.pretrained import gguf
from attn_core.pretrained.gguf import BLOCK
from attn_core.rotary import Rotary
from publishing.notebooks.outputs import vectors_differ

STORED = (
    Path(__file__).parents[1] / "attn_core" / "views" / "page" / "test" / "language-vectors.json"
)
WIDTH, HEADS, KV_HEADS, HIDDEN, LAYERS, VOCABULARY, EPS = 64, 4, 2, 96, 2, 40, 1e-5
HEAD_DIM = WIDTH // HEADS
ROTARY = Rotary(HEAD_DIM, 100.0, "interleaved")
IDS = [7, 3, 39, 0, 3, 21]
MATRICES = {
    "w_query": (WIDTH, WIDTH),
    "w_key": (HEAD_DIM * KV_HEADS, WIDTH),
    "w_value": (HEAD_DIM * KV_HEADS, WIDTH),
    "out_proj": (WIDTH, WIDTH),
    "gate": (HIDDEN, WIDTH),
    "up": (HIDDEN, WIDTH),
    "down": (WIDTH, HIDDEN),
}
# A layer's weights in the order of its bytes.
ORDER = ("attention_norm", "w_query", "w_key", "w_value", "out_proj")
ORDER += ("feed_forward_norm", "gate", "up", "down")
SWITCHES: dict[str, dict[str, Any]] = {
    "all on": {},
    "two heads off": {"heads_off": [[0, 1], [1, 3]]},
    "an attention off": {"attention_off": [1]},
    "no rotation": {"rotary_off": True},
    "no sink": {"sink_off": [0, 1]},
    "many off": {"heads_off": [[0, 0]], "rotary_off": True, "sink_off": [1]},
}
WITH_LAYERS = ("all on", "no sink")  # the cases with the rows of each layer

ROUNDING = 2.0**-24 / 3**0.5  # the standard deviation of one rounding, as a part of the number
EXP = 8 * ROUNDING  # that of e^x by the kernels' polynomial, whose error is at most 3 · 2^-24
DEVIATIONS = 8


@dataclass(frozen=True)
class Near:
    """Numbers in float64, and the standard deviation of those in float32 from them."""

    value: np.ndarray
    error: np.ndarray

    def map(self, rule) -> Near:
        """Both, moved as a rule says: a view, a part, another order."""
        return Near(rule(self.value), rule(self.error))

    def __add__(self, other: Near) -> Near:
        value = self.value + other.value
        return Near(value, joined(self.error, other.error, ROUNDING * value))


def joined(*errors: np.ndarray) -> np.ndarray:
    """Of errors that are independent of each other."""
    return np.sqrt(sum(np.square(error) for error in errors))


def mixed(error: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Of the product of a matrix that has errors with one that has none."""
    return np.sqrt(np.square(error) @ np.square(factors))


@dataclass(frozen=True)
class Model:
    """Weights as they are stored, and as numbers.

    leasts: of the Q4_1 matrices, of each block of a row.
    """

    stored: dict[str, bytes]
    numbers: dict[str, np.ndarray]
    leasts: dict[str, np.ndarray]


def model() -> Model:
    draw = random.Random("a small language model")
    stored, numbers, leasts = {}, {}, {}

    def keep(name: str, content: bytes, values: torch.Tensor, shape: Sequence[int]) -> None:
        stored[name], numbers[name] = content, values.double().numpy().reshape(shape)

    def norm(name: str) -> None:
        gains = torch.tensor([draw.randrange(2, 7) / 4 for _ in range(WIDTH)])
        keep(name, gains.numpy().astype("<f4").tobytes(), gains, (WIDTH,))

    def block_of_four(part: str) -> bytes:
        scale = draw.randrange(8, 16) / (512 if part in ("w_query", "w_key") else 1024)
        return halves(scale, -scale * draw.randrange(14, 18) / 2) + draw.randbytes(BLOCK // 2)

    def block_of_eight() -> bytes:
        return halves(draw.randrange(8, 16) / 1024) + draw.randbytes(BLOCK)

    rows = b"".join(block_of_eight() for _ in range(VOCABULARY * WIDTH // BLOCK))
    keep("rows", rows, gguf.q8_0(tensor_of(rows)), (VOCABULARY, WIDTH))
    for n in range(LAYERS):
        for part in ORDER:
            if part not in MATRICES:
                norm(f"{n}.{part}")
                continue
            outputs, inputs = MATRICES[part]
            content = b"".join(block_of_four(part) for _ in range(outputs * inputs // BLOCK))
            name = f"{n}.{part}"
            blocks = tensor_of(content)
            keep(name, content, gguf.q4_1(blocks), (outputs, inputs))
            _, least = gguf.halves(blocks.view(-1, 4 + BLOCK // 2)[:, :4]).unbind(1)
            leasts[name] = least.double().numpy().reshape(outputs, -1)
    norm("norm")
    return Model(stored, numbers, leasts)


def halves(*numbers: float) -> bytes:
    return np.array(numbers, dtype="<f2").tobytes()


def tensor_of(content: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def product(x: Near, weight: np.ndarray, leasts: np.ndarray | None) -> Near:
    """Rows times the transpose of a matrix [outputs, inputs], added as the kernels do.

    Each of four lanes adds the products of a block, and this sum, times the scale, to those of the
    blocks before. Behind the blocks of weights come those of the products of a block's least and
    its sum of x, and then the lanes are joined. A product's rounding is a part of the product, an
    addition's of what has been added so far. The stored weight is rounded once, and in the sum of a
    block's x each x takes part in at most five additions. Q8_0 weights have no leasts.
    """
    rows, (outputs, inputs) = len(x.value), weight.shape
    order = np.arange(inputs)
    if leasts is None:
        leasts = np.zeros((outputs, inputs // BLOCK))
    else:
        order = order.reshape(-1, 4, 4).transpose(0, 2, 1).ravel()
    parts = x.value[:, None] * (weight - leasts.repeat(BLOCK, 1))
    blocks = x.value.reshape(rows, 1, -1, BLOCK)
    behind = leasts * blocks.sum(-1)
    padding = np.zeros((rows, outputs, -behind.shape[-1] % BLOCK))
    products = np.concatenate([parts[..., order], behind, padding], -1)
    products = products.reshape(rows, outputs, -1, BLOCK // 4, 4)
    within = products.cumsum(3)
    sums = within[:, :, :, -1]
    so_far = sums.cumsum(2)
    pairs = so_far[:, :, -1].reshape(rows, outputs, 2, 2).sum(-1)
    rounded = np.square(products).sum((2, 3, 4)) + np.square(within).sum((2, 3, 4))
    rounded += np.square(sums).sum((2, 3)) + np.square(so_far).sum((2, 3))
    rounded += np.square(x.value) @ np.square(weight).T
    rounded += 5 * np.square(leasts * abs(blocks).sum(-1)).sum(-1)
    rounded += np.square(pairs).sum(-1) + np.square(pairs.sum(-1))
    value = x.value @ weight.T
    return Near(value, joined(mixed(x.error, weight.T), ROUNDING * np.sqrt(rounded)))


def in_sum(count: int) -> float:
    """The error of a sum of products, as a part of the sum of their sizes.

    A product is rounded, each of four lanes has at most count/4 additions, and two more join them.
    """
    return (count / 4 + 4) ** 0.5 * ROUNDING


def rms_norm(x: Near, gain: np.ndarray) -> Near:
    squares = (x.value**2).sum(-1, keepdims=True) + WIDTH * EPS
    factor = np.sqrt(WIDTH / squares)
    value = x.value * factor * gain
    moved = np.sqrt(((x.value * x.error) ** 2).sum(-1, keepdims=True)) / squares
    relative = joined(moved, in_sum(WIDTH) / 2, 3 * ROUNDING)
    return Near(value, joined(gain * factor * x.error, value * relative))


def rotate(x: Near) -> Near:
    """x: [rows, heads, head_dim]; row n is at position n."""
    angles = ROTARY.angles(torch.arange(len(x.value))).numpy()[:, None, :]
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = (x.map(lambda part, n=n: part[..., n::2]) for n in (0, 1))

    def rotated(a: Near, b: Near, sign: int) -> Near:
        value = a.value * cos + sign * b.value * sin
        errors = a.error * cos, b.error * sin
        rounding = 3 * ROUNDING * (abs(a.value * cos) + abs(b.value * sin))
        return Near(value, joined(*errors, rounding))

    pair = rotated(first, second, -1), rotated(second, first, 1)
    return Near(
        *(
            np.stack([getattr(part, name) for part in pair], -1).reshape(x.value.shape)
            for name in ("value", "error")
        )
    )


def attend(q: Near, k: Near, v: Near, hides_sink: bool) -> Near:
    """q: [rows, heads, head_dim]; k and v: [rows, kv_heads, head_dim]. Causal."""
    rows = len(q.value)
    q = q.map(lambda part: part.transpose(1, 0, 2))
    k, v = (
        x.map(lambda part: part.transpose(1, 0, 2).repeat(HEADS // KV_HEADS, 0)) for x in (k, v)
    )
    keep = np.tril(np.ones((rows, rows), dtype=bool))
    if hides_sink:
        keep[1:, 0] = False
    scale = HEAD_DIM**-0.5
    keys = k.map(lambda part: part.transpose(0, 2, 1))
    scores = scale * (q.value @ keys.value)
    rounding = (in_sum(HEAD_DIM) + ROUNDING) * (abs(q.value) @ abs(keys.value))
    from_keys = np.sqrt(np.square(q.value) @ np.square(keys.error))
    error = scale * joined(mixed(q.error, keys.value), from_keys, rounding)
    largest = np.where(keep, scores, -np.inf).max(-1, keepdims=True)
    shifted = np.where(keep, scores - largest, 0)
    exps = np.where(keep, np.exp(shifted), 0)
    weights = exps / exps.sum(-1, keepdims=True)
    # A number that is taken from all scores of a row changes no weight.
    of_weights = weights * joined(error, 2 * ROUNDING * shifted, EXP)
    value, summed = weights @ v.value, (rows + 2) ** 0.5 * ROUNDING * (weights @ abs(v.value))
    of_values = np.sqrt(np.square(weights) @ np.square(v.error))
    of_sum = value * np.sqrt(np.square(of_weights).sum(-1, keepdims=True))
    error = joined(mixed(of_weights, v.value), of_values, of_sum, 2 * summed)
    return Near(value, error).map(lambda part: part.transpose(1, 0, 2).reshape(rows, WIDTH))


def swiglu(gate: Near, up: Near) -> Near:
    silu = gate.value / (1 + np.exp(-gate.value))
    value = silu * up.value
    # The derivative of silu is at most 1.1.
    errors = 1.1 * gate.error * up.value, silu * up.error
    return Near(value, joined(*errors, (EXP + 4 * ROUNDING) * value))


def run(made: Model, ids: Sequence[int], off: dict[str, Any]) -> dict[str, Any]:
    """All that the page may be asked for: rows, and scores behind the last token."""
    weights = made.numbers
    rows = weights["rows"][list(ids)]

    def linear(x: Near, name: str) -> Near:
        return product(x, weights[name], made.leasts.get(name))

    x = Near(rows, np.zeros_like(rows))
    layers = []
    for n in range(LAYERS):
        record: dict[str, Near | None] = dict.fromkeys("qkv")
        if n not in off.get("attention_off", []):
            normed = rms_norm(x, weights[f"{n}.attention_norm"])
            q, k, v = (
                linear(normed, f"{n}.{name}").map(lambda part: part.reshape(len(ids), -1, HEAD_DIM))
                for name in ("w_query", "w_key", "w_value")
            )
            if not off.get("rotary_off"):
                q, k = rotate(q), rotate(k)
            record = {"q": q, "k": k, "v": v}
            heads = attend(q, k, v, n in off.get("sink_off", []))
            silent = [head for layer, head in off.get("heads_off", []) if layer == n]
            on = np.repeat([head not in silent for head in range(HEADS)], HEAD_DIM)
            x = x + linear(heads.map(lambda part, on=on: part * on), f"{n}.out_proj")
        record["attended"] = x
        normed = rms_norm(x, weights[f"{n}.feed_forward_norm"])
        neurons = swiglu(linear(normed, f"{n}.gate"), linear(normed, f"{n}.up"))
        x = x + linear(neurons, f"{n}.down")
        layers.append(record | {"stream": x})
    last = rms_norm(x.map(lambda part: part[-1:]), weights["norm"])
    return {"layers": layers, "scores": linear(last, "rows")}


def sent(near: Near | None) -> dict | None:
    """The numbers, and one bound for all of them."""
    if near is None:
        return None
    bound = DEVIATIONS * float(near.error.max())
    numbers = [float(f"{x:.12g}") for x in near.value.ravel()]
    return {"numbers": numbers, "bound": float(f"{bound:.3g}")}


def vectors() -> dict[str, Any]:
    made = model()
    cases = []
    for name, off in SWITCHES.items():
        ran = run(made, IDS, off)
        case = {"name": name, "switches": off, "ids": IDS, "scores": sent(ran["scores"])}
        if name in WITH_LAYERS:
            case["layers"] = [
                {part: sent(near) for part, near in layer.items()} for layer in ran["layers"]
            ]
        cases.append(case)
    return {
        "settings": {
            "width": WIDTH, "heads": HEADS, "kv_heads": KV_HEADS, "hidden": HIDDEN,
            "layers": LAYERS, "vocabulary": VOCABULARY, "eps": EPS,
            "base": ROTARY.base, "rates": ROTARY.rates,
        },
        "rows": text_of(made.stored["rows"]),
        "layers": [
            text_of(b"".join(made.stored[f"{n}.{part}"] for part in ORDER)) for n in range(LAYERS)
        ],
        "norm": text_of(made.stored["norm"]),
        "weights": {
            "rows": made.numbers["rows"][:2].ravel().tolist(),
            "w_query": made.numbers["0.w_query"][:2].ravel().tolist(),
        },
        "cases": cases,
    }  # fmt: skip


def text_of(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def text() -> str:
    """A line for each group, and for each case."""
    made = vectors()
    cases = ",\n".join(json.dumps(case, allow_nan=False) for case in made.pop("cases"))
    groups = [f"{json.dumps(name)}: {json.dumps(group)}" for name, group in made.items()]
    return "{\n" + ",\n".join([*groups, f'"cases": [\n{cases}\n]']) + "\n}\n"


if __name__ == "__main__" and vectors_differ(STORED, text()):
    STORED.write_text(text(), encoding="utf-8")
