"""What the page's core must give, as attn_core gives it: the vectors of `node --test`.

    python -m generate.page_vectors    # writes them again, after a formula has changed

A test compares what is stored with what attn_core gives now. The inputs are fractions that float32
holds, and what follows from them is computed in float64, so that no processor's last bit shows.
"""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import torch

from attn_core import (
    AttentionTrace,
    Dropout,
    Projection,
    alibi,
    causal,
    diagnose,
    padding,
    prefill,
    relative,
    toy,
    trace,
    window,
    workings,
)
from attn_core.arithmetic import Workings
from attn_core.checks import STAGES
from attn_core.digits import fixed, plain, written
from attn_core.gradients import AttentionGradients
from attn_core.gradients.cells import STAGES as BACK
from attn_core.mistakes import MISTAKES
from attn_core.rotary import PAIRINGS, Rotary
from attn_core.views import backward, explore
from attn_core.views.paste import paste
from attn_core.views.payload import array
from attn_core.views.state import number_in
from attn_core.views.visible import visible
from attn_core.views.wide import in_float64
from publishing.notebooks.outputs import vectors_differ

STORED = Path(__file__).parents[1] / "attn_core" / "views" / "page" / "test" / "vectors.json"

NUMBERS = [0.0, 0.5, 1.5, 0.125, 0.00005, 0.00015, 0.03125, -0.03125, 1 / 3, 9.96e-6, -4.9e-5]
NUMBERS += [5e-324, 999999.99995, 1e6, 1350000.0, 9.5e6, 1e22, 3e300, 99999999999.03125, -2.5]
LABELS = [
    "the",
    " the",
    "the ",
    "New York",
    "a  b",
    "   ",
    "",
    "\n",
    "a\r\n",
    "\t",
    "\u00a0",
    "\u3000",
]
LABELS += [
    "\u200b",
    "\u0007",
    "\u202e",
    "\ufeff",
    "\ud83d",
    "👩\u200d💻",
    "👩\u200d",
    "❤\ufe0f",
    "\ufe0f",
    " \ufe0f",
]
LABELS += [
    "می\u200cخواهم",
    "\u200cخ",
    "你",
    "🏴\U000e0067\U000e007f",
    "\U000e0067",
    "\u2028",
    "e\u0301",
]
LEVELS = 1  # of a gradient's tree, which goes through the whole forward pass
TYPED = ["0.5", "−2", " 1/3 ", "2e-3", ".5", "1e999", "", "one", "1/0", "0x1", "1,5"]


def numbers(*shape: int, start: int = 0) -> torch.Tensor:
    """Quarters from −2 to 2, in no order that one would see."""
    count = math.prod(shape)
    return torch.tensor(
        [((7 * n * n + 3 * n) % 17 - 8) / 4 for n in range(start, start + count)]
    ).reshape(shape)


def records() -> dict[str, AttentionTrace]:
    """A record for each kind of mask, with and without dropout, and with a source."""
    B, H, L, S, D, Dv = 2, 1, 3, 5, 4, 3
    q, k, v = numbers(B, H, L, D), numbers(B, H, S, D, start=99), numbers(B, H, S, Dv, start=333)
    dense = numbers(B, 1, L, S, start=7) > -0.5
    keeps = {
        "none": None,
        "causal": causal(),
        "window": window(1, 1),
        "padding with a row that keeps nothing": padding([5, 0]),
        "prefill": prefill(2),
        "dense": dense,
        "left padding with rows that keep nothing": causal() & padding(starts=[1, 4]),
        "joined": causal() & padding([3, 4], starts=[0, 1]) & dense,
    }
    traces = {name: trace(q, k, v, keep=keep) for name, keep in keeps.items()}
    traces["dropout"] = trace(q, k, v, keep=causal(), dropout=Dropout(0.3, 2**40 + 7), scale=-0.75)
    group = numbers(B, 4, L, D), numbers(B, 2, S, D, start=99), numbers(B, 2, S, Dv, start=333)
    bias = alibi(numbers(4)) + relative(numbers(4, 3)) + numbers(B, 1, L, S, start=21)
    sinks = numbers(4, start=5)
    traces["bias, softcap, sinks and grouped keys"] = trace(
        *group, keep=padding([5, 0]), bias=bias, softcap=1.5, sinks=sinks
    )
    traces["a bias by distance"] = trace(q, k, v, bias=alibi([0.5]))
    traces["a softcap"] = trace(q, k, v, softcap=2.0)
    traces["a sink beside many keys"] = trace(
        *(numbers(1, 1, n, 2) for n in (2, 18, 18)), sinks=torch.tensor([-0.5])
    )
    traces["wide"] = trace(*(numbers(1, 1, n, 20) for n in (2, 18, 18)))
    x, matrices = numbers(1, 4, 3), [numbers(3, 4, start=50 * n) for n in range(3)]
    biases = tuple(numbers(4, start=9 * n) for n in range(3))
    traces["source"] = projected(x, matrices, biases)
    narrow = [matrices[0], matrices[1][:, :2], matrices[2][:, :2]]
    traces["source of grouped keys"] = projected(
        x, narrow, (biases[0], biases[1][:2], biases[2][:2])
    )
    for pairing in PAIRINGS:
        traces[f"source of rotated {pairing}"] = rotated(x, narrow, Rotary(2, 10.0, pairing), None)
    places = torch.tensor([[0, 1, 2, 2.5]])
    traces["source of rows rotated by their places"] = rotated(
        x, matrices, Rotary(4, 10.0, "interleaved"), places
    )
    return traces


