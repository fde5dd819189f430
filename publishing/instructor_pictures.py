"""Take the pictures of the page for instructors: a small class is graded, and its pages are opened.

    python -m publishing.instructor_pictures

Once in each language; the build takes `key.zh_CN.png` for the Chinese edition by itself. A few
minutes. It needs the built site and the environment of grading (`make course` makes it); the class
and its course are thrown away.
"""

from __future__ import annotations

import io
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import exercises
from attn_core.views.pixels import cjk_file
from exercises.keys import known
from machine.browser import ARGUMENTS, present
from publishing import ROOT

HTML = ROOT / "_build" / "html"
PICTURES = ROOT / "book" / "_static" / "instructors"
GRADING = ROOT / ".venv-grading" / "bin"
CHAPTER = "03"
ASSIGNMENT = f"chapter-{CHAPTER}"
ASKED = "07-a-dropped-row"  # the answer field that is shown
LARGEST = 120 * 1024  # bytes of a picture
COLOURS = 64
AROUND = 4  # pixels around what is shown of a page
WAIT = 60  # seconds for formgrader's server
# By language: where its site is, how its pictures' files end, and how a hint begins.
LANGUAGES = {"en": ("", "", "Hint:"), "zh": ("zh", ".zh_CN", "提示：")}

# Who hands in what: for each exercise of the chapter the number of a known mistake, or an answer.
RIGHT, BLANK = "solution", "starter"
CLASS = {
    "ada,Ada Lovelace": [RIGHT, RIGHT, RIGHT, RIGHT],
    "alan,Alan Turing": [RIGHT, RIGHT, 0, RIGHT],
    "emmy,Emmy Noether": [RIGHT, RIGHT, RIGHT, BLANK],
    "grace,Grace Hopper": [RIGHT, 0, 1, RIGHT],
    "kurt,Kurt Gödel": [BLANK, BLANK, RIGHT, BLANK],
    "sofia,Sofia Kovalevskaya": [0, RIGHT, RIGHT, 1],
}
ENDLESS = "def safe_softmax(table):\n    while True:\n        pass"


def environment() -> dict[str, str]:
    """Ours, in which the commands of grading's environment are found first."""
    return {**os.environ, "PATH": f"{GRADING}{os.pathsep}{os.environ['PATH']}"}


def grading(module: str, *arguments: str | Path) -> None:
    call = [GRADING / "python", "-m", f"grading.{module}", *map(str, arguments)]
    subprocess.run(call, cwd=ROOT, check=True, env=environment())


def hand_in(course: Path, student: str, answers: list) -> None:
    """Fill in a student's own notebook as the student would, and put it where it is collected."""
    asked = [exercise for exercise in exercises.load().values() if exercise.chapter == CHAPTER]
    place = Path(student, ASSIGNMENT, f"{ASSIGNMENT}.ipynb")
    notebook = nbformat.read(course / "handout" / ASSIGNMENT / student / place.name, as_version=4)
    for exercise, answer in zip(asked, answers, strict=True):
        given = isinstance(answer, str)
        code = getattr(exercise, answer) if given else exercise.mistakes[answer].code
        if (student, exercise.id) == ("kurt", "03-safe-softmax"):
            code = ENDLESS
        cell = next(cell for cell in notebook.cells if cell.id == f"answer-{exercise.id}")
        cell.source = code
    (course / "submitted" / place).parent.mkdir(parents=True)
    nbformat.write(notebook, course / "submitted" / place)


def make(course: Path, language: str) -> None:
    """A course whose class is graded."""
    course.mkdir()
    roster = "".join(f"{who},\n" for who in CLASS)
    (course / "roster.csv").write_text(f"id,name,email\n{roster}", encoding="utf-8")
    grading("make", course, CHAPTER, "--language", language)
    for who, answers in CLASS.items():
        hand_in(course, who.split(",")[0], answers)
    grading("grade", course)


