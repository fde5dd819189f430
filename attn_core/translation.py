"""Chapter 09's translator: a whole Transformer for short sentences of chapter 01's grammar."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from attn_core.checks import check_words
from attn_core.grammar import CHINESE, END, ENGLISH, PAD, START, batch, ids, sentence
from attn_core.masks import padding
from attn_core.record import AttentionTrace
from attn_core.transformer import Transformer

WIDTH, HEADS, HIDDEN, LAYERS = 32, 4, 64, 2
PAIRS = 6400
BATCH = 64
LONGEST = 13
STEPS = 400
TRAINING, TESTING = 1, 2  # the seeds of the sentences to learn from and of those to test on
WEIGHTS = Path(__file__).with_name("weights") / "transformer.npz"


class Translation(NamedTuple):
    """The words, the end mark last, and at each of them the probabilities of all CHINESE words."""

    words: list[str]
    probabilities: Float[Tensor, "T words"]


def untrained() -> Transformer:
    """The model before its training, in float64: two layers each, four heads, 32 numbers a word."""
    torch.manual_seed(0)
    sized = partial(Transformer, width=WIDTH, num_heads=HEADS, hidden=HIDDEN, num_layers=LAYERS)
    return sized(len(ENGLISH), len(CHINESE), longest=64).double()


def translate(model: Transformer, english: Sequence[str]) -> Translation:
    """Writes the likeliest next word until the end mark.

    >>> words, probabilities = translate(stored(), ["Tom", "chases", "Jerry"])
    >>> words
    ['汤姆', '追逐', '杰瑞', '<end>']

    ValueError for a sentence without words, or with one that is not in ENGLISH. Taught in
    chapter 09.
    """
    check_words("english", english)
    written = model.generate(
        ids(english, ENGLISH)[None], start=CHINESE.index(START), end=CHINESE.index(END)
    )
    return Translation([CHINESE[word] for word in written.ids], written.probabilities)


def alignment(
    model: Transformer, english: Sequence[str], chinese: Sequence[str]
) -> list[AttentionTrace]:
    """The cross-attention of each layer: a row for each Chinese word, at the moment it is chosen.

    >>> len(alignment(stored(), ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞", "<end>"]))
    2

    ValueError if either has no words, or one that is not known. Taught in chapter 09.
    """
    check_words("english", english)
    check_words("chinese", chinese)
    before = ids([START, *chinese[:-1]], CHINESE)
    return model.cross_traces(ids(english, ENGLISH)[None], before[None])


def train(*, report: Callable[[int, float], None] | None = None) -> Transformer:
    """Trains on 6,400 sentence pairs of up to 13 words: less than a minute on one core.

    In float64, so that no number of threads changes it. Another processor rounds otherwise, and
    gets other weights, which translate as these do.
    """
    model = untrained()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.008, total_steps=STEPS)
    pairs = [sentence(TRAINING, number, LONGEST) for number in range(PAIRS)]
    for step in range(STEPS):
        start = step * BATCH % PAIRS
        source, lengths, target = batch(pairs[start : start + BATCH])
        scores = model(source, target[:, :-1], source_keep=padding(lengths))
        loss = nn.functional.cross_entropy(
            scores.flatten(0, 1), target[:, 1:].flatten(), ignore_index=CHINESE.index(PAD)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if report:
            report(step, loss.item())
    return model.eval()


def stored() -> Transformer:
    """The trained model that comes with the book, in float64.

    >>> stored().training
    False

    `make train` trains it again and stores it. Taught in chapter 09.
    """
    model = untrained()
    with np.load(WEIGHTS) as arrays, torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(arrays[name]))
    return model.eval()


def store(model: Transformer) -> None:
    """Its numbers in float32, as `stored` reads them."""
    numbers = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    # NumPy's stub takes any name for that of its own option.
    np.savez_compressed(WEIGHTS, **numbers)  # type: ignore[arg-type]
