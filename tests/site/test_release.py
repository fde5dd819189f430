"""The files of a release: the site opens from its zip, the wheel works in an empty environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from publishing import release
from publishing.paper import contents
from publishing.paper.contents import NAME
from tests.site.listening import Listener, path_of
from tests.test_colab import environment_without_attn_core

pytestmark = pytest.mark.gate

LEADS_ON, LANDING = "index.html", "book/index.html"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that the release is written into."""
    monkeypatch.setattr(release, "RELEASE", tmp_path / "release")
    (tmp_path / "release").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "RELEASE", tmp_path_factory.mktemp("wheel"))
        yield release.wheel()


def unzip(archive: Path, folder: Path) -> Path:
    """The one folder that a zip holds, unzipped."""
    with zipfile.ZipFile(archive) as zipped:
        tops = {name.partition("/")[0] for name in zipped.namelist()}
        zipped.extractall(folder)
    assert tops == {archive.stem}
    return folder / archive.stem


def faults(browser, root: Path, pages: list[str]) -> list:
    """What the console says on these pages of a folder, and what they ask for outside it."""
    context = browser.new_context()
    listener = Listener(
        context, lambda url: url.startswith("file:") and path_of(url).is_relative_to(root)
    )
    for name in pages:
        listener.current = name
        page = context.new_page()
        page.goto((root / name).as_uri(), wait_until="load")
        if name == LEADS_ON:  # a tab that is closed on its way to another page may never answer
            page.wait_for_url((root / LANDING).as_uri())
        page.close()
    heard = listener.faults()
    context.close()
    return heard


@pytest.mark.slow
def test_the_site_opens_from_its_zip(folder, browser, kinds):
    root = unzip(release.site_zip("book"), folder / "a folder with spaces, 注意")
    assert faults(browser, root, [LEADS_ON, *kinds]) == []
    assert list(root.glob("_sources/chapters/*.ipynb")), "the notebooks to download are missing"


def test_a_lost_file_is_seen(folder, browser):
    root = unzip(release.site_zip("book"), folder)
    (root / "_static" / "explorer.js").unlink()
    assert any("explorer.js" in str(fault) for fault in faults(browser, root, [LANDING]))


def test_the_notebooks(folder):
    root = unzip(release.notebooks_zip("book"), folder)
    for chapters in ("chapters", "chapters/zh"):
        stored = {path.name: path.read_bytes() for path in release.ROOT.glob(f"{chapters}/*.ipynb")}
        packed = {path.name: path.read_bytes() for path in root.glob(f"{chapters}/*.ipynb")}
        assert packed == stored
    assert (root / "LICENSE").is_file()


def test_the_same_files_give_the_same_zip(folder):
    first = release.notebooks_zip("book").read_bytes()
    assert release.notebooks_zip("book").read_bytes() == first


@pytest.fixture
def printed(folder, monkeypatch):
    """A folder of PDFs such as `make pdf` leaves, of a site in two languages."""
    for language in ("", "zh/"):
        for place in (f"site/{language}book/index.html", f"pdf/{language}{NAME}.pdf"):
            write(folder / place, language)
        for chapter in ("01_one.pdf", "02_two.pdf", "02_two-letter.pdf"):
            write(folder / "pdf" / language / "chapters" / chapter, language + chapter)
    write(folder / "pdf" / "instructor" / f"{NAME}.pdf", "with keys")
    monkeypatch.setattr(release, "PDFS", folder / "pdf")
    monkeypatch.setattr(release, "HTML", folder / "site")
    monkeypatch.setattr(contents, "is_complete", lambda: True)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_book_on_paper_in_each_language(printed):
    made = {path.name: path for path in release.pdfs("book")}
    assert sorted(made) == ["book-chapters.zip", "book-zh-chapters.zip", "book-zh.pdf", "book.pdf"]
    assert made["book.pdf"].read_text() == ""
    assert made["book-zh.pdf"].read_text() == "zh/"
    root = unzip(made["book-zh-chapters.zip"], printed)
    texts = {path.name: path.read_text() for path in root.iterdir()}
    assert texts == {name: f"zh/{name}" for name in ("01_one.pdf", "02_two.pdf")}


def test_a_language_that_is_not_whole_is_not_released(printed, monkeypatch):
    monkeypatch.setattr(contents, "is_complete", lambda: False)
    assert [path.name for path in release.pdfs("book")] == ["book.pdf", "book-chapters.zip"]
    write(printed / "site" / "index.html", "")
    root = unzip(release.site_zip("book"), printed)
    assert (root / "book" / "index.html").is_file()
    assert not (root / "zh").exists()


@pytest.mark.parametrize("lost", [f"zh/{NAME}.pdf", "chapters"])
def test_a_book_that_is_not_printed_is_not_released(printed, lost):
    lost = printed / "pdf" / lost
    shutil.rmtree(lost) if lost.is_dir() else lost.unlink()
    with pytest.raises(SystemExit, match="run `make pdf`"):
        release.pdfs("book")


USE = """
import attn_core
from attn_core import toy, trace
from attn_core.views import explore

x = toy.journey().x
view = explore(trace(x, x, x), tokens=toy.journey().tokens)
assert "<attention-explorer" in view.html
assert len(str(view._esm)) > 10_000 and len(str(view._css)) > 1_000, "the page's files are missing"
from exercises.messages import chinese
from exercises.zh import given
assert given("01-shares")["keep"] == 0.5 and chinese()("Solution") == "解答"
print(attn_core.__file__)
"""


@pytest.mark.slow
def test_the_wheel_works_where_only_it_is_installed(folder, wheel):
    """attn_core is installed from the wheel; torch and the other dependencies are there already."""
    python = environment_without_attn_core(folder / "machine")
    own = next((folder / "machine" / "env").glob("lib/python*/site-packages"))
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(own)]
    subprocess.run([sys.executable, *install, str(wheel)], check=True)
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    done = subprocess.run(
        [python, "-c", USE], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip().startswith(str(own))


def test_the_wheel_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as zipped:
        there = set(zipped.namelist())
    package = release.ROOT / "attn_core"
    files = {
        path.relative_to(release.ROOT).as_posix()
        for path in (*package.rglob("*"), *release.ROOT.glob("exercises/*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    sources = ("attn_core/views/page/", "attn_core/views/kernels/")  # see built/
    modules = {file for file in files if file.startswith(sources)}
    assert "exercises/zh.json" in files
    assert {file for file in files - modules - there if not file.endswith("README.md")} == set()
