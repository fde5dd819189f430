"""Does a test notice when a function of the page's script does nothing? `make mutants ONLY=page`.

One run with a marked script tells which tests enter which function. Then one function after the
other is emptied in a copy of the project, and the tests that enter it run until one fails: first
those that noticed another function of the file last time, and are quick and enter little else. A
function that no test notices is a survivor: it stands with its reason in
tests/mutants/page-survivors.toml, or the command fails.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import multiprocessing
import signal
import sys
from collections import Counter
from itertools import chain

from checks import page_runs, page_score
from checks.page_functions import Function, emptied, functions, marked
from checks.page_score import LEAST, ROOT

# What no test has noticed after tests of so many seconds counts as not noticed. Less is too little
# for what two hundred tests enter and few look at.
LONGEST = 240
# A test that takes less than the first waits no longer than the second: most that notice wait.
QUICK, SHORT = 0.7, 3
MAP = page_runs.WORK / "entered.json"
ENDS = page_runs.WORK / "ends.json"


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def texts() -> dict[str, str]:
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in page_score.files()}


def files_of_tests() -> dict[str, str]:
    """The files of the page's tests, each with a digest of what it holds."""
    paths = chain.from_iterable(
        sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        for path in map(ROOT.joinpath, page_runs.TESTS)
    )
    return {
        path.relative_to(ROOT).as_posix(): digest(path.read_text(encoding="utf-8"))
        for path in paths
    }


def entered(pool, scripts: dict[str, str]) -> list[dict]:
    """The tests that are green, each with its seconds and the functions that it enters.

    A function is [file, name]. What is known of a test's file stays known until it changes.
    """
    known = json.loads(MAP.read_text(encoding="utf-8")) if MAP.exists() else {}
    if known.get("scripts") != digest(*scripts.values()):
        known = {"scripts": digest(*scripts.values()), "files": {}, "tests": []}
    now = files_of_tests()
    changed = [name for name, mark in now.items() if known["files"].get(name) != mark]
    if changed:
        print(f"Asking which functions the tests of {len(changed)} files enter …", flush=True)
        of_others = [
            test
            for test in known["tests"]
            if (file := test["name"].partition("::")[0]) in now and file not in changed
        ]
        known |= {"files": now, "tests": of_others + ask(pool, scripts, changed)}
        MAP.write_text(json.dumps(known), encoding="utf-8")
    return known["tests"]


def ask(pool, scripts: dict[str, str], tests: list[str]) -> list[dict]:
    """Run tests with a script whose functions tell that they are entered."""
    all_functions = [
        (file, function) for file, text in scripts.items() for function in functions(text)
    ]
    numbers = {place: n for n, place in enumerate(all_functions)}
    with_marks = {
        file: marked(
            text,
            {
                function: f"globalThis.enters?.({numbers[file, function]})"
                for function in functions(text)
            },
        )
        for file, text in scripts.items()
    }
    noted = list(
        chain.from_iterable(
            pool.starmap(page_runs.entering, [(with_marks, [name]) for name in tests], 1)
        )
    )
    # A mark may break a test, of a script's size say: what counts is the script as it is.
    red = [test["name"] for test in noted if not test.get("passed")]
    useless = pool.apply(page_runs.red, (red,)) if red else []
    for name in useless:
        print(f"Red without any change, and so of no use: {name}")
    noted = [test for test in noted if test["name"] not in useless]
    for test in noted:
        places = [all_functions[n] for n in test.get("entered", ())]
        test["entered"] = [[file, function.name] for file, function in places]
    return noted


def chosen(
    file: str, function: Function, tests: list[dict], noticing: Counter, longest: float
) -> list[dict]:
    """The tests that enter a function, in the order in which they are likely to notice.

    noticing: how many functions of a file a test noticed last time, by file and test.
    """
    those = [test for test in tests if [file, function.name] in test["entered"]]

    def cost(test: dict) -> float:
        return test["seconds"] * len(test["entered"]) / (1 + 10 * noticing[file, test["name"]])

    those.sort(key=cost)
    taken, seconds = [], 0.0
    for test in those:
        if seconds < longest:
            taken.append(test)
        seconds += test["seconds"]
    return taken