def rotated(
    x: torch.Tensor, matrices: list, rotary: Rotary, positions: torch.Tensor | None
) -> AttentionTrace:
    """A record whose queries and keys were rotated after the projection."""
    source = Projection(x, *matrices, rotary=rotary, positions=positions)
    exact = source.each(torch.Tensor.double).project()
    heads = [
        rows.float().unflatten(-1, (-1, rotary.head_dim)).transpose(1, 2).contiguous()
        for rows in exact
    ]
    return trace(*heads, keep=causal(), source=source)


def projected(x: torch.Tensor, matrices: list, biases: tuple) -> AttentionTrace:
    heads = [
        (x @ matrix + bias).view(1, 4, -1, 2).transpose(1, 2).contiguous()
        for matrix, bias in zip(matrices, biases, strict=True)
    ]
    return trace(*heads, keep=causal(), source=Projection(x, *matrices, biases))


def payload(record: AttentionTrace) -> dict:
    return json.loads(json.dumps(explore(record).payload, allow_nan=False))


def finite(cells: list) -> list:
    """Rows to 13 digits, without −∞, which JSON has not: null."""
    return [[None if x == -math.inf else float(f"{x:.13g}") for x in row] for row in cells]


def cells_of(record: AttentionTrace, batch: int, head: int) -> dict[str, list]:
    rows = [Workings(record, batch, head, i) for i in range(record.shape[2])]
    cells = {stage: finite([list(getattr(row, stage)) for row in rows]) for stage in STAGES[:-1]}
    columns = record.v[batch, head // record.group].double().mT.tolist()
    cells["output"] = [
        [math.fsum(map(float.__mul__, row.dropped, column)) for column in columns] for row in rows
    ]
    return cells


def of_record(record: AttentionTrace) -> dict:
    B, H, L, S = record.shape
    places = [
        (STAGES[n % 6], n % L, n % min(S, record.v.shape[-1]), n % B, n % H) for n in range(6)
    ]
    return {
        "payload": payload(record),
        "cells": {f"{b},{h}": cells_of(record, b, h) for b, h in product(range(B), range(H))},
        "lines": [
            {
                "place": place,
                "text": str(workings(record, *place[:3], batch=place[3], head=place[4])),
            }
            for place in dict.fromkeys(places)
        ],
    }


def gradients(record: AttentionTrace) -> dict:
    """Every number of its way back, and lines of each kind, for a page that has the record."""
    B, H, L, _ = record.shape
    grad_output = numbers(B, H, L, record.v.shape[-1], start=55)
    exact = in_float64(record).gradients(grad_output.double())
    cells = {f"{b},{h}": gradients_of(exact, b, h) for b, h in product(range(B), range(H))}
    lines = []
    for n, name in enumerate(backward.STAGES):
        rows, columns = backward.sizes_of(record, name)
        i, j, b, h = (7 * n + 1) % rows, (5 * n + 2) % columns, n % B, n % H
        # The page asks by a head of the queries for what all that share its keys add up to.
        head = h // record.group if name in ("grad_k", "grad_v") else h
        term = record.gradients(grad_output).workings(name, i, j, batch=b, head=head)
        lines.append({"place": [name, i, j, b, h], "text": term.written(LEVELS)})
    return {"grad_output": array(grad_output), "cells": cells, "lines": lines}


def gradients_of(exact: AttentionGradients, batch: int, head: int) -> dict[str, list]:
    every, key_head = slice(None), head // exact.record.group
    cells = {name: exact.tile(name, every, every, batch=batch, head=head) for name in BACK}
    cells["grad_q"] = exact.grad_q[batch, head]
    cells |= {name: getattr(exact, name)[batch, key_head] for name in ("grad_k", "grad_v")}
    return {name: finite(rows.tolist()) for name, rows in cells.items()}


def digits() -> list[dict]:
    cases = [
        {"rule": rule.__name__, "x": x, "more": places, "text": rule(x, places)}
        for rule, x, places in product((fixed, plain), NUMBERS, (0, 2, 4))
    ]
    return cases + [
        {"rule": "written", "x": x, "more": beside, "text": written(x, beside)}
        for x, beside in product(NUMBERS, (0.0, 999.5, -1000.0, 4e4, 1e300))
    ]


def dropout() -> list[dict]:
    cases = []
    for p, seed, (b, h, i) in product((0.1, 0.5), (0, 7, 2**53 - 1), ((0, 0, 0), (1, 2, 70_000))):
        rows = Dropout(p, seed).survives(*(range(n, n + 1) for n in (b, h, i)), range(10))
        cases.append(
            {"p": p, "seed": seed, "place": [b, h, i], "survives": rows.flatten().int().tolist()}
        )
    return cases


def pooled() -> list[dict]:
    q, k = numbers(1, 1, 4, 3), numbers(1, 1, 6, 3, start=20)
    record = in_float64(trace(q, k, k, keep=window(2, 1)))
    rows = finite(record.stage("masked")[0, 0].tolist())
    return [
        {"rows": rows, "how": how, "cells": finite(record.pooled("masked", (2, 3), how).tolist())}
        for how in ("max", "mean")
    ]


def mistakes(known: dict[str, AttentionTrace]) -> dict[str, dict]:
    """The weights and the dropped weights of each wrong formula."""
    cases = {}
    for name, mistake in MISTAKES.items():
        if mistake.is_formula:
            seen_on = "dropout" if "drop" in name else "joined"
            wrong = mistake.apply(in_float64(known[seen_on]))
            cases[name] = {
                "record": seen_on,
                "cells": {
                    stage: finite(wrong[stage].flatten(0, 2).nan_to_num(-9e9).tolist())
                    for stage in ("weights", "dropped")
                },
            }
    return cases


def edits() -> dict:
    """Records with a source, a change of it as a text, and what becomes of q, k and v."""
    x, matrices = numbers(1, 4, 3), [numbers(3, 4, start=50 * n) for n in range(3)]
    biases = tuple(numbers(4, start=9 * n) for n in range(3))
    rotary = Rotary(2, 10.0)
    before = projected(x, matrices, biases), rotated(x.clone(), matrices, rotary, None)
    payloads = [payload(record) for record in before]
    x[0, 2, 1], matrices[1][0, 3], biases[2][1] = 1.25, -2, 3
    after = projected(x, matrices, biases), rotated(x, matrices, rotary, None)
    change = "x.0.2.1:1.25,w_key.0.3:-2,"
    texts = f"{change}b_value.1:3,tokens.1:a%2Cb", f"{change}tokens.1:a%2Cb"
    return {
        name: {
            "payload": payloads[n],
            "text": texts[n],
            **{side: getattr(after[n], side).flatten().tolist() for side in "qkv"},
        }
        for n, name in enumerate(("projected", "rotated"))
    }


def answers() -> dict:
    """What the box says of pasted numbers."""
    words = toy.journey()
    record = trace(*[words.x] * 3, keep=causal())
    pasted = [
        record.stage("weights"),
        record.stage("output"),
        2 * record.stage("scores"),
        record.stage("weights").mT,
        torch.softmax(record.stage("scores"), dim=-1),
        record.stage("scores") + 1,
    ]
    return {
        "payload": json.loads(json.dumps(paste(record).payload)),
        "pasted": [{"text": str(tensor), "said": said(tensor, record)} for tensor in pasted],
    }


def said(yours: torch.Tensor, record: AttentionTrace) -> str:
    """What is said of the printed numbers; the box has nothing to look up in Python."""
    printed = [[round(x, 4) for x in row] for row in yours.double().tolist()]
    return str(diagnose(torch.tensor(printed), record)).partition("; .")[0]


def vectors() -> dict:
    known = records()
    return {
        "records": {name: of_record(record) for name, record in known.items()},
        "gradients": {name: gradients(record) for name, record in known.items()},
        "digits": digits(),
        "typed": [{"text": text, "number": str(number_in(text))} for text in TYPED],
        "labels": [{"token": token, "label": visible(token)} for token in LABELS],
        "dropout": dropout(),
        "pooled": pooled(),
        "mistakes": mistakes(known),
        "edits": edits(),
        "answers": answers(),
    }


def text() -> str:
    """A line for each group and each of its members: what changes, shows."""
    made = vectors()
    groups = []
    for name, group in made.items():
        pairs = group.items() if isinstance(group, dict) else enumerate(group)
        lines = [
            (f"{json.dumps(key)}: " if isinstance(group, dict) else "")
            + json.dumps(value, allow_nan=False)
            for key, value in pairs
        ]
        first, last = "{}" if isinstance(group, dict) else "[]"
        groups.append(f"{json.dumps(name)}: {first}\n" + ",\n".join(lines) + f"\n{last}")
    return "{\n" + ",\n".join(groups) + "\n}\n"


if __name__ == "__main__" and vectors_differ(STORED, text()):
    STORED.write_text(text(), encoding="utf-8")
