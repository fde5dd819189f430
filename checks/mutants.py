"""Does every small change to attn_core make a test fail? `make mutants` counts those that don't.

mutmut makes the changes (the mutants) in a copy of the repository and runs the tests that reach
each one. A mutant that no test notices is a survivor: it stands with its reason in
tests/mutants/survivors.toml, or the command fails. The score goes from here into score.json, and
as a table into score.md, which a page of the book includes.
"""

import argparse
import contextlib
import datetime
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from checks.survivors import (
    SCORE,
    TABLE,
    Survivor,
    changed,
    explained,
    named,
    per_cent,
    shown,
    table,
)

ROOT = Path(__file__).parents[1]
WORK = ROOT / ".mutants"
LEAST = 90  # per cent
MEMORY = 4 * 2**30  # bytes of address space for one run of the tests
NOT_RUN = 255  # mutmut calls it a timeout; pytest found none of the tests, or could not begin
CAUGHT = {"killed", "timeout", "segfault", "crashed"}

MODULES = tomllib.loads((SCORE.parent / "modules.toml").read_text(encoding="utf-8"))

SETTINGS = """
[tool.mutmut]
source_paths = ["attn_core"]
only_mutate = ["{file}"]
also_copy = ["generate", "machine", "publishing"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = [
    "-p", "tests.mutants.order", "-m", "not slow and not deep", "-p", "no:cacheprovider",
    "-p", "no:unraisableexception",  # it collects all garbage at the end, which takes longest
]
# Forked from a process that has imported torch but computed nothing.
process_isolation = "forkserver"
# A busy machine is no endless loop.
timeout_constant = 10.0
timeout_multiplier = 6.0
"""


def without_property(text: str) -> str:
    """mutmut passes over decorated functions: `@property` becomes a statement after its method."""
    import libcst as cst  # only `make mutants` installs it

    class Undecorate(cst.CSTTransformer):
        def leave_FunctionDef(self, _, node):
            names = [d.decorator for d in node.decorators]
            if not any(isinstance(name, cst.Name) and name.value == "property" for name in names):
                return node
            after = cst.parse_statement(f"{node.name.value} = property({node.name.value})")
            return cst.FlattenSentinel([node.with_changes(decorators=[]), after])

    return cst.parse_module(text).visit(Undecorate()).code


def prepare(module: str) -> Path:
    """A copy of what mutmut needs, so that it never writes into the project."""
    file = MODULES[module]["file"]
    folder = WORK / module
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("attn_core", "generate", "machine", "publishing", "tests"):
        copy(name, folder)
    path = folder / file
    path.write_text(without_property(path.read_text(encoding="utf-8")), encoding="utf-8")
    set_up(folder, module)
    return folder


def set_up(folder: Path, module: str) -> None:
    """The project's settings and those of mutmut."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text += SETTINGS.format(**MODULES[module])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def copy(name: str, folder: Path) -> None:
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / name, folder / name, ignore=leave, dirs_exist_ok=True)


def end_of(code: int | None) -> str:
    """How a mutant ended. By any signal is an end too, such as that of a division by zero."""
    if code == NOT_RUN:
        return "not checked"
    from mutmut.stats import status_by_exit_code

    end = status_by_exit_code[code]
    return "crashed" if end == "suspicious" and code < 0 else end


def outcome(folder: Path, file: str) -> tuple[Counter, list[tuple[str, Survivor]]]:
    """How many mutants ended how, and those that no test noticed, with mutmut's names."""
    from mutmut.configuration import reset_config
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    stored = json.loads((folder / "mutants" / f"{file}.meta").read_text(encoding="utf-8"))
    ends = {name: end_of(code) for name, code in stored["exit_code_by_key"].items()}
    survivors = []
    reset_config()
    with contextlib.chdir(folder):
        for name, end in ends.items():
            if end not in CAUGHT:
                lines = changed(get_diff_for_mutant(name, path=Path(file)))
                survivors.append((name, Survivor(f"{file} {named(name)}", *lines)))
    return Counter(ends.values()), survivors


