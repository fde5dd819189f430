"""What counts as the same output, rule by rule."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from publishing.notebooks.outputs import (
    differences,
    html_differs,
    json_differs,
    picture_differs,
    text_differs,
)


def array(numbers, dtype="float32"):
    data = np.asarray(numbers, dtype)
    return {
        "dtype": dtype,
        "shape": list(data.shape),
        "data": base64.b64encode(data.tobytes()).decode(),
    }


def page(numbers, scale=0.5, text="0.9544"):
    payload = json.dumps({"version": 1, "q": array(numbers), "scale": scale})
    return f'<x><script type="application/json">{payload}</script><td>{text}</td></x>'


def png(change=()):
    image = Image.new("RGB", (40, 30), "white")
    for x, y, level in change:
        image.putpixel((x, y), (level, level, level))
    file = io.BytesIO()
    image.save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


def test_text_is_compared_exactly():
    assert text_differs("a 0.9544", "a 0.9544") is None
    assert "0.9545" in text_differs("a 0.9544", "a 0.9545")
    assert "now 2" in text_differs("a", "a\n0.9544")


def test_payload_arrays_are_compared_as_numbers():
    stored = page([0.1, 0.2])
    ulp = np.nextafter(np.float32(0.2), np.float32(1))
    assert html_differs(stored, page([0.1, ulp])) is None
    assert "number 1" in html_differs(stored, page([0.1, 0.2001]))
    assert "scale" in html_differs(stored, page([0.1, 0.2], scale=0.25))
    assert "0.9545" in html_differs(stored, page([0.1, 0.2], text="0.9545"))
    assert html_differs(stored, page([[0.1, 0.2]]))


@pytest.mark.parametrize(
    ("dtype", "was", "now", "is_same"),
    [
        # Units of the last place of the largest number around.
        ("float32", [1.0, 1e-3], [1.0, 1e-3 + 1.8e-6], True),
        ("float32", [1.0, 1e-3], [1.0, 1e-3 + 2e-6], False),
        ("float64", [1.0, 1e-3], [1.0, 1e-3 + 5e-12], True),
        ("float64", [1.0, 1e-3], [1.0, 1e-3 + 2e-9], False),
        ("float16", [1.0, 0.5], [1.0, 0.5 + 2**-10], True),
        ("float32", [float("nan"), 2.0], [float("nan"), 2.0], True),
        ("float32", [float("-inf"), 2.0], [float("-inf"), 2.0], True),
        ("float32", [float("-inf"), 2.0], [-3e38, 2.0], False),
        ("uint8", [200, 7], [200, 8], False),
    ],
)
def test_how_far_arrays_may_be_apart(dtype, was, now, is_same):
    assert (json_differs(array(was, dtype), array(now, dtype)) is None) == is_same


def test_pictures_are_compared_by_pixels():
    few = [(x, 3, 0) for x in range(4)]
    assert picture_differs(png(), png(few)) is None
    assert picture_differs(png(), png([(x, y, 240) for x in range(40) for y in range(30)])) is None
    assert "5 pixels" in picture_differs(png(), png([*few, (9, 9, 0)]))
    inside = '<img src="data:image/png;base64,{}">'.format
    assert html_differs(inside(png()), inside(png([(x, 5, 0) for x in range(30)])))


def test_what_a_cell_gives_is_compared_in_order():
    stream = {"output_type": "stream", "name": "stdout", "text": "1"}
    shown = {"output_type": "display_data", "data": {"text/plain": "2"}, "metadata": {}}
    assert not list(differences([stream, shown], [stream, shown]))
    assert list(differences([stream, shown], [shown, stream]))
    assert list(differences([stream, shown], [stream]))
    assert list(differences([stream], [{**stream, "name": "stderr"}]))
    live = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "2"}
    assert not list(differences([shown], [{**shown, "data": live}]))
