"""The proof that the comparison can fail: errors planted in a copy of a chapter are all seen.

Each error sits in a cell of its own, so one run of the chapter shows whether each is reported
and that nothing else is.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import sys
from decimal import Decimal
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image, ImageDraw

from publishing.notebooks.chapters import NOTEBOOKS
from publishing.notebooks.outputs import PAYLOAD
from tests.processes import ran

ROOT = Path(__file__).parents[2]
# It has a place for each kind of error, and runs in seconds.
CHAPTERS = [path for path in NOTEBOOKS if path.name.startswith("03")]
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def moved(text: str, units: int) -> str:
    """The text with its last decimal number moved by some units of its last printed place."""
    last = list(DECIMAL.finditer(text))[-1]
    new = Decimal(last[0]) + units * Decimal(1).scaleb(Decimal(last[0]).as_tuple().exponent)
    places = len(last[0].partition(".")[2])
    shown = f"{new:.{places}f}" if "e" not in last[0] else f"{new:.{places - 4}e}"
    return text[: last.start()] + shown + text[last.end() :]


def stdout(cell, units):
    for output in cell.outputs:
        if output.output_type == "stream" and DECIMAL.search(output.text):
            output.text = moved(output.text, units)
            return True
    return False


def result(cell, units):
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" not in data and DECIMAL.search(data.get("text/plain", "")):
            data["text/plain"] = moved(data["text/plain"], units)
            return True
    return False


def html(cell, units):
    """A number that the reader sees: in the last cell of a table."""
    for output in cell.outputs:
        page = output.get("data", {}).get("text/html", "")
        shown = list(re.finditer(r">\s*-?\d+\.\d+\s*<", page))
        if shown:
            last = shown[-1]
            page = page[: last.start()] + moved(last[0], units) + page[last.end() :]
            output.data["text/html"] = page
            return True
    return False


def arrays(value):
    """Every {"dtype", "shape", "data"} inside a JSON value."""
    if isinstance(value, dict):
        if value.keys() >= {"dtype", "shape", "data"}:
            yield value
        for part in value.values():
            yield from arrays(part)


def payload(cell, units):
    """One number of q, moved in the fourth decimal, as base64."""
    for output in cell.outputs:
        page = output.get("data", {}).get("text/html", "")
        for block in PAYLOAD.finditer(page):
            value = json.loads(block[1])
            for array in arrays(value):
                numbers = np.frombuffer(base64.b64decode(array["data"]), array["dtype"]).copy()
                numbers[-1] += units * 1e-4
                array["data"] = base64.b64encode(numbers.tobytes()).decode()
                text = json.dumps(value).replace("<", "\\u003c")
                output.data["text/html"] = page[: block.start(1)] + text + page[block.end(1) :]
                return True
    return False


def picture(cell, _):
    """A stroke as small as the one that turns a printed 3 into an 8."""
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            image = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB")
            x, y = image.width // 2, image.height // 2
            ImageDraw.Draw(image).line((x, y, x, y + 6), fill=(255, 0, 0))
            file = io.BytesIO()
            image.save(file, "png")
            data["image/png"] = base64.b64encode(file.getvalue()).decode()
            return True
    return False


def without_picture(cell, _):
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            del output.data["image/png"]
            return True
    return False


def without_output(cell, _):
    if not cell.outputs:
        return False
    del cell.outputs[-1]
    return True


def never_run(cell, _):
    cell.execution_count, cell.outputs = None, []
    return True


def miscounted(cell, _):
    cell.execution_count += 1
    return True


def skipped(cell, _):
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), "nbval-skip"]
    return True


def ignored(cell, _):
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), "nbval-ignore-output"]
    return True


# (name, how, units): the choosy ones first.
PLANTS = [
    ("payload", payload, 1),
    ("html", html, 1),
    ("picture", picture, 0),
    ("without-picture", without_picture, 0),
    ("stdout", stdout, -1),
    ("result", result, 1),
    ("without-output", without_output, 0),
    ("miscounted", miscounted, 0),
    ("never-run", never_run, 0),
    ("skipped", skipped, 0),
    ("ignored", ignored, 0),
]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder with copies of the chapters, {(chapter, cell id): plant}, and all their cells."""
    folder = tmp_path_factory.mktemp("planted")
    notebooks = {path.name: nbformat.read(path, as_version=4) for path in CHAPTERS}
    code = {
        (name, cell.id): cell
        for name, notebook in notebooks.items()
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    where = {}
    for plant in PLANTS:
        name, how, units = plant
        free = (key for key, cell in code.items() if key not in where and how(cell, units))
        place = next(free, None)
        assert place is not None, f"no cell is left in the chapters to plant {name} in"
        where[place] = name
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / name)
    return folder, where, code.keys()


def verdicts(folder):
    """Run nbval on a folder: the cells that failed, those that passed, and all that it printed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST")
    }
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "--rootdir", str(ROOT)]
    command += ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["--color=no", "-q", "--tb=short", "-rA", str(folder)]
    done = ran(*command, cwd=ROOT, env=environment)
    out = done.stdout + done.stderr
    cells = {}
    for verdict in ("FAILED", "PASSED", "ERROR"):
        lines = re.findall(rf"^{verdict} .*?([\w.]+)::Cell \d+ ([\w-]+)", out, re.MULTILINE)
        cells[verdict] = set(lines)
    assert not cells["ERROR"], out
    return cells["FAILED"], cells["PASSED"], out


@pytest.mark.slow
def test_every_planted_error_is_seen_and_nothing_else(planted):
    folder, where, cells = planted
    failed, passed, out = verdicts(folder)
    assert failed | passed == cells, f"not all cells were run:\n{out}"
    missed = {cell: name for cell, name in where.items() if cell not in failed}
    assert not missed, f"not seen: {missed}\n{out}"
    assert failed <= where.keys(), f"reported without cause: {failed - where.keys()}\n{out}"


@pytest.mark.parametrize(
    ("text", "units", "expected"),
    [
        ("tensor([0.9544, 1.4950])", 1, "tensor([0.9544, 1.4951])"),
        ("0.9999 kept", 1, "1.0000 kept"),
        ("-0.0001", 2, "0.0001"),
    ],
)
def test_moved_moves_the_last_printed_place(text, units, expected):
    assert moved(text, units) == expected
