"""The pages of the built site, and a way to open one."""

from __future__ import annotations

import pytest

from tests.conftest import HTML

# Menus glide and folds fade in: half-faded text has no contrast, and what glides covers others.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


@pytest.fixture(scope="session")
def all_pages():
    """Every page of both editions, as its path under _build/html.

    Not among them are the index.html at the roots, which only lead on to the landing page.
    """
    pages = sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if not {"_static", "_sources"} & set(path.relative_to(HTML).parts)
    )
    assert len(pages) > 5, "the site is not built: run `make book`"
    return [page for page in pages if page not in {"index.html", "zh/index.html"}]


# A Chinese page is its English one in other words, which a quick test holds: so the slow tests open
# one of each kind, and the deep ones all.
IN_CHINESE = {
    "zh/book/about.html",
    "zh/book/index.html",
    "zh/book/worksheet_by_hand.html",
    "zh/chapters/06_masking.html",
    "zh/chapters/12_mistakes.html",
}
PARTS = {
    "chapters": lambda page: page.startswith("chapters/"),
    "others": lambda page: not page.startswith(("chapters/", "zh/")),
    "zh": lambda page: page in IN_CHINESE,
    "zh, the others": lambda page: page.startswith("zh/") and page not in IN_CHINESE,
}


DEEP = {"zh, the others"}


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.deep) if name in DEEP else name for name in PARTS]
)
def part(request, all_pages):
    """The pages of a part of the book, for a test that opens each of them."""
    return [page for page in all_pages if PARTS[request.param](page)]


@pytest.fixture(params=["", "zh/"], ids=["en", "zh"])
def edition(request):
    """What the addresses of an edition begin with, for a test of what is said or laid out."""
    return request.param


def explorers_in(pages) -> int:
    """How many explorers these pages have, by their HTML."""
    return sum(
        (HTML / name).read_text(encoding="utf-8").count("<attention-explorer") for name in pages
    )


# The same, where the Chinese page shows nothing that the English one has not but its words.
ENGLISH_FIRST = pytest.mark.parametrize(
    "edition", ["", pytest.param("zh/", marks=pytest.mark.slow)], ids=["en", "zh"]
)


@pytest.fixture
def open_page(browser):
    """open_page(address, **context options) gives a page with the site's page loaded."""
    contexts = []

    def open_page(address, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.goto(address, wait_until="load")
        return page

    yield open_page
    for context in contexts:
        context.close()
