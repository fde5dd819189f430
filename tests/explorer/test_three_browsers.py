"""The explorer in Chromium, Firefox and WebKit: the same numbers, by the same keys and clicks."""

import io

import pytest
import torch
from PIL import Image

from attn_core import causal, toy, trace, workings
from attn_core.checks import STAGES
from attn_core.learning import Training
from attn_core.views import explore, open_training, show
from attn_core.views.labels import selection_text
from tests.engines import SCRIPTS_OFF
from tests.explorer.cases import ROTATED, projected_record, random_record
from tests.explorer.conftest import write_three
from tests.explorer.test_numbers import DERIVE, TREE, compare_all, payload, reader_settings
from tests.explorer.test_page import wanted_numbers

pytestmark = pytest.mark.slow

CELLS = """(css) => Array.from(document.querySelectorAll(`${css} tbody tr`),
  (row) => Array.from(row.cells, (cell) => cell.textContent).slice(1))"""
WEIGHT = ("layers.1.attention.w_key.weight", 3, 5)
FOCUS = "() => document.activeElement.closest('attention-explorer')?.getAttribute('name')"


@pytest.fixture
def opened(tab, bare_folder, address):
    """opened(view, …) is the tab with a bare page that has these explorers, all of them started."""
    folder = bare_folder[0]

    def opened(*views, fragment="", over="http", started=True):
        body = "\n".join(view if isinstance(view, str) else view.html for view in views)
        page = write_three(folder, "three.html", body, over)
        tab.open("about:blank")  # or else another fragment would be the same page
        tab.open((page.as_uri() if over == "file" else f"{address}/three.html") + fragment)
        if started:
            tab.wait(f"() => document.querySelectorAll('.ax-root').length === {len(views)}")
        return tab

    return opened


def words(**how):
    return trace(*[toy.journey().x] * 3, **how)


def grid(tab, css=".ax-grid"):
    return tab.evaluate(CELLS, css)


def cell(i, j):
    return f'.ax-cell[data-row="{i}"][data-col="{j}"]'


def tree(tab):
    return "\n".join(tab.texts(".ax-tree summary, .ax-tree .ax-leaf"))


def lines(text):
    return "\n".join(line.strip() for line in str(text).splitlines())


def test_every_number_is_attn_cores(tab, address):
    tab.open(f"{address}/opened.html")
    tab.wait("() => window.inside")
    for seed in range(120):
        record = random_record(seed)
        compare_all(tab.evaluate(DERIVE, [payload(record), {}]), record, seed)
    for seed in range(50):
        record, settings, wanted = reader_settings(seed)
        compare_all(tab.evaluate(DERIVE, [payload(record), settings]), wanted, seed)
    for seed, stage in enumerate(STAGES):
        record = random_record(1000 + seed)
        text = tab.evaluate(TREE, [payload(record), stage, 0, 0, 0, 0])
        assert text == str(workings(record, stage, 0, 0, batch=0, head=0))
    for rotary in ROTATED:
        record = projected_record(1, rotary=rotary)
        text = tab.evaluate(TREE, [payload(record), "scores", 3, 2, 1, 1])
        assert text == str(workings(record, "scores", 3, 2, batch=1, head=1))


@pytest.mark.parametrize("over", ["http", "file"])
def test_a_matrix_stage_by_stage(opened, over):
    record = projected_record(1)
    tab = opened(explore(record, name="numbers"), over=over)
    for stage in STAGES:
        tab.click(f'.ax-stage:has([value="{stage}"])')
        assert grid(tab) == wanted_numbers(record, stage), stage
    assert len(tab.texts(".ax-legend")) == 1


def test_a_printed_tensor(opened):
    record = words()
    tab = opened(show(record, "weights", name="printed"))
    assert tab.text(".ax-print") == str(record.stage("weights"))
    tab.click(cell(1, 3))
    tab.until_there(".ax-tree summary")
    tab.evaluate(
        "() => document.querySelectorAll('.ax-tree details').forEach((d) => (d.open = true))"
    )
    assert tree(tab).startswith(str(workings(record, "weights", 1, 3)).splitlines()[0])
    tab.click(cell(2, 2))
    tab.press("ArrowRight")
    tab.press("Enter")
    tab.until_text(".ax-tree", "weights[2, 3]")


