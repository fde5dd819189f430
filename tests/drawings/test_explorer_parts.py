"""The parts of an explorer: its numbers are the record's, and the page names each part."""

from __future__ import annotations

import re

import torch

from attn_core import toy
from attn_core.views import drawings
from attn_core.views.drawings.explorer_parts import PARTS
from publishing import ROOT

X = toy.journey().x
WEIGHTS = torch.softmax(X @ X.T, dim=-1)


def test_its_numbers_are_the_weights():
    svg = drawings.explorer_parts().svg()
    cells = [float(n) for n in re.findall(r">(0\.\d{4})<", svg)]
    torch.testing.assert_close(torch.tensor(cells), WEIGHTS.flatten(), rtol=0, atol=5.1e-5)


def test_its_arithmetic_gives_the_chosen_weight():
    svg = drawings.explorer_parts().svg()
    score, most, total, chosen = re.search(
        r"= exp\(([\d.]+) − ([\d.]+)\)<.*?>/ ([\d.]+)<.*?>= ([\d.]+)<", svg, re.DOTALL
    ).groups()
    share = torch.exp(torch.tensor(float(score) - float(most))) / float(total)
    assert f"{share:.4f}" == chosen == f"{WEIGHTS[1, 0]:.4f}"
    assert f"is chosen, {chosen}." in drawings.explorer_parts().alt


def test_each_mark_has_its_line_on_the_page():
    marks = re.findall(r">(\d)</text>", drawings.explorer_parts().svg())
    assert sorted(marks) == [str(n) for n in range(1, len(PARTS) + 1)]
    page = (ROOT / "book" / "how_to_use.md").read_text(encoding="utf-8")
    named = re.findall(r"^\d\. \*\*(.*?)\*\*", page, re.MULTILINE)
    assert [name.lower() for name in named] == list(PARTS)
