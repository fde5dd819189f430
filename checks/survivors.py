"""The changes to attn_core that no test notices, each with its reason, and the score as a table."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

STORED = Path(__file__).parents[1] / "tests" / "mutants"
EXPLAINED = STORED / "survivors.toml"
SCORE = STORED / "score.json"
TABLE = SCORE.with_suffix(".md")


@dataclass(frozen=True)
class Survivor:
    """One change that no test notices: in which function, the lines that were and that are."""

    function: str  # "attn_core/record.py AttentionTrace.tile"
    was: str
    now: str


def explained() -> dict[Survivor, str]:
    """Each known survivor and why no test can notice it."""
    reasons = {}
    for entry in tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("survivor", []):
        for now in entry["now"]:
            reasons[Survivor(entry["function"], entry["was"], now)] = entry["because"]
    return reasons


def named(mutant: str) -> str:
    """The function of "attn_core.masks.xǁKeepǁtile__mutmut_3": "Keep.tile"."""
    name = mutant.rpartition(".")[2].rpartition("__mutmut_")[0]
    return name.removeprefix("x_") if name.startswith("x_") else ".".join(name.split("ǁ")[1:])


def changed(diff: str) -> tuple[str, str]:
    """The lines that a diff takes away and those that it brings, without their indent."""
    lines = [line for line in diff.splitlines() if line[:3] not in ("+++", "---")]
    was, now = ("\n".join(line[1:].strip() for line in lines if line[:1] == sign) for sign in "-+")
    return was, now


def per_cent(rows: Iterable[dict]) -> float:
    rows = list(rows)
    return 100 * sum(row["caught"] for row in rows) / sum(row["made"] for row in rows)


def table(stored: dict, known: dict[Survivor, str], files: Iterable[str]) -> str:
    """The score as Markdown, a row for each file, and what no test notices, a row for each."""
    open_files = [file for file in files if file not in {row["file"] for row in stored.values()}]
    made, caught = (sum(row[name] for row in stored.values()) for name in ("made", "caught"))
    score = [
        f"| `{row['file']}` | {row['made']} | {row['caught']} | {row['made'] - row['caught']} "
        f"| {per_cent([row]):.1f} % | {row['date']} |"
        for row in stored.values()
    ]
    left = [Survivor(**fields) for row in stored.values() for fields in row["survivors"]]
    reasons = [
        f"| {code(change.function.rpartition(' ')[2])} | {code(change.was)} | {code(change.now)} "
        f"| {known.get(change, '**not explained**')} |"
        for change in sorted(set(left), key=left.index)
    ]
    return "\n".join(
        [
            "| file | changes | noticed | not noticed | score | on |",
            "|---|---:|---:|---:|---:|---|",
            *score,
            *unmeasured(open_files),
            f"| all that were measured | {made} | {caught} | {made - caught} "
            f"| {per_cent(stored.values()):.1f} % | |",
            "",
            "| in | original code | changed code | why no test notices |",
            "|---|---|---|---|",
            *reasons,
            "",
        ]
    )


def unmeasured(files: list[str]) -> list[str]:
    """The row of the files that wait for their score, if there are any."""
    names = ", ".join(f"`{file}`" for file in files)
    return [f"| {names} | | | | not measured yet | |"] if files else []


def code(lines: str) -> str:
    """Code in a cell of a Markdown table."""
    return "<br>".join(f"`{line}`".replace("|", "\\|") for line in lines.splitlines())


def shown(survivor: Survivor) -> str:
    lines = [f"  - {line}" for line in survivor.was.splitlines()]
    return "\n".join(lines + [f"  + {line}" for line in survivor.now.splitlines()])
