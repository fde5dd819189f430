"""Count what the trained translators write with one thing after the other switched off.

    python -m benchmarks.switched    # writes attn_core/measured/switched.json

Over the 300 sentences by which chapters 01 and 09 test them: how many come out otherwise than with
everything on, in other words, in another order or without an end, and the shortest of them. The
page's own core translates; tests/test_page_model.py holds it to attn_core's numbers.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path

from attn_core.steps import Steps, recording
from attn_core.steps.changes import switches_of
from attn_core.translators import recurrent, training, transformer
from attn_core.translators.grammar import CHINESE, END, ENGLISH, PAD, START, ids, sentence
from attn_core.translators.switched import MEASURED, NAMES
from attn_core.views.model_payload import model_payload
from machine import node

SCRIPT = "attn_core/views/page/test/switched.js"
MARKS = {"start": START, "end": END, "pad": PAD}
SENTENCES, LONGEST, MOST = 300, 13, 60  # words that a sentence has, and that are written at most


def recorded() -> dict[str, Steps]:
    """The steps of each trained translator, by its name."""
    source, target = ids(["Tom", "chases", "Jerry"], ENGLISH)[None], ids([START], CHINESE)[None]
    by_name = {}
    for name in NAMES:
        words = {"source": ENGLISH, "target": CHINESE}
        if name == "transformer":
            model, given = transformer.stored(), (source, target)
        else:
            model, given = recurrent.stored(attends=name == "attends"), (source, [3], target)
        with recording(model, words) as steps:
            model(*given)
        by_name[name] = steps.with_softmax()
    return by_name


def switches(steps: Steps) -> list[str]:
    """All that can be switched off, as an address has it."""
    return [
        f"{kind}:{step.name}" if head is None else f"{kind}:{step.name}.{head}"
        for step in steps.values()
        for kind, head in switches_of(step)
    ]


def written(steps: Steps, sources: list[list[int]], texts: list[str]) -> list[list[list[int]]]:
    """For each switch the translation of each sentence, as ids."""
    asked = {"program": model_payload(steps, MARKS), "sources": sources, "switches": texts}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("asked.json", "written.json")]
        files[0].write_text(json.dumps(asked | {"most": MOST}), encoding="utf-8")
        node.run("node", SCRIPT, *map(str, files)).check_returncode()
        return json.loads(files[1].read_text(encoding="utf-8"))


def counted(right: list[list[int]], changed: list[list[int]], sentences: list[list[str]]) -> dict:
    """How many translations differ and how, and the shortest sentence of which one does.

    >>> counted([[3, 4, 2], [5, 2]], [[4, 3, 2], [5, 2]], [["Tom", "sees"], ["Jerry"]])
    {'words': 0, 'order': 1, 'endless': 0, 'example': 'Tom sees'}
    """
    end = CHINESE.index(END)
    pairs = [(a, b, c) for a, b, c in zip(right, changed, sentences, strict=True) if a != b]
    endless = sum(b[-1] != end for _, b, _ in pairs)
    order = sum(b[-1] == end and Counter(a) == Counter(b) for a, b, _ in pairs)
    shortest = min((words for *_, words in pairs), key=len, default=[])
    return {
        "words": len(pairs) - order - endless,
        "order": order,
        "endless": endless,
        "example": " ".join(shortest),
    }


def measured() -> dict:
    sentences = [sentence(training.TESTING, n, LONGEST).english for n in range(SENTENCES)]
    sources = [ids(words, ENGLISH).tolist() for words in sentences]
    by_name = {}
    for name, steps in recorded().items():
        texts = switches(steps)
        right, *others = written(steps, sources, ["", *texts])
        counts = {
            text: counted(right, translations, sentences)
            for text, translations in zip(texts, others, strict=True)
        }
        by_name[name] = {"sentences": SENTENCES, "counts": counts}
    return by_name


def main() -> None:
    text = json.dumps(measured(), ensure_ascii=False, indent=1) + "\n"
    MEASURED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
