"""What a model reads and writes in the first state of its drawing, computed in Python."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.steps import Pass, Steps, run


def written(steps: Steps, payload: dict) -> tuple[list[int], Tensor]:
    """The ids of the translation, the likeliest each, and the probability of each."""
    marks, words, view = payload["marks"], payload["words"], payload["view"]
    start, end = (words["target"].index(marks[name]) for name in ("start", "end"))
    source, target, chances = word_ids(view["say"], words["source"]), [start], []
    last = list(steps)[-1]
    while len(target) <= payload["longest"] and (len(target) == 1 or target[-1] != end):
        row = run(steps, source=source, target=target).value(last)[0, -1]
        target.append(int(row.argmax()))
        chances.append(row.max())
    return target[1:], torch.stack(chances)


def read_and_written(steps: Steps, payload: dict) -> tuple[Pass, dict[str, list[str]]]:
    """The pass that chose each word of the translation, and the words of both sides."""
    view, words = payload["view"], payload["words"]
    ids, _ = written(steps, payload)
    start = words["target"].index(payload["marks"]["start"])
    given = {"source": word_ids(view["say"], words["source"]), "target": [start, *ids[:-1]]}
    labels = {side: [words[side][n] for n in ids] for side, ids in given.items()}
    return run(steps, source=given["source"], target=given["target"]), labels


def side_of(steps: Steps, name: str) -> str:
    """The words that give a step its rows."""
    while steps[name].inputs:
        name = steps[name].inputs[0]
    return name


def word_ids(say: str, vocabulary: Sequence[str]) -> list[int]:
    """The place of each word of a sentence in the vocabulary."""
    words = say.split()
    if not words:
        raise ValueError("say must be a sentence of one word or more, got none")
    known = list(vocabulary)
    for word in words:
        if word not in known:
            raise ValueError(
                f"say must be of the {len(known)} words that the model knows, got {word!r}"
            )
    return [known.index(word) for word in words]
