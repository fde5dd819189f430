"""Build the book in another language: BOOK_LANGUAGE=zh.

The pages are the English ones with their messages exchanged before they are read, so that all other
extensions see a page in that language. What is an address stays English: the ids of headings, and
with them every link.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from functools import partial
from pathlib import Path

import nbformat
from docutils import nodes
from markdown_it.tree import SyntaxTreeNode
from myst_parser.mdit_to_docutils.base import DocutilsRenderer
from sphinx.application import Sphinx
from sphinx.util.nodes import clean_astext

from publishing.notebooks.chapters import beside
from publishing.notebooks.chinese import moved, notebook_in_chinese
from publishing.site.chinese_search import ChineseSearch
from publishing.site.pages import own_pages
from publishing.translation.catalogues import path_of
from publishing.translation.glossary import terms
from publishing.translation.language import CATALOGUE, ENGLISH, SITE, in_chinese, language, said
from publishing.translation.markdown import translated
from publishing.translation.notebooks import headings
from publishing.translation.outputs import WIDE
from publishing.translation.pages import INCLUDE, texts, with_included
from publishing.translation.scripts import exchanged
from publishing.translation.words import THEIR_LABELS

# What a page's text stands in, beside its own catalogue.
SHARED = (SITE, "exercises", "drawings", "docstrings")

THEMES = (
    ("sphinx", "pydata_sphinx_theme", "locale"),
    ("booktheme", "sphinx_book_theme", "theme/sphinx_book_theme/static/locales"),
)
LABELS = "|".join(map(re.escape, THEIR_LABELS))
LABELLED = re.compile(rf'(\s(?:title|aria-label|data-bs-title)=")({LABELS})"')
HAN = re.compile("[\u3400-\u9fff]")
WORD = 8  # characters, up to which it is a word and no sentence
BEFORE, AFTER = re.compile(f"(?:{WIDE.pattern}) $"), re.compile(f" (?:{WIDE.pattern})")
SHEET = Path(__file__).with_name("zh.css")

# By page: each heading in English, by what it is in the other language.
HEADINGS: dict[str, dict[str, str]] = {}


def configure(app: Sphinx, config) -> None:
    config.language = CATALOGUE[language()]
    # Sphinx and the themes have read theirs before, in the language of `_config.yml`.
    app._init_i18n()
    for catalogue, theme, folder in THEMES:
        place = Path(importlib.util.find_spec(theme).origin).parent / folder
        app.add_message_catalog(catalogue, str(place))
    config.html_title = said(config.html_title)
    config.project = said(config.project)
    config.author = said(config.author)
    # Chinese quotation marks are typed.
    config.smartquotes = False
    options = config.html_theme_options
    options["search_bar_text"] = said(options["search_bar_text"])
    options["logo"] = {**options["logo"], "text": said(options["logo"]["text"])}
    folder = Path(app.doctreedir).parent / "scripts"
    folder.mkdir(parents=True, exist_ok=True)
    for path in Path(app.srcdir, "book", "_static").glob("*.js"):
        text = exchanged(path.read_text(encoding="utf-8"))
        (folder / path.name).write_text(text, encoding="utf-8")
    words = folder.parent / "search_words.txt"
    words.write_text("".join(f"{term.zh}\n" for term in terms().values()), encoding="utf-8")
    config.html_search_options = {"dict": str(words)}
    (folder / SHEET.name).write_text(SHEET.read_text(encoding="utf-8"), encoding="utf-8")
    config.html_static_path.append(str(folder))
    site_map = config.external_site_map
    for name in site_map:
        for tree in site_map[name].subtrees:
            tree.caption = tree.caption and said(tree.caption)


def on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    for name in (docname, *SHARED):
        if path_of(name).is_file():
            app.env.note_dependency(str(path_of(name)))
    lookup = partial(in_chinese, catalogue=docname)
    HEADINGS[docname] = {}
    for text in texts(docname):
        HEADINGS[docname] |= headings(with_included(text, path.parent), lookup)
    if path.suffix == ".md":
        for included in INCLUDE.findall(source[0]):
            app.env.note_included(str(path.parent / included))
        source[0] = translated(with_included(source[0], path.parent), lookup)
        return
    app.env.note_dependency(str(beside(path)))
    made = notebook_in_chinese(nbformat.reads(source[0], as_version=4), docname)
    source[0] = nbformat.writes(made)
    kept = notebooks(app) / f"{docname}.ipynb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(nbformat.writes(moved(made, path.parent)) + "\n", encoding="utf-8")


def notebooks(app: Sphinx) -> Path:
    """Where the notebooks that a reader downloads are kept from one build to the next."""
    return Path(app.doctreedir).parent / "notebooks"


def put_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Sphinx copies the files that it has read, which are the English ones."""
    if exception or app.builder.name != "html" or not app.config.html_copy_source:
        return
    for path in notebooks(app).rglob("*.ipynb"):
        shutil.copy(path, Path(app.outdir, "_sources", path.relative_to(notebooks(app))))


