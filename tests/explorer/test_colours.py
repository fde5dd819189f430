"""The colours for eyes that see fewer of them, and on paper without any."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from attn_core.views.heat import LESS, MORE
from tests.explorer.conftest import VIEWS

# What is left of linear RGB: Machado, Oliveira and Fernandes 2009, table 1, severity 1.
EYES = {
    "all cones": "1 0 0 / 0 1 0 / 0 0 1",
    "protanopia": "0.152286 1.052583 -0.204868 / 0.114503 0.786281 0.099216 / "
    "-0.003882 -0.048116 1.051998",
    "deuteranopia": "0.367322 0.860646 -0.227968 / 0.280085 0.672501 0.047413 / "
    "-0.011820 0.042940 0.968881",
    "tritanopia": "1.255528 -0.076749 -0.178779 / -0.078411 0.930809 0.147602 / "
    "0.004733 0.691367 0.303900",
}
TO_XYZ = "0.412456 0.357576 0.180438 / 0.212673 0.715152 0.072175 / 0.019334 0.119192 0.950304"
SIDES = ("more", "less")


def matrix(rows):
    return np.array([row.split() for row in rows.split("/")], float)


def linear(rgb):
    """The light of colours with channels from 0 to 255."""
    share = np.asarray(rgb, float) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb, eye):
    """CIE Lab of colours with channels from 0 to 255, as this eye sees them."""
    to_xyz = matrix(TO_XYZ)
    xyz = (linear(rgb) @ matrix(EYES[eye]).T).clip(0, 1) @ to_xyz.T / to_xyz.sum(1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


@pytest.fixture(scope="module")
def ramps(inside):
    """For light and dark and for each side, the colours from nothing to all in 20 steps."""
    return inside.evaluate(
        """() => Object.fromEntries(Object.entries({ ...inside.HEAT,
          "light cells": inside.CELLS.light, "dark cells": inside.CELLS.dark,
        }).map(([mode, sides]) => [mode,
          Object.fromEntries(Object.entries(sides).map(([side, stops]) => [side,
            Array.from({ length: 21 }, (_, n) => inside.mix(stops, n / 20))]))]))"""
    )


MODES = ["light", "dark", "light cells", "dark cells"]


def test_python_draws_with_the_same_stops(inside):
    """Pictures and the table without scripts, as the maps; cells with numbers are paler."""
    light = inside.evaluate("inside.HEAT.light")
    assert (tuple(light["more"]), tuple(light["less"])) == (MORE, LESS)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_more_is_always_darker_or_always_lighter(ramps, mode, eye):
    """So it is in a print without colours, too."""
    for side in SIDES:
        lightness = lab(ramps[mode][side], eye)[:, 0]
        steps = [b - a for a, b in pairwise(lightness)]
        assert all(step < 0 if "light" in mode else step > 0 for step in steps), side
        assert abs(lightness[-1] - lightness[0]) > (30 if "cells" in mode else 50)


def light(rgb):
    """WCAG's relative luminance, and what it adds for the light of a room."""
    return linear(rgb) @ [0.2126, 0.7152, 0.0722] + 0.05


def pair_of(css):
    """The colours of a style's light-dark(…) with channels from 0 to 255."""
    text = (VIEWS / "explorer.css").read_text(encoding="utf-8")
    hexes = text.partition(f"{css}: light-dark(")[2].partition(")")[0].split(", ")
    return [[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in hexes]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_one_ink_can_be_read_on_all_of_the_heat(inside, mode):
    backs = inside.evaluate("Array.from({ length: 401 }, (_, n) => inside.heat((n - 200) / 200))")
    ink = light(pair_of("--ax-on-heat")[mode])
    for back in backs:
        paper = light([int(c) for c in back.split("rgb(")[mode + 1].split(")")[0].split()])
        assert max(paper, ink) / min(paper, ink) >= 4.5, back


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_number_on_a_cell_can_be_read(inside, ramps, mode, side):
    """At least 4.5 to 1, in soft black where that is enough."""
    inks = inside.evaluate("(colours) => colours.map(inside.inkOn)", ramps[mode][side])
    for paper, ink in zip(ramps[mode][side], inks, strict=True):
        least, most = sorted([light(paper), light([int(ink[n : n + 2], 16) for n in (1, 3, 5)])])
        assert most / least >= 4.5
        soft = light([27, 27, 34])
        assert (ink == "#1b1b22") == (light(paper) / soft >= 4.5)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_a_number_and_its_negative_differ(ramps, mode, eye):
    more, less = (lab(ramps[mode][side], eye) for side in SIDES)
    assert np.linalg.norm(more - less, axis=1)[5:].min() > 12


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", [0, 1])
def test_query_key_and_value_differ(eye, mode):
    names = ("query", "key", "value")
    colours = {name: lab(pair_of(f"--ax-{name}")[mode], eye) for name in names}
    for first, other in combinations(colours, 2):
        assert np.linalg.norm(colours[first] - colours[other]) > 10, (first, other)
