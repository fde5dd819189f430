"""Plays Colab: a machine with torch and Jupyter but no attn_core, an empty folder, one notebook.

The first cell has to install attn_core from the repository's address, which git is told to find
in a local copy; then every output has to be the stored one. Its processor is the plainest that
torch can be told to take this one for: the same digits are wanted from it, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, writes

from publishing import ROOT
from publishing.notebooks.chapters import NOTEBOOKS, repository_url, setup_cell
from tests.notebooks.execution import EXECUTE, PLAINEST, wrong_cells
from tests.processes import ran

pytestmark = pytest.mark.gate

CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]
OURS = ("attn_core", "__editable__")


def environment_without_attn_core(folder: Path) -> Path:
    """A new environment that sees all packages of this one but ours; returns its Python."""
    packages = folder / "packages"
    packages.mkdir(parents=True)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.lower().startswith(OURS):
            (packages / path.name).symlink_to(path)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    own = next((folder / "env").glob("lib/python*/site-packages"))
    (own / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
    return folder / "env" / "bin" / "python"


def local_repository(folder: Path) -> Path:
    """What a clone of the book holds, as far as an installation reads it."""
    folder.mkdir()
    shutil.copytree(
        ROOT / "attn_core", folder / "attn_core", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    author = ["-c", "user.name=reader", "-c", "user.email=reader@example.invalid"]
    for command in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "-m", "."]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def on_that_machine(repository: Path) -> dict[str, str]:
    """The environment variables: none of ours, and git finds the repository locally."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "GIT_"))}
    return {
        **keep,
        **PLAINEST,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": repository_url(),
        "GIT_TERMINAL_PROMPT": "0",
    }


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Its folder, and `run(*command)`: what its Python prints, run in the empty folder in it."""
    folder = tmp_path_factory.mktemp("colab")
    python = environment_without_attn_core(folder / "machine")
    variables = on_that_machine(local_repository(folder / "repository"))
    (folder / "content").mkdir()

    def run(*command):
        done = ran(python, *command, cwd=folder / "content", env=variables)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    code = "import importlib.util; print(importlib.util.find_spec('attn_core') is not None)"
    assert run("-c", code).strip() == "False", "attn_core must not be there yet"
    code = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    assert run("-c", code).strip() == "DEFAULT", "torch must not use wider instructions"
    return folder, run


def each_chapter():
    """One chapter among the slow tests, and the others deep: nbval runs them all in each run."""
    for path in CHAPTERS:
        mark = pytest.mark.slow if path.name.startswith("03") else pytest.mark.deep
        yield pytest.param(path, id=path.stem, marks=mark)


@pytest.mark.parametrize("chapter", list(each_chapter()))
def test_notebook_alone(chapter, machine):
    folder, run = machine
    empty = folder / "content"
    shutil.copy(chapter, empty)
    run("-c", EXECUTE, chapter.name, chapter.name)
    where = run("-c", "import attn_core; print(attn_core.__file__)").strip()
    assert where.startswith(str(folder / "machine" / "env"))
    wrong = wrong_cells(chapter, empty / chapter.name)
    (empty / chapter.name).unlink()
    assert wrong == {}


def test_an_install_that_fails_says_so_and_stops_the_notebook(tmp_path):
    python = environment_without_attn_core(tmp_path)
    cells = [setup_cell(repository_url()), new_code_cell("import attn_core")]
    (tmp_path / "new.ipynb").write_text(writes(new_notebook(cells=cells)), encoding="utf-8")
    there = on_that_machine(tmp_path / "no repository")
    done = ran(python, "-c", EXECUTE, "new.ipynb", "new.ipynb", cwd=tmp_path, env=there)
    assert "SystemExit: attn_core could not be installed; the message of pip" in re.sub(
        r"\x1b\[\d*m", "", done.stderr
    )
    assert "No module named" not in done.stderr


def test_the_python_of_these_tests_has_attn_core():
    """Else the environment above would lack it for another reason."""
    assert ran(sys.executable, "-c", "import attn_core", cwd="/").returncode == 0
