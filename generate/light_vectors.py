"""What the page must read of light files: those of the small language model, for `node --test`.

    python -m generate.light_vectors    # writes them again, after the files' form has changed

The numbers themselves are in language-vectors.json; here are the files, and how far from them what
the page reads may be.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attn_core.views.light import (
    in_16_bits,
    measures,
    sent_heads,
    sent_rows,
    small_maps,
    weights_of,
)
from generate.language_vectors import HEADS, IDS, KV_HEADS, LAYERS, WIDTH, model, run, text_of
from publishing.notebooks.outputs import vectors_differ

STORED = Path(__file__).parents[1] / "attn_core" / "views" / "page" / "test" / "light-vectors.json"
NAME = "small"
OF_A_ROW = 2.0**-16  # of a number in three bytes


def vectors() -> dict[str, Any]:
    made = model()
    rows = np.frombuffer(made.stored["rows"], np.uint8).reshape(len(made.numbers["rows"]), -1)
    files = {f"{NAME}-embedding.bin": rows[IDS].tobytes()}
    maps, bounds = [], []
    sorts: dict[str, list[float]] = {}
    for n, layer in enumerate(run(made, IDS, {})["layers"]):
        of = {part: torch.from_numpy(near.value) for part, near in layer.items()}
        q, k, v = of["q"], of["k"], of["v"]
        files[f"{NAME}-heads-{n:02}.bin"] = sent_heads(q, k, v)
        files[f"{NAME}-rows-{n:02}.bin"] = sent_rows(of["attended"], of["stream"])
        bounds.append(
            {side: float(in_16_bits(of[side])[0].max()) / 2 for side in "qkv"}
            | {part: OF_A_ROW * float(of[part].abs().max()) for part in ("attended", "stream")}
        )
        weights = weights_of(q, k)
        maps.append(small_maps(weights))
        for name, means in measures(weights, IDS).items():
            sorts.setdefault(name, []).extend(means)
    files[f"{NAME}-maps.bin"] = b"".join(maps)
    text = {"name": NAME, "text": "a small text", "tokens": len(IDS)}
    sizes = {"layers": LAYERS, "heads": HEADS, "kv_heads": KV_HEADS, "width": WIDTH}
    index = {
        "ids": IDS, "pieces": [f"t{token}" for token in IDS], "likeliest": [], "lens": [],
        "measures": sorts,
    }  # fmt: skip
    files["index.json"] = json.dumps(sizes | {"texts": [text]}).encode()
    files[f"{NAME}.json"] = json.dumps(index).encode()
    return {
        "files": {name: text_of(content) for name, content in files.items()},
        "bounds": [
            {name: float(f"{1.01 * bound:.3g}") for name, bound in of.items()} for of in bounds
        ],
    }


def text() -> str:
    """A line for each group."""
    groups = [f"{json.dumps(name)}: {json.dumps(group)}" for name, group in vectors().items()]
    return "{\n" + ",\n".join(groups) + "\n}\n"


if __name__ == "__main__" and vectors_differ(STORED, text()):
    STORED.write_text(text(), encoding="utf-8")
