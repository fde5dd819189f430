"""A model that learns on a page, in a real browser: the same numbers as attn_core.learning."""

import re
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attn_core.learning import AttentionOnly, RepeatedSegments, Training
from attn_core.masks import Keep
from attn_core.views import explore, open_training, script
from tests.conftest import _Quiet
from tests.engines import served
from tests.explorer.cases import words
from tests.explorer.conftest import heard_page

SHEETS = ("explorer.css", "machine.css", "training.css")
WIDE, NARROW = {"width": 1000, "height": 900}, {"width": 360, "height": 740}
WEIGHT = ("layers.1.attention.w_key.weight", 3, 5)
ENGLISH = r"\b(?:the|of|and|step|loss|layer|weight|gradient|run|mask|letter|row)\b"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A site: the page's scripts and sheets, and a page in each language."""
    folder = tmp_path_factory.mktemp("training")
    for name, text in script.files().items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in SHEETS:
        text = (script.BUILT.parent / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    links = "".join(f'<link rel="stylesheet" href="{name}">' for name in SHEETS)
    one = open_training(Training(texts=1))
    for name, lang, shown in (
        ("en", "en", open_training()), ("zh", "zh-CN", open_training()), ("one", "en", one),
    ):  # fmt: skip
        (folder / f"{name}.html").write_text(
            f'<!doctype html><html lang="{lang}" data-theme="light"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>A page</title>{links}<script defer src="explorer.js"></script></head>'
            f"<body><main><h1>A page</h1>{shown.html}</main></body></html>",
            encoding="utf-8",
        )
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with served(folder, _Quiet) as address:
        yield address


@pytest.fixture(scope="module")
def shared(browser, address):
    """One page for the tests that only step and look: to begin a training takes its time."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    page = context.new_page()
    heard = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{address}/en.html")
    yield ready(page)
    context.close()
    assert heard == []


@pytest.fixture
def page(shared):
    """The page at step 0, with its first settings."""
    shared.locator(".at-root > .ax-foot .ax-reset").first.click()
    pause(shared)
    back = shared.get_by_role("button", name="back to the start")
    if back.is_enabled():
        back.click()
    at(shared, 0)
    return shared


@pytest.fixture
def visit(browser, address):
    """visit(name, …) opens a page of its own."""
    contexts, heard = [], []

    def visit(name="en", fragment="", **how):
        context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **how})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(f"{address}/{name}.html{fragment}")
        return ready(page)

    yield visit
    for context in contexts:
        context.close()
    assert heard == []


def ready(page):
    expect(page.locator(".at-shown")).to_be_visible()
    return page


def at(page, step):
    """Waits until it stands still at a step, and shows its numbers."""
    expect(page.locator(".at-root:not(.at-runs)")).to_have_attribute("data-step", str(step))
    return page


def step(page, times=1):
    start = int(page.locator(".at-slider").input_value())
    for n in range(times):
        page.get_by_role("button", name="step once").click()
        at(page, start + n + 1)
    return page


def pause(page):
    button = page.locator(".at-run")
    if button.text_content() == "pause":
        button.click()
    expect(button).to_have_text("run")
    expect(page.locator(".at-runs")).to_have_count(0)
    return page


def run_past(page, step):
    """Runs until it is beyond a step, and gives the step at which it stands then."""
    page.locator(".at-run").click()
    page.wait_for_function("step => document.querySelector('.at-slider').value > step", arg=step)
    return int(pause(page).locator(".at-slider").input_value())


def said(page):
    return page.locator(".at-said").text_content()


def says(page, text):
    expect(page.locator(".at-said")).to_have_text(text)


def numbers(lines):
    return [float(text) for text in lines.evaluate_all("all => all.map(e => e.dataset.number)")]


def losses(done):
    return (
        f"Step {done.number}: loss {done.loss:.2f}; on first-time letters {done.first:.2f}, "
        f"on repeats {done.repeats:.2f}."
    )


def put(page, row, column, matrix=WEIGHT[0]):
    """Opens a weight."""
    pressed = page.locator(".at-matrix[aria-pressed='true']")
    if not pressed.count():
        n = [name for name, _ in AttentionOnly(8, 12).named_parameters()].index(matrix)
        page.locator(".at-matrix").nth(n).click()
    for field, value in zip(page.locator(".at-place").all(), (row, column), strict=True):
        field.fill(str(value))
    expect(page.locator(".at-weight")).to_contain_text(f"{matrix}[{row}, {column}]")


def test_it_steps_with_the_losses_of_python(page):
    training = Training()
    for _ in range(2):
        step(page)
        says(page, losses(training.step()))
    expect(page.locator(".at-curve svg")).to_have_attribute(
        "aria-label", re.compile(r"^The losses up to step 2: ")
    )


def test_a_weight_opens_to_the_update_of_python(page):
    put(page, *WEIGHT[1:])
    expect(page.locator(".at-opened")).to_contain_text("No step has changed it yet.")
    step(page, 2)
    training = Training()
    training.run(2)
    update = training.update(WEIGHT[0])
    wanted = [
        part[WEIGHT[1:]].item()
        for part in (
            update.before, update.gradient, update.moments.m, update.moments.v,
            update.m_hat, update.v_hat, update.ratio, update.decayed, update.moved, update.after,
        )
    ]  # fmt: skip
    lines = page.locator(".at-opened [data-number]")
    expect(page.locator(".at-opened .at-hint")).to_have_text("What step 2 did to it:")
    value, *parts = numbers(lines)
    assert parts == pytest.approx(wanted, abs=1e-9)
    assert value == pytest.approx(wanted[-1], abs=1e-9)
    page.locator(".at-large").click(position={"x": 2, "y": 2})
    expect(page.locator(".at-weight")).to_contain_text("[0, 0]")


def test_a_cell_opens_its_arithmetic_forward_and_back(page):
    step(page)
    page.get_by_role("button", name="layer 1", exact=True).click()
    page.locator(".am-explorer [data-row='7'][data-col='2']").click()
    expect(page.locator(".am-explorer .ax-tree").first).to_contain_text("exp(")
    training = Training()
    training.step()
    _, pass_ = training.losses(training.example), training.model.traces(training.example.ids)[1]
    back = gradient_of_scores(training)[7, 2].item()
    lines = page.locator(".at-returns [data-number]")
    assert numbers(lines)[2] == pytest.approx(back, abs=1e-9)
    weight = pass_.stage("weights")[0, 0, 7, 2].item()
    expect(page.locator(".am-explorer .ax-sentence")).to_contain_text(f"{weight:.2f}")
    way = "raises" if back < 0 else "lowers"
    expect(page.locator(".at-returns")).to_contain_text(f"a step {way} this score")
    page.locator(".am-explorer [data-row='2'][data-col='7']").click()
    expect(page.locator(".at-returns")).to_contain_text("The mask hides this key")
    expect(page.locator(".at-returns [data-number]")).to_have_count(0)


def gradient_of_scores(training):
    """What comes back to the scaled scores of layer 1 on the example."""
    from attn_core.steps import backward, recording

    with recording(training.model) as steps:
        training.model(training.example.ids)
    back = backward(steps.with_loss(training.example.targets[0].tolist()))
    return back.value("layers.1.attention.backward", "grad_scaled")[0, 0]


# Whether what is said of the open number would be heard, each time that it changes.
LISTEN = """() => {
  const sentence = document.querySelector(".at-root .ax-sentence");
  window.said = [];
  const note = () => window.said.push(sentence.getAttribute("aria-live"));
  new MutationObserver(note).observe(sentence, { childList: true, subtree: true });
}"""


# Right behind a step, whose numbers are not said.
PRESSED_AT_ONCE = """(cell) => {
  document.querySelector(".at-root .ax-sentence").setAttribute("aria-live", "off");
  cell.click();
}"""


def test_a_step_is_said_once_while_a_number_is_open(page):
    page.locator('.at-root .ax-grid [data-row="8"][data-col="3"]').click()
    page.evaluate(LISTEN)
    step(page)
    page.wait_for_function("() => window.said.length > 0")
    assert set(page.evaluate("() => window.said")) == {"off"}
    expect(page.locator(".at-root .ax-sentence")).to_have_attribute("aria-live", "polite")
    page.locator('.at-root .ax-grid [data-row="9"][data-col="4"]').evaluate(PRESSED_AT_ONCE)
    page.wait_for_function("() => window.said.includes('polite')")


def test_it_runs_pauses_and_goes_back_to_the_same_numbers(page):
    step(page, 2)
    second = said(page)
    end = run_past(page, 20)
    assert said(page).startswith(f"Paused at step {end}: ")
    frame = page.locator("button.at-frame:visible").nth(1)
    earlier = frame.text_content()
    frame.click()
    at(page, earlier)
    expect(page.locator(".at-frame[aria-current]")).to_have_text(earlier)
    page.locator(".at-slider").fill("2")
    at(page, 2)
    says(page, second)
    page.locator(".at-slider").fill("20")
    at(page, 20)
    training = Training()
    training.run(20)
    last = training.history[-1]
    says(page, losses(last).replace("Step", "Paused at step"))


def test_the_slider_is_moved_by_keys(page):
    step(page, 2)
    page.locator(".at-slider").focus()
    page.keyboard.press("ArrowLeft")
    at(page, 1)
    page.keyboard.press("Home")
    at(page, 0)
    says(page, "Step 0: the weights are random.")


def test_a_run_counts_as_ended_once_its_end_is_painted(visit):
    page = visit()
    runs = page.evaluate(
        """() => {
          window.held = [];
          window.requestAnimationFrame = act => window.held.push(act);
          document.querySelector(".at-run").click();
          return document.querySelectorAll(".at-runs").length;
        }"""
    )
    assert runs == 1
    page.wait_for_function("document.querySelector('.at-run').textContent === 'pause'")
    page.locator(".at-run").click()
    expect(page.locator(".at-said")).to_contain_text("Paused at step")
    expect(page.locator(".at-runs")).to_have_count(1)
    page.evaluate("window.held.forEach(act => act())")
    expect(page.locator(".at-runs")).to_have_count(0)
    count = page.locator(".at-slider").input_value()
    expect(page.locator(".at-said")).to_contain_text(f"Paused at step {count}")


def test_a_rate_is_changed_and_one_too_large_is_said_and_mended(page):
    step(page)
    rate = page.get_by_role("textbox", name="learning rate")
    rate.fill("1e9")
    rate.press("Enter")
    page.locator(".at-run").click()
    notice = page.locator(".at-root > .ax-notice")
    expect(notice).to_contain_text(re.compile(r"training overflowed at step \d+ with the learning"))
    pause(page)
    count = page.locator(".at-slider").input_value()
    says(page, f"At step {count}.")
    expect(page.locator(".at-title", has_text="Layer 1")).to_contain_text(f"at step {count},")
    page.locator(".at-slider").fill("1")
    at(page, 1)
    expect(rate).to_have_value("1000000000")
    expect(notice).to_have_text("")
    rate.fill("0.01")
    rate.press("Enter")
    training = Training()
    training.run(2)
    step(page)
    says(page, losses(training.history[-1]))


@pytest.mark.parametrize("bad", ["fast", "-1", "1e999"])
def test_a_rate_that_is_none_is_said(page, bad):
    rate = page.get_by_role("textbox", name="learning rate")
    rate.fill(bad)
    rate.press("Enter")
    notice = page.locator(".at-root > .ax-notice")
    expect(notice).to_have_text(f"rate must be a number of at least 0, got {bad}.")
    rate.fill("0.02")
    rate.press("Enter")
    expect(notice).to_have_text("")


@pytest.mark.gate
def test_without_the_mask_the_loss_falls_below_what_is_possible(page):
    page.get_by_label("causal mask").uncheck()
    expect(page.locator(".at-said")).to_have_text("A new training has begun, at step 0.")
    page.locator(".at-run").click()
    first = "Number(document.querySelectorAll('.at-key b')[1].textContent)"
    page.wait_for_function(f"{first} > 0 && {first} < 1.4")
    count = int(pause(page).locator(".at-slider").input_value())
    task = RepeatedSegments()
    training = Training(task, AttentionOnly(8, 12, keep=Keep()))
    training.run(count)
    says(page, losses(training.history[-1]).replace("Step", "Paused at step"))
    page.locator(".am-explorer [data-row='2'][data-col='7']").click()
    expect(page.locator(".at-returns [data-number]")).to_have_count(3)


def test_one_layer_and_a_start_token_are_other_trainings(page):
    page.get_by_role("combobox", name="layers").select_option("1")
    expect(page.locator(".at-matrix")).to_have_count(7)
    expect(page.locator(".at-layers")).to_be_hidden()
    page.get_by_label("start token first").check()
    expect(page.locator(".at-letter")).to_have_count(13)
    expect(page.locator(".at-letter").first).to_have_text("BOS")
    step(page)
    task = RepeatedSegments(has_start=True)
    training = Training(task, AttentionOnly(9, 13, num_layers=1))
    says(page, losses(training.step()))


def test_a_letter_says_its_row(page):
    page.locator(".at-letter").nth(1).click()
    hint = page.locator(".at-part:has(.at-letters) > .at-hint").last
    expect(hint).to_contain_text(
        re.compile(r"at place 1 gives most weight to .*\. The next letter")
    )
    lit = page.locator(".at-forward .at-arc.at-lit")
    expect(lit).to_have_count(2)
    page.locator(".at-letter").nth(1).click()
    expect(lit).to_have_count(0)


def test_a_link_opens_what_was_chosen(visit, address):
    page = visit(fragment="#x-training?seed=3&optimiser=sgd&rate=0.3&heat=gradient")
    expect(page.get_by_role("textbox", name="seed")).to_have_value("3")
    expect(page.get_by_role("combobox", name="optimiser")).to_have_value("sgd")
    step(page)
    put(page, 0, 0)
    expect(page.locator(".at-opened dt")).to_have_count(5)
    other = visit(fragment="#x-training?layers=7")
    expect(other.locator(".at-root > .ax-notice")).to_have_text(
        "layers must be one of 1, 2, got 7."
    )


def test_a_link_to_a_number_arrives_at_the_number(visit):
    page = visit(viewport=NARROW, fragment="#x-training?select=3,2")
    expect(page.locator(".at-root .ax-sentence")).to_be_in_viewport(ratio=1)
    expect(page.locator("[aria-selected='true']")).to_be_in_viewport()


def test_the_way_by_keyboard_from_figure_to_figure_leads_to_it(visit, folder):
    page = (folder / "en.html").read_text(encoding="utf-8")
    first = explore(words(), name="first").html
    page = page.replace("<h1>A page</h1>", f"<h1>A page</h1>{first}")
    (folder / "beside.html").write_text(page, encoding="utf-8")
    page = visit("beside")
    page.locator("attention-explorer .ax-skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("attention-training > .ax-skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("attention-explorer > .ax-skip")).to_be_focused()


def test_it_starts_from_a_folder(browser, folder):
    page = browser.new_page()
    page.goto((folder / "en.html").as_uri())
    step(ready(page))
    says(page, losses(Training().step()))
    page.close()


def test_a_phone_scrolls_no_page_sideways(visit):
    page = visit(viewport=NARROW, has_touch=True)
    step(page)
    put(page, 1, 2)
    page.locator(".am-explorer [data-row='7'][data-col='2']").tap()
    expect(page.locator(".at-returns [data-number]")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_barrier_is_found(page, theme):
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    step(page)
    put(page, 1, 2)
    page.locator(".am-explorer [data-row='7'][data-col='2']").click()
    expect(page.locator(".at-returns [data-number]")).to_have_count(3)
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:160]) for each in found] == []


def test_in_chinese_it_says_all_of_it_in_chinese(visit):
    page = visit("zh")
    page.get_by_role("button", name="走一步").click()
    at(page, 1)
    put(page, 1, 2)
    page.locator(".am-explorer [data-row='7'][data-col='2']").click()
    expect(page.locator(".at-returns [data-number]")).to_have_count(3)
    page.get_by_role("textbox", name="学习率").fill("1e9")
    page.get_by_role("textbox", name="学习率").press("Enter")
    page.locator(".at-run").click()
    expect(page.locator(".at-root > .ax-notice")).to_contain_text("溢出")
    text = page.locator(".at-root").inner_text().replace(f"{WEIGHT[0]}", "")
    spoken = page.locator(".at-root [aria-label]").evaluate_all(
        "all => all.map(e => e.ariaLabel).join(' ')"
    )
    assert re.findall(ENGLISH, f"{text} {spoken}", re.IGNORECASE) == []


# A model of ipywidgets, as far as the widget asks it.
RENDER = """(payload) => {
  const el = document.createElement("div");
  document.body.append(el);
  const close = widget.render({ model: { get: () => payload }, el });
  window.leave = () => { close(); return document.querySelectorAll(".at-root").length; };
}"""


def test_the_widget_of_a_live_notebook_has_its_worker_inside(browser, address, folder):
    shutil.copyfile(script.BUILT / "training_widget.js", folder / "widget.js")
    (folder / "live.html").write_text(
        '<!doctype html><title>live</title><link rel="stylesheet" href="explorer.css">'
        '<script type="module">import widget from "./widget.js"; window.widget = widget;</script>',
        encoding="utf-8",
    )
    with heard_page(browser, f"{address}/live.html") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_function("window.widget")
        page.evaluate(RENDER, open_training().payload)
        step(ready(page))
        says(page, losses(Training().step()))
        assert [url for url in asked if "worker" in url] == []
        assert page.evaluate("() => leave()") == 0
        assert page.heard == []


def test_a_new_training_is_not_painted_with_the_numbers_of_the_one_before(visit):
    page = visit()
    page.get_by_role("combobox", name="layers").select_option("1")
    at(page, 0)
    page.evaluate("""() => {
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message) {
            const late = message.what === "numbers" ? 1500 : 0;
            setTimeout(() => post.call(this, message), late);
        };
    }""")
    page.get_by_role("combobox", name="layers").select_option("2")
    expect(page.locator(".at-matrix")).to_have_count(11)  # it has begun, and its numbers are late
    page.evaluate("""async () => {
        for (const theme of ["dark", "light"]) { // each paints what the page has
            document.documentElement.dataset.theme = theme;
            for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
        }
    }""")
    at(page, 0)


def test_a_saved_page_trains_without_a_network(browser, tmp_path):
    path = open_training(Training()).save(tmp_path / "training.html", title="A training")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    step(ready(page))
    says(page, losses(Training().step()))
    context.close()


PARTS = [
    "Loss over the 16 texts of each step", "Film of the attention maps",
    "A text that no step trains on", "Layer 1 at step 0, number by number", "All 2,496 weights",
]  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_part_is_a_group_that_its_heading_names(visit, lang):
    page = visit(lang)
    titles = page.get_by_role("heading", level=2)
    names = titles.all_text_contents()
    assert len(names) == 5
    for name in names:
        expect(page.get_by_role("group", name=name, exact=True).first).to_contain_text(name)
    if lang == "en":
        assert names == PARTS


def test_to_go_back_is_offered_once_there_is_a_way_back(visit):
    page = at(visit(), 0)
    hint = page.get_by_text("Press a step or move the slider")
    expect(hint).to_be_hidden()
    step(page)
    expect(hint).to_be_visible()


def test_one_text_a_step_is_said_in_the_singular(visit):
    expect(
        visit("one").get_by_role("heading", name="Loss on the text of each step")
    ).to_be_visible()
