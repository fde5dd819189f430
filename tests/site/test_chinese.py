"""The Chinese site: page by page the English one, with its addresses, numbers and pictures."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from functools import cache
from string import ascii_letters

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

import exercises
from publishing.notebooks import plots
from publishing.translation import pages
from publishing.translation.checking import is_complete
from publishing.translation.language import in_chinese
from publishing.translation.outputs import CATALOGUE, PNG
from tests.conftest import HTML, ROOT
from tests.in_both import without_words

ZH = HTML / "zh"
WORDS_OF_FORMULA = re.compile("<mtext>.*?</mtext>")
PAGES = [name for name in pages.docnames() if name != pages.README]
# Where an answer is a text, so is its solution.
TEXTS = tuple(
    f"{exercise.answers[0]} = (" for exercise in exercises.load().values() if exercise.words
)
# They lead to the notebooks of the language.
OF_NOTEBOOKS = ".chapter-links a, a[href*='colab.research'], a[href*='exercises/notebooks']"


@cache
def article(page: str) -> BeautifulSoup:
    return BeautifulSoup((HTML / page).read_text(encoding="utf-8"), "lxml")


def both(name: str) -> tuple[BeautifulSoup, BeautifulSoup]:
    return article(f"{name}.html"), article(f"zh/{name}.html")


@pytest.mark.gate
@pytest.mark.parametrize("name", PAGES)
def test_ids_links_code_outputs_and_formulas_are_the_english_ones(name):
    found = []
    for page in both(name):
        article = page.article
        own = {id(link) for link in article.select(OF_NOTEBOOKS)}
        links = [link for link in article.find_all("a", href=True) if id(link) not in own]
        facts = {
            "ids": [tag["id"] for tag in article.find_all(id=True)],
            # A plot leads to its picture, whose name follows from its pixels.
            "addresses": sorted(re.sub(r"_images/\w+", "_images/", link["href"]) for link in links),
        }
        facts["math"] = sorted(WORDS_OF_FORMULA.sub("", str(tag)) for tag in article.select("math"))
        # Their words differ; whether all else is the same, the test of the notebooks asks.
        codes = [tag.get_text() for tag in article.select("div.highlight pre")]
        facts["numbers"] = [
            sorted(re.findall(r"\d+(?:\.\d+)?", code))
            for code in codes
            if not code.startswith(TEXTS)
        ]
        alive = ("attention-explorer", "attention-model", "attention-training")
        for what in (*alive, "attention-diagnosis", ".worksheet"):
            facts[what] = [without_words(str(tag)) for tag in article.select(what)]
        found.append(facts)
    english, chinese = found
    for what, wanted in english.items():
        assert chinese[what] == wanted, what


@pytest.mark.parametrize("name", [*PAGES, "genindex", "search"])
def test_the_switch_leads_to_the_same_page(name):
    """To a Chinese one only when all of them are complete."""
    english, chinese = both(name)
    switches = [(link, "en", ZH, HTML) for link in chinese.select("a.language-switch")]
    assert len(switches) == 1
    links = english.select("a.language-switch")
    assert len(links) == is_complete()
    switches += [(link, "zh-CN", HTML, ZH) for link in links]
    for link, language, here, there in switches:
        assert link["lang"] == link["hreflang"] == language
        assert (here / name).parent.joinpath(link["href"]).resolve() == there / f"{name}.html"
    alternates = {tag["hreflang"]: tag["href"] for tag in chinese.select("link[hreflang]")}
    assert set(alternates) == {"en", "zh-CN"}
    assert (ZH / name).parent.joinpath(alternates["zh-CN"]).resolve() == ZH / f"{name}.html"
    assert chinese.html["lang"] == "zh-CN"


@pytest.mark.parametrize("place", ["book/warmup.html#vectors", "search.html?q=softmax"])
def test_the_switch_keeps_the_place_in_the_page_and_what_is_searched_for(open_page, site, place):
    page = open_page(f"{site}/zh/{place}")
    page.locator("a.language-switch").click()
    page.wait_for_url(f"{site}/{place}")


def test_a_notebook_for_download_is_the_pages_own():
    for name in PAGES:
        path = ZH / "_sources" / f"{name}.ipynb"
        if name.startswith("chapters/"):
            link = article(f"zh/{name}.html").select_one(".chapter-links a[download]")
            assert (ZH / name).parent.joinpath(link["href"]).resolve() == path
            assert path.read_bytes() != (HTML / "_sources" / f"{name}.ipynb").read_bytes()


# Of each query a page that is found; of the last, none is.
FOUND = [
    ("注意力", "chapters/03_self_attention"),
    ("注意力权重", "chapters/06_masking"),
    ("多头注意力", "chapters/08_multi_head"),
    ("因果掩码", "chapters/06_masking"),
    # No word of the index, nor any of its words' beginnings.
    ("多头注意力的权重", "chapters/08_multi_head"),
    ("为什么除以 √d_k", "chapters/05_trainable_weights"),
    ("softmax之后的掩码", "chapters/06_masking"),
    # Words of one character, alone and among others.
    ("键", "chapters/04_by_hand"),
    ("层", "chapters/09_transformer"),
    ("查询 键", "chapters/04_by_hand"),
    ("键的宽度", "chapters/05_trainable_weights"),
    ("查询 q", "chapters/05_trainable_weights"),
    ("银行", None),
]


@pytest.mark.gate
def test_chinese_words_are_found(open_page, site):
    page = open_page(f"{site}/zh/search.html")
    for query, wanted in FOUND:
        page.goto(f"{site}/zh/search.html?q={query}")
        expect(page.locator(".search-summary")).to_contain_text(
            re.compile("搜索完成|没有找到|未找到|没有")
        )
        links = page.locator("#search-results li a").evaluate_all("all => all.map((a) => a.href)")
        assert any(wanted in link for link in links) if wanted else links == [], (query, links)


def test_the_dictionary_of_the_search_is_kept_apart_from_other_users(tmp_path):
    code = "from publishing.site import chinese_search as c; c.jieba.lcut('注意力')"
    variables = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True)
    assert (done.returncode, done.stderr, [*tmp_path.iterdir()]) == (0, b"", [])


def test_the_index_has_the_chinese_terms_by_their_sound():
    """A term of the glossary stands under a letter, with the chapters that link to it."""
    index = article("zh/genindex.html").article
    english = article("genindex.html").article
    terms = {
        entry.a.get_text() if entry.a else entry.contents[0]
        for entry in index.select("td > ul > li")
    }
    assert {"因果掩码", "点积", "词元"} <= {text.partition("（")[0].strip() for text in terms}
    assert len(index.select("td > ul > li")) >= len(english.select("td > ul > li"))
    under = index.find("h2", string="Y").find_next("table").get_text()
    assert "因果掩码" in under
    assert all(heading.get_text() in ascii_letters for heading in index.find_all("h2"))


def test_chinese_letters_are_not_slanted(open_page, site):
    """A word with emphasis has dots, and Latin letters are in italics as everywhere."""
    page = open_page(f"{site}/zh/chapters/06_masking.html")
    style = "all => all.map((one) => [one.className, {}])"
    wanted = "getComputedStyle(one).{}"
    emphasis = page.locator("article em")
    styles = emphasis.evaluate_all(style.format(wanted.format("fontSynthesisStyle")))
    assert {synthesis for _, synthesis in styles} == {"none"}
    marks = emphasis.evaluate_all(style.format(wanted.format("textEmphasisStyle")))
    dots = {kind: {mark for name, mark in marks if name == kind} for kind, _ in marks}
    assert dots == {"dotted": {"dot"}, "told": {"none"}, "": {"none"}}


def test_heads_in_data_beside_a_page_have_chinese_names():
    names = {}
    for edition in (HTML, ZH):
        text = (edition / "_static" / "payloads" / "twelve-habits.js").read_text(encoding="utf-8")
        names[edition] = json.loads(re.search(r'"heads":(\["[^]]*\])', text)[1])
    assert names[ZH] == [in_chinese(name, CATALOGUE) for name in names[HTML]]
    assert names[ZH] != names[HTML]


@pytest.mark.parametrize("name", ["01_bottleneck", "07_dropout", "10_whole_model"])
def test_plots_and_stills_are_those_of_the_chinese_notebook(name):
    """Drawn with Chinese words, so none is a picture of the English page."""
    notebook = nbformat.read(ROOT / "chapters" / "zh" / f"{name}.ipynb", as_version=4)
    stored = {base64.b64decode(one.data[PNG]) for one in plots.pictures(notebook).values()}
    shown = article(f"zh/chapters/{name}.html").article.select("img[src$=png]")
    assert shown
    for image in shown:
        assert (ZH / "chapters" / image["src"]).read_bytes() in stored, image["src"]
