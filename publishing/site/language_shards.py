"""SmolLM2's weights as files that a page loads one after the other, still quantised.

    python -m publishing.site.language_shards FOLDER            # binary files, for a server
    python -m publishing.site.language_shards FOLDER --scripts  # classic scripts, for file://

A page reads index.json first: the model's sizes, and each file's name, bytes and SHA-256, in the
order in which to load them. The embedding rows of the first tokens come first, since most tokens of
a text are among them, then the layers. The other rows come last: most texts need them only for the
scores.
"""

import argparse
import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from attn_core.pretrained.gguf import GGUF
from attn_core.pretrained.smollm2_135m import (
    BASE,
    EPS,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    OF_LAYER,
    VOCABULARY,
    WIDTH,
    byte_pairs,
    published,
)
from attn_core.rotary import Rotary
from attn_core.views.vocabulary import vocabulary_payload

ROWS = 4096  # tokens of one file
# What a classic script calls with the name of its file and its bytes in base64.
RECEIVER = "languageShard"


class Shard(NamedTuple):
    """A file: its name, what it brings, and its bytes.

    brings: {"layer": n}, {"rows": first token} or {"norm": true}.
    """

    name: str
    brings: dict[str, Any]
    content: bytes


def settings() -> dict[str, Any]:
    """The sizes of the model, as views/page/core/language/shape.js takes them."""
    rotary = Rotary(WIDTH // HEADS, BASE, "interleaved")
    return {
        "width": WIDTH,
        "heads": HEADS,
        "kv_heads": KV_HEADS,
        "hidden": HIDDEN,
        "layers": LAYERS,
        "vocabulary": VOCABULARY,
        "eps": EPS,
        "base": BASE,
        "rates": rotary.rates,
    }


def shards(file: GGUF) -> Iterator[Shard]:
    """The files, in the order in which a page loads them."""
    rows = file.blocks("token_embd.weight").view(VOCABULARY, -1)
    first, *others = (
        Shard(f"rows-{at:05}.bin", {"rows": at}, rows[at : at + ROWS].numpy().tobytes())
        for at in range(0, VOCABULARY, ROWS)
    )
    yield first
    for n in range(LAYERS):
        names = (f"blk.{n}.{name}.weight" for name in OF_LAYER.values())
        content = b"".join(file.blocks(name).numpy().tobytes() for name in names)
        yield Shard(f"layer-{n:02}.bin", {"layer": n}, content)
    norm = file.blocks("output_norm.weight").numpy().tobytes()
    yield Shard("norm.bin", {"norm": True}, norm)
    yield from others


def script(shard: Shard) -> str:
    """A classic script that hands over a file's bytes."""
    content = base64.b64encode(shard.content).decode("ascii")
    return f'{RECEIVER}("{shard.name}","{content}");\n'


def write(file: GGUF, folder: Path, as_scripts: bool = False) -> None:
    """Writes the files, vocabulary.json and index.json into a folder.

    as_scripts: each file as a classic script of its name and ".js", a third larger.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for shard in shards(file):
        digest = hashlib.sha256(shard.content).hexdigest()
        sizes = {"bytes": len(shard.content), "sha256": digest}
        listed.append({"name": shard.name, **shard.brings, **sizes})
        if as_scripts:
            (folder / f"{shard.name}.js").write_text(script(shard), encoding="ascii")
        else:
            (folder / shard.name).write_bytes(shard.content)
    texts = {
        "index.json": {"settings": settings(), "shards": listed},
        "vocabulary.json": vocabulary_of(file),
    }
    for name, content in texts.items():
        (folder / name).write_text(json.dumps(content, separators=(",", ":")), encoding="ascii")


def vocabulary_of(file: GGUF) -> dict[str, Any]:
    """What the page's tokenizer gets."""
    tokens, merges, marks = byte_pairs(file)
    return vocabulary_payload(tokens, merges, len(marks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write SmolLM2's weights as files for a page.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scripts", action="store_true", help="as classic scripts, for file://")
    asked = parser.parse_args()
    write(published(), asked.folder, asked.scripts)
