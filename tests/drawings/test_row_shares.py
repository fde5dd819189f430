"""What the drawing of a row's shares says: bars of length 1, parts as wide as their shares."""

import re

import pytest

from attn_core.views import drawings

SHARES = {
    "at the entry": {"word": 0.75, "position": 0.25},
    "+ attention": {"word": 0.8, "position": -0.1, "attention": 0.3},
}


def bars(svg):
    """x, y, width and fill of each part."""
    rects = re.findall(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" [^>]*class="(more|less)"', svg)
    return [(*map(float, bar[:3]), bar[3]) for bar in rects]


def test_each_part_is_as_wide_as_its_share():
    parts = bars(drawings.row_shares(SHARES).svg())
    wide = [abs(share) for of in SHARES.values() for share in of.values()]
    assert [bar[2] for bar in parts] == pytest.approx(
        [parts[0][2] * n / 0.75 for n in wide], abs=0.1
    )


def test_parts_stand_side_by_side_and_a_negative_one_left_of_zero():
    word, position, word_then, against, attention = bars(drawings.row_shares(SHARES).svg())
    zero = word[0]
    assert position[0] == pytest.approx(zero + word[2], abs=0.1)
    assert word_then[0] == zero
    assert against[0] + against[2] == pytest.approx(zero, abs=0.1)
    assert attention[0] == pytest.approx(zero + word_then[2], abs=0.1)
    assert [bar[3] for bar in (word, position, word_then, against, attention)] == (
        ["more", "more", "more", "less", "more"]
    )


def test_all_of_it_lies_in_the_picture():
    sheet = drawings.row_shares(SHARES)
    for x, y, wide, _ in bars(sheet.svg()):
        assert 0 <= x <= x + wide <= sheet.width
        assert 0 <= y <= sheet.height


def test_what_is_narrow_has_no_frame_and_no_line():
    thin = {
        "at first": {"word": 0.99, "place": 0.01},
        "then": {"word": 0.991, "place": 0.009},
    }
    svg = drawings.row_shares(thin).svg()
    assert svg.count("<rect") == 1 + 4 + 2  # the paper, the parts, the frames of the two wide ones
    assert svg.count("stroke-dasharray") == 1


def test_the_alt_tells_the_numbers():
    assert "+ attention: word 0.8000, position -0.1000, attention 0.3000" in (
        drawings.row_shares(SHARES).alt
    )
