"""A long matrix is drawn on a canvas: pooled from afar, cell by cell from near."""

import re
from copy import deepcopy

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, trace
from attn_core.digits import fixed
from attn_core.views import explore
from tests.explorer.test_numbers import payload

# A map on the page, for the function that is written behind it.
MAP = """async ([payload, settings, ...asked]) => {
  const data = new inside.Data(payload);
  const map = new inside.AttentionMap(data);
  document.body.append(map.element);
  const given = { batch: 0, head: 0, scale: data.scale, mask: "given", ...settings };
  const attention = new inside.Attention(data, given);
  const frames = async (count) => {
    for (let n = 0; n < count; n++) await new Promise(requestAnimationFrame);
  };
  const shades = Array.from({ length: 401 }, (_, n) => inside.heat((n - 200) / 200, inside.HEAT));
  const found = await (ACT)(...asked);
  map.element.remove();
  return found;
}"""


def on_map(inside, act, data, *asked, **settings):
    """What a function answers that has a map of these data, its attention, and a few more."""
    return inside.evaluate(MAP.replace("ACT", act), [data, settings, *asked])


DRAW = """async (stage, how) => {
  const state = { stage, how, select: null, at: null };
  const { end } = map.draw(attention, state, attention);
  while (map.done < data.L) await frames(1);
  const levels = map.levels.map(({ size, context }) => {
    const { width, height } = context.canvas;
    const { data } = context.getImageData(0, 0, width, height);
    return { size, width, height, data: Array.from(data) };
  });
  return { levels, end, shades };
}"""


def long_record(length=100, **how):
    x = torch.randn(length, 4, generator=torch.Generator().manual_seed(2))
    return trace(x, x[:70], x[:70], **how)


def light(shade):
    return [int(c) for c in shade.split("rgb(")[1].split(")")[0].split()]


@pytest.mark.gate
@pytest.mark.parametrize("stage", ["weights", "masked"])
@pytest.mark.parametrize("how", ["max", "mean"])
def test_each_pixel_has_the_colour_of_its_cells(inside, stage, how):
    record = long_record(530, keep=causal())
    picture = on_map(inside, DRAW, payload(record), stage, how)
    cells = record.stage(stage).double()
    assert [level["size"] for level in picture["levels"]] == [1, 2, 4]
    for level in picture["levels"]:
        size, width = level["size"], level["width"]
        assert (level["height"], width) == (-(-530 // size), -(-70 // size))
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
                share = max(-1.0, min(1.0, x / picture["end"])) * 200
                shades = {round(share + d) for d in (-0.01, 0.01)}
                near = [light(picture["shades"][n + 200]) for n in shades if -200 <= n <= 200]
                assert pixel[3] == 255
                assert pixel[:3] in near, (size, r, c)


def test_a_map_by_keyboard(bare):
    record = long_record()
    page = bare.open(explore(record, name="long"))
    canvas = page.locator("canvas.ax-canvas")
    expect(canvas).to_have_attribute(
        "aria-label", re.compile(r"queries in rows \(100\), keys in columns \(70\)")
    )
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
        number = fixed(weights[i, j].double().item())
        said = f"Query {i} gives {number} to key {j}."
        expect(page.locator(".ax-unseen[aria-live=polite]")).to_have_text(said)
        page.keyboard.press("Enter")
        expect(page.locator(".ax-sentence")).to_have_text(said)
        expect(page).to_have_url(re.compile(rf"select={i},{j}"))
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"at=\d+,\d+,35"))
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("at="))


def test_its_tokens_are_written_in_the_pages_font(inside):
    """The book's font for Chinese, not the machine's; and again once that font has been read."""
    act = """async () => {
      map.element.style.fontFamily = "Book, monospace";
      map.draw(attention, { stage: "weights", select: null, at: [0, 0, 8] }, attention);
      await frames(3);
      let drawn = 0;
      const { frame } = map;
      map.frame = () => { drawn++; frame.call(map); };
      document.fonts.dispatchEvent(new Event("loadingdone"));
      await frames(2);
      return [map.context.font, drawn];
    }"""
    assert on_map(inside, act, payload(long_record())) == ["12px Book, monospace", 1]


