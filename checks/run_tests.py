"""Run groups of tests one after another, whatever comes of each, and print one table of all.

    python -m checks.run_tests book test-code test-grading
    python -m checks.run_tests

A group is a target of the Makefile. Where it runs pytest it writes its report to
`.tests/<group>.xml`; of any other only the status counts. The exit status is 1 if a group is red.
Without a group the table of what was run last is printed again. BUDGETS in the environment, such as
"test-code=100 test-pages=200", has the seconds that a group should take at most on two quiet
processors; the table says which took longer, and no group is red for it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tabulate import tabulate

from machine import inventory

RESULTS = Path(".tests")
COUNTS = ("passed", "failed", "errors", "skipped")
SLOWEST = 10


@dataclass(frozen=True)
class Test:
    """One test: its name as pytest takes it, its seconds, and what came of it.

    `ends` has a word for each end: a test that failed may also have an error when it is torn down.
    `why` is the first line of what went wrong, or the reason of a skip.
    """

    name: str
    seconds: float
    ends: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Group:
    """What came of one group. `tests` is None where there is no report."""

    name: str
    status: int
    seconds: float
    tests: list[Test] | None = field(default=None, repr=False)

    @property
    def counts(self) -> Counter:
        return Counter(end for test in self.tests or () for end in test.ends)

    @property
    def fault(self) -> str:
        """Why the group is red although no test is, in a few words; empty if it is not."""
        if self.tests is None:
            return f"ended with status {self.status}, without a report" if self.status else ""
        if not self.tests:
            return "found no test"
        if self.status and not self.counts["failed"] + self.counts["errors"]:
            return f"ended with status {self.status}, though no test is red"
        return ""

    @property
    def is_red(self) -> bool:
        return bool(self.fault or self.counts["failed"] or self.counts["errors"])


def read_report(path: Path) -> list[Test] | None:
    """The tests of a report in JUnit's form, or None if there is none that can be read."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    return [read_case(case) for case in cases]


def read_case(case: ElementTree.Element) -> Test:
    words = {"failure": "failed", "error": "errors", "skipped": "skipped"}
    outcomes = [child for child in case if child.tag in words]
    ends = tuple(words[child.tag] for child in outcomes) or ("passed",)
    why = next((child.get("message") or child.text or "" for child in outcomes), "")
    where, name = case.get("file") or case.get("classname"), case.get("name")
    return Test(
        f"{where}::{name}" if where and name else where or name or "?",
        float(case.get("time", 0)),
        ends,
        (why.strip().splitlines() or [""])[0],
    )


def run_group(name: str, results: Path) -> Group:
    """Run one target of the Makefile, and keep what came of it."""
    report = results / f"{name}.xml"
    report.unlink(missing_ok=True)
    print(f"\n=== {name} ===", flush=True)
    began = time.monotonic()
    status = subprocess.run(["make", "--no-print-directory", name], check=False).returncode
    kept = {"status": status, "seconds": time.monotonic() - began}
    (results / f"{name}.json").write_text(json.dumps(kept), encoding="utf-8")
    return Group(name, **kept, tests=read_report(report))


def last_run(results: Path) -> list[Group]:
    """What was kept of each group, in the order of their runs."""
    kept = sorted(results.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    return [
        Group(
            path.stem,
            **json.loads(path.read_text("utf-8")),
            tests=read_report(path.with_suffix(".xml")),
        )
        for path in kept
    ]


def table(groups: list[Group]) -> str:
    """A line for each group and one for all, with what is wrong beside it."""
    pairs = (text.split("=") for text in os.environ.get("BUDGETS", "").split())
    budgets = {name: int(seconds) for name, seconds in pairs}
    rows = []
    for group in groups:
        counts = ["–"] * len(COUNTS) if group.tests is None else counted(group.counts)
        verdict = [f"red {group.fault}".strip()] if group.is_red else []
        budget = budgets.get(group.name)
        if budget is not None and group.seconds > budget:
            verdict.append("over its budget")
        rows.append([group.name, *counts, round(group.seconds), budget, ", ".join(verdict)])
    total = sum((group.counts for group in groups), Counter())
    seconds = round(sum(group.seconds for group in groups))
    rows.append(["all", *counted(total), seconds, sum(row[-2] or 0 for row in rows) or None, ""])
    heads = ["group", *COUNTS, "seconds", "budget", ""]
    sides = ["left", *["right"] * (len(heads) - 2), "left"]
    return tabulate(rows, heads, tablefmt="plain", colalign=sides, missingval="–")


def counted(counts: Counter) -> list[int]:
    return [counts[word] for word in COUNTS]


def slowest(groups: list[Group]) -> str:
    tests = [test for group in groups for test in group.tests or ()]
    tests = sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]
    lines = [f"The slowest {SLOWEST}", *(f"{test.seconds:7.1f} s  {test.name}" for test in tests)]
    return "\n".join(lines)


def skips(group: Group) -> list[str]:
    reasons = Counter(test.why for test in group.tests or () if "skipped" in test.ends)
    return [f"{count:7} ×  {reason}" for reason, count in reasons.most_common()]


def reds(group: Group) -> list[str]:
    red = [test for test in group.tests or () if {"failed", "errors"} & set(test.ends)]
    return [f"{test.name}\n      {test.why}".rstrip() for test in red]


def section(title: str, groups: list[Group], lines_of) -> list[str]:
    parts = [(group.name, lines_of(group)) for group in groups]
    shown = [
        f"  {name}\n" + "\n".join(f"    {line}" for line in lines) for name, lines in parts if lines
    ]
    return [f"{title}\n" + "\n".join(shown)] if shown else []


def summary(groups: list[Group]) -> str:
    """All that a run of groups has to say; the table comes last, as a terminal shows the end."""
    return "\n\n".join(
        [
            slowest(groups),
            *section("Skipped", groups, skips),
            *section("Red", groups, reds),
            table(groups),
        ]
    )


def busy():
    from machine import load  # it needs numpy, and the groups are run whatever is missing

    return load.busy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", help="targets of the Makefile")
    parser.add_argument("--load", action="store_true", help="keep the processors busy beside it")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with busy() if asked.load else nullcontext():
        groups = [run_group(name, RESULTS) for name in asked.groups] or last_run(RESULTS)
    if not groups:
        sys.exit("nothing was run yet: run `make test`")
    print(f"\n{summary(groups)}\n\n{inventory.sentence()}")
    red = [group.name for group in groups if group.is_red]
    sys.exit(f"red: {', '.join(red)}" if red else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted: what ran before is in the table of `make test-table`")
