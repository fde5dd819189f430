"""Write the chapters' generated cells, run the notebooks and store their outputs.

Generated are the first code cell, which installs attn_core where it is missing, the cells of each
exercise, and the entries of the gallery of mistakes. Outputs are stored in one normal form, so that
a second run changes no byte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell

import exercises
from attn_core.mistakes import MISTAKES
from exercises import LEVELS, Exercise
from publishing import ROOT
from publishing.notebooks import plots
from publishing.notebooks.mistake_cards import card
from publishing.notebooks.outputs import keep_same
from publishing.translation.outputs import HTML, PNG, SVG, WORDS
from publishing.translation.pages import tagged

ZH = "zh"
NOTEBOOKS = sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("book/*.ipynb")])

SETUP = """\
# Where attn_core is missing, as on Colab, this installs it. Otherwise it does nothing.
import importlib.util

if importlib.util.find_spec("attn_core") is None:
    %pip install -q "attn_core[views] @ git+{url}"
    importlib.invalidate_caches()
    if importlib.util.find_spec("attn_core") is None:
        raise SystemExit("attn_core could not be installed; the message of pip above says why.")
"""

BOX = """\
<div class="exercise">

**{head} · {title}** \
<span role="img" aria-label="{level}">{dots}</span> · {points}

{text}

</div>
"""

FOLD = """\
<details><summary>{word}</summary>

```python
{solution}
```
{hints}
</details>
"""

# A live widget's place in the browser's memory: it means nothing in a stored notebook.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def beside(path: Path) -> Path:
    """Where the Chinese notebook of an English one lies.

    >>> beside(Path("chapters/03_self_attention.ipynb")).as_posix()
    'chapters/zh/03_self_attention.ipynb'
    """
    return path.parent / ZH / path.name


def docname_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix()


def names_of(path: Path) -> list[str]:
    """What a notebook may be called: 06, masking or 06_masking; a page has one name."""
    number, _, name = path.stem.partition("_")
    return [number, name, path.stem] if number.isdigit() else [path.stem]


def chosen(
    wanted: Iterable[str], among: list[Path] = NOTEBOOKS, kind: str = "notebook"
) -> list[Path]:
    """Those of these names; all if there are none. It ends with a sentence at another."""
    asked = {Path(name).stem for name in wanted}  # a path will do, too
    known = {name for path in among for name in names_of(path)}
    for name in sorted(asked - known):
        meant = name.zfill(2)  # 6 is 06, though 09 looks as much like it
        close = (
            [meant] if meant in known else get_close_matches(name, sorted(known), n=1, cutoff=0.65)
        )
        there = f"did you mean {close[0]}?" if close else f"there are {listed(among)}"
        sys.exit(f"there is no {kind} {name}; {there}")
    return [path for path in among if not asked or asked & {*names_of(path)}]


def listed(paths: Iterable[Path]) -> str:
    """The shortest name of each."""
    return ", ".join(sorted(names_of(path)[0] for path in paths))


def repository_url() -> str:
    """The address that `_config.yml` gives: the one place where it stands."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def setup_cell(url: str):
    cell = new_code_cell(SETUP.format(url=url).strip(), id="setup")
    # On the page it would only stand in the way.
    cell.metadata["tags"] = ["setup", "remove-cell"]
    return cell


def box_of(exercise: Exercise, number: int, _: Callable[[str], str] = str) -> str:
    """The box with the task. `_` says its words in another language."""
    points = _("1 point") if exercise.points == 1 else _("{count} points")
    box = BOX.format(
        head=_("Exercise {number}").format(number=number),
        title=exercise.title,
        level=_("level {level} of 3").format(level=exercise.level),
        dots=LEVELS[exercise.level],
        points=points.format(count=exercise.points),
        text=exercise.task().strip(),
    )
    return box.strip()


def exercise_cells(exercise: Exercise, number: int, _: Callable[[str], str] = str) -> list:
    """The box with the task, the code to start from, and the folded solution."""
    hints = "".join(f"- {mistake.hint}\n" for mistake in exercise.mistakes)
    differs = _("If yours differs:")
    fold = FOLD.format(
        word=_("Solution"),
        solution=exercise.solution.strip(),
        hints=f"\n{differs}\n\n{hints}" if hints else "",
    )
    name = f"exercise-{exercise.id}"
    cells = [
        new_markdown_cell(box_of(exercise, number, _), id=name),
        new_code_cell((exercise.given() + exercise.starter).strip(), id=f"{name}-answer"),
        new_markdown_cell(fold.strip(), id=f"{name}-solution"),
    ]
    for cell in cells:
        cell.metadata["tags"] = [f"exercise:{exercise.id}"]
    return cells


