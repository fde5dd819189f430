"""What waits for a reader who comes near is not loaded before."""

from __future__ import annotations

import re

import pytest

from benchmarks.visits import asked_for
from tests.conftest import HTML

pytestmark = pytest.mark.gate

LARGE = "chapters/11_cost.html", "chapters/10_whole_model.html"


@pytest.mark.parametrize("page", LARGE)
def test_large_data_wait_for_a_reader_who_comes_near(browser, open_page, site, page):
    """They stand in no page, and are read when their place is scrolled to."""
    text = (HTML / page).read_text(encoding="utf-8")
    named = re.findall(r'<attention-explorer name="[\w-]+" payload="([\w-]+)"', text)
    assert named
    asked_at_once = asked_for(browser, f"{site}/{page}")
    assert not any(f"/payloads/{name}.js" in url for name in named for url in asked_at_once)
    opened = open_page(f"{site}/{page}")
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    for name in named:
        place = opened.locator(f'attention-explorer[payload="{name}"]')
        place.evaluate("element => element.scrollIntoView()")
        place.locator(".ax-root").wait_for()
        assert any(f"/payloads/{name}.js" in url for url in asked)


def test_the_site_has_no_source_map():
    static = HTML / "_static"
    assert list(static.rglob("*.map")) == []
    for path in [*static.rglob("*.js"), *static.rglob("*.css")]:
        assert "sourceMappingURL" not in path.read_text(encoding="utf-8"), path.name
