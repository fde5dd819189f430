"""What became of the functions of the page's script once they were emptied, and the table of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

from checks.survivors import unmeasured

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "mutants"
EXPLAINED = STORED / "page-survivors.toml"
SCORE = STORED / "page.json"
TABLE = STORED / "page.md"
LEAST = 95  # per cent
SITE = [f"book/_static/{name}.js" for name in ("contents", "keyboard", "print")]


def files() -> list[str]:
    """The scripts: the explorer's, and those that the site has beside it."""
    page = sorted((ROOT / "attn_core" / "views" / "page").rglob("*.js"))
    names = [path.relative_to(ROOT).as_posix() for path in page if path.parent.name != "test"]
    return [*names, "publishing/site/answer.js", *SITE]


def stored() -> dict[str, dict]:
    """What was measured, by file: {"made": …, "noticed": …, "survivors": [names], "date": …}."""
    return json.loads(SCORE.read_text(encoding="utf-8")) if SCORE.exists() else {}


def store(rows: dict[str, dict]) -> None:
    """Write score and table, in the order of the files."""
    rows = {file: rows[file] for file in files() if file in rows}
    SCORE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    TABLE.write_text(table(rows, explained(), files()), encoding="utf-8")


def explained() -> dict[tuple[str, str], str]:
    """Why no test notices that a function is empty, by its file and its name."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("survivor", [])
    return {
        (entry["file"], name): entry["because"] for entry in entries for name in entry["functions"]
    }


def per_cent(rows: Iterable[dict]) -> float:
    """
    >>> per_cent([{"made": 10, "noticed": 9}, {"made": 0, "noticed": 0}])
    90.0
    """
    rows = list(rows)
    made = sum(row["made"] for row in rows)
    return 100 * sum(row["noticed"] for row in rows) / made if made else 100.0


def table(rows: dict[str, dict], known: dict[tuple[str, str], str], names: Iterable[str]) -> str:
    """The score as Markdown, a row for each file with functions, and a row for each survivor."""
    score = [
        f"| `{file}` | {row['made']} | {row['noticed']} | {row['made'] - row['noticed']} "
        f"| {per_cent([row]):.1f} % | {row['date']} |"
        for file, row in rows.items()
        if row["made"]
    ]
    made, noticed = (sum(row[name] for row in rows.values()) for name in ("made", "noticed"))
    reasons = [
        f"| `{Path(file).name}` | `{name}` | {known.get((file, name), '**not explained**')} |"
        for file, row in rows.items()
        for name in row["survivors"]
    ]
    return "\n".join(
        [
            "| file | functions | noticed | not noticed | score | on |",
            "|---|---:|---:|---:|---:|---|",
            *score,
            *unmeasured([file for file in names if file not in rows]),
            f"| all that were measured | {made} | {noticed} | {made - noticed} "
            f"| {per_cent(rows.values()):.1f} % | |",
            "",
            "| in | function | why no test notices |",
            "|---|---|---|",
            *reasons,
            "",
        ]
    )
