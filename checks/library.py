"""Run the library's tests under another Python and another torch, in an environment of its own.

    make test-library PYTHON=python3.13 TORCH=2.15.0
    make test-library TORCH=oldest

`oldest` takes the oldest version that pyproject.toml promises of torch and of everything else. It
runs in the Python that is asked for, and needs nothing but what comes with it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

from machine import promised

ROOT = Path(__file__).parents[1]
# Without the plugins of the notebooks, which this environment lacks.
PYTEST = ["-m", "pytest", "-o", "addopts=", "--strict-markers", "-ra", "--import-mode=importlib"]
PYTEST += ["--doctest-modules", "-p", "tests.patience", "-p", "tests.missing"]
PYTEST += ["-n", "2", "--dist", "loadfile", "-m", "not slow and not deep"]
# The oldest packages call what newer ones beside them discourage.
LENIENT = ["-W", "ignore::DeprecationWarning"]
SHAPES = "--jaxtyping-packages=attn_core,tests.shapes.checked"
# Errors as a user sees them, and calls that a compiler follows, are tested without that of shapes.
RUNS = [
    ["-p", "tests.shapes", SHAPES, "tests/attn_core", "attn_core"],
    ["tests/errors", "tests/compiling"],
]


def environment(folder: Path) -> Path:
    """The Python of a new environment."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    return python


def constraints() -> list[str]:
    """What was tested together, but for torch."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "==" in line and not line.startswith("torch==")]


def install(python: Path, torch: str, index: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    def run(*what: str | Path) -> None:
        subprocess.run([*pip, *what], check=True, cwd=ROOT)

    if torch == "oldest":
        pins = [f"{name}=={version}" for name, version in promised.oldest().items()]
        limits = []
    else:
        pins = [f"torch=={torch}", *promised.packages()]
        limits = constraints()
    file = python.parents[1] / "constraints.txt"
    file.write_text("".join(f"{line}\n" for line in limits), encoding="utf-8")
    # An old pip tries the versions of what the oldest packages need for hours.
    run("--upgrade", "pip")
    chosen = next(pin for pin in pins if pin.startswith("torch=="))
    run(*(["--index-url", index] if index else []), chosen)
    run("-r", "requirements-library.txt", *pins, "-c", file)
    run("--no-deps", "-r", "requirements-model.txt", "-e", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("torch", help="a version, or `oldest`")
    parser.add_argument("--index", default="", help="where pip finds torch")
    asked = parser.parse_args()
    version = ".".join(map(str, sys.version_info[:2]))
    python = environment(ROOT / f".venv-library-{version}-{asked.torch}")
    install(python, asked.torch, asked.index)
    said = "import sys, torch; print('Python', sys.version.split()[0], 'torch', torch.__version__)"
    subprocess.run([python, "-c", said], check=True)
    pytest = [*PYTEST, *(LENIENT if asked.torch == "oldest" else [])]
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    red = [
        subprocess.run([python, *pytest, *run], cwd=ROOT, env=variables, check=False).returncode
        for run in RUNS
    ]
    sys.exit(any(red))


if __name__ == "__main__":
    main()