def last_run(module: str) -> tuple[Path, list[str]]:
    """The folder of a module's last run with the tests of now, and what they had not noticed."""
    file = MODULES[module]["file"]
    folder = WORK / module
    text = without_property((ROOT / file).read_text(encoding="utf-8"))
    if not (folder / file).exists() or (folder / file).read_text(encoding="utf-8") != text:
        sys.exit(f"{file} has changed since its last run: measure all of it.")
    copy("tests", folder)
    set_up(folder, module)
    return folder, [name for name, _ in outcome(folder, file)[1]]


def fill(meta: Path, before: dict) -> None:
    """mutmut forgets what it found when the choice of tests changes; what was noticed stays so."""
    stored = json.loads(meta.read_text(encoding="utf-8"))
    for name, code in stored["exit_code_by_key"].items():
        if code is None:
            stored["exit_code_by_key"][name] = before["exit_code_by_key"][name]
    meta.write_text(json.dumps(stored), encoding="utf-8")


def measure(module: str, jobs: int, again: bool) -> list[tuple[str, Survivor]]:
    """Run mutmut over one module and put its row into score.json."""
    import resource  # not on Windows, where mutmut does not run either

    began = time.monotonic()
    folder, names = last_run(module) if again else (prepare(module), [])
    meta = folder / "mutants" / f"{MODULES[module]['file']}.meta"
    before = json.loads(meta.read_text(encoding="utf-8")) if again else {}
    # A change may ask for a tensor of any size: that is refused, and noticed, before it is made.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), *names]
    with (folder / "run.log").open("w") as log:
        run = subprocess.run(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    if run.returncode:
        sys.exit(f"mutmut failed on {module}: see {folder / 'run.log'}")
    if again:
        fill(meta, before)
    ends, survivors = outcome(folder, MODULES[module]["file"])
    if ends["not checked"]:
        sys.exit(f"mutmut stopped on {module} before its end: see {folder / 'run.log'}")
    stored = json.loads(SCORE.read_text(encoding="utf-8")) if SCORE.exists() else {}
    stored[module] = {
        **MODULES[module],
        "date": datetime.date.today().isoformat(),
        "mutmut": version("mutmut"),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "made": ends.total(),
        "caught": sum(ends[end] for end in CAUGHT),
        "ends": dict(sorted(ends.items())),
        "survivors": [asdict(survivor) for _, survivor in survivors],
    }
    stored = {name: stored[name] for name in MODULES if name in stored}
    SCORE.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    files = [known["file"] for known in MODULES.values()]
    TABLE.write_text(table(stored, explained(), files), encoding="utf-8")
    return survivors


def report(module: str, survivors: list[tuple[str, Survivor]], known: dict[Survivor, str]) -> bool:
    """Print what a module's run found; True if each survivor has its reason, and none is idle."""
    file = MODULES[module]["file"]
    row = json.loads(SCORE.read_text(encoding="utf-8"))[module]
    print(f"\n{file}: {row['caught']} of {row['made']} noticed, {per_cent([row]):.1f} %")
    for name, survivor in survivors:
        because = known.get(survivor, f"NOT EXPLAINED ({name})")
        print(f"\n  {survivor.function.split()[1]}: {because}\n{shown(survivor)}")
    here = {survivor for survivor in known if survivor.function.split()[0] == file}
    unnoticed = {survivor for _, survivor in survivors}
    for idle in here - unnoticed:
        print(f"\n  Explained, but noticed or gone, in {idle.function}\n{shown(idle)}")
    return here == unnoticed


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("only", nargs="*", metavar="module", help=", ".join(MODULES))
    asked.add_argument("--jobs", type=int, default=2, help="how many mutants at a time")
    asked.add_argument("--again", action="store_true", help="only what was not noticed last time")
    asked = asked.parse_args()
    for name in asked.only:
        if name not in MODULES:
            sys.exit(f"ONLY must be one of {', '.join(MODULES)}, was {name}.")
    known = explained()
    right = True
    for module in asked.only or MODULES:
        right &= report(module, measure(module, asked.jobs, asked.again), known)
    score = per_cent(json.loads(SCORE.read_text(encoding="utf-8")).values())
    print(f"\nScore of all files that were measured: {score:.1f} %")
    if not right:
        sys.exit("Each change that no test notices needs a test, or its reason in survivors.toml.")
    if score < LEAST:
        sys.exit(f"At least {LEAST} % must be noticed.")


if __name__ == "__main__":
    main()
