"""The explorer in a real JupyterLab: live with its traits, in an ipywidgets box, and untrusted."""

import json
import os
import re
import sys
import time

import nbformat
import pytest
from playwright.sync_api import expect

from attn_core.views import explore
from attn_core.views.drawings import two_arrows
from attn_core.views.heat import mix
from tests.explorer.conftest import ROOT
from tests.patience import PATIENCE, TO_START
from tests.processes import free_port, running, wait_until_it_answers

pytestmark = pytest.mark.gate

SETUP = """
import ipywidgets
from attn_core import toy, trace
from attn_core.views import explore, show
words = toy.journey()
record = trace(words.x, words.x, words.x)
view = explore(record, tokens=words.tokens, name="live")
ipywidgets.HBox([view])
"""
DIRECT = SETUP.replace("ipywidgets.HBox([view])", "view")
READ = "print('read', view.stage, view.select, round(view.scale, 4), view.mask)"
SET = "view.stage = 'scores'; view.select = [1, 0]; view.scale = 1.0; view.mask = 'causal'"
FURTHER = """
view.select = None
view.stage, view.dropout, view.drawn, view.compare = "dropped", "0.5,7", "0.5", True
"""
READ_FURTHER = "print('read', view.stage, view.dropout, repr(view.drawn), view.compare)"
LONG = """
import torch
x = torch.arange(1100 * 8.0).view(1100, 8).cos()
long = trace(x, x, x)
tiles = explore(long, name="tiles")
tiles
"""
MODEL = """
from attn_core.translators.grammar import CHINESE, ENGLISH
from attn_core.translators.transformer import stored
from attn_core.views import open_model
model = open_model(stored(), {"source": ENGLISH, "target": CHINESE}, "Tom chases Jerry")
model
"""
TRAINING = """
from attn_core.views import open_training
open_training()
"""
READ_MODEL = "print('read', model.say, model.at, model.select, model.off)"
SET_MODEL = "model.say = 'Tom sees Jerry'; model.off = ''; model.at = 'words_out'"
PRINTED = "show(record, 'weights', tokens=words.tokens)"


