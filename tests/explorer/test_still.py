"""The still of an explorer: the state that the text speaks about, as one picture with its words."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from attn_core import causal, toy, trace, workings
from attn_core.digits import fixed
from attn_core.views import explore, figure
from attn_core.views.heat import MORE, hex_of, legend_ends, long_ends
from attn_core.views.picture import SHARP

pytestmark = pytest.mark.gate


def pixels(picture):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.png()))).convert("RGB"))


@pytest.fixture(scope="module")
def heads():
    x = torch.randn(1, 4, 9, 3, generator=torch.Generator().manual_seed(2))
    return trace(x, x, x, keep=causal())


@pytest.fixture(scope="module")
def long():
    """200 equal keys but for one: query 150 gives most to key 20."""
    k, q = torch.zeros(200, 2), torch.zeros(200, 2)
    k[20, 0], q[150, 0] = 4.0, 4.0
    return trace(q, k, k)


def test_a_selected_number_is_told_with_its_workings(journey):
    record, tokens = journey
    for stage in ("scores", "weights", "output"):
        picture = explore(record, tokens=tokens, stage=stage, select=(1, 0)).picture
        line = workings(record, stage, 1, 0).text
        said = picture.get_supxlabel()
        assert line in " ".join(said.split("\n")[1:])
        number = fixed(record.tile(stage, slice(1, 2), slice(0, 1)).item())
        assert number in said.split("\n")[0]
        side = "column 0 of the values" if stage == "output" else "Your"
        assert side in said.split("\n")[0]
        assert picture.axes[0].get_title(loc="left") == stage
        unquoted = picture.alt.translate({ord(mark): None for mark in "“”"})
        assert unquoted.endswith(f" {said.split(chr(10))[0]}")


def test_numbers_are_written_with_the_places_of_the_page(journey):
    record, tokens = journey
    for places in (2, 4):
        texts = explore(record, tokens=tokens, places=places).picture.axes[0].texts
        assert texts[0].get_text() == f"{record.stage('weights')[0, 0].item():.{places}f}"


def test_several_heads_stand_above_the_chosen_one(heads):
    view = explore(heads, head=2, head_names=["a", "b", "c", "d"])
    sheet, large = view.picture.parts
    assert [axes.get_title() for axes in sheet.axes] == ["a", "b", "c", "d"]
    widths = [axes.spines["left"].get_linewidth() for axes in sheet.axes]
    assert widths.index(max(widths)) == 2
    assert large.axes[0].get_title(loc="left") == "weights, c"
    assert view.picture.alt == f"{sheet.alt} {large.alt}"
    tall = pixels(view.picture).shape[0]
    assert tall == pixels(sheet).shape[0] + pixels(large).shape[0]


def test_heads_that_are_not_shown_yet_are_not_in_the_still(heads):
    picture = explore(heads, head=2, hide=["head"]).picture
    assert not hasattr(picture, "parts")


def test_a_long_map_shows_the_cells_around_the_selected_one(long):
    view = explore(long, select=(150, 20))
    whole, near = view.picture.parts
    assert whole.get_supxlabel() == ""
    rows = [label.get_text() for label in near.axes[0].get_yticklabels()]
    columns = [label.get_text() for label in near.axes[0].get_xticklabels()]
    assert rows == [str(i) for i in range(147, 157)]
    assert columns == [str(j) for j in range(17, 27)]
    weight = fixed(long.tile("weights", slice(150, 151), slice(20, 21)).item())
    assert weight in near.get_supxlabel()
    assert near.axes[0].texts[3 * 10 + 3].get_text() == weight


def test_the_cells_around_a_corner_lie_inside_the_map(long):
    near = explore(long, select=(199, 0)).picture.parts[-1]
    assert near.axes[0].get_yticklabels()[-1].get_text() == "199"
    assert near.axes[0].get_xticklabels()[0].get_text() == "0"


def test_the_colours_of_a_long_map_end_at_what_half_of_its_rows_reach():
    cells = [[0.1, 0.2], [0.3, 0.1], [0.9, -5.0]]
    assert long_ends(cells) == (-0.3, 0.3, 0.3)
    assert legend_ends(cells) == (-5.0, 0.9, 5.0)
    x = torch.randn(700, 4, generator=torch.Generator().manual_seed(9))
    picture = explore(trace(x, x, x, keep=causal())).picture
    shown = pixels(picture).reshape(-1, 3)
    deepest = tuple(int(MORE[2][n : n + 2], 16) for n in (1, 3, 5))
    assert (shown == deepest).all(1).mean() > 0.005
    assert hex_of(tuple(c / 255 for c in deepest)) == MORE[2]


def test_a_notebook_stores_the_still_with_its_words():
    words = toy.journey()
    view = explore(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
    data, metadata = view._repr_mimebundle_()
    assert data["image/png"] == view.picture.png()
    assert metadata["image/png"]["alt"] == view.picture.alt
    pixels = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).size
    shown = metadata["image/png"]["width"], metadata["image/png"]["height"]
    assert shown == tuple(n // 2 for n in pixels)


def test_a_picture_has_few_colours_and_looks_the_same(journey):
    """At the size at which it is shown a colour is off by less than a third of one of 255 steps in
    the mean, and by many only at a few edges."""
    record, tokens = journey
    picture = figure(record, tokens=tokens, select=(1, 0))
    stored = Image.open(io.BytesIO(base64.b64decode(picture.png())))
    assert stored.mode == "P"
    drawn, kept = (
        np.asarray(image.convert("RGB").reduce(SHARP), float) for image in (picture.image(), stored)
    )
    off = np.abs(drawn - kept).max(-1)
    assert 0 < off.mean() < 0.3
    assert (off > 16).mean() < 0.001
    large = io.BytesIO()
    picture.image().save(large, "png", optimize=True)
    assert 2 * len(base64.b64decode(picture.png())) < len(large.getvalue())
