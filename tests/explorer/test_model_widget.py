"""A model in a live notebook, on a page of its own: its traits go both ways."""

import shutil

import pytest

from attn_core.views import script
from tests.explorer.conftest import heard_page
from tests.explorer.models import CROSS, SAY, opened

# A model of ipywidgets: what Python sets, what the page sets, and what it shows.
RENDER = """(payload) => {
  const el = document.createElement("div");
  document.body.append(el);
  const [traits, heard] = [{ payload, ...payload.view }, {}];
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes() { window.saved = { ...traits, payload: undefined }; },
    on: (event, act) => { heard[event] = act; },
    off: (event) => { delete heard[event]; },
  };
  const close = inside.render({ model, el });
  window.traits = traits;
  window.put = (wanted) => {
    Object.assign(traits, wanted);
    for (const name of Object.keys(wanted)) heard[`change:${name}`]();
  };
  window.leave = () => { close?.(); el.remove(); return Object.keys(heard); };
}"""
LOOK = """() => ({
  words: [...document.querySelectorAll(".am-written bdi")].map((one) => one.textContent),
  name: document.querySelector(".am-name")?.textContent,
  notice: document.querySelector(".ax-notice:not(.am-said)")?.textContent,
})"""


@pytest.fixture(scope="module")
def notebook(bare_folder, browser):
    folder, address = bare_folder
    shutil.copyfile(script.BUILT / "model_widget.js", folder / "model.js")
    opened_text = 'import widget from "./model.js";\nwindow.inside = widget;\n'
    (folder / "opened-model.js").write_text(opened_text, encoding="utf-8")
    (folder / "model.html").write_text(
        '<!doctype html><title>model</title><link rel="stylesheet" href="explorer.css">'
        '<script type="module" src="opened-model.js"></script>',
        encoding="utf-8",
    )
    with heard_page(browser, f"{address}/model.html") as page:
        page.wait_for_function("window.inside")
        yield page


@pytest.fixture
def live(notebook):
    notebook.evaluate(RENDER, opened().payload)
    yield notebook
    assert notebook.evaluate("() => leave()") == []


def test_what_the_reader_does_python_gets(live):
    live.get_by_label("your sentence").fill("Jerry sees Tom")
    assert live.evaluate("() => saved.say") == "Jerry sees Tom"
    live.locator('[data-step="encoder.0.residuals.0.norm"]').click()
    live.locator('.am-table [data-row="1"][data-col="4"]').click()
    saved = live.evaluate("() => saved")
    assert (saved["at"], saved["select"]) == ("encoder.0.residuals.0.norm", [1, 4])
    live.locator(".am-switches input").click()
    assert live.evaluate("() => saved.off") == "norms_off:encoder.0.residuals.0.norm"


def test_what_python_sets_the_page_shows(live):
    live.evaluate("(wanted) => put(wanted)", {"say": "Tom sees Jerry", "at": "words_out"})
    shown = live.evaluate(LOOK)
    assert shown["words"] == ["汤姆", "看见", "杰瑞", "<end>"]
    assert shown["name"] == "writes: scores"
    live.evaluate("(wanted) => put(wanted)", {"written": 2})
    assert live.evaluate(LOOK)["words"] == ["汤姆", "看见"]


def test_what_python_asks_for_in_vain_is_said_and_not_kept(live):
    live.evaluate("(wanted) => put(wanted)", {"off": f"heads_off:{CROSS}.9"})
    shown = live.evaluate(LOOK)
    assert shown["notice"].startswith("Not taken: there is nothing to switch called heads_off")
    assert live.evaluate("() => traits.off") == ""
    assert live.evaluate("() => traits.say") == SAY


def test_data_that_fail_are_said_and_nothing_else(notebook):
    notebook.evaluate(RENDER, opened().payload | {"version": 2})
    text = notebook.evaluate("() => document.querySelector('.ax-host').textContent")
    assert text == "This explorer cannot start: its version must be 1."
    assert notebook.evaluate("() => leave()") == []
