"""A tab of a browser in a few verbs, the same over Playwright and over WebDriver.

Chromium, Firefox and WebKit run the same tests by it. Playwright drives what it has a build of,
and any Firefox by WebDriver BiDi; WebKitGTK's driver speaks WebDriver, by way of Selenium.
"""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from machine.browser import ARGUMENTS, Browser
from tests.patience import PATIENCE, TO_START

# What a page says that nobody caught, from its first script on.
HEARD = """window.heard = [];
addEventListener("error", (event) => heard.push(event.message || `no ${event.target.src}`), true);
addEventListener("unhandledrejection", (event) => heard.push(String(event.reason)));
const { error } = console;
console.error = (...what) => { heard.push(what.join(" ")); error(...what); };
"""
# Of a page that is asked for in this way no script runs; what a test evaluates does.
SCRIPTS_OFF = "?scripts=off"
# Some drivers cannot print: the rules for paper hold on the screen, and the page is told.
ON_PAPER = """() => {
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) {
    if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
  }
  dispatchEvent(new Event("beforeprint"));
}"""


class Tab(ABC):
    """One tab. `evaluate` takes a function of one argument, as JavaScript; selectors are CSS."""

    @abstractmethod
    def open(self, address: str) -> None: ...

    @abstractmethod
    def evaluate(self, script: str, arg: Any = None) -> Any: ...

    @abstractmethod
    def click(self, css: str) -> None: ...

    @abstractmethod
    def point(self, css: str) -> None: ...

    @abstractmethod
    def press(self, key: str) -> None:
        """A key by its name, "ArrowDown", "Shift+Tab" or "a"."""

    @abstractmethod
    def picture(self) -> bytes:
        """What is seen, as a PNG."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None: ...

    @abstractmethod
    def type(self, text: str) -> None: ...

    @abstractmethod
    def reload(self) -> None: ...

    @abstractmethod
    def wait(self, script: str, arg: Any = None) -> Any:
        """What the script gives, once that is true."""

    def texts(self, css: str) -> list[str]:
        return self.evaluate(
            "(css) => Array.from(document.querySelectorAll(css), (one) => one.textContent)", css
        )

    def text(self, css: str) -> str:
        """Of the first element that there is."""
        return self.texts(css)[0]

    def until_text(self, css: str, text: str) -> None:
        self.wait(
            "([css, text]) => document.querySelector(css)?.textContent.includes(text)", [css, text]
        )

    def until_there(self, css: str) -> None:
        self.wait("(css) => document.querySelector(css)", css)

    def on_paper(self) -> None:
        self.evaluate(ON_PAPER)

    @property
    def heard(self) -> list[str]:
        return self.evaluate("() => window.heard || []")


class PlaywrightTab(Tab):
    def __init__(self, page) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE * 1000)

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="load")

    def evaluate(self, script: str, arg: Any = None) -> Any:
        return self.page.evaluate(script, arg)

    def wait(self, script: str, arg: Any = None) -> Any:
        # Not in each frame, or a page with much to draw never gets to it.
        return self.page.wait_for_function(script, arg=arg, polling=50).json_value()

    def click(self, css: str) -> None:
        self.page.locator(css).first.click()

    def point(self, css: str) -> None:
        self.page.locator(css).first.hover()

    def press(self, key: str) -> None:
        self.page.keyboard.press("Space" if key == " " else key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def reload(self) -> None:
        self.page.reload(wait_until="load")

    def picture(self) -> bytes:
        return self.page.screenshot()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})


class WebDriverTab(Tab):
    # A promise is waited for; what it throws is thrown here.
    RUN = """const done = arguments[arguments.length - 1];
    Promise.resolve().then(() => (%s)(arguments[0]))
      .then((value) => done({ value }), (error) => done({ error: String(error) }));"""
    MODIFIERS = ("Shift", "Control", "Alt")

    def __init__(self, driver) -> None:
        self.driver = driver
        driver.set_script_timeout(PATIENCE)
        driver.set_page_load_timeout(PATIENCE)

    def open(self, address: str) -> None:
        self.driver.get(address)
        # A driver takes another fragment of the same page for the page that it has.
        self.wait("() => document.readyState === 'complete'")

    def evaluate(self, script: str, arg: Any = None) -> Any:
        answer = self.driver.execute_async_script(self.RUN % script, arg)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def wait(self, script: str, arg: Any = None) -> Any:
        from selenium.webdriver.support.wait import WebDriverWait

        waiting = WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02)
        return waiting.until(lambda _: self.evaluate(script, arg), f"{script} {arg or ''}")

    def one(self, css: str):
        from selenium.webdriver.common.by import By

        self.until_there(css)
        self.evaluate(
            "(css) => document.querySelector(css).scrollIntoView({ block: 'center' })", css
        )
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def click(self, css: str) -> None:
        self.one(css).click()

    def point(self, css: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(self.one(css)).perform()

    def press(self, key: str) -> None:
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        *held, last = key.split("+") if len(key) > 1 else [key]
        names = {name.replace("_", "").lower(): getattr(Keys, name) for name in vars(Keys)}
        chain = ActionChains(self.driver)
        for name in held:
            chain.key_down(names[name.lower()])
        chain.send_keys(last if len(last) == 1 else names[last.lower()])
        for name in held:
            chain.key_up(names[name.lower()])
        chain.perform()

    def type(self, text: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(text).perform()

    def reload(self) -> None:
        self.driver.refresh()

    def picture(self) -> bytes:
        return self.driver.get_screenshot_as_png()

    def resize(self, width: int, height: int) -> None:
        self.driver.set_window_size(width, height)
        self.wait("(width) => innerWidth === width", width)


class Engine:
    """A browser: engine(dark=True) gives a tab of it, where the system's colours are dark.

    Playwright's serve one tab after another, each with a profile of its own; a browser that has
    crashed is started anew, and so is WebKitGTK's for each tab.
    """

    def __init__(self, browser: Browser, playwright: Any) -> None:
        self.browser, self.playwright = browser, playwright
        self.started: dict[bool, Any] = {}

    @contextmanager
    def __call__(self, *, dark: bool = False) -> Iterator[Tab]:
        if self.browser.driver == "webdriver":
            with webkitgtk(self.browser, dark) as tab:
                yield tab
            return
        is_told = self.browser.driver == "bidi"  # when it starts, and not for each tab
        scheme = {} if is_told else {"color_scheme": "dark" if dark else "light"}
        context = self.of_colours(dark and is_told).new_context(
            viewport={"width": 1280, "height": 800}, **scheme
        )
        try:
            yield PlaywrightTab(context.new_page())
        finally:
            with suppress(Exception):  # it has crashed: the test has said so
                context.close()

    def of_colours(self, dark: bool) -> Any:
        started = self.started.get(dark)
        if started is None or not started.is_connected():
            started = self.started[dark] = self.start(dark)
        return started

    def start(self, dark: bool) -> Any:
        how = {"executable_path": self.browser.program, "timeout": TO_START * 1000}
        if self.browser.name == "chromium":
            how["args"] = ARGUMENTS
        if self.browser.driver == "bidi":
            how |= {
                "channel": "moz-firefox",
                "firefox_user_prefs": {"ui.systemUsesDarkTheme": int(dark)},
            }
        return getattr(self.playwright, self.browser.name).launch(headless=True, **how)

    def close(self) -> None:
        for started in self.started.values():
            started.close()


@contextmanager
def webkitgtk(browser: Browser, dark: bool) -> Iterator[Tab]:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.webkitgtk.options import Options
    from selenium.webdriver.webkitgtk.service import Service

    with screen() as display:
        options = Options()
        options.binary_location = browser.program
        options.add_argument("--automation")
        theme = "Adwaita:dark" if dark else "Adwaita"
        service = Service(env={**os.environ, "DISPLAY": display, "GTK_THEME": theme})
        with warnings.catch_warnings():
            # Selenium's own constructor passes an argument that Selenium will drop.
            warnings.simplefilter("ignore", DeprecationWarning)
            driver = webdriver.WebKitGTK(options=options, service=service)
        try:
            tab = WebDriverTab(driver)
            tab.open("about:blank")
            tab.resize(1280, 800)
            yield tab
        finally:
            with suppress(WebDriverException):  # it has crashed: the test has said so
                driver.quit()


@contextmanager
def screen() -> Iterator[str]:
    """A screen that nobody sees, on the first number that is free."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Gives each page what listens to its errors."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if self.path == "/heard.js":
            return self.give(HEARD.encode(), "text/javascript")
        if path.suffix != ".html" or not path.is_file():
            return super().do_GET()
        text = path.read_text(encoding="utf-8")
        text = text.replace("<head>", '<head><script src="/heard.js"></script>', 1)
        policy = "script-src 'none'" if SCRIPTS_OFF in self.path else None
        return self.give(text.encode(), "text/html; charset=utf-8", policy)

    def give(self, body: bytes, kind: str, policy: str | None = None):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def served(folder, handler=_Handler) -> Iterator[str]:
    """The address of a folder's pages, each of which knows what it has `heard`."""
    ours = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ours) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
