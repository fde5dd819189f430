"""What a reader of the book can import beside the packages, as the sandbox has it.

attn_core is there as a whole: what a chapter shows, an answer may use. `exercises` is not, since it
has the solutions; a cell that checks itself, as those of the book's own exercise notebooks do, is
told that this is no place for it, and runs on.
"""

from __future__ import annotations

from pathlib import Path

import attn_core

PLACE = "/library"
FOLDERS = {f"{PLACE}/attn_core": Path(attn_core.__file__).parent}  # read-only, by their places
NOTEBOOK = '''\
"""Stands for the book's exercises.notebook where answers are graded."""


def check(name, names=None):
    print(f"{name}: no answer is checked here, where it is graded.")


def given(name):
    raise LookupError("here the numbers of an exercise stand in the cell above it")
'''
FILES = {f"{PLACE}/exercises/__init__.py": "", f"{PLACE}/exercises/notebook.py": NOTEBOOK}
