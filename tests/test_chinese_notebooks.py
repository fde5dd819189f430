"""The Chinese notebooks are those that the English ones and the catalogues make."""

from __future__ import annotations

import io
import json
import re
import tokenize
from copy import deepcopy
from html import unescape
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook, new_output

from attn_core.views.fonts import font_families
from attn_core.views.picture import Picture
from attn_core.views.pixels import drawn
from exercises.messages import chinese as messages
from publishing import ROOT
from publishing.notebooks import plots, printed
from publishing.notebooks.chapters import NOTEBOOKS, beside, docname_of
from publishing.notebooks.chinese import all_made, drawings, is_stale, of_page, relinked
from publishing.notebooks.exercises import FOLDER, chapters, localized, stored
from publishing.notebooks.outputs import picture_differs
from publishing.notebooks.plots import stale, words_of
from publishing.site.exercise_boxes import ways
from publishing.translation.checking import differences
from publishing.translation.labels import LABELS
from publishing.translation.outputs import HTML, PNG, SVG
from publishing.translation.pages import words_of_code
from tests.in_both import without_words


def test_stored_notebooks():
    """`make sync` would change nothing, and leaves nothing over."""
    made = all_made(NOTEBOOKS)
    for path, text in made.items():
        name = path.relative_to(ROOT)
        stored = path.read_text(encoding="utf-8") if path.is_file() else ""
        assert stored == text, f"{name}: run `make sync`"
    folders = ("chapters/zh", "book/zh", "exercises/notebooks/zh")
    there = {path for folder in folders for path in (ROOT / folder).glob("*")}
    there |= set(ROOT.glob("README.zh.md"))
    assert there == set(made)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_and_outputs_are_the_same(path):
    """Cell by cell: code, printed text, data of explorers and pictures; only words may differ.

    That the Chinese code prints what is stored, `make deep-chinese` shows.
    """
    english, chinese = nbformat.read(path, as_version=4), of_page(path)
    assert [cell.id for cell in chinese.cells] == [cell.id for cell in english.cells]
    for before, after in zip(english.cells, chinese.cells, strict=True):
        assert after.cell_type == before.cell_type
        assert after.metadata.get("tags") == before.metadata.get("tags")
        if before.cell_type == "code":
            assert without_strings(after.source) == without_strings(before.source)
            assert after.execution_count == before.execution_count
            assert len(after.outputs) == len(before.outputs)
            for old, new in zip(before.outputs, after.outputs, strict=True):
                assert numbers_in(new.get("text", "")) == numbers_in(old.get("text", ""))
                has_words = SVG in old.get("data", {}) or words_of(old)
                old, new = old.get("data", {}), new.get("data", {})
                for kind in ("text/plain",) if has_words else ("text/plain", PNG):
                    assert new.get(kind) == old.get(kind)
                assert without_words(new.get(HTML, "")) == without_words(old.get(HTML, ""))


def without_strings(source: str) -> list[str]:
    """The tokens of a cell's code, without its comments and strings."""
    lines = io.StringIO(re.sub(r"^( *)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    return [
        token.string
        for token in tokenize.generate_tokens(lines.readline)
        if not re.match("COMMENT|F?STRING", tokenize.tok_name[token.type])
    ]


def numbers_in(text: str) -> list[str]:
    return sorted(re.findall(r"-?\d+(?:\.\d+)?", text))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_printed_is_of_this_code(path):
    assert not is_stale(path), "run `make sync`"


@pytest.mark.parametrize("docname", LABELS)
def test_each_label_is_in_the_code_of_its_page(docname):
    assert LABELS[docname] <= {*words_of_code(docname)}


def test_a_run_is_needed_where_code_or_numbers_are_others_and_not_for_a_comment():
    def notebook(source, text):
        return new_notebook(
            cells=[new_code_cell(source, outputs=[new_output("stream", text=text)], id="one")]
        )

    stored = notebook('print("行", 0.5)  # 一行', "行 0.5\n")
    for source, text, is_other in (
        ('print("行", 0.5)  # 这一行', "a row 0.5\n", False),
        ('print("列", 0.5)  # 一行', "a row 0.5\n", True),
        ('print("行", 0.5)  # 一行', "a row 0.6\n", True),
    ):
        made = notebook(source, text)
        assert printed.is_stale(made, stored) == is_other
        printed.give(made, stored)
        assert made.cells[0].outputs[0].text == "行 0.5\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_drawing_and_its_pixels_say_the_same(path):
    for place, data in drawings(of_page(path)).items():
        assert picture_differs(drawn(data[SVG]), data[PNG]) is None, place


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_plots_and_stills_are_drawn_with_chinese_words(path):
    english, chinese = nbformat.read(path, as_version=4), nbformat.read(beside(path), as_version=4)
    assert stale(english, chinese, docname_of(path)) == []
    ours, theirs = plots.pictures(chinese), plots.pictures(english)
    for place, output in theirs.items():
        if words_of(output) and words_of(output) != words_of(ours[place]):
            assert ours[place].data[PNG] != output.data[PNG], place
            assert ours[place].metadata[PNG].keys() == output.metadata[PNG].keys()


def test_a_plot_gives_its_words_and_its_pixels_in_chinese(monkeypatch):
    known = {"rows": "行", "by hand": "手算"}
    monkeypatch.setattr(plots, "in_chinese", lambda word, _: known.get(word, word))
    monkeypatch.setattr(Picture, "_repr_png_", Picture._repr_png_)
    plots.listen("chapters/04_by_hand")
    picture = Picture(figsize=(2, 2))
    axes = picture.add_subplot()
    axes.set_title("by hand", fontweight="bold")
    axes.set(xlabel="rows", ylabel="0.5", xticks=[0], xticklabels=["cat"])
    png, said = picture._repr_png_()
    assert sorted(said["words"]) == ["by hand", "rows"]  # no number, and no name of data
    assert picture_differs(png, said["chinese"][0])
    assert axes.get_xlabel() == "rows"  # as the notebook left it
    assert picture_differs(png, picture._repr_png_()[0]) is None


def test_a_picture_chooses_a_font_that_has_its_characters():
    picture = Picture(figsize=(2, 2))
    axes = picture.add_subplot(xlabel="行")
    picture.png()
    assert set(font_families("行")) <= set(axes.xaxis.label.get_fontfamily())


def test_a_plot_with_other_words_than_the_catalogue_is_stale(monkeypatch):
    output = new_output("display_data", {PNG: ""}, metadata={PNG: {"words": ["rows"]}})
    english = new_notebook(cells=[new_code_cell("picture", outputs=[output], id="one")])
    chinese = deepcopy(english)
    chinese.cells[0].outputs[0].metadata[PNG]["words"] = ["行"]
    for word, cells in (("行", []), ("排", ["one"])):
        monkeypatch.setattr(plots, "in_chinese", lambda *_, word=word: word)
        assert stale(english, chinese, "chapters/04_by_hand") == cells


@pytest.mark.gate
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_outputs_say_is_chinese(path):
    """Captions and sentences of views, the words of their data, and what is said of a step."""
    english, chinese = outputs(nbformat.read(path, as_version=4)), outputs(of_page(path))
    for before, after in zip(english, chinese, strict=True):
        for old, new in zip(said_in(before), said_in(after), strict=True):
            assert re.search("[一-鿿]", new), old
            assert not list(differences(old, new)), new


@pytest.mark.gate
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_are_described_in_chinese(path):
    for cell in of_page(path).cells:
        kinds = [
            output.get("metadata", {}).get("image/png", {}) for output in cell.get("outputs", [])
        ]
        for image in (*kinds, cell.metadata.get("mystnb", {}).get("image", {})):
            assert re.search("[一-鿿].*。$", image.get("alt", "一。"))


def outputs(notebook) -> list[dict]:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output.get("data", {}) for cell in cells for output in cell.outputs]


