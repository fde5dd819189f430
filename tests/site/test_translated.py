"""Each word of a page is in a catalogue, so that nothing of the English edition stays behind."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest
from bs4 import BeautifulSoup, Comment, SoupStrainer

from publishing.translation import pages
from publishing.translation.__main__ import all_messages
from publishing.translation.markdown import has_words, parser
from tests.conftest import HTML

pytestmark = pytest.mark.gate

# What is no prose of a page: code, formulas, what runs, what a cell has printed; and what is made
# of messages with numbers and names put in: the boxes of exercises, the entries of the reference.
APART = (
    "script, style, noscript, pre, code, math, svg, .cell_output, .sig, "
    ".exercise, dl.py, summary .collapsed, summary .expanded, "
    "attention-explorer, attention-model, attention-training, attention-diagnosis, "
    "attention-answer, .prev-next-footer"
)
# What Sphinx and the theme say, in the language of their own catalogues.
THEIRS = {"for", "in", "class", "Raises", "Return type", "property", "Parameters", "Returns"}


def bare(text: str) -> str:
    """A text's letters, whatever stands between them."""
    return re.sub(r"[^a-z]+", " ", html.unescape(text).lower()).strip()


@cache
def shown(message: str) -> str:
    return bare(re.sub("<[^>]*>", "", parser().renderInline(message)))


@cache
def shared() -> str:
    """What any page may say: the words of the site, of exercises and of docstrings."""
    messages = all_messages()
    names = ("site", "exercises", "docstrings")
    return " | ".join(shown(message) for name in names for message, _ in messages[name])


def unsaid(page: str, known: str) -> list[str]:
    """The text of a page that no message has."""
    article = BeautifulSoup(page, "lxml", parse_only=SoupStrainer(["article", "footer"]))
    for apart in article.select(APART):
        apart.decompose()
    strings = [text for text in article.find_all(string=True) if not isinstance(text, Comment)]
    texts = [text.replace("\N{NO-BREAK SPACE}", " ") for text in strings]
    return [
        text.strip()
        for text in texts
        if has_words(text) and text.strip() not in THEIRS and bare(text) not in known
    ]


@pytest.mark.parametrize("name", [name for name in pages.docnames() if name != pages.README])
def test_every_word_of_a_page_is_a_message(name):
    own = " | ".join(shown(piece.message) for piece in pages.messages(name))
    texts = unsaid((HTML / f"{name}.html").read_text(encoding="utf-8"), f"{own} | {shared()}")
    assert texts == []


def test_a_word_that_is_no_message_is_found():
    page = "<article><p>Known words.</p><p>Unknown <code>x</code> ones.</p></article>"
    assert unsaid(page, "known words") == ["Unknown", "ones."]
