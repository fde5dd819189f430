"""The measured rows of all benchmarks, in one file, and the tables that are made of them.

    python -m benchmarks.report

Each benchmark stores its section in results.json with `store`; `python -m benchmarks.report` writes
results.md, which the page of the book includes, and draws its pictures. So no figure is typed.
"""

import json
import os
import platform
import re
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.cost import machine
from benchmarks.plot import draw

RESULTS = Path(__file__).parent / "results.json"
TABLES = RESULTS.with_suffix(".md")
KEYS = ("section", "what", "goal", "measured", "met", "spread", "note")
MET = {True: "yes", False: "**no**", None: "–"}


def store(
    rows: Sequence[dict],
    title: str,
    command: str,
    packages: Sequence[str],
    path: Path | None = None,
) -> None:
    """Replace one section of results.json, with the machine, the versions and the date beside it.

    A row has the keys section, what, goal, measured, met, spread and note. measured is a text, or a
    dict of texts by column, the same in all rows. met is True, False, or None without a goal.
    """
    path = path or RESULTS
    (section,) = {row["section"] for row in rows}
    for row in rows:
        if set(row) != set(KEYS):
            raise ValueError(f"a row must have the keys {', '.join(KEYS)}, got {', '.join(row)}")
    about = {
        "title": title,
        "command": command,
        "machine": machine(),
        "cores": os.cpu_count(),
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
    }
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    stored[section] = about | {"rows": list(rows)}
    text = json.dumps(dict(sorted(stored.items())), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shown(spread: str) -> str:
    """A spread, or nothing where its two ends are the same, as those of a single run.

    >>> shown("0.78 to 0.83×"), shown("0.78 to 0.78×")
    ('0.78 to 0.83×', '')
    """
    return "" if re.fullmatch(r"(.+) to \1\D*", spread) else spread


def table(rows: Sequence[dict]) -> str:
    """A Markdown table; columns that are empty in all rows are left out."""
    columns = {"what": "what"}
    first = rows[0]["measured"]
    names = list(first) if isinstance(first, dict) else ["measured"]
    cells = [
        {
            "what": row["what"],
            **(row["measured"] if isinstance(first, dict) else {"measured": row["measured"]}),
            "spread": shown(row["spread"] or ""),
            "goal": row["goal"] or "",
            "met": MET[row["met"]] if row["goal"] else "",
            "note": row["note"] or "",
        }
        for row in rows
    ]
    for name in (*names, "spread", "goal", "met", "note"):
        if any(cell[name] for cell in cells):
            columns[name] = name
    head = [line(columns.values()), line(["---"] * len(columns))]
    return "\n".join(head + [line([cell[name] for name in columns]) for cell in cells])


def tables(stored: dict) -> str:
    """All sections as Markdown, with what was measured where."""
    parts = []
    for section in stored.values():
        versions = ", ".join(f"{name} {number}" for name, number in section["versions"].items())
        parts.append(
            f"## {section['title']}\n\n{table(section['rows'])}\n\n"
            f"Measured on {section['date']} by `{section['command']}`, {section['cores']} cores, "
            f"{section['machine']}; {versions}.\n"
        )
    return "\n".join(parts)


def main() -> None:
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    TABLES.write_text(tables(stored), encoding="utf-8")
    draw(stored)
    print(TABLES.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
