"""What several folders of tests share: a headless browser, and the built site over http."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path

import pytest

from tools.browser import ARGUMENTS, present

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium (Playwright's Browser). Make a context or page of it in each test."""
    from playwright.sync_api import sync_playwright

    path = present()
    assert path, "no Chromium or Chrome found: run the tests with `make test`, which gets one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def _served(folder):
    handler = functools.partial(_Quiet, directory=str(folder))
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)


@pytest.fixture(scope="session")
def site():
    """The address of the built site, "http://127.0.0.1:<port>", without a slash at its end."""
    assert (HTML / "index.html").is_file(), "the site is not built: run `make book`"
    with _served(HTML) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def pytest_terminal_summary(terminalreporter):
    """Prints what a test has to say besides that it passed: record_property("summary", …)."""
    for report in terminalreporter.getreports("passed"):
        for name, text in getattr(report, "user_properties", ()):
            if name == "summary":
                terminalreporter.write_line(text)
