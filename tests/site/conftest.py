"""The pages of the built site, and a way to open one."""

from __future__ import annotations

import pytest

from tests.conftest import HTML
from translation.checking import is_complete


@pytest.fixture(scope="session")
def all_pages():
    """Every page of the site, as its path under _build/html.

    Not among them is index.html at the root, which only leads on to the landing page.
    """
    found = sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if not {"_static", "_sources"} & set(path.relative_to(HTML).parts)
    )
    assert len(found) > 5, "the site is not built: run `make book`"
    pages = [page for page in found if page not in {"index.html", "zh/index.html"}]
    # Half in English, the Chinese ones are not yet what they are to be.
    return pages if is_complete() else [page for page in pages if not page.startswith("zh/")]


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
