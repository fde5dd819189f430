"""Masks over words: the cells that are drawn are those of the mask."""

import re

import torch

from attn_core import causal, padding, window
from attn_core.masks import Keep
from attn_core.views import drawings

WORDS = ["one", "step", "pad", "pad"]


def counted(drawing, name):
    return len(re.findall(rf'<rect [^>]*class="{name}"', drawing.svg()))


def test_each_mask_has_its_kept_and_its_hidden_cells():
    for keep in (causal(), padding([2]), window(1), causal() & padding([2])):
        kept = int(keep.dense(4, 4).sum())
        drawing = drawings.masks({"one": keep}, WORDS)
        assert (counted(drawing, "more"), counted(drawing, "masked")) == (kept, 16 - kept)
        assert f"“one” keeps {kept} cells" in drawing.alt


def test_the_sentence_asked_for_is_drawn():
    keep = padding([4, 2])
    assert counted(drawings.masks({"a": keep}, WORDS), "more") == 16
    assert counted(drawings.masks({"a": keep}, WORDS, batch=1), "more") == 8


def test_framed_rows_are_compared():
    both = causal() & padding([2])
    same = drawings.masks({"causal": causal(), "both": both}, WORDS, framed=[0, 1])
    assert "“one” and “step”, the masks “causal” and “both” keep the same cells" in same.alt
    other = drawings.masks({"causal": causal(), "both": both}, WORDS, framed=[2, 3])
    assert "“pad”, no two masks keep the same cells" in other.alt


def test_dead_rows_are_told():
    is_word = torch.tensor([False, False, True, True])
    left = causal().dense(4, 4)[0, 0] & is_word
    drawing = drawings.masks({"causal": causal(), "both": left}, WORDS, framed=[0, 1])
    assert drawing.alt.endswith("There, “both” keeps nothing.")


def test_a_word_sees_its_past_and_guesses_what_follows():
    drawing = drawings.next_words(causal(), ["Your", "journey", "starts"])
    written = re.findall(r">([^<>]+)</text>", drawing.svg())
    lines = "Your journey | Your journey starts | Your journey starts ?"
    assert written[2:] == lines.replace("| ", "").split()
    says = "“Your” and “journey”, and guesses “starts”. The answer is in none of the lines."
    assert says in drawing.alt


def test_without_a_mask_the_answer_is_framed():
    drawing = drawings.next_words(Keep(), ["Your", "journey", "starts"])
    assert counted(drawing, "accent-line") == 2
    assert drawing.alt.endswith("The answer is in 2 of the lines.")
