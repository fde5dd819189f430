"""Find what a long text says twice: one head of attention over the chapters of this book.

    python -m examples.long_text            # all chapters
    python -m examples.long_text 8192       # their first 8,192 tokens

A place asks with its last eight tokens and is answered by the eight before another place: q and k
are the word vectors of a real model, all-MiniLM-L6-v2, made short and set side by side. Two places
that follow the same words have the highest score there is. A map of 65,536 tokens would take 17 GB.
None is made: an overview says in which blocks the high scores lie, a tile shows the block.
"""

import json
import re
import sys
from pathlib import Path

import torch
from torch import Tensor

from attn_core import AttentionTrace, causal, pretrained, trace

CHAPTERS = Path(__file__).parents[1] / "chapters"
BEHIND, SHORT = 8, 8  # tokens that a place looks back to, and numbers kept of each word vector
APART = 64  # tokens nearer than that are no repetition
BLOCK = 256  # tokens of a block of the overview
MARKUP = re.compile(r"</?[a-z][^>\n]*>|\]\([^)]*\)|:::.*|-{2,}|[\[\]*`#|]")


def text_of_chapters() -> str:
    """What the chapters' Markdown cells say, in order; marks of Markdown and HTML left out."""
    books = [json.loads(path.read_text("utf-8")) for path in sorted(CHAPTERS.glob("[01]*.ipynb"))]
    cells = [cell for book in books for cell in book["cells"] if cell["cell_type"] == "markdown"]
    return MARKUP.sub(" ", "\n".join("".join(cell["source"]) for cell in cells))


def last_words(ids: Tensor, vectors: Tensor) -> Tensor:
    """For each place the short vectors of its last BEHIND tokens side by side: [T, 64].

    The same eight tokens give the same row, and the product of two rows is 8 where they are equal
    and less where they are not.
    """
    used, of_each = ids.unique(return_inverse=True)
    table = vectors[used] - vectors[used].mean(0)
    # The directions in which the words differ most keep them apart in few numbers.
    directions = torch.linalg.svd(table.double(), full_matrices=False).Vh[:SHORT]
    short = table.double() @ directions.T
    short = torch.nn.functional.normalize(short, dim=-1).float()[of_each]
    padded = torch.cat((torch.zeros(BEHIND - 1, short.shape[1]), short))
    return padded.unfold(0, BEHIND, 1).transpose(1, 2).flatten(1)


def attend(rows: Tensor) -> AttentionTrace:
    """Each place, but the first APART, looks at all places at least APART before it."""
    keys = rows[:-APART]
    return trace(rows[APART:], keys, keys, keep=causal(), scale=1.0)


def repetitions(record: AttentionTrace, count: int) -> list[tuple[int, int, float]]:
    """The highest score of each of the `count` highest blocks: its two places and itself.

    Of blocks that lie side by side along one passage only the highest is kept.
    """
    L = record.shape[2]
    blocks = -(-L // BLOCK)
    overview = record.pooled("masked", (blocks, blocks), "max")
    highest: list[tuple[int, int, float]] = []
    for place in overview.flatten().argsort(descending=True, stable=True).tolist():
        if len(highest) == count:
            break
        row, column = divmod(place, blocks)
        rows, cols = (range(n * L // blocks, (n + 1) * L // blocks) for n in (row, column))
        tile = record.tile("masked", rows, cols)
        i, j = divmod(int(tile.argmax()), len(cols))
        query, key = rows[i] + APART, cols[j]
        if all(min(abs(query - a), abs(key - b)) >= APART for a, b, _ in highest):
            highest.append((query, key, tile[i, j].item()))
    return highest


def main() -> None:
    model = pretrained.minilm()
    model.tokenizer.no_truncation()
    encoded = model.tokenizer.encode(text_of_chapters(), add_special_tokens=False)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else len(encoded.ids)
    ids = torch.tensor(encoded.ids[:most])
    with torch.no_grad():
        record = attend(last_words(ids, model.words.weight))
        L = record.shape[2]
        held = sum(t.nbytes for t in (record.q, record.k, record.output))
        print(f"{len(ids):,} tokens; the record {held:,} bytes, a map {4 * L * L:,}")
        for query, key, score in repetitions(record, 10):
            words = model.tokenizer.decode(ids[query - 2 * BEHIND : query + 1].tolist())
            print(f"{query:7,} says what {key:7,} said, score {score:.4f}: … {words}")


if __name__ == "__main__":
    main()