# What is written on the map when it is drawn once more, and where.
WRITTEN = """() => new Promise((done) => {
  const { fillText } = CanvasRenderingContext2D.prototype;
  const written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text) {
    const { e, f } = this.getTransform();
    written.push([text, Math.round(e), f]);
  };
  document.querySelector("canvas").dispatchEvent(new FocusEvent("focus"));
  requestAnimationFrame(() => requestAnimationFrame(() => {
    CanvasRenderingContext2D.prototype.fillText = fillText;
    done(written);
  }));
})"""


def test_from_afar_as_many_tokens_are_named_as_have_room(bare):
    page = bare.open(explore(long_record(), name="long"), viewport={"width": 700, "height": 900})
    written = page.evaluate(WRITTEN)
    rows = {int(text): y for text, x, y in written if x == 70}
    columns = {int(text): x for text, x, y in written if y == 56}
    for places in (rows, columns):
        first, second, *_ = places
        assert first == 0
        assert second.bit_count() == 1, "each, each second, each fourth"
        assert list(places) == list(range(0, max(places) + 1, second))
        assert 14 <= places[second] - places[first] < 28
    assert max(rows) > 90
    assert max(columns) > 60


CROSS = """async (place) => {
  const shoot = async () => {
    await frames(3);
    const { width, height } = map.canvas;
    return new Uint32Array(map.context.getImageData(0, 0, width, height).data.buffer);
  };
  map.draw(attention, { stage: "weights", select: null, at: [0, 0, 10] }, attention);
  const before = await shoot();
  map.light(place);
  const lit = await shoot();
  map.light(null);
  const after = await shoot();
  const { width } = map.canvas, [h, w] = map.cellSize;
  const changed = Array.from(lit.keys()).filter((n) => lit[n] !== before[n])
    .map((n) => [(Math.floor(n / width) - 62) / h, ((n % width) - 76) / w]);
  return { changed, isCleared: after.every((pixel, n) => pixel === before[n]) };
}"""


def test_a_place_that_is_pointed_at_has_lines_along_its_row_and_its_column(inside):
    cross = on_map(inside, CROSS, payload(long_record()), [3, 5])
    row, column = 0, 0
    for i, j in cross["changed"]:
        row += 2.9 < i < 4.1
        column += 4.9 < j < 6.1
        assert 2.9 < i < 4.1 or 4.9 < j < 6.1
    assert min(row, column) > 100
    assert cross["isCleared"]


def test_the_map_has_the_focus_again_when_the_arithmetic_is_closed(bare):
    page = bare.open(explore(long_record(), name="long", select=(40, 20)))
    page.get_by_role("button", name="close the arithmetic").click()
    expect(page.locator("canvas.ax-canvas")).to_be_focused()
    expect(page.locator(".ax-sentence")).to_have_text("")


def test_it_is_never_blank_when_its_size_changes(inside):
    """A canvas that is resized is empty: it is drawn again before the page is painted."""
    act = """async () => {
      map.draw(attention, { stage: "weights", select: null, at: null }, attention);
      await frames(5);
      const ink = () => {
        const { width, height } = map.canvas;
        return [width, map.context.getImageData(0, 0, width, height).data.some((x) => x > 0)];
      };
      const before = ink();
      const after = new Promise((done) => {
        // Made later than the map's own, it is told later, and still before the paint.
        const look = () => map.canvas.width !== before[0] && done(ink());
        new ResizeObserver(look).observe(map.element);
      });
      map.element.style.width = "400px";
      return [before, await after];
    }"""
    canvases = on_map(inside, act, payload(long_record()))
    assert canvases[0][0] > 400
    assert canvases == [[canvases[0][0], True], [400, True]]


