"""Data too large for a page stand in a classic script beside it, which the build writes."""

import nbformat
import pytest
import torch
from filelock import FileLock, Timeout
from playwright.sync_api import expect

from attn_core import causal, trace
from attn_core.views import explore
from publishing.site import payload_files

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def large():
    made = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(1, 12, 600, 16, generator=made) for _ in range(3))
    return explore(
        trace(q, k, v, keep=causal()), name="large", head=3, select=(1, 0), store="float16"
    )


@pytest.fixture
def folder(bare_folder, monkeypatch, large):
    """The page's static folder, with the data in it as the build has them written."""
    place = bare_folder[0] / "classic" / "payloads"
    place.mkdir(exist_ok=True)
    monkeypatch.setenv("ATTN_CORE_PAYLOADS", str(place))
    large._repr_mimebundle_()
    yield place
    for path in place.glob("*.js"):
        path.unlink()


@pytest.mark.parametrize("over", [pytest.param("http", marks=pytest.mark.slow), "file"])
def test_a_page_reads_the_data_beside_it(bare, folder, large, over):
    assert len(large.html) < 100_000
    page = bare.open(large, over=over, script="classic")
    root = page.locator(".ax-root")
    expect(root).to_be_visible()
    weight = large.record.tile("weights", slice(1, 2), slice(0, 1), head=3).item()
    said = root.locator(".ax-sentence")
    expect(said).to_contain_text("Query 1 gives ")
    number = float(said.locator("b").text_content())
    assert number == pytest.approx(weight, abs=large.payload["error"] + 1e-4)
    assert [path.name for path in folder.glob("*")] == ["large.js"]


def test_far_data_are_read_when_the_reader_comes_near(bare, folder, large):
    page = bare.open("<p>" + "<br>" * 200 + "</p>", large, script="classic")
    page.wait_for_load_state("networkidle")
    assert not any("payloads/" in url for url in bare.asked)
    page.locator("attention-explorer").scroll_into_view_if_needed()
    expect(page.locator(".ax-root")).to_be_visible()
    assert sum("payloads/large.js" in url for url in bare.asked) == 1


def test_a_link_to_far_data_reads_them_at_once(bare, folder, large):
    far = "<p>" + "<br>" * 200 + "</p>"
    page = bare.open(far, large, script="classic", fragment="#x-large?stage=scores")
    expect(page.locator(".ax-stage input:checked")).to_have_value("scores")
    expect(page.locator(".ax-root")).to_be_in_viewport()


def test_missing_data_are_said_and_the_table_stays(bare, large):
    page = bare.open(large, over="file")
    expect(page.locator(".ax-notice")).to_have_text(
        "This explorer cannot start: its data payloads/large.js cannot be read."
    )
    expect(page.locator("attention-explorer table").first).to_be_visible()
    assert all("ERR_FILE_NOT_FOUND" in line for line in bare.heard)
    bare.heard.clear()


def test_a_small_record_writes_no_file(explorer, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTN_CORE_PAYLOADS", str(tmp_path))
    explorer._repr_mimebundle_()
    assert list(tmp_path.iterdir()) == []


LONG = """
import torch
from attn_core import trace
from attn_core.views import explore
x = torch.arange(700 * 64.0).view(700, 64).cos()
explore(trace(x, x, x), name="{name}")
"""


def notebook(path, stored, made, later="1 / 0"):
    """A notebook whose stored output names the data `stored`, and whose code makes `made`."""
    html = f'<attention-explorer name="{stored}" payload="{stored}">\n</attention-explorer>'
    output = nbformat.v4.new_output("execute_result", {"text/html": html}, execution_count=1)
    cells = [nbformat.v4.new_code_cell(LONG.format(name=made)), nbformat.v4.new_code_cell(later)]
    cells[0].outputs = [output]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.mark.slow
def test_the_build_runs_a_notebook_up_to_its_last_large_explorer_and_once(tmp_path):
    path, folder = tmp_path / "long.ipynb", tmp_path / "made"
    notebook(path, "long", "long")
    (made,) = payload_files.make(path, folder)
    assert made.read_text(encoding="utf-8").startswith(
        '(window.AttentionExplorerPayloads ??= {})["long"] = {"version":1,"name":"long",'
    )
    before = made.stat().st_mtime_ns
    notebook(path, "long", "long", later="2 / 0")
    assert payload_files.make(path, folder) == [made]
    assert made.stat().st_mtime_ns == before
    notebook(path, "long", "longer")
    with pytest.raises(Exception, match="and long did not write its data"):
        payload_files.make(path, folder)


def test_another_build_waits_while_a_notebook_runs(tmp_path, monkeypatch):
    path, folder, held = tmp_path / "long.ipynb", tmp_path / "made", []
    notebook(path, "long", "long")

    def run(notebook, place, making):
        with pytest.raises(Timeout):
            FileLock(folder / "long.lock").acquire(blocking=False)
        held.append(place)
        (making / "long.js").write_text("")

    monkeypatch.setattr(payload_files, "run", run)
    payload_files.make(path, folder)
    assert held == [tmp_path]
    FileLock(folder / "long.lock").acquire(blocking=False).lock.release()


def test_a_notebook_without_large_data_is_not_run(tmp_path):
    path = tmp_path / "short.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    assert payload_files.make(path, tmp_path / "made") == []