def formgrader(course: Path) -> tuple[subprocess.Popen, str]:
    """JupyterLab in the course's folder, as the page says; the address of formgrader in it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    call = [GRADING / "jupyter", "lab", "--no-browser", f"--port={port}", "--allow-root"]
    call += [f"--IdentityProvider.token={token}", "--log-level=ERROR"]
    server = subprocess.Popen(call, cwd=course, env=environment())
    # Formgrader's page asks for more, and for that the browser must be known: log in first.
    page = f"/formgrader/manage_submissions/{ASSIGNMENT}"
    address = f"http://127.0.0.1:{port}/login?token={token}&next={page}"
    for _ in range(WAIT):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return server, address
        except OSError:
            time.sleep(1)
    server.terminate()
    sys.exit("formgrader did not answer")


def store(raw: bytes, name: str) -> None:
    """A picture with few colours: what is shown is text."""
    image = Image.open(io.BytesIO(raw)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    path = PICTURES / f"{name}.png"
    image.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path.name} has {path.stat().st_size} bytes; it must have at most {LARGEST}")
    print(path.relative_to(ROOT), path.stat().st_size)


def with_chinese(folder: str) -> dict[str, str]:
    """An environment in which the browser finds a Chinese font, which the machine may not have."""
    source = cjk_file()
    fonts = Path(folder, "share", "fonts")
    fonts.mkdir(parents=True)
    (fonts / source.name).symlink_to(source)
    return {**os.environ, "XDG_DATA_HOME": str(fonts.parent)}


def between(page: Page, first: Locator, last: Locator) -> bytes:
    """The page from the upper edge of one element to the lower edge of another."""
    top, end = first.bounding_box(), last.bounding_box()
    high = end["y"] + end["height"] - top["y"] + 2 * AROUND
    clip = {"x": 0, "y": top["y"] - AROUND, "width": page.viewport_size["width"], "height": high}
    return page.screenshot(clip=clip, full_page=True)


def take(browser: Browser, course: Path, list_of_class: str, language: str) -> None:
    edition, suffix, hint = LANGUAGES[language]
    page = browser.new_page(viewport={"width": 1100, "height": 620})
    page.goto(list_of_class)
    page.get_by_text("Kovalevskaya").first.wait_for()
    store(page.screenshot(), f"formgrader{suffix}")

    # alan's softmax is a known mistake.
    page.goto((course / "feedback" / "alan" / ASSIGNMENT / f"{ASSIGNMENT}.html").as_uri())
    said = page.locator("pre", has_text=hint).first
    asked = said.locator("xpath=preceding::pre[ancestor::*[contains(@class, 'input')]][2]")
    store(between(page, asked, said), f"feedback{suffix}")

    page.goto((course / "keys" / f"{ASSIGNMENT}.html").as_uri())
    store(between(page, page.locator("h1"), page.locator("ol").first), f"key{suffix}")

    exercise = exercises.load()[ASKED]
    (chapter,) = (HTML / edition / "chapters").glob(f"{exercise.chapter}_*.html")
    page.goto(chapter.as_uri())
    field = exercise.fields[0]
    _, table = next((mistake, rows) for mistake, rows in known(exercise, field) if mistake.name)
    typed = "\n".join(
        " ".join(f"{cell / 10**field.places:.{field.places}f}" for cell in row) for row in table
    )
    box = page.locator(f"#answer-{ASKED}-0")
    box.fill(typed)
    form = box.locator("xpath=ancestor::form")
    form.locator("button").click()
    form.locator("[role=status]").wait_for()
    store(page.locator("attention-answer", has=box).screenshot(), f"answer-field{suffix}")


def main() -> None:
    if not (GRADING / "python").exists() or not (HTML / "index.html").exists():
        sys.exit("The pictures need the built site and .venv-grading: make book course")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
            course = Path(folder) / "my-course"
            make(course, language)
            server, address = formgrader(course)
            try:
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=present(), args=ARGUMENTS, env=with_chinese(folder)
                    )
                    take(browser, course, address, language)
                    browser.close()
            finally:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
