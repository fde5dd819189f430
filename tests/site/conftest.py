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


# What is asked of one page after another at length, or in each browser, is asked of these; every
# page is visited once by test_visits.py, and asked all of it by the deep tests.
OF_EACH_KIND = [
    "book/about.html",
    "book/for_engineers.html",
    "book/index.html",
    "book/worksheet_by_hand.html",
    "chapters/03_self_attention.html",
    "chapters/09_transformer.html",
    "chapters/14_mistakes.html",
    "zh/book/index.html",
    "zh/chapters/06_masking.html",
]


@pytest.fixture(params=["one of each kind", pytest.param("all", marks=pytest.mark.deep)])
def kinds(request, all_pages):
    """Pages, for a test that opens each of them."""
    return all_pages if request.param == "all" else OF_EACH_KIND


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