def notebook(*sources, outputs=()):
    cells = [
        nbformat.v4.new_code_cell(source.strip(), id=f"c{n}") for n, source in enumerate(sources)
    ]
    for cell, output in zip(cells, outputs, strict=False):
        cell.outputs, cell.execution_count = [output], 1
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab in an empty folder, with settings of its own and no token."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    folder.mkdir()
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"checkForUpdates": False, "fetchNews": "false", "doNotDisturbMode": True}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    port = free_port()
    places = {
        name: str(home / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.ip=127.0.0.1",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.user_settings_dir={home / 'settings'}",
        f"--LabApp.workspaces_dir={home / 'workspaces'}",
        "--LabApp.extension_manager=readonly",
    ]
    environment = {**os.environ, **places, "PYTHONPATH": str(ROOT)}
    address = f"http://127.0.0.1:{port}"
    with running(command, home / "log", environment) as server:
        wait_until_it_answers(f"{address}/api", server, home / "log")
        yield address, folder


@pytest.fixture
def open_lab(lab, browser):
    address, folder = lab
    context = browser.new_context(viewport={"width": 1200, "height": 1400})

    def open_notebook(name, content):
        nbformat.write(content, folder / name)
        page = context.new_page()
        page.set_default_timeout(TO_START * 1000)
        page.goto(f"{address}/lab/tree/{name}?reset")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        page.wait_for_function(
            "window.jupyterapp && jupyterapp.shell.currentWidget?.content?.widgets?.length"
        )
        return page

    yield open_notebook
    context.close()


def run(page, index):
    """Runs a cell and returns the text of its outputs."""
    page.evaluate(
        """async (index) => {
          const panel = jupyterapp.shell.currentWidget;
          await panel.sessionContext.ready;
          panel.content.activeCellIndex = index;
          await jupyterapp.commands.execute("notebook:run-cell");
        }""",
        index,
    )
    cell = page.locator(".jp-Cell").nth(index)
    expect(cell.locator(".jp-InputPrompt").first).to_have_text(
        re.compile(r"\[\d+\]"), timeout=TO_START * 1000
    )
    return cell.locator(".jp-OutputArea").first


def read_until(page, index, wanted):
    """Runs a cell until it prints what is wanted: ipywidgets sends a burst of changes in two steps,
    and the second may come after a cell that was run at once."""
    until = time.monotonic() + PATIENCE
    while wanted not in (text := run(page, index).text_content()):
        assert time.monotonic() < until, f"it still prints {text!r}"


def test_a_live_explorer_and_its_traits(open_lab):
    page = open_lab("live.ipynb", notebook(SETUP, READ, SET, PRINTED))
    out = run(page, 0)
    root = out.locator(".ax-root")
    expect(root).to_be_visible()
    assert root.evaluate("e => !!e.closest('.widget-hbox, .jupyter-widgets.widget-container')")

    assert root.bounding_box()["width"] > 500
    root.locator('input[value="scaled"]').check()
    cell = root.locator('[data-row="2"][data-col="3"]')
    cell.click()
    root.get_by_role("button", name="scale 1").click()
    root.get_by_label("mask").last.select_option("causal")
    read_until(page, 1, "read scaled [2, 3] 1.0 causal")

    cell.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(
        "[document.activeElement.dataset.row, document.activeElement.dataset.col]"
    ) == ["1", "4"]
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert page.locator(".jp-Cell").count() == 4

    run(page, 2)
    expect(root.locator(".ax-stage input:checked")).to_have_value("scores")
    expect(root.locator('[aria-selected="true"]')).to_have_text("0.9544")
    expect(root.get_by_label("scale as a number")).to_have_value("1")
    expect(root.locator(".ax-sentence")).to_contain_text(
        "Query journey and key Your have the score 0.9544"
    )

    printed = run(page, 3).locator(".ax-print")
    expect(printed).to_contain_text("tensor([[0.1916, 0.1866")
    printed.locator('[data-row="1"][data-col="0"]').hover()
    expect(printed.locator(".ax-mate")).to_have_count(6)
    assert "#" not in page.url


def reopened(page):
    """The notebook saved, its kernel ended, and all loaded again, as on another day."""
    page.evaluate(
        """async () => {
          await jupyterapp.commands.execute("docmanager:save");
          await jupyterapp.serviceManager.sessions.shutdownAll();
        }"""
    )
    page.goto(page.url.split("?")[0] + "?reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    return page


def test_a_saved_explorer_is_there_when_the_notebook_is_opened_again(open_lab):
    page = open_lab("saved.ipynb", notebook(DIRECT, READ, SET, MODEL))
    root = run(page, 0).locator(".ax-root")
    expect(root).to_be_visible()
    run(page, 3)
    root.locator('input[value="scaled"]').check()
    read_until(page, 1, "read scaled")
    run(page, 2)
    expect(root.locator(".ax-stage input:checked")).to_have_value("scores")
    reopened(page)
    outputs = page.locator(".jp-OutputArea")
    expect(outputs.nth(0).locator("td[bgcolor]")).to_have_count(36)
    expect(outputs.nth(3).locator("td[bgcolor]").first).to_be_visible()
    expect(page.get_by_text("Error displaying widget")).to_have_count(0)
    run(page, 0)
    expect(outputs.nth(0).locator(".ax-root")).to_be_visible()


@pytest.mark.slow
def test_the_further_state_goes_both_ways(open_lab):
    page = open_lab("further.ipynb", notebook(SETUP, FURTHER, READ_FURTHER))
    root = run(page, 0).locator(".ax-root")
    expect(root).to_be_visible()
    run(page, 1)
    expect(root.locator(".ax-stage input:checked")).to_have_value("dropped")
    expect(root.locator(".ax-grid")).to_have_count(2)
    root.get_by_role("button", name="reset").click()
    read_until(page, 2, "read weights  '' False")


@pytest.mark.slow
def test_a_long_map_asks_python_for_its_tiles(open_lab):
    heard = "asked = []; tiles.on_msg(lambda _, message, buffers: asked.append(message['kind']))"
    page = open_lab(
        "tiles.ipynb",
        notebook(
            SETUP,
            LONG.replace("\ntiles\n", f"\n{heard}\ntiles\n"),
            "print('asked', set(asked) - {'live'})",
        ),
    )
    run(page, 0)
    out = run(page, 1)
    expect(out.locator("canvas.ax-canvas")).to_be_visible()
    read_until(page, 2, "asked {'tile'}")


@pytest.mark.slow
def test_two_views_of_one_explorer_move_together(open_lab):
    page = open_lab("twice.ipynb", notebook(SETUP, "ipywidgets.VBox([view])"))
    first, second = run(page, 0).locator(".ax-root"), run(page, 1).locator(".ax-root")
    first.locator('input[value="output"]').check()
    expect(second.locator(".ax-stage input:checked")).to_have_value("output")


@pytest.mark.slow
def test_dark_jupyterlab(open_lab):
    page = open_lab("dark.ipynb", notebook(SETUP))
    root = run(page, 0).locator(".ax-root")
    expect(root).to_be_visible()
    page.evaluate(
        "jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    expect(root).to_have_css("background-color", "rgb(27, 27, 34)")
    page.evaluate(
        "jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' })"
    )
    expect(root).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.slow
def test_a_live_model_and_its_traits(open_lab):
    page = open_lab("model.ipynb", notebook(MODEL, READ_MODEL, SET_MODEL))
    root = run(page, 0).locator(".am-root")
    expect(root.locator(".am-written bdi").first).to_have_text("汤姆")
    root.get_by_label("your sentence").fill("Jerry sees Spike")
    norm = "encoder.0.residuals.0.norm"
    root.locator(f'[data-step="{norm}"]').click()
    root.locator('.am-table [data-row="1"][data-col="4"]').click()
    root.locator(".am-switches input").click()
    read_until(page, 1, f"read Jerry sees Spike {norm} [1, 4] norms_off:{norm}")
    run(page, 2)
    expect(root.locator(".am-name")).to_have_text("writes: scores")
    expect(root.locator(".am-written bdi").nth(2)).to_have_text("杰瑞")
    expect(root.get_by_label("your sentence")).to_have_value("Tom sees Jerry")
    expect(root.locator(".am-offs")).to_be_hidden()
    root.get_by_label("your sentence").press("d")
    root.get_by_label("your sentence").press("d")
    assert page.locator(".jp-Cell").count() == 3, "keys do not reach the notebook"


@pytest.mark.parametrize("live", [False, True])
def test_an_untrusted_notebook_shows_a_drawing_s_pixels(open_lab, live, monkeypatch):
    monkeypatch.setattr("attn_core.views.drawings.scripted.is_live", lambda: live)
    data, metadata = two_arrows()._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    page = open_lab(f"drawing-{live}.ipynb", notebook("sheet", outputs=[output]))
    shown = page.locator(".jp-OutputArea img")
    expect(shown).to_be_visible()
    expect(shown).to_have_attribute("src", re.compile("^data:image/png"))
    expect(shown).to_have_js_property("width", metadata["image/png"]["width"])


def test_an_untrusted_notebook_keeps_the_coloured_table(open_lab, journey):
    record, tokens = journey
    data, _ = explore(record, tokens=tokens)._repr_mimebundle_()
    data = {kind: data[kind] for kind in ("text/html", "text/plain")}
    output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
    page = open_lab("untrusted.ipynb", notebook("view", outputs=[output]))
    cells = page.locator(".jp-OutputArea table td[bgcolor]")
    expect(cells).to_have_count(36)
    assert page.locator(".ax-root").count() == 0
    assert page.locator(".jp-OutputArea script").count() == 0
    weights = record.stage("weights").double()
    color = ", ".join(str(round(255 * c)) for c in mix((weights[0, 0] / weights.max()).item()))
    assert cells.first.evaluate("e => getComputedStyle(e).backgroundColor") == f"rgb({color})"
    assert (
        cells.first.locator("font").evaluate("e => getComputedStyle(e).color")
        == "rgb(255, 255, 255)"
    )


@pytest.mark.slow
def test_a_training_steps_in_a_live_notebook(open_lab):
    page = open_lab("training.ipynb", notebook(TRAINING))
    root = run(page, 0).locator(".at-root")
    root.get_by_role("button", name="step once").click()
    expect(root).to_have_attribute("data-step", "1")
    expect(root.locator(".at-said")).to_contain_text("Step 1: loss 2.17;")
