"""What the drawing of softmax says: bars as long as their numbers, shares that fill the whole."""

import re
from itertools import pairwise

import pytest
import torch

from attn_core import toy
from attn_core.views import drawings

WORDS, X = toy.journey()
SCORES = X @ X[1]


def bars(svg):
    """x, y and width of each bar."""
    rects = re.findall(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="\S+" [^>]*fill_?', svg)
    return [tuple(map(float, bar)) for bar in rects]


def groups(drawing):
    """The bars of the scores, of the stairs, of the whole."""
    rects = bars(drawing.svg())
    low = max(y for _, y, _ in rects)
    whole = [bar for bar in rects if bar[1] == low]
    rest = [bar for bar in rects if bar[1] != low]
    return rest[: len(whole)], rest[len(whole) :], whole


def test_bars_are_as_long_as_their_numbers():
    scores, stairs, whole = groups(drawings.softmax_shares(SCORES, WORDS))
    weights = torch.softmax(SCORES, dim=0).tolist()
    long = [bar[2] for bar in scores]
    assert long == pytest.approx((SCORES / SCORES[1] * long[1]).tolist(), abs=0.2)
    assert [bar[2] for bar in whole] == pytest.approx([496 * w for w in weights], abs=0.1)
    assert [bar[::2] for bar in stairs] == [bar[::2] for bar in whole]


def test_the_whole_has_no_gap():
    _, _, whole = groups(drawings.softmax_shares(SCORES, WORDS))
    for (x, _, long), (after, _, _) in pairwise(whole):
        assert x + long == pytest.approx(after, abs=0.2)


def test_the_numbers_are_those_of_the_chapter():
    drawing = drawings.softmax_shares(SCORES, WORDS)
    assert "“journey” 1.4950" in drawing.alt
    assert "“Your” 0.5824" in drawing.alt
    assert "their sum is 4.2036" in drawing.alt
    assert "“step” 0.1581" in drawing.alt


def test_the_numbers_are_those_of_the_warmup():
    alt = drawings.warmup_softmax().alt
    assert "0.1353, 0.3679, 1.0000, 2.7183, 7.3891" in alt
    assert "0.0117, 0.0317, 0.0861, 0.2341, 0.6364" in alt