def test_a_click_selects_the_cell_under_the_pointer(bare):
    record = long_record()
    page = bare.open(explore(record, name="around", select=(40, 20)), reduced_motion="reduce")
    canvas = page.locator("canvas.ax-canvas")
    # The map opens at row 37 and column 17, ten columns wide.
    for i, j in ((38, 21), (44, 25)):
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        width = (box["width"] - 76) / 10
        height = (box["height"] - 62) / (100 * 10 / 70)
        page.mouse.click(
            box["x"] + 76 + (j - 17 + 0.5) * width, box["y"] + 62 + (i - 37 + 0.5) * height
        )
        number = fixed(record.stage("weights")[i, j].double().item())
        expect(page.locator(".ax-sentence")).to_have_text(f"Query {i} gives {number} to key {j}.")


@pytest.mark.parametrize("stage", ["weights", "scores"])
def test_colours_end_at_what_half_of_the_rows_reach(inside, stage):
    record = long_record(530)
    reach = record.stage(stage).double()[:: -(-530 // 48)].abs().amax(1).sort().values
    end = on_map(inside, DRAW, payload(record), stage, "max")["end"]
    assert end == pytest.approx(reach[len(reach) // 2].item(), rel=1e-6)
    assert end < record.stage(stage).abs().max()


# A map that has many colours in its middle, and two frames later is the same.
DRAWN = """async () => {
  const map = document.querySelector("canvas.ax-canvas");
  if (!map) return false;
  const picture = map.toDataURL();
  const copy = new OffscreenCanvas(60, 60).getContext("2d", { willReadFrequently: true });
  copy.drawImage(map, -map.width / 2, -map.height / 2);
  const { data } = copy.getImageData(0, 0, 60, 60);
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
  return new Set(new Uint32Array(data.buffer)).size > 20 && map.toDataURL() === picture && picture;
}"""


def test_a_map_from_afar_is_seen_and_follows_the_theme(bare):
    record = long_record(600)
    page = bare.open(explore(trace(record.q, record.q, record.q), name="long"))
    light = page.wait_for_function(DRAWN).json_value()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(f"async (was) => (await ({DRAWN})() || was) !== was", arg=light)


MARKS = """async (other, stage, at) => {
  const changed = new inside.Attention(new inside.Data(other), given);
  const state = { stage, how: "max", select: null, at };
  const differing = (i) =>
    Array.from(attention.row(stage, i), (x, j) => x !== changed.row(stage, i)[j]);
  const shoot = async () => {
    await frames(3);
    const { width, height } = map.canvas;
    return map.context.getImageData(0, 0, width, height).data;
  };
  map.draw(attention, state, attention);
  while (map.done < data.L || !map.plot) await frames(1);
  const before = await shoot();
  const pair = { differing };
  map.mark(pair);
  while (pair.marks.done < data.L) await frames(1);
  const after = await shoot();
  const [h, w] = map.cellSize, [row, col] = map.view;
  const { size } = pair.marks.levels.find(({ size }) => size * Math.min(h, w) >= 6);
  const blocks = [];
  for (let r = 0; r < data.L / size; r++) for (let c = 0; c < map.width / size; c++) {
    const [top, left] = [62 + (r * size - row) * h, 76 + (c * size - col) * w];
    const [bottom, right] = [top + size * h, left + size * w];
    if (top < 62 || left < 76 || bottom > map.canvas.height || right > map.canvas.width) continue;
    let [all, changed] = [0, 0];
    for (let y = Math.ceil(top) + 1; y < bottom - 2; y++) {
      for (let x = Math.ceil(left) + 1; x < right - 2; x++) {
        const at = 4 * (y * map.canvas.width + x);
        all++;
        if ([0, 1, 2].some((n) => before[at + n] !== after[at + n])) changed++;
      }
    }
    blocks.push([r, c, changed / all]);
  }
  map.mark(null);
  const cleared = await shoot();
  return { size, blocks, isCleared: cleared.every((x, n) => x === before[n]) };
}"""


@pytest.mark.parametrize(("length", "at"), [(100, None), (100, [0, 0, 10]), (600, None)])
def test_cells_that_differ_have_a_corner(inside, length, at):
    x = torch.randn(length, 4, generator=torch.Generator().manual_seed(2))
    other = x.clone()
    other[7, 2] += 1
    record, two = trace(x, x, x, scale=0.5), trace(x, other, x, scale=0.5)
    marks = on_map(inside, MARKS, payload(record), payload(two), "scores", at)
    size = marks["size"]
    assert size == (1 if at else {100: 2, 600: 8}[length])
    assert len(marks["blocks"]) > 40
    assert {c for _, c, share in marks["blocks"] if share} == {7 // size}
    assert all((share > 0) is (c == 7 // size) for _, c, share in marks["blocks"])
    assert max(share for _, _, share in marks["blocks"]) < 0.5, "a corner, and not the whole block"
    assert marks["isCleared"]


def test_masked_cells_are_hatched(inside):
    """Nothing else is in view, too small to be written on."""
    act = """async (at) => {
      map.draw(attention, { stage: "masked", how: "max", select: null, at }, attention);
      while (map.done < data.L || !map.plot) await frames(1);
      await frames(3);
      const { data: seen } = map.context.getImageData(120, 120, 100, 100);
      return new Set(new Uint32Array(seen.buffer)).size;
    }"""
    assert on_map(inside, act, payload(long_record(keep=causal())), [30, 40, 30]) > 1


def touch(page, *moves):
    """Fingers that go down at the first places, then to the next ones, and up."""
    session = page.context.new_cdp_session(page)
    for n, places in enumerate(moves):
        points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(places)]
        kind = "touchMove" if n else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
BELOW = "<p>" + "<br>" * 60 + "</p>"


def place_in_address(page):
    """Where the map is, as its address says once it has come to rest."""
    page.clock.run_for(1000)  # of the page's own time: it writes the address after a pause
    return [int(n) for n in page.evaluate("location.hash").rpartition("at=")[2].split(",")]


def test_by_two_fingers(bare):
    """They zoom and move what is in view, and neither the page nor the selection."""
    page = bare.open(explore(long_record(), name="long"), BELOW, **PHONE)
    page.clock.install()
    canvas = page.locator("canvas.ax-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + 200, box["y"] + 160
    scrolled = page.evaluate("scrollY")
    touch(page, *([(x - by, y), (x + by, y)] for by in range(20, 100, 10)))
    before = place_in_address(page)
    assert 10 < before[2] < 50
    # Side by side: they neither part nor come near each other.
    touch(page, *([(x - 30 - by, y - by), (x + 30 - by, y - by)] for by in range(0, 90, 10)))
    after = place_in_address(page)
    assert after[0] > before[0]
    assert after[1] > before[1]
    assert abs(after[2] - before[2]) <= 1
    assert page.evaluate("[scrollY, visualViewport.scale]") == [scrolled, 1]
    expect(page.locator(".ax-sentence")).to_have_text("")


@pytest.mark.parametrize("select", [None, (50, 40)])
def test_one_finger_scrolls_the_page(bare, select):
    """Also over a map that opens near its selected number."""
    page = bare.open(explore(long_record(), name="long", select=select), BELOW, **PHONE)
    box = page.locator("canvas.ax-canvas").bounding_box()
    x, y = box["x"] + 200, box["y"] + 160
    touch(page, *([(x, y - by)] for by in range(0, 120, 10)))
    page.wait_for_function("scrollY > 20")
    assert "at=" not in page.url


def test_a_phone_zooms_by_buttons_too(bare):
    page = bare.open(explore(long_record(), name="long"), **PHONE)
    page.touchscreen.tap(*[page.locator("canvas").bounding_box()[axis] + 200 for axis in "xy"])
    nearer = page.get_by_role("button", name="Nearer")
    nearer.tap()
    nearer.tap()
    expect(page).to_have_url(re.compile(r"at=\d+,\d+,1[78]"))
    page.get_by_role("button", name="Farther").tap()
    expect(page).to_have_url(re.compile(r"at=\d+,\d+,35"))
    desk = bare.open(explore(long_record(), name="long"))
    expect(desk.get_by_role("button", name="Nearer")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 390, 700])
def test_a_map_that_opens_at_a_number_shows_it(bare, width):
    record, size = long_record(), {"width": width, "height": 800}
    view = explore(record, name="long", select=(50, 40))
    page = bare.open(view, viewport=size, reduced_motion="reduce")
    wanted = fixed(record.stage("weights")[50, 40].item())
    assert wanted in [text for text, *_ in page.evaluate(WRITTEN)]


FLIES = """async (isLeftAlone) => {
  document.body.prepend(map.element);
  map.draw(attention, { stage: "weights", select: [50, 40], at: [47, 37, 10] }, attention);
  const seen = [map.view];
  if (isLeftAlone) while (map.flight) {
    await frames(1);
    seen.push(map.view);
  }
  else map.go([5, 5, 20]);
  await frames(3);
  return [...seen, map.view];
}"""


@pytest.fixture
def moving(inside):
    inside.emulate_media(reduced_motion="no-preference")
    yield inside
    inside.emulate_media(reduced_motion="reduce")


def test_a_map_is_seen_whole_and_flies_to_where_it_opens(moving):
    first, *way, last = on_map(moving, FLIES, payload(long_record()), True)
    assert first == [0, 0, 70]
    assert last == [47, 37, 10]
    columns = [count for _, _, count in way]
    assert sorted(columns, reverse=True) == columns
    assert any(10 < count < 70 for count in columns)
    # What stands at the end is never out of view on the way.
    for row, col, count in way:
        below, right = row + count * 100 / 70, col + count
        assert max(row - 47, col - 37) <= 0
        assert min(below - 47 - 1000 / 70, right - 47) > -1e-6


def test_what_the_reader_does_ends_its_flight(moving):
    assert on_map(moving, FLIES, payload(long_record()), False)[-1] == [5, 5, 20]


def test_a_reader_who_wants_no_motion_is_there_at_once(inside):
    first, *_ = on_map(inside, FLIES, payload(long_record()), True)
    assert first == [47, 37, 10]


PREVIEW = """async (how, changed) => {
  const state = { stage: "weights", how, select: null, at: null };
  const shown = new inside.Attention(data, { ...given, ...changed });
  const { end } = map.draw(shown, state, attention);
  const { width, height } = map.preview;
  const pixels = Array.from(map.preview.getContext("2d").getImageData(0, 0, width, height).data);
  return { width, height, pixels, end, isDone: map.done === data.L, shades };
}"""


def preview(inside, data, how="max", **changed):
    return on_map(inside, PREVIEW, data, how, changed, batch=1, head=1)


@pytest.fixture(scope="module")
def long_heads():
    made = torch.Generator().manual_seed(8)
    q, k = (torch.randn(2, 3, size, 4, generator=made) * 2 for size in (600, 550))
    return trace(q, k, torch.randn(2, 3, 550, 2, generator=made), keep=causal())


@pytest.fixture(scope="module")
def payload_of_long_heads(long_heads):
    return payload(long_heads)


@pytest.mark.parametrize("how", ["max", "mean"])
def test_an_overview_stands_there_before_any_cell_is_derived(
    inside, long_heads, payload_of_long_heads, how
):
    data = payload_of_long_heads
    rows, columns = data["overview"][how]["shape"][2:]
    seen = preview(inside, data, how)
    assert not seen["isDone"]
    assert (seen["height"], seen["width"]) == (rows, columns)
    blocks = long_heads.pooled("weights", (rows, columns), how, batch=1, head=1)
    step = blocks.max().item() / 255 / 2  # half a step of a byte
    for n, x in enumerate(blocks.flatten().tolist()):
        shades = {round(min(1, max(0, (x + d) / seen["end"])) * 200) for d in (-step, 0, step)}
        near = range(min(shades), max(shades) + 1)
        pixel = seen["pixels"][4 * n : 4 * n + 3]
        assert pixel in [light(seen["shades"][200 + shade]) for shade in near], n


def test_an_overview_is_not_shown_for_changed_settings(inside, payload_of_long_heads):
    for changed in ({"scale": 0.1}, {"mask": "none"}, {"drawn": [[0, 0]]}):
        seen = preview(inside, payload_of_long_heads, **changed)
        assert (seen["height"], seen["width"]) == (47, 128), changed  # one query in 13


def test_an_overview_that_does_not_fit_is_said(inside, payload_of_long_heads):
    data = deepcopy(payload_of_long_heads)
    data["overview"]["max"]["shape"][2] += 1
    with pytest.raises(Exception, match="its overview must fit q and k"):
        preview(inside, data)


TILES = """async (changed, reply) => {
  const sent = [], heard = [];
  const model = {
    on: (name, act) => name === "msg:custom" && heard.push(act),
    send: (message) => {
      sent.push(message);
      const shape = message.pool;
      const bytes = new Uint8Array(4 * shape[0] * shape[1] + 1);
      const view = new DataView(bytes.buffer, 1);
      for (let n = 0; n < shape[0] * shape[1]; n++) view.setFloat32(4 * n, n ? 1 : 0, true);
      const answer = { kind: "tile", id: message.id, shape, error: null, ...reply };
      setTimeout(() => heard.forEach((act) => act(answer, [view])));
    },
  };
  map.live(new inside.Tiles(model));
  const shown = new inside.Attention(data, { ...given, ...changed });
  map.draw(shown, { stage: "weights", how: "mean", select: null, at: null }, attention);
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const until = async (test) => { while (!test()) await wait(20); };
  await until(() => map.tile || map.done > 0 && !map.isLive);
  map.go([100, 200, 500]);
  await until(() => sent.length > 1 || !map.isLive);
  await until(() => map.tile?.rows[0] === 100 || !map.isLive);
  const tile = map.tile && { rows: map.tile.rows, cols: map.tile.cols,
    first: Array.from(map.tile.image.getContext("2d").getImageData(0, 0, 2, 1).data) };
  return { sent, tile, isLive: map.isLive, done: map.done, plot: map.plot };
}"""


@pytest.fixture(scope="module")
def very_long():
    x = torch.randn(1100, 2, generator=torch.Generator().manual_seed(3))
    return payload(trace(x, x, x))


def test_in_a_live_notebook_python_is_asked_for_tiles(inside, very_long):
    long_map = on_map(inside, TILES, very_long, {}, {})
    first, second = long_map["sent"][0], long_map["sent"][-1]
    assert first["rows"] == first["cols"] == [0, 1100]
    wanted = {"kind": "tile", "stage": "weights", "batch": 0, "head": 0, "how": "mean"}
    assert wanted.items() <= second.items()
    assert (second["rows"], second["cols"]) == ([100, 600], [200, 700])
    assert second["pool"] == [min(500, round(size)) for size in long_map["plot"]]
    assert second["id"] > first["id"]
    assert long_map["tile"]["rows"] == [100, 600]
    assert long_map["tile"]["first"] == [255, 255, 255, 255, 59, 31, 107, 255]
    assert long_map["isLive"]


@pytest.mark.parametrize(
    ("changed", "reply"), [({"scale": 2.0}, {}), ({}, {"error": "the record was changed"})]
)
def test_the_page_derives_what_python_does_not_give(inside, very_long, changed, reply):
    long_map = on_map(inside, TILES, very_long, changed, reply)
    assert len(long_map["sent"]) == len(reply)
    assert long_map["tile"] is None
    assert not long_map["isLive"]
    assert long_map["done"] > 0


def test_a_place_that_is_none_is_said(bare):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
    page = bare.open(explore(trace(x, x, x), name="long"))
    for at in ("1e9,0", "0,0,0.5", "99,0,10"):
        bare.show(page, f"#x-long?at={at}")
        said = f"at must be a row, a column and a count of columns, got {at}"
        expect(page.locator(".ax-notice").first).to_contain_text(said)
