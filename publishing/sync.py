"""Bring up to date what follows from a changed sentence, cell or exercise: `make sync ONLY=06`.

    python -m publishing.sync 06             # a chapter and its exercises
    python -m publishing.sync how_to_use     # a page
    python -m publishing.sync                # all of them

It does what `make notebooks`, `make numbers` and `make translations` do, and says what is left for
a person. A notebook is run only if its code is not that of the last commit, or attn_core is not, or
the words of one of its plots: no other output follows from a sentence. A Chinese one is run if its
code is another one than when it was stored, or the English one prints something else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat

from publishing import ROOT
from publishing.notebooks import chapters, chinese, exercises, plots, printed
from publishing.notebooks.chapters import NOTEBOOKS, beside, docname_of
from publishing.prose import __main__ as numbers
from publishing.prose import origins
from publishing.prose.pages import pages, read
from publishing.translation import __main__ as catalogues
from publishing.translation import checking

# What every output follows from: no script of a page.
SCRIPTS = ":!attn_core/views/page", ":!attn_core/views/built"
COMPUTES = "attn_core", *SCRIPTS, "requirements.txt"
MOST_SAID, MOST_SIGNS = 5, 240


def git(*arguments: str) -> str | None:
    """What git says; None if it can't, as outside of a clone."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    return None if done.returncode else done.stdout


def code_of(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def is_new(path: Path, notebook) -> bool:
    """Whether its code is not that of the last commit."""
    committed = git("show", f"HEAD:{path.relative_to(ROOT).as_posix()}")
    return committed is None or code_of(nbformat.reads(committed, as_version=4)) != code_of(
        notebook
    )


def needs_run(path: Path, notebook) -> bool:
    """Whether its outputs, or the words of its plots in Chinese, may not be what is stored."""
    if is_new(path, notebook):
        return True
    if not beside(path).is_file():  # its translation is under way
        return False
    stored = nbformat.read(beside(path), as_version=4)
    return bool(plots.stale(notebook, stored, docname_of(path)))


def texts_of(path: Path) -> list[str]:
    """What a notebook has printed."""
    cells = nbformat.read(path, as_version=4).cells
    return [output.text for cell in cells for output in printed.printed(cell)]


def has_changed() -> bool:
    """Whether what every notebook imports is not that of the last commit."""
    return git("status", "--porcelain", "--", *COMPUTES) != ""


def main() -> None:
    paths = chapters.chosen(sys.argv[1:], pages(), "page")
    with_code = [path for path in paths if path in NOTEBOOKS]
    before = {path: texts_of(path) for path in with_code}
    ran = chapters.store(with_code, (lambda *_: True) if has_changed() else needs_run)
    for path in with_code:
        if path not in ran:
            print(f"{path.stem}: its code is that of the last commit, so it was not run")
    exercises.store(with_code)
    left = []
    for page in map(read, paths):
        gone, wrong = numbers.store(page)
        file = origins.path_of(page).relative_to(ROOT).as_posix()
        left += [f"{file}: {text}: its number is gone, is that right?" for text in gone]
        left += [f"{file}: {text}" for text in wrong]
    messages = catalogues.all_messages()
    catalogues.store(messages)
    other = [path for path in with_code if texts_of(path) != before[path]]
    chinese.store(with_code, [docname_of(path) for path in paths], again=other)
    for name in (*map(docname_of, paths), *catalogues.OTHERS):
        left += checking.faults(name, [message for message, _ in messages[name]])
    say(left)


def say(left: list[str]) -> None:
    """What is left for a person, in a few lines; the exit status is 1 while there is any."""
    for line in left[:MOST_SAID]:
        print(line if len(line) <= MOST_SIGNS else f"{line[:MOST_SIGNS]}…")
    if len(left) > MOST_SAID:
        print(f"… and {len(left) - MOST_SAID} more")
    print(f"{len(left)} left for you: mend these, and run it again" if left else "nothing is left")
    sys.exit(min(1, len(left)))


if __name__ == "__main__":
    main()
