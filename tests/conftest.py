"""What several folders of tests share: a headless browser, and the built site over http."""

from __future__ import annotations

import http.server
from functools import cache
from pathlib import Path

import pytest

from machine.browser import ARGUMENTS, found, present
from tests.engines import Engine, served
from tests.patience import PATIENCE, TO_START
from tests.processors import pretend

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"

pretend.enter()  # all tests of a run, where PRETEND_PROCESSOR asks for it


@pytest.fixture(scope="session")
def playwright():
    """The one Playwright of this process."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE * 1000)

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """A headless Chromium (Playwright's Browser). Make a context or page of it in each test."""
    path = present()
    assert path, "no Chromium or Chrome found: run the tests with `make test`, which gets one"
    browser = playwright.chromium.launch(
        executable_path=path, headless=True, args=ARGUMENTS, timeout=TO_START * 1000
    )
    # Playwright's own 30 s, and 5 s for what is expected, decide on a busy machine.
    browser.new_context = patient(browser.new_context)
    browser.new_page = patient(browser.new_page)
    yield browser
    browser.close()


# In Chromium, other tests ask the same and more: the quick ones of the explorer and of the site,
# test_visits.py of each page, and node, of its engine, for all numbers.
@pytest.fixture(
    scope="session",
    params=[pytest.param("chromium", marks=pytest.mark.deep), "firefox", "webkit"],
)
def engine(request, playwright):
    """One of three browsers: engine(dark=True) gives a tab of it."""
    browser = found(request.param)
    if isinstance(browser, str):
        pytest.skip(f"{request.param} is missing: {browser}")
    engine = Engine(browser, playwright)
    yield engine
    engine.close()


@pytest.fixture
def tab(engine):
    """A tab of a browser; at the end its page must have met no error that nobody caught."""
    with engine() as tab:
        yield tab
        assert tab.heard == []


def patient(new):
    """The same, but what it makes waits for as long as tests do."""

    def made(*args, **how):
        opened = new(*args, **how)
        opened.set_default_timeout(PATIENCE * 1000)
        return opened

    return made


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def translated_once():
    """The stored translator answers a question once: an exercise's many answers ask the same."""
    from attn_core.translators import transformer

    model, recorded, translate = transformer.stored(), transformer.recorded, transformer.translate
    as_stored = {name: weight.clone() for name, weight in model.state_dict().items()}
    steps = cache(lambda *words: recorded(model, *words))
    answers = cache(lambda english, off: translate(model, english, transformer.Changes(*off)))

    def answer(asked, english, changes=None):
        if asked is not model or changes is None:
            return translate(asked, english, changes)
        return answers(tuple(english), tuple(map(tuple, vars(changes).values())))

    def record(asked, *words):
        return steps(*map(tuple, words)) if asked is model else recorded(asked, *words)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(transformer, "stored", lambda: model)
        patched.setattr(transformer, "recorded", record)
        patched.setattr(transformer, "translate", answer)
        yield
    assert all(weight.equal(as_stored[name]) for name, weight in model.state_dict().items())


@pytest.fixture(scope="session")
def site():
    """The address of the built site, "http://127.0.0.1:<port>", without a slash at its end."""
    assert (HTML / "index.html").is_file(), "the site is not built: run `make book`"
    with served(HTML, _Quiet) as address:
        yield address


def pytest_terminal_summary(terminalreporter):
    """Prints what a test has to say besides that it passed: record_property("summary", …)."""
    for report in terminalreporter.getreports("passed"):
        for name, text in getattr(report, "user_properties", ()):
            if name == "summary":
                terminalreporter.write_line(text)