def test_a_long_matrix(opened):
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(2))
    record = trace(x, x, x, keep=causal())
    tab = opened(explore(record, name="long", select=(20, 10)), fragment="#x-long?table=1")
    tab.until_there(".ax-twin")
    assert grid(tab, ".ax-twin") == [row[:32] for row in wanted_numbers(record, "weights")[4:36]]
    ink = """() => { const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size; }"""
    tab.wait(f"() => ({ink})() > 20")
    before = tab.evaluate("() => location.hash")
    tab.click("canvas")
    tab.wait("(before) => location.hash !== before", before)
    place = tab.wait("() => /select=(\\d+),(\\d+)/.exec(location.hash)")
    i, j = int(place[1]), int(place[2])
    names = [str(n) for n in range(60)]
    assert tab.text(".ax-sentence") == selection_text(record, "weights", [i, j], names, names, 0, 0)
    tab.press("ArrowLeft")
    said = selection_text(record, "weights", [i, j - 1], names, names, 0, 0)
    tab.until_text(".ax-map .ax-unseen", said)
    # A canvas that changes its height must not do so while its size is being observed.
    for width in (700, 1000, 1280):
        tab.resize(width, 800)
        tab.wait("""() => new Promise((done) => requestAnimationFrame(() =>
          requestAnimationFrame(() => done(true))))""")


def test_all_heads(opened):
    record = projected_record(2)
    tab = opened(explore(record, name="heads"), fragment="#x-heads?all=1")
    tab.click(".ax-small:nth-of-type(2)")
    assert grid(tab) == wanted_numbers(record, "weights", 0, 1)
    tab.press("ArrowLeft")
    assert grid(tab) == wanted_numbers(record, "weights", 0, 0)
    tab = opened(explore(record, name="heads"), fragment="#x-heads?all=1&sort=first")
    tab.until_there(".ax-small b")
    means = record.stage("weights")[0, :, :, 0].double().mean(1)
    assert tab.texts(".ax-small b") == [f"{x:.2f}" for x in sorted(means.tolist(), reverse=True)]


def test_heads_of_layers_are_a_grid(opened):
    names = [f"layer {n // 4}, head {n % 4}" for n in range(8)]
    x = torch.linspace(-2, 2, 8 * 5 * 3).sin().view(1, 8, 5, 3)
    tab = opened(explore(trace(x, x, x), head_names=names, show=("heads",), name="layers"))
    tab.until_there(".ax-layer .ax-small")
    sizes = """(css) => [...document.querySelectorAll(css)].map((e) => e.getBoundingClientRect())
      .map(({ left, top, width }) => [left, top, width].map(Math.round))"""
    left, top, width = zip(*tab.evaluate(sizes, ".ax-small"), strict=True)
    assert left[:4] == left[4:]
    assert top == (top[0],) * 4 + (top[4],) * 4
    assert max(width) - min(width) <= 1
    tab.click(".ax-small[aria-label='layer 0, head 1']")
    for key, name in (("ArrowDown", names[5]), ("Home", names[4]), ("End", names[7])):
        tab.press(key)
        said = "() => document.activeElement.getAttribute('aria-label')"
        assert tab.evaluate(said) == name
    assert tab.texts(".ax-opened-name") == [names[7]]