def said_in(data: dict) -> list[str]:
    page = BeautifulSoup(data.get(HTML, ""), "html.parser")
    texts = [
        unescape(sentence) for sentence in re.findall('data-says="([^"]*)"', data.get(SVG, ""))
    ]
    texts += [tag.get_text() for tag in page.find_all(["caption", "summary", "h2"])]
    for script in page.find_all("script", type="application/json"):
        payload = json.loads(script.string)
        texts += [*payload.get("titles", {}).values(), *payload.get("names", {}).values()]
        for mistake in payload.get("mistakes", []):
            texts += [mistake["title"], mistake["says"]] if "says" in mistake else []
    return texts


@pytest.mark.parametrize("chapter", chapters())
def test_code_of_exercises_is_the_same_but_for_where_check_comes_from(chapter):
    """That line says in which language `check` answers: a kernel knows nothing of its notebook."""
    english, chinese = nbformat.read(stored(chapter), as_version=4), localized(chapter)
    assert [cell.id for cell in chinese.cells] == [cell.id for cell in english.cells]
    for before, after in zip(english.cells, chinese.cells, strict=True):
        assert after.cell_type == before.cell_type
        assert after.metadata == before.metadata
        if before.id == "imports":
            assert after.source == before.source.replace("exercises.notebook", "exercises.zh")
        elif before.cell_type == "code":
            assert after.source == before.source
        else:
            assert after.source != before.source
        printed = [[output.text for output in cell.get("outputs", [])] for cell in (before, after)]
        if before.id.endswith("-check"):
            (name,) = re.findall(r'check\("(.*)"\)', before.source)
            said = [say("{id}: not answered yet.").format(id=name) for say in (str, messages())]
            assert printed == [[f"{text}\n"] for text in said]
        else:
            assert printed == [[], []]


@pytest.mark.parametrize("chapter", chapters())
def test_the_pages_of_each_language_lead_to_its_exercise_notebooks(chapter, monkeypatch):
    options = {"repository_url": "https://github.com/owner/book", "repository_branch": "main"}
    for language, folder in (("en", FOLDER), ("zh", FOLDER / "zh")):
        monkeypatch.setenv("BOOK_LANGUAGE", language)
        places = re.findall(r"/blob/main/([^)]*)\)", ways(chapter, options))
        assert [ROOT / place for place in places] == [folder / stored(chapter).name] * 2
        assert (folder / stored(chapter).name).is_file()


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("[B](02_three_stages.ipynb#a)", "[B](02_three_stages.ipynb#a)"),
        ("[map](../book/map.md#a)", "[map](../../book/map.md#a)"),
        ("[page](../book/index.ipynb)", "[page](../../book/zh/index.ipynb)"),
        ("[here](#a) [there](https://a.b/c.ipynb)", "[here](#a) [there](https://a.b/c.ipynb)"),
        ('<a href="../genindex.html">', '<a href="../../genindex.html">'),
    ],
)
def test_links_lead_where_they_led(text, moved):
    assert relinked(text, Path(ROOT / "chapters")) == moved
