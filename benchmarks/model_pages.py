"""The whole model of chapter 10 beside other pages that open one: llm-viz, Transformer Explainer.

    make bench

Each page is opened from a server on this machine, and from a folder. What it asks of other hosts is
counted and refused: no network is measured, and a page is seen as it is without one.

The others are built by hand and put into `.venv-bench/sites`; where they are not, what is stored
stays as it is:

    git clone https://github.com/bbycroft/llm-viz && cd llm-viz && git checkout 9da9374
    node .yarn/releases/yarn-4.1.0.cjs install --immutable && npx next build
    # out/ becomes .venv-bench/sites/llm-viz

    git clone --filter=blob:none --no-checkout https://github.com/poloclub/transformer-explainer
    cd transformer-explainer && git sparse-checkout set --no-cone '/*' '!/static/model-v2/'
    git checkout 8562c06 && npm ci
    ln -s Popovers src/components/popovers  # as its imports spell it
    NODE_ENV=production npx vite build  # with node 21 or newer
    # build/ becomes .venv-bench/sites/transformer-explainer

8562c06 is of 27 February 2026. The commits behind it, up to 6e2ec37, change a few words, and
dependencies that did not build together here.

Transformer Explainer's weights, 63 files of 10 MiB, stay where they are: its page is weighed
without them, and gives no answer here.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Error, TimeoutError

from benchmarks import driver
from benchmarks.driver import HTML, once, served
from benchmarks.timing import NOT_TIMED, busy
from benchmarks.visits import weight
from machine.browser import ARGUMENTS

SITES = driver.ROOT / ".venv-bench" / "sites"  # `make book` empties _build
ADDRESS = "chapters/10_whole_model.html#x-machine"  # by a link: it does not wait for the reader
ANSWER = 'document.querySelector(".am-written bdi")'  # the first word of the translation
ROUNDS = 3
LIMIT = 30  # seconds that a page gets to answer
# llm-viz draws with WebGL; without a GPU the browser's own renderer does it.
DRAWING = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
# llm-viz logs it when its model has computed; it draws the result in the next frame.
HAS_RUN = """{
  const log = console.log;
  console.log = (...said) => { log(...said); window.hasRun ||= said[0] === "runModel"; };
}"""


@dataclass(frozen=True)
class Site:
    """A page that opens a model.

    folder: what a server has as its root. path: the page in it, as a browser asks for it; file: the
    page's file. answered: an expression that is true when the page shows what its model gave.
    """

    name: str
    folder: Path
    path: str
    file: str
    answered: str
    before: str = ""
    note: str = ""

    @property
    def is_built(self) -> bool:
        return (self.folder / self.file).is_file()


def sites() -> list[Site]:
    explainer = "transformer-explainer"
    return [
        Site("this book, chapter 10", HTML, ADDRESS, ADDRESS.partition("#")[0], ANSWER),
        Site(
            "llm-viz, commit 9da9374",
            SITES / "llm-viz",
            "llm.html",
            "llm.html",
            "window.hasRun",
            HAS_RUN,
            "drawn without a GPU",
        ),
        Site(
            "Transformer Explainer, commit 8562c06",
            SITES,
            f"{explainer}/",
            f"{explainer}/index.html",
            'document.querySelector(".main-section.active .predicted span")?.textContent',
            note="without its weights",
        ),
    ]


def visit(browser: Browser, site: Site, root: str, limit: float = LIMIT) -> dict:
    """What happens when a page is opened and other hosts are not there.

    asked: paths of its own, each once; hosts: others that it asked; seconds: until the answer is
    painted, or None if none came within the limit.
    """
    asked, hosts = [], []
    own = urlsplit(root)

    def answer(route) -> None:
        url = urlsplit(route.request.url)
        if (url.scheme, url.netloc) == (own.scheme, own.netloc):
            asked.append(unquote(url.path).removeprefix(unquote(own.path)).lstrip("/"))
            route.continue_()
        elif url.scheme in {"data", "blob"}:
            route.continue_()
        else:
            hosts.append(url.hostname)
            route.abort()

    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(site.before + once(site.answered))
    page.route("**/*", answer)
    seconds = None
    try:
        page.goto(f"{root}/{site.path}", timeout=limit * 1000)
        page.wait_for_function("window.alive", timeout=limit * 1000)
        seconds = page.evaluate("window.alive") / 1000
        page.wait_for_load_state("networkidle", timeout=limit * 1000)
    except TimeoutError:
        pass  # no answer, or a page that goes on asking
    except Error as error:
        raise RuntimeError(f"{site.name} must open: {error.message.splitlines()[0]}") from error
    finally:
        context.close()
    return {"asked": list(dict.fromkeys(asked)), "hosts": sorted(set(hosts)), "seconds": seconds}


def file_of(site: Site, path: str) -> Path:
    """The file behind a path that was asked for; a folder's is its index."""
    target = site.folder / path
    return target / "index.html" if target.is_dir() else target


def row_of(site: Site, visits: list[dict], folder: dict, is_quiet: bool) -> dict:
    """visits: of the page from a server; folder: the one from a folder. Times only if is_quiet."""
    seconds = [opening["seconds"] for opening in visits]
    files = [file_of(site, path) for path in visits[0]["asked"]]
    count = sum(weight(file) for file in files if file.is_file())
    is_answered = None not in seconds
    first, spread, notes = f"none within {LIMIT} s", "", [site.note]
    if is_answered and is_quiet:
        first = f"{median(seconds):.2f} s"
        spread = f"{min(seconds):.2f} to {max(seconds):.2f} s"
    elif is_answered:
        first = "–"
        notes.append(NOT_TIMED)
    measured = {
        "page": f"{count / 1e6:.2f} MB",
        "requests to other hosts": ", ".join(visits[0]["hosts"]) or "none",
        "first answer without these hosts": first,
        "from a folder": "no answer" if folder["seconds"] is None else "answers",
    }
    note = "; ".join(filter(None, notes))
    return driver.row("model_pages", site.name, measured, spread=spread, note=note)


def missing(compared: list[Site]) -> list[str]:
    return [site.name for site in compared if not site.is_built]


def rows(browser: Browser, compared: list[Site], is_quiet: bool) -> list[dict]:
    measured = []
    for site in compared:
        with served(site.folder) as root:
            visits = [visit(browser, site, root) for _ in range(ROUNDS if is_quiet else 1)]
        folder = visit(browser, site, site.folder.as_uri())
        measured.append(row_of(site, visits, folder, is_quiet))
    return measured


def main() -> None:
    compared = sites()
    if missing(compared):
        print(f"Not built here, so nothing is measured: {'; '.join(missing(compared))}.")
        return
    is_quiet = not busy()  # before a browser is
    arguments = [argument for argument in ARGUMENTS if argument != "--disable-gpu"]
    with driver.headless([*arguments, *DRAWING]) as browser:
        measured = rows(browser, compared, is_quiet)
    driver.publish(measured, "A whole model beside other pages that open one", ("playwright",))


if __name__ == "__main__":
    main()