def test_lines_between_two_columns_of_tokens(opened):
    record = words()
    view = explore(record, tokens=toy.journey().tokens, name="lines")
    tab = opened(view, fragment="#x-lines?lines=1")
    tab.until_there(".ax-lines-token")
    assert tab.texts(".ax-lines-token bdi") == [*toy.journey().tokens] * 2
    cut = """() => [...document.querySelectorAll(".ax-lines-token bdi")]
      .filter((token) => token.scrollWidth > token.clientWidth + 1).length"""
    assert tab.evaluate(cut) == 0
    tab.click(".ax-columns [role=group] .ax-lines-token:nth-child(2)")
    weights = record.stage("weights")[1].double()
    tab.until_text(".ax-tree", f"weights[1, {weights.argmax()}]")
    tab.press("ArrowRight")
    share = record.stage("weights")[:, 1].double()
    assert tab.texts(".ax-lines-token.ax-q span") == [f"{x:.2f}" for x in share.tolist()]
    assert len(tab.evaluate("() => [...document.querySelectorAll('.ax-between line')]")) > 6


def test_numbers_are_changed_as_people_write_them_and_stay_in_the_address(opened):
    view = explore(words(), tokens=toy.journey().tokens, name="lab")
    tab = opened(view, fragment="#x-lab?all=1")
    tab.click(".ax-inputs > summary")
    x = toy.journey().x.clone()
    for (i, d), text, value in (((2, 1), "1/3", 1 / 3), ((0, 2), "−2", -2.0)):
        tab.click(f'.ax-inputs [data-edit="x.0.{i}.{d}"]')
        tab.evaluate("() => document.activeElement.select()")
        tab.type(text)
        tab.press("Enter")
        x[i, d] = value
        tab.wait("(text) => location.hash.includes(text)", f"x.0.{i}.{d}")
    assert grid(tab) == wanted_numbers(trace(x, x, x), "weights")
    tab.reload()
    tab.until_there(".ax-grid")
    assert grid(tab) == wanted_numbers(trace(x, x, x), "weights")


def test_two_explorers_keep_their_states(opened):
    views = explore(words(), name="one"), explore(words(), name="two")
    tab = opened(*views)
    for name, stage in (("one", "scores"), ("two", "scaled")):
        tab.click(f'[name="{name}"] .ax-stage:has([value="{stage}"])')
        tab.wait("(text) => location.hash.includes(text)", f"x-{name}?stage={stage}")
    tab.reload()
    tab.wait("() => document.querySelectorAll('.ax-root').length === 2")
    for name, stage in (("one", "scores"), ("two", "scaled")):
        assert grid(tab, f'[name="{name}"] .ax-grid') == wanted_numbers(words(), stage)


def test_by_keyboard(opened):
    """From figure to figure, into a matrix, to a number, to its arithmetic, and back."""
    views = explore(words(), name="one"), explore(words(), name="two")
    tab = opened(*views)
    tab.press("Tab")
    assert tab.text(":focus") == "Next figure"
    tab.press("Enter")
    assert (tab.text(":focus"), tab.evaluate(FOCUS)) == ("First figure", "two")
    stops = []
    while not (stops and stops[-1].startswith("TD")):
        tab.press("Tab")
        stops.append(
            tab.evaluate("() => document.activeElement.tagName + document.activeElement.className")
        )
        assert len(stops) < 20, stops
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        tab.press(key)
    tab.until_text('[name="two"] .ax-tree', "weights[1, 1]")
    tab.press("Escape")
    tab.wait("() => !document.querySelector('[name=two] .ax-tree').textContent")
    assert tab.evaluate("() => document.activeElement.dataset.col") == "1"
    tab.press("Shift+Tab")
    assert tab.evaluate(FOCUS) == "two"


def test_without_scripts(tab, opened, address):
    opened(explore(words(), name="plain"), started=False)
    tab.open(f"{address}/three.html{SCRIPTS_OFF}")
    assert tab.evaluate("() => document.querySelectorAll('.ax-root, .ax-skip').length") == 0
    rows = tab.evaluate(CELLS, "attention-explorer > table")
    assert rows[1:] == [[f"{x:.4f}" for x in row] for row in words().stage("weights").tolist()]


