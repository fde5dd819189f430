"""A bare page with the explorer alone, under a strict content security policy."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from attn_core import causal, toy, trace
from attn_core.views import explore, script
from tests.engines import HEARD, served
from tests.page_modules import OF_ATTENTION, order

ROOT = Path(__file__).parents[2]
VIEWS = ROOT / "attn_core" / "views"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-src 'none'"


class _Strict(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        if self.path.partition("?")[0].endswith(".html"):  # the next test writes another one
            self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *args):
        pass


# What of a page can be set again for the next test.
MEDIA = ("media", "color_scheme", "reduced_motion", "forced_colors")
SIZE = {"width": 1280, "height": 720}


class Tabs:
    """Pages that one test after another uses: to make a page takes longer than to load it."""

    def __init__(self, browser):
        self.browser, self.idle, self.heard, self.asked = browser, [], [], []

    def take(self, *, viewport=SIZE, **media):
        page = self.idle.pop() if self.idle else self.listened(self.browser.new_context())
        page.set_viewport_size(viewport)
        page.emulate_media(**{name: media.get(name, "null") for name in MEDIA})
        return page

    def listened(self, context):
        page = context.new_page()
        page.on("console", lambda message: self.heard.append(message.text))
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        return page

    def give_back(self, page):
        page.mouse.move(0, 0)  # or it would point at something of the next page
        page.goto("about:blank")  # or another fragment would be the same page
        self.idle.append(page)


class Bare:
    """Writes bare pages into a folder and opens them; hears everything that the console says."""

    def __init__(self, folder, tabs, address):
        self.folder, self.tabs, self.address = folder, tabs, address
        self.taken, self.contexts, self.heard, self.asked = [], [], tabs.heard, tabs.asked

    def write(self, body, theme="light", script="module", html='lang="en"'):
        tag = '<script type="module" src="explorer.js"></script>'
        if script == "classic":
            tag = '<script defer src="classic/explorer.js"></script>'
        text = (
            f'<!doctype html>\n<html {html} data-theme="{theme}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>A bare page</title><link rel="stylesheet" href="explorer.css">{tag}</head>'
            f"<body><main><h1>A bare page</h1>\n{body}\n<p id='after'>after</p></main>"
            "</body></html>"
        )
        path = self.folder / "page.html"
        path.write_text(text, encoding="utf-8")
        return path

    def new_page(self, **how):
        """A page that the test has for itself."""
        self.contexts.append(self.tabs.browser.new_context(**how))
        return self.tabs.listened(self.contexts[-1])

    def open(
        self,
        *bodies,
        over="http",
        fragment="",
        scripts=True,
        script=None,
        theme="light",
        html='lang="en"',
        alone=False,
        **how,
    ):
        """alone: in a context that no other test uses, for what would stay, as a clock does."""
        body = "\n".join(body if isinstance(body, str) else body.html for body in bodies)
        script = script or ("module" if over == "http" else "classic")
        path = self.write(body, theme, script, html)
        if scripts and not alone and set(how) <= {"viewport", *MEDIA}:
            page = self.tabs.take(**how)
            self.taken.append(page)
        else:
            page = self.new_page(java_script_enabled=scripts, **how)
        address = f"{self.address}/page.html" if over == "http" else path.as_uri()
        page.goto(address + fragment)
        return page

    def show(self, page, fragment):
        """The same page, opened anew at another place."""
        address = page.url.partition("#")[0]
        page.goto("about:blank")
        page.goto(address + fragment)


@contextmanager
def heard_page(browser, address):
    """A page of its own at an address; its `heard` is what it says and what nobody catches."""
    context = browser.new_context()
    page = context.new_page()
    page.heard = []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.goto(address)
    yield page
    context.close()


def faults(page, *context, **options):
    """What axe finds wrong: the rule, and the first element that breaks it."""
    found = Axe().run(page, *context, options=options).response["violations"]
    return [(fault["id"], fault["nodes"][0]["html"]) for fault in found]


def write_three(folder, name, body, over):
    """A bare page for any browser; one that is read from a folder brings what listens to errors."""
    heard = '<script src="heard.js"></script>' if over == "file" else ""
    (folder / "heard.js").write_text(HEARD, encoding="utf-8")
    (folder / name).write_text(
        f'<!doctype html>\n<html lang="en"><head>{heard}<meta charset="utf-8"><title>three'
        '</title><link rel="stylesheet" href="explorer.css">'
        '<script defer src="classic/explorer.js"></script></head>'
        f"<body><main><h1>Three</h1>\n{body}\n</main></body></html>",
        encoding="utf-8",
    )
    return folder / name


@pytest.fixture(scope="module")
def address(bare_folder):
    """The address of the bare pages for a tab of any browser."""
    with served(bare_folder[0]) as address:
        yield address


@pytest.fixture(scope="session")
def bare_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    shutil.copyfile(script.BUILT / "widget.js", folder / "explorer.js")
    (folder / "classic").mkdir()
    for name, text in script.files().items():
        (folder / "classic" / name).write_text(text, encoding="utf-8")
    (folder / "page").symlink_to(VIEWS / "page")
    modules = order(*OF_ATTENTION, "features/tiles", "widget", "main")
    taken = [f'import * as m{n} from "./page/{name}.js";' for n, name in enumerate(modules)]
    names = ", ".join(f"m{n}" for n in range(len(modules)))
    opened = "\n".join([*taken, f"window.inside = Object.assign({{}}, {names});"])
    (folder / "opened.js").write_text(opened, encoding="utf-8")
    sheets = (VIEWS / name for name in ("explorer.css", "machine.css"))
    (folder / "explorer.css").write_text(
        "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    )
    (folder / "opened.html").write_text(
        '<!doctype html><title>inside</title><link rel="stylesheet" href="explorer.css">'
        '<script type="module" src="opened.js"></script>'
    )
    (folder / "favicon.ico").write_bytes(b"")
    handler = functools.partial(_Strict, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def tabs(browser):
    return Tabs(browser)


@pytest.fixture
def bare(bare_folder, tabs):
    """Opens bare pages; at the end the console must have been silent, and no other host asked."""
    tabs.heard.clear()
    tabs.asked.clear()
    bare = Bare(bare_folder[0], tabs, bare_folder[1])
    yield bare
    for context in bare.contexts:
        context.close()
    for page in bare.taken:
        tabs.give_back(page)
    assert bare.heard == []
    inside = (bare.address, "file://", "about:blank")
    outside = [url for url in bare.asked if not url.startswith(inside)]
    assert outside == []


@pytest.fixture(scope="session")
def inside(bare_folder, browser):
    """A page in which the module's own functions can be called, as `inside.…`."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{bare_folder[1]}/opened.html")
    page.wait_for_function("window.inside")
    yield page
    context.close()


@pytest.fixture(scope="session")
def journey():
    words = toy.journey()
    return trace(words.x, words.x, words.x), words.tokens


@pytest.fixture
def explorer(journey):
    record, tokens = journey
    return explore(record, tokens=tokens, name="journey")


@pytest.fixture
def masked(journey):
    x = toy.journey().x
    return explore(trace(x, x, x, keep=causal()), tokens=journey[1], name="masked")


@pytest.fixture
def play(bare):
    """play(fragment, …) is a page with the translator, started."""

    from tests.explorer.models import opened  # brings a trained model, which few tests need

    def play(fragment="", *, view=None, **how):
        how.setdefault("script", "classic")
        page = bare.open(view or opened(), fragment=fragment or "#x-translator", **how)
        page.wait_for_selector(".am-root")
        return page

    return play
