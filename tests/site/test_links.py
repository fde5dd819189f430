"""Every link inside the site leads somewhere, to the very place on the page."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from tests.conftest import HTML


class Places(HTMLParser):
    """The ids of a page, what it links to, and its explorers."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.explorers = set(), [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if (
                tag in ("attention-explorer", "attention-model", "attention-training")
                and name == "name"
            ):
                self.explorers.add(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)


def broken(places, path):
    """The links of a page that lead nowhere."""
    for link in places[path].links:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if url.fragment.startswith("x-"):  # the state of an explorer
            if url.fragment[2:].partition("?")[0] not in places[target].explorers:
                yield link
            continue
        ids = places[target].ids if target in places else None
        is_there = target.is_file() and (
            not url.fragment or ids is None or unquote(url.fragment) in ids
        )
        if not is_there:
            yield link


def test_internal_links_resolve(all_pages):
    places = {(HTML / page).resolve(): Places(HTML / page) for page in ["index.html", *all_pages]}
    by_page = {path.name: list(broken(places, path)) for path in places}
    assert {name: links for name, links in by_page.items() if links} == {}


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "a.html"
    page.write_text(
        '<a href="b.html">b</a> <a href="#there">c</a> <p id="here">'
        '<attention-explorer name="one"></attention-explorer>'
        '<a href="#x-one?stage=scores">d</a> <a href="#x-two?stage=scores">e</a>',
        encoding="utf-8",
    )
    links = list(broken({page: Places(page)}, page))
    assert links == ["b.html", "#there", "#x-two?stage=scores"]
