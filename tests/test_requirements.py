"""What is pinned can be installed by every Python that is promised, from its first release on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from machine import promised
from tests.processes import ran

ROOT = Path(__file__).parents[1]
PYTHONS = promised.pythons()
FIRST = [f"{version}.0" for version in PYTHONS]
# Resolved together, as `make` installs them: with what they need, or each by itself.
WITH_NEEDS = [
    ["requirements.txt", "requirements-test.txt", "requirements-triton.txt"],
    ["requirements-grading.txt"],
]
ALONE = [f"requirements-{name}.txt" for name in ("model", "bench", "mutants", "models")]
LIBRARY = ["pyproject.toml", "--all-extras", "requirements-library.txt"]
# torch pins these itself.
OF_TORCH = re.compile("nvidia-|cuda-|triton")


def pinned(*names: str) -> dict[str, str]:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in names)
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==([^;\s]+)", text, re.MULTILINE)
    }


def test_each_file_of_requirements_is_resolved():
    named = {name for files in [*WITH_NEEDS, ALONE, LIBRARY] for name in files}
    assert named >= {path.name for path in ROOT.glob("requirements*.txt")}


def test_what_is_installed_takes_the_first_release_of_each_python():
    known = pinned("requirements-test.txt", "constraints.txt")
    wrong = {
        f"{package.name}=={package.version} asks for Python {asked}"
        for package in distributions()
        if canonicalize_name(package.name) in known
        and (asked := package.metadata.get("Requires-Python"))
        and not all(SpecifierSet(asked).contains(version) for version in FIRST)
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("version", "refused"), [((3, 10, 9), True), ((3, 11, 2), False), ((3, 15, 0), True)]
)
def test_a_python_that_is_not_promised_is_refused(version, refused):
    said = promised.refusal(version, "/usr/bin/python3")
    assert bool(said) == refused
    assert not refused or "3.11 to 3.14, but /usr/bin/python3 is Python 3.1" in said


def index() -> dict[str, str]:
    """Where pip finds packages, said so that uv takes it."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\.index-url='(.*)'", said)
    return {"UV_DEFAULT_INDEX": found[-1]} if found else {}


def resolved(version: str, *files: str) -> dict[str, str]:
    """What pip would install from wheels; jieba has none and is pure Python."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config"]
    command += ["--only-binary", ":all:", "--no-binary", "jieba", "--no-header", "--no-annotate"]
    command += ["--python-version", version, *files]
    done = ran(*command, cwd=ROOT, env=os.environ | index())
    if "error sending request" in done.stderr:
        pytest.skip("no package index answers")
    assert done.returncode == 0, done.stderr
    return dict(line.split("==") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "version",
    [
        # The oldest and the newest; another one gets what both get, but for wheels of its own.
        *[pytest.param(version, marks=pytest.mark.slow) for version in (FIRST[0], FIRST[-1])],
        *[pytest.param(version, marks=pytest.mark.deep) for version in FIRST[1:-1]],
        *[pytest.param(f"{version}.99", marks=pytest.mark.deep) for version in PYTHONS],
    ],
)
def test_a_promised_python_gets_all_of_them(version):
    for files in WITH_NEEDS:
        got = resolved(version, *files, "-c", "constraints.txt")
        free = {*got} - {*pinned(*files, "requirements-library.txt", "constraints.txt")}
        assert [name for name in sorted(free) if not OF_TORCH.match(name)] == []
    resolved(version, "--no-deps", *ALONE)
    resolved(version, *LIBRARY)
