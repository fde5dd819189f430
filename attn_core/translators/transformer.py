"""Chapter 09's translator: a whole Transformer for short sentences of chapter 01's grammar."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import check_words
from attn_core.masks import padding
from attn_core.record import AttentionTrace
from attn_core.steps import Changes, Steps, recording, run
from attn_core.transformer import Transformer
from attn_core.translators import training
from attn_core.translators.grammar import CHINESE, END, ENGLISH, START, Batch, ids

WIDTH, HEADS, HIDDEN, LAYERS = 32, 4, 64, 2
LONGEST = 13
MOST = 60  # words of a translation, as Transformer.generate has it
STEPS = 400
WEIGHTS = "transformer"  # the name of their file


class Translation(NamedTuple):
    """The words, the end mark last, and at each of them the probabilities of all CHINESE words."""

    words: list[str]
    probabilities: Float[Tensor, "T words"]


def untrained() -> Transformer:
    """The model before its training, in float64: two layers each, four heads, 32 numbers a word."""
    torch.manual_seed(0)
    sized = partial(Transformer, width=WIDTH, num_heads=HEADS, hidden=HIDDEN, num_layers=LAYERS)
    return sized(len(ENGLISH), len(CHINESE), longest=64).double()


def translate(
    model: Transformer, english: Sequence[str], changes: Changes | None = None
) -> Translation:
    """Writes the likeliest next word until the end mark.

    >>> words, probabilities = translate(stored(), ["Tom", "chases", "Jerry"])
    >>> words
    ['汤姆', '追逐', '杰瑞', '<end>']
    >>> off = Changes(heads_off=[("decoder.1.cross_attention", 3)])
    >>> translate(stored(), ["Jerry", "chases", "Tom"], off).words
    ['泰克', '追逐', '汤姆', '<end>']

    changes: what is switched off during the translation. With or without changes, the translation
    stops after 60 words at the latest. ValueError for a sentence without words, or with one that is
    not in ENGLISH. Taught in chapters 09 and 10.
    """
    check_words("english", english)
    source, start, end = ids(english, ENGLISH), CHINESE.index(START), CHINESE.index(END)
    if changes is None:
        written = model.generate(source[None], start=start, end=end)
        return Translation([CHINESE[word] for word in written.ids], written.probabilities)
    steps, target = recorded(model, english, [END]), [start]
    rows: list[Tensor] = []
    while len(rows) < MOST and (not rows or target[-1] != end):
        rows.append(run(steps, changes, source=source, target=target).value("probabilities")[0, -1])
        target.append(int(rows[-1].argmax()))
    return Translation([CHINESE[word] for word in target[1:]], torch.stack(rows))


def alignment(
    model: Transformer, english: Sequence[str], chinese: Sequence[str]
) -> list[AttentionTrace]:
    """The cross-attention of each layer: a row for each Chinese word, at the moment it is chosen.

    >>> len(alignment(stored(), ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞", "<end>"]))
    2

    ValueError if either has no words, or one that is not known. Taught in chapter 09.
    """
    steps = recorded(model, english, chinese)
    return [steps.record(f"decoder.{n}.cross_attention") for n in range(len(model.decoder))]


@torch.no_grad()
def recorded(model: Transformer, english: Sequence[str], chinese: Sequence[str]) -> Steps:
    """The steps of the pass that chooses each Chinese word, down to the probabilities of the words.

    >>> steps = recorded(stored(), ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞", "<end>"])
    >>> steps["encoder.0.attention.w_query"]
    encoder.0.attention.w_query = linear(source_places) [1, 3, 32]

    ValueError if either has no words, or one that is not known. Taught in chapter 10.
    """
    check_words("english", english)
    check_words("chinese", chinese)
    before = ids([START, *chinese[:-1]], CHINESE)
    with recording(model, {"source": ENGLISH, "target": CHINESE}) as steps:
        model(ids(english, ENGLISH)[None], before[None])
    return steps.with_softmax()


def train(*, report: Callable[[int, float], None] | None = None) -> Transformer:
    """Trains on 6,400 sentence pairs of up to 13 words: less than a minute on one core."""
    model = untrained()

    def scores(learned: Batch) -> Tensor:
        keep = padding(learned.lengths)
        return model(learned.source, learned.target[:, :-1], source_keep=keep)

    betas = 0.9, 0.98
    return training.train(
        model, scores, longest=LONGEST, steps=STEPS, max_lr=0.008, betas=betas, report=report
    )


def stored() -> Transformer:
    """The trained model that comes with the book, in float64.

    >>> stored().training
    False

    `make train` trains it again and stores it. Taught in chapter 09.
    """
    return training.loaded(untrained(), WEIGHTS)
