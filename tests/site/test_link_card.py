"""A link to a page, shared: title, text and picture stand in the page's head."""

from __future__ import annotations

import re
from html import unescape

from tests.conftest import HTML

CARD = re.compile(r'<meta property="og:(\w+)" content="([^"]*)" />')
NO_PAGE_OF_OURS = {"genindex.html", "search.html", "zh/genindex.html", "zh/search.html"}


def card(name):
    return dict(CARD.findall((HTML / name).read_text(encoding="utf-8")))


def test_each_page_has_title_text_and_picture(all_pages):
    pages = [name for name in all_pages if name not in NO_PAGE_OF_OURS and "slides" not in name]
    cards = {name: card(name) for name in pages}
    names = {name.startswith("zh/"): tags["site_name"] for name, tags in cards.items()}
    assert names == {False: "Attention, Number by Number", True: "逐数读懂注意力"}
    wrong = {
        name: tags
        for name, tags in cards.items()
        # A Chinese sentence has half as many letters.
        if not tags.get("title")
        or len(tags.get("description", "")) < (20 if name.startswith("zh/") else 40)
    }
    assert wrong == {}
    assert all(tags["url"].endswith(f"/{name}") for name, tags in cards.items())
    pictures = {tags["image"].rpartition("/_static/")[2] for tags in cards.values()}
    assert all((HTML / "_static" / picture).is_file() for picture in pictures), pictures


def test_a_chinese_card_is_chinese(all_pages):
    pages = [name for name in all_pages if name.startswith("zh/")]
    cards = {name: card(name) for name in pages}
    said = {name: tags["description"] for name, tags in cards.items() if tags}
    assert len(said) > 25
    assert {name: text for name, text in said.items() if not re.search("[一-鿿]", text)} == {}
    assert said["zh/chapters/04_by_hand.html"].startswith("学完这一章，你能")


def test_a_chapter_says_its_goals_in_words():
    text = unescape(card("chapters/04_by_hand.html")["description"])
    assert text.startswith("After this chapter you can calculate attention by hand")
    assert "√d_k" in text
    assert "\\" not in text
