"""What a model reads and writes in the first state of its drawing, computed in Python."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attn_core.checks import brief
from attn_core.steps import Pass, Steps, run

BETWEEN = re.compile(r"[\s,.!?;:，。！？；：、]+")  # what may stand between two words


def written(steps: Steps, payload: dict) -> tuple[list[int], Tensor]:
    """The ids of the translation, the likeliest each, and the probability of each."""
    marks, words, view = payload["marks"], payload["words"], payload["view"]
    start, end = (words["target"].index(marks[name]) for name in ("start", "end"))
    source, target, chances = word_ids(view["say"], payload), [start], []
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
    given = {"source": word_ids(view["say"], payload), "target": [start, *ids[:-1]]}
    labels = {side: [words[side][n] for n in ids] for side, ids in given.items()}
    return run(steps, source=given["source"], target=given["target"]), labels


def side_of(steps: Steps, name: str) -> str:
    """The words that give a step its rows."""
    while steps[name].inputs:
        name = steps[name].inputs[0]
    return name


def word_ids(say: str, program: Mapping[str, Any]) -> list[int]:
    """The ids of a sentence's words, read as the page's field reads them (core/model/sentence.js).

    Signs between words count for nothing, nor do large letters where no other word is meant; the
    marks are no words. program: has "words", "marks" and "longest".
    """
    if not isinstance(say, str):
        raise TypeError(f"say must be a string, got {brief(say)}")
    words = [word for word in BETWEEN.split(unicodedata.normalize("NFC", say)) if word]
    if not words:
        raise ValueError("say must be a sentence of one word or more, got none")
    if len(words) > program["longest"]:
        raise ValueError(f"say must have at most {program['longest']} words, got {len(words)}")
    vocabulary, marks = list(program["words"]["source"]), program["marks"].values()
    known = [word for word in vocabulary if word not in marks]
    return [vocabulary.index(word_meant(word, known)) for word in words]


def word_meant(word: str, known: list[str]) -> str:
    alike = [other for other in known if other.lower() == word.lower()]
    if word in known:
        return word
    if len(alike) != 1:
        raise ValueError(
            f"say must be of the {len(known)} words that the model knows, got {word!r}"
        )
    return alike[0]
