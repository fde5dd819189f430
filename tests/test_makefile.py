"""The commands of the Makefile work wherever the book lies."""

import re
import subprocess
from pathlib import Path

from tests.test_workflows import targets

ROOT = Path(__file__).parents[1]


def test_every_command_takes_a_path_with_a_space(tmp_path):
    folder = tmp_path / "my books 书" / "main"
    folder.mkdir(parents=True)
    for path in ROOT.iterdir():
        (folder / path.name).symlink_to(path)
    how = ["--dry-run", "--always-make", "--keep-going", "--no-print-directory"]
    command = ["make", *how, *sorted(targets())]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(folder) in done.stdout
    unquoted = re.sub(r'"[^"\n]*"', "", done.stdout)
    assert [line for line in unquoted.splitlines() if "my books" in line] == []
