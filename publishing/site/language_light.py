"""SmolLM2 on a few fixed texts, as small files: a page opens them without the model.

    python -m publishing.site.language_light FOLDER

The model is computed in float64 and what a page gets is rounded once, so that every machine writes
the same numbers. Each file is a classic script, as the shards can be, so that it loads from
`file://`, too. A page reads a text's index and its small maps first; q, k and v, and the rows of
the residual stream, come layer by layer.
"""

import argparse
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.language import LanguageLayer
from attn_core.language.model import wide_layers
from attn_core.pretrained import smollm2
from attn_core.pretrained.gguf import GGUF
from attn_core.pretrained.smollm2_135m import (
    HEADS,
    KV_HEADS,
    LAYERS,
    VOCABULARY,
    WIDTH,
    SmolLM2,
    piece,
    published,
)
from attn_core.views.light import measures, sent_heads, sent_rows, small_maps, weights_of
from publishing.site.language_shards import Shard, script

# Much weight rests on a first token whatever it is, so none of them is a name.
TEXTS = {
    "capital": "Everybody in our class knows that the capital of France is",
    "names": "When Mary and John went to the store, John gave a drink to",
    "animal": "The animal didn't cross the street because it was too tired",
    "repeat": "Here are Mr and Mrs Dursley. Mr and Mrs Durs",
}
LIKELIEST, LENS = 10, 5  # tokens that are named at the end, and behind each layer
PLACES = 5  # of a chance


class Text:
    """A text on its way through the layers, and what is kept of each for its index."""

    def __init__(self, name: str, text: str, model: SmolLM2) -> None:
        self.name, self.text = name, text
        ids = model.ids(text)
        self.ids: list[int] = ids[0].tolist()
        self.pieces = model.tokens(text)
        self.x = model.embedding(ids).double()
        self.last = [self.x[0, -1]]
        self.maps: list[bytes] = []
        self.measures: dict[str, list[float]] = {}

    def embedding(self, file: GGUF) -> Shard:
        """The rows of its tokens as they are stored."""
        rows = file.blocks("token_embd.weight").view(VOCABULARY, -1)[self.ids]
        return self.shard("embedding.bin", rows.numpy().tobytes())

    def read(self, n: int, layer: LanguageLayer) -> Iterator[Shard]:
        """The files of a layer, which is given in float64."""
        normed = layer.attention_norm(self.x)
        q, k, v = (t[0].transpose(0, 1) for t in layer.attention.split_heads(normed))
        attended = self.x + layer.attention(normed)
        self.x = attended + layer.feed_forward(layer.feed_forward_norm(attended))
        self.last.append(self.x[0, -1])
        weights = weights_of(q, k)
        self.maps.append(small_maps(weights))
        for name, of_heads in measures(weights, self.ids).items():
            self.measures.setdefault(name, []).extend(of_heads)
        yield self.shard(f"heads-{n:02}.bin", sent_heads(q, k, v))
        yield self.shard(f"rows-{n:02}.bin", sent_rows(attended[0], self.x[0]))

    def end(self, model: SmolLM2, embedding: Float[Tensor, "words E"]) -> Iterator[Shard]:
        """Its small maps, and its index: the likeliest tokens if the model ended at each layer."""
        normed = deepcopy(model.norm).double()(torch.stack(self.last))
        chances = torch.softmax(normed @ embedding.T, dim=-1)
        best = int(chances[-1].argmax())
        lens = [
            {"place": int((row > row[best]).sum()) + 1, "likeliest": likeliest(model, row, LENS)}
            for row in chances
        ]
        index = {
            "ids": self.ids,
            "pieces": self.pieces,
            "likeliest": likeliest(model, chances[-1], LIKELIEST),
            "lens": lens,
            "measures": self.measures,
        }
        yield self.shard("maps.bin", b"".join(self.maps))
        yield json_shard(f"{self.name}.json", index)

    def shard(self, name: str, content: bytes) -> Shard:
        return Shard(f"{self.name}-{name}", {}, content)


def likeliest(model: SmolLM2, chances: Float[Tensor, " words"], count: int) -> list[dict[str, Any]]:
    best = chances.topk(count)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [
        {"id": token, "piece": piece(model.tokenizer, token), "chance": round(chance, PLACES)}
        for token, chance in pairs
    ]


def json_shard(name: str, content: dict[str, Any]) -> Shard:
    return Shard(name, {}, json.dumps(content, separators=(",", ":")).encode("ascii"))


@torch.no_grad()
def files() -> Iterator[Shard]:
    """All files. RuntimeError with the command that installs what is missing."""
    model, file = smollm2(), published()
    texts = [Text(name, text, model) for name, text in TEXTS.items()]
    for text in texts:
        yield text.embedding(file)
    for n, wide in enumerate(wide_layers(model)):
        for text in texts:
            yield from text.read(n, wide)
    embedding = model.embedding.weight.double()
    for text in texts:
        yield from text.end(model, embedding)
    listed = [{"name": of.name, "text": of.text, "tokens": len(of.ids)} for of in texts]
    sizes = {"layers": LAYERS, "heads": HEADS, "kv_heads": KV_HEADS, "width": WIDTH}
    yield json_shard("index.json", sizes | {"texts": listed})


def write_light(folder: Path) -> None:
    """Writes each file as a classic script of its name and ".js", index.json the last."""
    folder.mkdir(parents=True, exist_ok=True)
    for of in files():
        (folder / f"{of.name}.js").write_text(script(of), encoding="ascii")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write SmolLM2 on a few texts for a page.")
    parser.add_argument("folder", type=Path)
    write_light(parser.parse_args().folder)