def test_on_paper(opened):
    below = '<p style="height: 9000px"></p>'
    far = explore(words(), name="far")
    tab = opened(explore(words(), name="near"), below + far.html, started=False)
    tab.wait("() => document.querySelectorAll('.ax-root').length === 1")
    tab.on_paper()
    assert tab.evaluate("() => document.querySelectorAll('.ax-root').length") == 2
    assert grid(tab, "[name=far] .ax-grid") == wanted_numbers(words(), "weights")
    shown = "(css) => document.querySelector(css).getClientRects().length"
    assert tab.evaluate(shown, ".ax-controls") == 0
    assert tab.evaluate(shown, ".ax-grid") == 1


def test_lines_between_cells_at_a_pixel_ratio_of_one(opened):
    x = torch.ones(4, 2)
    tab = opened(explore(trace(x, x, x), name="even"))
    if tab.evaluate("() => devicePixelRatio") != 1:
        pytest.skip("a screen with a pixel ratio of 1 is missing")
    tab.evaluate("() => document.activeElement.blur()")
    left, top, right, bottom = tab.evaluate(
        """() => { const box = document.querySelector('[data-row="1"][data-col="1"]')
          .getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; }"""
    )
    image = Image.open(io.BytesIO(tab.picture())).convert("RGB")
    row, column = round(top) + 5, round(left) + 5
    across = {image.getpixel((x, row)) for x in range(round(left) + 2, round(right) + 3)}
    down = {image.getpixel((column, y)) for y in range(round(top) + 2, round(bottom) + 3)}
    for line in (across, down):
        assert (255, 255, 255) in line, "paper between two cells"
        assert len(line) >= 2


def test_in_the_dark(engine, bare_folder, address, opened):
    opened(explore(words(), name="dark"))
    with engine(dark=True) as tab:
        tab.open(f"{address}/three.html")
        tab.until_there(".ax-root")
        ground = "() => getComputedStyle(document.querySelector('.ax-root')).backgroundColor"
        assert tab.evaluate(ground) == "rgb(27, 27, 34)"
        assert grid(tab) == wanted_numbers(words(), "weights")


@pytest.fixture(scope="module")
def trained():
    """What Python's 600 steps made of one weight: from it before the last step to it after."""
    training = Training()
    training.run(600)
    update = training.update(WEIGHT[0])
    parts = (
        update.before, update.gradient, update.moments.m, update.moments.v,
        update.m_hat, update.v_hat, update.ratio, update.decayed, update.moved, update.after,
    )  # fmt: skip
    return training.history[-1], [part[WEIGHT[1:]].item() for part in parts]


def test_a_training_of_600_steps(opened, trained):
    """It runs past them, goes back to them, and opens a weight."""
    done, wanted = trained
    tab = opened(open_training(), started=False)
    standing = "(step) => document.querySelector('.at-root:not(.at-runs)')?.dataset.step === step"
    tab.wait(standing, "0")
    tab.click(".at-run")
    tab.wait("() => document.querySelector('.at-slider').value > 600")
    tab.click(".at-run")
    tab.wait("() => !document.querySelector('.at-runs')")
    tab.evaluate("""() => {
      const slider = document.querySelector(".at-slider");
      slider.value = 600;
      for (const name of ["input", "change"]) slider.dispatchEvent(new Event(name));
    }""")
    tab.wait(standing, "600")
    assert f"on repeats {done.repeats:.2f}" in tab.text(".at-said")
    tab.evaluate(
        """([matrix, ...place]) => {
          document.querySelectorAll(".at-matrix")[matrix].click();
          document.querySelectorAll(".at-place").forEach((field, n) => {
            field.value = place[n];
            for (const name of ["input", "change"]) field.dispatchEvent(new Event(name));
          });
        }""",
        [[name for name, _ in Training().model.named_parameters()].index(WEIGHT[0]), *WEIGHT[1:]],
    )
    tab.until_text(".at-weight", f"{WEIGHT[0]}[{WEIGHT[1]}, {WEIGHT[2]}]")
    numbers = """() => [...document.querySelectorAll(".at-opened [data-number]")]
      .map((line) => Number(line.dataset.number))"""
    tab.wait(f"() => ({numbers})().length > 10")
    assert tab.evaluate(numbers)[1:] == pytest.approx(wanted, abs=1e-9)
