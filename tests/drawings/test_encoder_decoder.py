"""Encoder and decoder as drawings: what they say and show are the given states and weights."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core.translators import recurrent
from attn_core.translators.grammar import ENGLISH, ids
from attn_core.views import drawings

WORDS, CHINESE = ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"]
STATES = torch.tensor([[4.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
WEIGHTS = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]])


def texts(drawing: drawings.Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", drawing.svg())


def opacities(drawing: drawings.Drawing) -> list[float]:
    return [float(n) for n in re.findall(r'fill-opacity="([\d.]+)"', drawing.svg())]


def test_the_last_state_is_drawn_a_second_time_as_c():
    shown = texts(drawings.encoder_decoder(STATES, WORDS, CHINESE))
    assert shown.count("5") == 2
    assert shown.count("4") == 1


def test_a_trained_state_is_drawn_with_all_its_numbers():
    model = recurrent.stored(attends=False)
    states = model.read(ids(WORDS, ENGLISH)[None], [3])[0][0].detach()
    end = states.abs().max()
    last = [round(float(n), 3) for n in states[-1].abs() / end if n.abs() / end >= 0.005]
    # Drawn row by row: the last of all cells are those of c.
    assert opacities(drawings.encoder_decoder(states, WORDS, CHINESE))[-len(last) :] == last


def test_a_context_is_the_mixture_of_all_states_with_its_weights():
    drawing = drawings.contexts(STATES, WEIGHTS, WORDS, CHINESE)
    for i, (a, b) in enumerate((WEIGHTS @ STATES).tolist()):
        assert f"c{'₁₂₃'[i]} = ({a:.1f}, {b:.1f})" in drawing.alt
    last = drawing.svg().split('class="step"')[-1]
    assert [n in last for n in (">0.9<", ">0.1<", ">0.8<")] == [True, True, False]


def test_a_line_is_as_wide_as_its_weight():
    first = drawings.contexts(STATES, WEIGHTS, WORDS, CHINESE).svg().split('class="step"')[2]
    lines = re.findall(r'<path[^>]*stroke-width="([\d.]+)"[^>]*stroke-opacity', first)
    wide, *thin = map(float, lines)
    assert thin == pytest.approx([wide / 8] * 2, rel=1e-3)
