"""A link to a page, shared: title, text and picture stand in the page's head."""

from __future__ import annotations

import re
from html import unescape

from tests.conftest import HTML

CARD = re.compile(r'<meta property="og:(\w+)" content="([^"]*)" />')
NO_PAGE_OF_OURS = {"genindex.html", "search.html"}


def card(name):
    return dict(CARD.findall((HTML / name).read_text(encoding="utf-8")))


def test_each_page_has_title_text_and_picture(all_pages):
    pages = [name for name in all_pages if name not in NO_PAGE_OF_OURS and "slides" not in name]
    cards = {name: card(name) for name in pages}
    assert {found["site_name"] for found in cards.values()} == {"Attention, Number by Number"}
    wrong = {
        name: found
        for name, found in cards.items()
        if not found.get("title") or len(found.get("description", "")) < 40
    }
    assert wrong == {}
    pictures = {found["image"].rpartition("/_static/")[2] for found in cards.values()}
    assert all((HTML / "_static" / picture).is_file() for picture in pictures), pictures


def test_a_chapter_says_its_goals_in_words():
    text = unescape(card("chapters/04_by_hand.html")["description"])
    assert text.startswith("After this chapter you can calculate attention by hand")
    assert "√d_k" in text
    assert "\\" not in text
