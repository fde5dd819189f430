"""A long matrix is drawn on a canvas: pooled from afar, cell by cell from near."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, trace
from attn_core.digits import fixed
from attn_core.views import explore
from tests.explorer.test_numbers import payload

DRAW = """async ([payload, stage, how]) => {
  const data = new inside.Data(payload);
  const map = new inside.AttentionMap(data);
  document.body.append(map.element);
  const settings = { batch: 0, head: 0, scale: data.scale, mask: "given" };
  const attention = new inside.Attention(data, settings);
  const state = { stage, how, select: null, at: null };
  const { end } = map.draw(attention, state, attention);
  while (map.done < data.L) await new Promise(requestAnimationFrame);
  const levels = map.levels.map(({ size, context }) => {
    const { width, height } = context.canvas;
    const { data } = context.getImageData(0, 0, width, height);
    return { size, width, height, data: Array.from(data) };
  });
  map.element.remove();
  const shades = Array.from({ length: 401 }, (_, n) => inside.heat((n - 200) / 200)[0]);
  return { levels, end, shades };
}"""


def long_record(**how):
    x = torch.randn(100, 4, generator=torch.Generator().manual_seed(2))
    return trace(x, x[:70], x[:70], **how)


def light(shade):
    return [int(c) for c in shade.split("rgb(")[1].split(")")[0].split()]


@pytest.mark.parametrize("stage", ["weights", "masked"])
@pytest.mark.parametrize("how", ["max", "mean"])
def test_each_pixel_has_the_colour_of_its_cells(inside, stage, how):
    record = long_record(keep=causal())
    found = inside.evaluate(DRAW, [payload(record), stage, how])
    cells = record.stage(stage).double()
    assert [level["size"] for level in found["levels"]] == [1, 2, 4, 8, 16, 32, 64]
    for level in found["levels"]:
        size, width = level["size"], level["width"]
        assert (level["height"], width) == (-(-100 // size), -(-70 // size))
        for r in range(level["height"]):
            for c in range(width):
                at = 4 * (r * width + c)
                pixel = level["data"][at : at + 4]
                block = cells[r * size : (r + 1) * size, c * size : (c + 1) * size]
                kept = block[block.isfinite()]
                if not len(kept):
                    assert pixel[3] == 0, "masked cells are left clear for the hatching"
                    continue
                x = (kept.max() if how == "max" else kept.mean()).item()
                share = max(-1.0, min(1.0, x / found["end"])) * 200
                shades = {round(share + d) for d in (-0.01, 0.01)}
                near = [light(found["shades"][n + 200]) for n in shades if -200 <= n <= 200]
                assert pixel[3] == 255
                assert pixel[:3] in near, (size, r, c)


def test_a_map_by_keyboard(bare):
    record = long_record()
    page = bare.open(explore(record, name="long"))
    canvas = page.locator("canvas.ax-canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile("100 queries in rows, 70 keys"))
    assert page.locator(".ax-grid").count() == 0
    canvas.focus()
    weights = record.stage("weights")
    for keys, (i, j) in (
        (["ArrowDown", "ArrowRight", "ArrowRight"], (1, 2)),
        (["End"], (1, 69)),
        (["Control+ArrowDown", "Home"], (99, 0)),
    ):
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        number = fixed(weights[i, j].double().item())
        expect(page.locator(".ax-sentence")).to_have_text(f"Query {i} gives {number} to key {j}.")
        expect(page).to_have_url(re.compile(rf"select={i},{j}"))
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"at=\d+,\d+,35"))
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("at="))


def test_a_click_selects_the_cell_under_the_pointer(bare):
    record = long_record()
    page = bare.open(explore(record, name="around", select=(40, 20)))
    canvas = page.locator("canvas.ax-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    # The map opens at row 37 and column 17, ten columns wide.
    width = (box["width"] - 76) / 10
    height = (box["height"] - 62) / (100 * 10 / 70)
    for i, j in ((38, 21), (44, 25)):
        page.mouse.click(
            box["x"] + 76 + (j - 17 + 0.5) * width, box["y"] + 62 + (i - 37 + 0.5) * height
        )
        number = fixed(record.stage("weights")[i, j].double().item())
        expect(page.locator(".ax-sentence")).to_have_text(f"Query {i} gives {number} to key {j}.")
