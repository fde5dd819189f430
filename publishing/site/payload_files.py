"""Put explorers' data that are too large for a page into files beside it.

The stored output of such an explorer names its data, `<attention-explorer payload="…">`, and holds
none of them. The build makes them where they are missing: it runs the notebook's cells up to the
last such output, and each explorer writes a classic script, which a page can load from `file://`
too. They are made again when the notebook's code or the library changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import nbformat
from filelock import FileLock
from nbclient import NotebookClient
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import attn_core
from attn_core.views.markup import FOLDER
from publishing.translation.language import ENGLISH, language, said
from publishing.translation.outputs import CATALOGUE

NAMED = re.compile(r'<attention-(?:explorer|model|training) name="[\w-]+" payload="([\w-]+)"')
HEADS = re.compile(r'(?<="heads":)\["[^\]]*\]')
LIBRARY = Path(attn_core.__file__).parent
# No data are made of these: what they say changes often, and a notebook takes its time.
APART = ("mistakes", "diagnosis", "views")


def named(cell) -> list[str]:
    """The data that a cell's stored output names."""
    htmls = (output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
    return [name for text in htmls for name in NAMED.findall("".join(text))]


def digest(sources: list[str]) -> str:
    """Of the code that makes the data: the notebook's, and the library's."""
    checksum = hashlib.sha256("\0".join(sources).encode())
    paths = [*LIBRARY.rglob("*.py"), *LIBRARY.rglob("*.npz")]
    paths = [path for path in paths if path.relative_to(LIBRARY).parts[0] not in APART]
    paths += [LIBRARY / "views" / f"{name}.py" for name in ("compact", "explorer", "payload")]
    for path in sorted(paths):
        checksum.update(path.read_bytes())
    return checksum.hexdigest()[:16]


def make(path: Path, folder: Path) -> list[Path]:
    """The files of the data that a notebook's stored outputs name, made if need be."""
    notebook = nbformat.read(path, as_version=4)
    places = [n for n, cell in enumerate(notebook.cells) if named(cell)]
    if not places:
        return []
    names = [name for cell in notebook.cells for name in named(cell)]
    notebook.cells = notebook.cells[: places[-1] + 1]
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    made = folder / f"{path.stem}-{digest(code)}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{path.stem}.lock"):  # both languages are built at once
        if not made.is_dir():
            for old in folder.glob(f"{path.stem}-*"):
                shutil.rmtree(old)
            making = folder / f"making-{path.stem}"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            run(notebook, path.parent, making)
            making.rename(made)
    if missing := [name for name in names if not (made / f"{name}.js").is_file()]:
        raise ExtensionError(f"{path.name} was run, and {missing[0]} did not write its data")
    return [made / f"{name}.js" for name in names]


def run(notebook, place: Path, folder: Path) -> None:
    client = NotebookClient(
        notebook,
        timeout=None,
        startup_timeout=600,  # on a busy machine a minute may be too short
        kernel_name="python3",
        resources={"metadata": {"path": str(place)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute(env={**os.environ, FOLDER: str(folder)})


def with_names(text: str) -> str:
    """The file of an explorer's data with the names of its heads in the language that is made."""

    def names(match: re.Match) -> str:
        said_names = [said(name, CATALOGUE) for name in json.loads(match[0])]
        return json.dumps(said_names, separators=(",", ":"))

    return HEADS.sub(names, text)


def provide(app: Sphinx, config) -> None:
    build = Path(app.doctreedir).parent
    # They are the same in each language but for the names of heads, and lie where the English
    # build has them.
    kept = build if language() == ENGLISH else build.parents[1]
    target = build / "payload_files"
    shutil.rmtree(target, ignore_errors=True)
    (target / "payloads").mkdir(parents=True)
    root = Path(app.srcdir)
    for path in sorted([*root.glob("chapters/*.ipynb"), *root.glob("book/*.ipynb")]):
        for file in make(path, kept / "payloads"):
            if (target / "payloads" / file.name).exists():
                raise ExtensionError(f"two explorers with large data are called {file.stem}")
            text = file.read_text(encoding="utf-8")
            named = with_names(text)
            (target / "payloads" / file.name).write_text(named, encoding="utf-8")
    config.html_static_path.append(str(target))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", provide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