def mark_emphasis(app: Sphinx, doctree: nodes.document) -> None:
    """Tell the style sheet a Chinese word that is stressed from a sentence all in italics."""
    for emphasis in doctree.findall(nodes.emphasis):
        if HAN.search(emphasis.astext()):
            block = emphasis.parent
            stressed = sum(len(phrase.astext()) for phrase in block.findall(nodes.emphasis))
            is_told = len(emphasis.astext()) > WORD or stressed > len(block.astext()) / 2
            emphasis["classes"].append("told" if is_told else "dotted")
            close_up(emphasis)


def close_up(emphasis: nodes.emphasis) -> None:
    """Take out the spaces between a Chinese word and its neighbours, which its * needed."""
    place, siblings = emphasis.parent.index(emphasis), emphasis.parent.children
    word = emphasis.astext()
    before = siblings[place - 1] if place else None
    after = siblings[place + 1] if place + 1 < len(siblings) else None
    if isinstance(before, nodes.Text) and WIDE.match(word) and BEFORE.search(before):
        emphasis.parent.replace(before, nodes.Text(before[:-1]))
    if isinstance(after, nodes.Text) and WIDE.match(word[-1]) and AFTER.match(after):
        emphasis.parent.replace(after, nodes.Text(after[1:]))


def label(app: Sphinx, exception: Exception | None) -> None:
    """Say the theme's labels that it has no Chinese for, and close a gap of Sphinx's Chinese."""
    if exception or app.builder.name != "html":
        return
    for path in own_pages(Path(app.outdir)):
        page = path.read_text(encoding="utf-8").replace("() （", "()（")
        path.write_text(LABELLED.sub(in_words, page), encoding="utf-8")


def in_words(match: re.Match) -> str:
    """
    >>> in_words(LABELLED.search('<a title="Main">'))
    ' title="Main"'
    """
    return f'{match[1]}{said(match[2])}"'


def keep_addresses() -> None:
    """Give a heading the ids that it has in English."""
    original = DocutilsRenderer.generate_heading_target

    def generate(self, token, level, node, title_node) -> None:
        known = HEADINGS.get(getattr(self.sphinx_env, "docname", ""), {})
        english = known.get(token.children[0].content) if token.children else None
        if english is None:
            original(self, token, level, node, title_node)
            return
        tree = SyntaxTreeNode(self.md.parse(f"# {english}", {})).children[0]
        title = nodes.title(english)
        title.document = self.document
        with self.current_node_context(title):
            self.render_children(tree)
        before = set(self._heading_slugs)
        original(self, tree, level, node, title)
        for slug in set(self._heading_slugs) - before:
            line, place, _ = self._heading_slugs[slug]
            self._heading_slugs[slug] = (line, place, clean_astext(title_node))

    DocutilsRenderer.generate_heading_target = generate


def setup(app: Sphinx) -> dict:
    if language() != ENGLISH:
        keep_addresses()
        app.add_search_language(ChineseSearch)
        # After the table of contents was read.
        app.connect("config-inited", configure, priority=950)
        app.connect("build-finished", put_notebooks)
        app.connect("build-finished", label)
        app.add_css_file(SHEET.name)
        app.connect("doctree-read", mark_emphasis)
        # Before the exercises get their fields.
        app.connect("source-read", on_source_read, priority=100)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
