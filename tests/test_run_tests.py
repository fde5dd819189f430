"""The runner of all groups: each runs, each end is seen, and one table at the end says it all."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from checks import run_tests
from tests.conftest import ROOT
from tests.processes import ran

pytestmark = pytest.mark.gate

# What a group of tests may come to, each a file that pytest runs.
PLANTED = {
    "green": "import time\ndef test_one(): time.sleep(0.02)\ndef test_two(): pass\n",
    "failing": "def test_ten():\n    assert 5 + 5 == 11\ndef test_fine(): pass\n",
    "crash-at-collection": "import no_such_module\ndef test_one(): pass\n",
    "error": (
        "import pytest\n@pytest.fixture\ndef broken():\n    yield\n    raise OSError('torn')\n"
        "def test_one(broken): pass\n"
    ),
    "skipping": "import pytest\ndef test_one(): pytest.skip('no moon tonight')\n",
    "empty": "",
    "killed-worker": "import os\ndef test_one(): os.kill(os.getpid(), 9)\ndef test_two(): pass\n",
    "killed": "import os\ndef test_one(): os.kill(os.getpid(), 9)\n",
}
MAKEFILE = """
.PHONY: {all}
{tests}: %:
\t@"{python}" -m pytest -q -p no:cacheprovider $(MORE) --junit-xml=.tests/$@.xml $@.py
killed-worker: MORE := -p xdist -n 1
plain:
\t@echo done
plain-red no-report:
\t@exit 3
no-target:
\t@$(MAKE) nothing-of-this-name
"""


# By each group: how many tests passed, failed, met an error and were skipped, and its fault.
NO_REPORT = "ended with status 2, without a report"
ENDS = {
    "green": (2, 0, 0, 0, ""),
    "failing": (1, 1, 0, 0, ""),
    "crash-at-collection": (0, 0, 1, 0, ""),
    "error": (0, 0, 1, 0, ""),
    "skipping": (0, 0, 0, 1, ""),
    "empty": (0, 0, 0, 0, "found no test"),
    "killed-worker": (1, 0, 1, 0, ""),
    "killed": (0, 0, 0, 0, NO_REPORT),
    "plain": (0, 0, 0, 0, ""),
    "plain-red": (0, 0, 0, 0, NO_REPORT),
    "no-target": (0, 0, 0, 0, NO_REPORT),
    "nowhere": (0, 0, 0, 0, NO_REPORT),
}
RED = [name for name in ENDS if name not in ("green", "skipping", "plain")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project whose Makefile has the planted groups."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in PLANTED.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\njunit_family = xunit1\n", encoding="utf-8")
    others = ["plain", "plain-red", "no-report", "no-target"]
    text = MAKEFILE.format(
        all=" ".join([*PLANTED, *others]), tests=" ".join(PLANTED), python=sys.executable
    )
    (folder / "Makefile").write_text(text, encoding="utf-8")
    (folder / ".tests").mkdir()
    # The report of an earlier run does not count.
    (folder / ".tests" / "plain.xml").write_text("<testsuites/>", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def done(folder):
    """`python -m checks.run_tests` with all groups, once."""
    return run(folder, *ENDS)


def inner() -> dict[str, str]:
    """The environment without the outer run's own words, which would reach the inner one."""
    ours = ("PYTEST_", "MAKE", "MFLAGS")
    environment = {name: of for name, of in os.environ.items() if not name.startswith(ours)}
    # To load all plugins takes longer than the tests.
    return environment | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(folder, *arguments):
    """`python -m checks.run_tests` in a project."""
    return ran(sys.executable, "-m", "checks.run_tests", *arguments, cwd=folder, env=inner())


def lines_of(out: str) -> dict[str, list[str]]:
    """The table's lines by the group's name, without those of any other part."""
    table = out[out.rindex("\ngroup ") :].splitlines()[2:]
    return {line.split()[0]: line.split()[1:] for line in table if line and line[0].islower()}


def test_every_end_of_a_group_is_seen(folder, done):
    groups = {group.name: group for group in run_tests.last_run(folder / ".tests")}
    assert list(groups) == list(ENDS)
    for name, (*counts, fault) in ENDS.items():
        assert groups[name].fault == fault
        words = zip(("passed", "failed", "errors", "skipped"), counts, strict=True)
        assert groups[name].counts == {word: count for word, count in words if count}, name
        assert groups[name].is_red == (name in RED)


def test_a_status_is_red_though_the_report_is_green():
    tests = [run_tests.Test("a.py::test_one", 0.1, ("passed",))]
    group = run_tests.Group("code", 3, 1.0, tests)
    assert group.fault == "ended with status 3, though no test is red"
    assert group.is_red


