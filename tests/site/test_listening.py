"""What is heard of pages: a request cut short by leaving its page is no fault, a lost file is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.conftest import HTML
from tests.site.listening import Listener

PAGE = "book/about.html"
FILES = {"_static/explorer.css": [], "_static/no-such-file.css": ["lost"]}


@pytest.mark.parametrize(("name", "told"), FILES.items(), ids=["there", "lost"])
def test_a_request_cut_short_is_asked_again(browser, site, name, told):
    context = browser.new_context()
    listener = Listener(context, lambda url: url.startswith(site))
    page = context.new_page()
    page.goto(f"{site}/{PAGE}")
    # As it ends when its page is left; browsers and their drivers differ in whether they tell that.
    context.route(f"**/{name}", lambda route: route.abort("aborted"))
    listener.current = "the first"
    with page.expect_event("requestfailed"):
        page.evaluate("url => { new Image().src = url; }", f"{site}/{name}")
    faults = listener.faults()
    context.close()
    assert faults == [("the first", message, f"{site}/{name}") for message in told]


@pytest.mark.parametrize(("name", "told"), FILES.items(), ids=["there", "lost"])
def test_so_is_a_file(browser, name, told):
    url = (HTML / name).as_uri()
    context = browser.new_context()
    listener = Listener(context, lambda url: True)
    listener.failed(SimpleNamespace(failure="net::ERR_ABORTED", url=url))
    faults = listener.faults()
    context.close()
    assert faults == [("", message, url) for message in told]


def test_every_fault_is_heard(browser, site):
    context = browser.new_context()
    listener = Listener(context, lambda url: url.startswith(site))
    page = context.new_page()
    listener.current = "about"
    page.goto(f"{site}/{PAGE}")
    assert listener.faults() == []
    with page.expect_response("**/no-such.css"):
        page.evaluate("() => fetch('no-such.css').then(() => console.error('said'))")
    with page.expect_event("requestfailed"):
        page.evaluate("() => fetch('https://example.invalid/').catch(() => null)")
    with context.expect_event("weberror"):
        page.evaluate("() => { setTimeout(() => { throw new Error('thrown'); }); }")
    told = " ".join(str(fault) for fault in listener.faults())
    context.close()
    for word in ("no-such.css", "said", "outside", "example.invalid", "ERR_NAME", "thrown"):
        assert word in told
    assert {fault[0] for fault in listener.found} == {"about"}