def batches(tests: list[dict]) -> list[tuple[float, list[str]]]:
    """Quick tests, with little patience, and the others."""
    quick, others = [], []
    for test in tests:
        (quick if test["seconds"] < QUICK else others).append(test["name"])
    return [(SHORT, quick), (page_runs.PATIENCE, others)]


def measure(pool, names: list[str], scripts: dict, tests: list[dict], ends: dict, longest: float):
    """Empty each function of these files; `ends` gets the test that notices, or None."""
    asked = {}
    noticing = Counter((key.partition(" ")[0], test) for key, test in last_ends().items() if test)
    for file in names:
        for function in functions(scripts[file]):
            if ends.get(key := key_of(file, function, scripts)):
                continue
            ends[key] = None
            if those := chosen(file, function, tests, noticing, longest):
                change = {file: emptied(scripts[file], function)}
                asked[key] = pool.apply_async(page_runs.first_red, (change, batches(those)))
    for n, (key, answer) in enumerate(asked.items(), 1):
        ends[key] = answer.get()
        ENDS.write_text(json.dumps(ends, indent=1), encoding="utf-8")
        said = f"noticed by {ends[key]}" if ends[key] else "NOT NOTICED"
        print(f"{n}/{len(asked)} {key.rpartition(' ')[0]}: {said}", flush=True)


def last_ends() -> dict[str, str | None]:
    return json.loads(ENDS.read_text(encoding="utf-8")) if ENDS.exists() else {}


def key_of(file: str, function: Function, scripts: dict[str, str]) -> str:
    return f"{file} {function.name} {digest(scripts[file])}"


def row(file: str, scripts: dict[str, str], ends: dict) -> dict:
    """What the score says of a file."""
    targets = functions(scripts[file])
    survivors = [function.name for function in targets if not ends[key_of(file, function, scripts)]]
    return {
        "made": len(targets),
        "noticed": len(targets) - len(survivors),
        "survivors": survivors,
        "date": datetime.date.today().isoformat(),
    }


def report(rows: dict[str, dict], known: dict[tuple[str, str], str]) -> bool:
    """Print what is not noticed; True if each has its reason, and no reason is idle."""
    unnoticed = {(file, name) for file, row in rows.items() for name in row["survivors"]}
    for file, name in sorted(unnoticed):
        print(f"\n  {file} {name}: {known.get((file, name), 'NOT EXPLAINED')}")
    idle = {place for place in known if place[0] in rows} - unnoticed
    for file, name in sorted(idle):
        print(f"\n  Explained, but noticed or gone: {file} {name}")
    return not idle and unnoticed <= set(known)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("only", nargs="*", metavar="file", help="attn_core/views/page/ui/grid.js, …")
    asked.add_argument("--again", action="store_true", help="only what was not noticed last time")
    asked.add_argument("--jobs", type=int, default=2, help="how many functions at a time")
    asked.add_argument("--longest", type=float, default=LONGEST, help="seconds of tests for each")
    asked = asked.parse_args()
    scripts = texts()
    if unknown := set(asked.only) - set(scripts):
        sys.exit(f"No script of the page: {', '.join(sorted(unknown))}")
    if not (ROOT / "_build" / "html" / "index.html").is_file():
        sys.exit("The site is not built: run `make book`.")
    names = asked.only or list(scripts)
    ends = last_ends() if asked.again else {}
    context = multiprocessing.get_context("spawn")
    folders = context.Queue()
    for n in range(asked.jobs):
        folders.put(str(n))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))  # and the processes with it
    with context.Pool(asked.jobs, page_runs.prepare, (folders,)) as pool:
        if old := pool.apply(page_runs.outdated):
            sys.exit(f"The site has other scripts than the project: run `make book` ({old}).")
        tests = entered(pool, scripts)
        measure(pool, names, scripts, tests, ends, asked.longest)
    rows = page_score.stored() | {file: row(file, scripts, ends) for file in names}
    page_score.store(rows)
    right = report({file: rows[file] for file in names}, page_score.explained())
    score = page_score.per_cent(rows.values())
    print(f"\nScore of all files that were measured: {score:.1f} %")
    if not right:
        sys.exit("Each function needs a test that notices, or its reason in page-survivors.toml.")
    if score < LEAST:
        sys.exit(f"At least {LEAST} % must be noticed.")


if __name__ == "__main__":
    main()