def test_a_report_cut_off_is_none(tmp_path):
    (tmp_path / "a.xml").write_text("<testsuites><testcase", encoding="utf-8")
    assert run_tests.read_report(tmp_path / "a.xml") is None


def test_all_groups_run_and_one_table_ends_it(folder, done):
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f"red: {', '.join(RED)}")
    rows = lines_of(done.stdout)
    assert list(rows) == [*ENDS, "all"]
    for name, (*counts, _) in ENDS.items():
        has_none = name.startswith(("plain", "no", "killed")) and name != "killed-worker"
        assert rows[name][:4] == (["–"] * 4 if has_none else [str(count) for count in counts])
    assert rows["failing"][5:] == ["–", "red"]
    assert len(rows["green"]) == 6
    assert rows["all"][:4] == ["4", "1", "3", "1"]
    assert "failing.py::test_ten\n      assert (5 + 5) == 11" in done.stdout
    assert "1 ×  no moon tonight" in done.stdout
    slowest = done.stdout[done.stdout.index("The slowest 10") : done.stdout.index("Skipped")]
    assert {"test_one", "test_two"} <= {*re.findall(r"s  green.py::(\w+)", slowest)}
    assert f"Python {sys.version.split()[0]}" in done.stdout
    again = run(folder)
    assert again.returncode == 1
    assert lines_of(again.stdout) == rows


def test_green_is_green(folder, done):
    again = run(folder, "green", "plain")
    assert (again.returncode, again.stderr) == (0, "")


QUICK, GATE, SLOW, DEEP = (
    re.search(rf"^{name} := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1].split()
    for name in ("QUICK", "GATE", "SLOW", "DEEP")
)


MARKED = {
    "test": "not gate and not slow and not deep",
    "gate": "gate and not slow and not deep",
    "slow": "slow and not deep",
    "deep": "deep",
}
MARKED["deep-processors"] = "not slow and not deep"
MARKED["slow-triton"] = "not deep"  # all tests of the kernels, as no other group installs Triton
MARKED["slow-exercises"] = MARKED["deep-chinese"] = "not deep"  # notebooks have no marks


@cache
def words(group: str) -> list[str]:
    """The words of the command that a group of the project is."""
    plan = ["make", "--dry-run", "--no-print-directory", "-C", ROOT, "-o", ".venv/test"]
    plan += ["-o", ".venv/triton"]
    command = [*plan, "-o", ".venv-grading/made", group]
    done = ran(*command)
    assert done.returncode == 0, done.stderr
    return shlex.split(done.stdout.replace("\\\n", " "))


@pytest.mark.parametrize("group", QUICK + GATE + SLOW + DEEP)
def test_each_group_writes_its_report(group):
    command = words(group)
    assert f"--junit-xml=.tests/{group}.xml" in command
    marked = MARKED.get(group) or MARKED[group.split("-")[0]]
    assert command[command.index("-m", command.index("pytest")) + 1] == marked


def reached(group: str) -> set[Path]:
    """The files of tests that a group runs."""
    command = words(group)
    command = command[command.index("pytest") + 1 :]
    left_out = {ROOT / path for flag, path in itertools.pairwise(command) if flag == "--ignore"}
    named = {
        ROOT / word
        for flag, word in itertools.pairwise(command)
        if word.startswith(("tests", "exercises", "chapters", "book")) and flag != "-p"
    } - left_out
    files = [path for top in named for path in [top, *top.rglob("test_*.py")] if path.is_file()]
    if not named:
        files = (ROOT / "tests").rglob("test_*.py")
    return {file for file in files if not left_out & {file, *file.parents}}


BROWSER = re.compile(r"^def test_\w+\((?:[^)]*\W)?(?:browser|engine|tab)\b", re.MULTILINE)
# Engines of attention, not of the web.
ITS_OWN = re.compile(r'parametrize\(\(?"engine"')


def asks_for_a_browser(path: Path) -> bool:
    text = path.read_text("utf-8")
    return bool(BROWSER.search(text)) and not ITS_OWN.search(text)


def test_who_asks_for_a_browser_is_run_where_one_is_got():
    asking = set(filter(asks_for_a_browser, (ROOT / "tests").rglob("test_*.py")))
    assert asking
    for group in QUICK + GATE + SLOW + DEEP:
        if "machine.browser" not in " ".join(words(group)):
            assert not asking & reached(group), group


def test_every_file_of_tests_is_in_one_quick_group_or_is_of_tritons_kernels():
    count = Counter(file for group in QUICK for file in reached(group))
    count.update(reached("slow-triton") - count.keys())
    files = set((ROOT / "tests").rglob("test_*.py"))
    of_other_libraries = set((ROOT / "tests" / "models").rglob("test_*.py"))  # make test-models
    assert count == dict.fromkeys(files - of_other_libraries, 1)
