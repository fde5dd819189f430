"""A model to play with as the tests of the page ask for it, and what Python says of the same."""

from functools import cache

import torch

from attn_core.digits import fixed
from attn_core.steps import Changes, run
from attn_core.translators import transformer
from attn_core.translators.grammar import CHINESE, END, ENGLISH, START, ids
from attn_core.translators.switched import switched
from attn_core.views.model import open_model

WORDS = {"source": ENGLISH, "target": CHINESE}
SAY = "Tom chases Jerry"
NOTHING = Changes()
CROSS = "decoder.1.cross_attention"


@cache
def stored():
    return transformer.stored()


def opened(say=SAY, **how):
    """The translator of chapter 09 on a page."""
    how = {"name": "translator", "switched": counted()} | how
    return open_model(stored(), WORDS, say, **how)


@cache
def counted():
    return switched("transformer")


@cache
def steps():
    return opened().steps


def translated(say, changes=NOTHING, *, taken=None, temperature=1.0, most=64):
    """The words of a translation, the likeliest each but for those taken, and their shares."""
    source, target, shares = ids(say.split(), ENGLISH), [CHINESE.index(START)], []
    while CHINESE[target[-1]] != END and len(shares) < most:
        done = run(steps(), changes, source=source, target=target)
        scores = done.value("words_out")[0, -1].double() / temperature
        place = len(target) - 1
        word = (taken or {}).get(place, int(scores.argmax()))
        target.append(word)
        shares.append(torch.softmax(scores, 0)[word].item())
    return [CHINESE[n] for n in target[1:]], shares


def passed(say, words, changes=NOTHING):
    """The pass that has read a sentence, and these words of a translation after the start mark."""
    target = ids([START, *words], CHINESE)
    return run(steps(), changes, source=ids(say.split(), ENGLISH), target=target)


def percent(share):
    """As the page writes a probability, with blanks at which no line ends."""
    if share < 0.0005:
        return "<\u00a00.1\u00a0%"
    if 0.9995 < share < 1:
        return ">\u00a099.9\u00a0%"
    return f"{fixed(100 * share, 1 if share < 0.0995 or share > 0.9005 else 0)}\u00a0%"
