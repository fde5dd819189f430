"""The pages of the built site, and a way to open one."""

from __future__ import annotations

import pytest

from tests.conftest import HTML


@pytest.fixture(scope="session")
def all_pages():
    """Every page of both editions, as its path under _build/html.

    Not among them are the index.html at the roots, which only lead on to the landing page.
    """
    found = sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if not {"_static", "_sources"} & set(path.relative_to(HTML).parts)
    )
    assert len(found) > 5, "the site is not built: run `make book`"
    return [page for page in found if page not in {"index.html", "zh/index.html"}]


@pytest.fixture(params=["", "zh/"], ids=["en", "zh"])
def edition(request):
    """What the addresses of an edition begin with, for a test of what is said or laid out."""
    return request.param


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
