"""What every drawing has: letters that a phone shows, colours in both lights, an alt text."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import pytest
from PIL import Image

from attn_core import toy, trace
from attn_core.views import drawings
from attn_core.views.drawings import Drawing, Steps
from attn_core.views.drawings.drawing import FILLS, INKS, WIDEST, rules, style_sheet
from attn_core.views.drawings.strip import strip
from attn_core.views.heat import luminance, rgb_of
from attn_core.views.pixels import SHARP, drawn

SVG = "{http://www.w3.org/2000/svg}"
PHONE = 358  # CSS pixels that a phone of 390 has between its margins


def contrast(color: str, other: str) -> float:
    bright, dim = sorted((luminance(rgb_of(color)), luminance(rgb_of(other))), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_ink_reads_well_on_every_fill_and_every_ink_on_paper(mode):
    for name, fill in FILLS.items():
        assert contrast(INKS["ink"][mode], fill[mode]) >= 4.5, name
    for name, ink in INKS.items():
        assert contrast(ink[mode], FILLS["paper"][mode]) >= 4.5, name


@pytest.mark.parametrize("side", ["query", "key", "value"])
@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_a_colour_that_means_something_reads_well_on_its_wash(side, mode):
    assert contrast(INKS[side][mode], FILLS[f"{side}-wash"][mode]) >= 4.5


def test_each_class_has_a_colour_in_both_lights():
    dark = style_sheet().split("prefers-color-scheme:dark", 1)[1]
    for name in (*INKS, *FILLS):
        assert f".drawing .{name}{{" in rules(0)
        assert f".drawing .{name}{{" in dark


@pytest.mark.parametrize("width", [300, WIDEST])
def test_a_phone_shows_its_letters_11_px_high(width):
    assert Drawing(width, 50, "").letters * PHONE / max(width, PHONE) >= 11


def test_words_are_text_and_the_alt_is_told():
    sheet = Drawing(200, 50, "One & two.")
    sheet.text("a < b", 10, 10)
    root = ElementTree.fromstring(sheet.svg())
    assert root.attrib["aria-label"] == "One & two."
    assert root.attrib["role"] == "img"
    assert [text.text for text in root.iter(f"{SVG}text")] == ["a < b"]


def test_cells_show_their_numbers_by_more_or_less_ink():
    sheet = Drawing(200, 50, "")
    sheet.cells([[1.0, -0.5], [0.0, float("-inf")]], 0, 0, 20, places=1)
    rects = list(ElementTree.fromstring(sheet.svg()).iter(f"{SVG}rect"))[1:]
    assert [(r.attrib["class"], r.get("fill-opacity")) for r in rects] == [
        ("more", "1"), ("less", "0.5"), ("masked", "1"),
    ]  # fmt: skip
    words = [text.text for text in ElementTree.fromstring(sheet.svg()).iter(f"{SVG}text")]
    assert words == ["1.0", "−0.5", "0.0", "−∞"]


def test_steps_are_all_there_and_tell_what_they_say():
    pair = [Drawing(200, 40, ""), Drawing(200, 40, "")]
    told = Steps(list(zip(pair, ("First this.", "Then that."), strict=True)), "Two.")
    groups = [
        group for group in ElementTree.fromstring(told.svg()).iter(f"{SVG}g")
        if group.get("class") == "step"
    ]  # fmt: skip
    assert [group.attrib["data-says"] for group in groups] == ["First this.", "Then that."]
    assert float(groups[1].attrib["data-top"]) >= 40
    assert "1: First this. 2: Then that." in told.alt


def test_a_stored_notebook_has_the_drawing_and_its_pixels():
    data, metadata = Steps([(Drawing(200, 40, ""), "a")], "One.")._repr_mimebundle_()
    assert set(data) == {"image/svg+xml", "image/png", "text/plain"}
    pixels = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    size = metadata["image/png"]
    assert pixels.width == SHARP * size["width"]
    assert abs(pixels.height - SHARP * size["height"]) <= SHARP
    assert size["alt"].startswith("One.")


@pytest.mark.parametrize("words", ["ab", "注意", "−→"])
def test_pixels_have_the_signs_of_a_drawing(words):
    """Without its font each would be the same box."""
    made = set()
    for word in words:
        sheet = Drawing(40, 40, "")
        sheet.text(word, 20, 20)
        made.add(drawn(sheet.svg()))
    assert len(made) == 2


def test_in_a_live_notebook_steps_are_led_by_their_script(monkeypatch):
    monkeypatch.setattr("attn_core.views.drawings.scripted.is_live", lambda: True)
    shown = Steps([(Drawing(200, 40, ""), "a")], "One.")._repr_mimebundle_()[0]["text/html"]
    assert "drawing steps" in shown
    assert "addEventListener" in shown


def test_the_strip_has_the_record_s_cells_and_frames_one_row():
    words, x = toy.journey()
    svg = strip(trace(x, x, x, scale=1.0), ["weights"], query=1, tokens=words).svg()
    root = ElementTree.fromstring(svg)
    frames = [r for r in root.iter(f"{SVG}rect") if r.get("class") == "query-line"]
    assert len(frames) == 7
    full = [r for r in root.iter(f"{SVG}rect") if r.get("fill-opacity") == "1"]
    assert len(full) >= 2  # the largest of x, the largest weight
    lit = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "accent"]
    assert lit == ["weights"]


def test_every_drawing_that_is_offered_says_where_it_is_taught():
    for name in drawings.__all__:
        if name not in ("Drawing", "Steps"):
            assert re.search(r"Taught in [^.]*\.", getattr(drawings, name).__doc__), name
