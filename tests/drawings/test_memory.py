"""The strip of memory: each head is filled with the numbers that torch's view gives it."""

import re

import torch

from attn_core.views import drawings

WORDS = ["Your", "journey", "starts"]
Q = torch.arange(12).view(3, 4)


def last_numbers(drawing, count):
    part = drawing.svg().split('class="step"')[-1]
    return [int(n) for n in re.findall(r">(\d+)</text>", part)][-count:]


def test_heads_hold_what_view_and_transpose_give():
    right = Q.view(1, 3, 2, 2).transpose(1, 2).flatten().tolist()
    assert last_numbers(drawings.memory(Q, 2, WORDS), 12) == right


def test_the_wrong_view_is_drawn_as_it_is():
    wrong = Q.view(1, 2, 3, 2)
    drawing = drawings.memory(Q, 2, WORDS, wrong=True)
    assert last_numbers(drawing, 12) == wrong.flatten().tolist()
    strays = sum(
        n // 4 != t for head in wrong[0].tolist() for t, row in enumerate(head) for n in row
    )
    assert f"{strays} of 12 numbers land in another word's row" in drawing.alt


def test_a_step_is_as_long_as_the_stride():
    for wrong in (False, True):
        split = Q.view(2, 3, 2) if wrong else Q.view(3, 2, 2).transpose(0, 1)
        written = drawings.memory(Q, 2, WORDS, wrong=wrong).svg().split('class="step"')[-1]
        assert set(re.findall(r">(\+\d+)</text>", written)) == {f"+{split.stride(1)}"}


def test_any_numbers_are_drawn():
    assert ">0.5</text>" in drawings.memory(Q / 2, 2, WORDS).svg()