def generate(notebook, path: Path, url: str, known: dict[str, Exercise]) -> None:
    """Put the generated cells where their tags stand; everything else stays as it is."""
    if path.parent.name != "chapters":
        return
    chapter, cells, placed = path.name[:2], [], []
    for cell in notebook.cells:
        name = tagged(cell, "exercise")
        if "setup" in tags(cell):
            cells.append(setup_cell(url))
        elif mistake := tagged(cell, "mistake"):
            if mistake not in MISTAKES:
                sys.exit(f"chapter {chapter}: the tag mistake:{mistake} names no mistake")
            cells.append(cell)
            cell.source = card(MISTAKES[mistake])
        elif name is None:
            cells.append(cell)
        elif name not in placed:
            if name not in known or known[name].chapter != chapter:
                sys.exit(f"chapter {chapter}: the tag exercise:{name} names no exercise of it")
            placed.append(name)
            cells += exercise_cells(known[name], len(placed))
    code = [cell for cell in cells if cell.cell_type == "code"]
    if not code or "setup" not in tags(code[0]):
        sys.exit(f"chapter {chapter}: its first code cell must have the tag setup")
    missing = [e.id for e in known.values() if e.chapter == chapter and e.id not in placed]
    if missing:
        sys.exit(f"chapter {chapter}: no cell has the tag exercise:{missing[0]}")
    notebook.cells = cells


def run(notebook, path: Path, docname: str | None = None) -> None:
    """Execute all cells in a fresh kernel, telling how far it is.

    path: where the notebook lies; docname: the page that it is, if it is a Chinese one.
    """
    name = path.stem
    total = sum(cell.cell_type == "code" for cell in notebook.cells)
    done = 0
    live = sys.stderr.isatty()

    def tell(**_):
        nonlocal done
        done += 1
        if live:
            print(f"\r{name}: {done}/{total}", end="", file=sys.stderr, flush=True)

    client = NotebookClient(
        notebook,
        timeout=None,
        # A busy machine is slow to start a kernel, and nbclient would drop outputs that come late.
        startup_timeout=600,
        iopub_timeout=600,
        raise_on_iopub_timeout=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,
        store_widget_state=False,
        on_cell_executed=tell,
        extra_arguments=[
            "--log-level=ERROR",  # each kernel warns that its TCP is not encrypted
            f"--IPKernelApp.exec_lines={plots.first_line(docname or docname_of(path))}",
        ],
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})
    if any(cell.outputs for cell in notebook.cells if "setup" in tags(cell)):
        sys.exit(f"{name}: attn_core is not installed in this environment; run `make notebooks`")
    print("\r" if live else "", f"{name}: {total} code cells", sep="", file=sys.stderr)


def said_of_picture(output) -> dict:
    """What a picture says of itself: its words, the size at which it is shown, its parts."""
    said = output.get("metadata", {}).get(PNG, {})
    return {name: said[name] for name in ("alt", "width", "height", "parts", WORDS) if name in said}


def normalise(notebook) -> None:
    """Keep what is the same on every machine and every run."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        metadata = {"tags": tags(cell)} if tags(cell) else {}
        if "hide-output" in tags(cell):
            # The tag folds the output on the site; this folds it in JupyterLab.
            metadata["jupyter"] = {"outputs_hidden": True}
        for output in cell.get("outputs", []):
            output.pop("transient", None)
            if "data" not in output:
                continue
            output.data.pop(WIDGET_VIEW, None)
            said = said_of_picture(output)
            output.metadata = nbformat.from_dict({PNG: said} if said else {})
            if said and not {HTML, SVG} & output.data.keys():
                # Where myst-nb looks for it when it builds the page, which shows this picture.
                metadata["mystnb"] = {"image": {"alt": said["alt"], "width": f"{said['width']}px"}}
        cell.metadata = nbformat.from_dict(metadata)


def store(
    paths: Iterable[Path], needs_run: Callable[[Path, object], bool] = lambda *_: True
) -> list[Path]:
    """Write the notebooks' generated cells, run those that need it, and store them. Returns those
    that were run."""
    url, known = repository_url(), exercises.load()
    ran = []
    for path in paths:
        before = path.read_text(encoding="utf-8")
        stored, notebook = (nbformat.reads(before, as_version=4) for _ in range(2))
        generate(notebook, path, url, known)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        counts = {cell.id: cell.get("execution_count") for cell in stored.cells}
        if needs_run(path, notebook) or not {cell.id for cell in code} <= counts.keys():
            run(notebook, path)
            ran.append(path)
        else:
            for cell in code:
                cell.execution_count = counts[cell.id]
        pixels = plots.taken_out(notebook) if path in ran else {}
        normalise(notebook)
        keep_same(stored.cells, notebook.cells)
        nbformat.validate(notebook)
        after = nbformat.writes(notebook) + "\n"
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{path.stem}: stored", file=sys.stderr)
        plots.put(pixels, notebook, docname_of(path), beside(path))
    return ran
