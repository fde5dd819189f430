"""What is handed in is read without following a link, and what lies astray is said."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from grading import handins
from grading.handins import hand_in, read_file
from grading.slips import misplaced
from tests.grading.conftest import make


@pytest.fixture
def submitted(tmp_path):
    folder = tmp_path / "submitted"
    (folder / "ada" / "week").mkdir(parents=True)
    (tmp_path / "mine").write_bytes(b"secret")
    return folder


def test_the_notebook_by_its_name_or_the_newest(submitted):
    folder = submitted / "ada" / "week"
    assert hand_in(submitted, "ada", "week") is None
    assert hand_in(submitted, "bob", "week") is None
    (folder / "notes.txt").write_bytes(b"1")
    (folder / ".ipynb").mkdir()
    (folder / ".ipynb_checkpoints").mkdir()
    assert hand_in(submitted, "ada", "week") is None
    (folder / "old.ipynb").write_bytes(b"old")
    (folder / "new.IPYNB").write_bytes(b"new")
    os.utime(folder / "old.ipynb", (1, 1))
    handed = hand_in(submitted, "ada", "week")
    newest = "2 notebooks in one folder: the one graded is the newest"
    assert (handed.raw, handed.flags) == (b"new", ["the file has another name", newest])
    (folder / "week.ipynb").write_bytes(b"right")
    handed = hand_in(submitted, "ada", "week")
    by_name = "3 notebooks in one folder: the one graded is week.ipynb"
    assert (handed.raw, handed.flags) == (b"right", [by_name])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.symlink_to("/nowhere"), "a link, not a file"),
        (lambda path: path.symlink_to(path.parents[3] / "mine"), "a link, not a file"),
        (lambda path: path.mkdir(), "a folder, not a file"),
        (lambda path: os.mkfifo(path), "a device, not a file"),
        (lambda path: path.write_bytes(b" " * (handins.LARGEST + 1)), "too large a file"),
    ],
    ids=["dangling", "link", "folder", "pipe", "large"],
)
def test_what_is_no_file_is_not_opened(submitted, make, words):
    make(submitted / "ada" / "week" / "week.ipynb")
    handed = hand_in(submitted, "ada", "week")
    assert (handed.raw, handed.flags, handed.problem) == (b"", [words], "")


@pytest.mark.parametrize("which", ["ada", "ada/week"])
def test_no_folder_above_may_be_a_link(submitted, which):
    away = submitted / which
    real = submitted.parent / "real"
    (submitted / "ada" / "week" / "week.ipynb").write_bytes(b"1")
    away.rename(real)
    away.symlink_to(real)
    assert hand_in(submitted, "ada", "week") is None
    assert read_file(submitted, "ada", "week", "week.ipynb", most=9) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_we_may_not_read_is_our_problem(submitted):
    path = submitted / "ada" / "week" / "week.ipynb"
    path.write_bytes(b"1")
    path.chmod(0)
    assert "Permission denied" in hand_in(submitted, "ada", "week").problem


SLIPS = {
    "bob/class.ipynb": ("bob", "submitted/bob/class.ipynb is one folder too high: move it to "
                        "submitted/bob/class/"),
    "bob/homework.ipynb": ("bob", "move it to submitted/bob/<assignment>/"),
    "class/bob/class.ipynb": ("bob", "submitted/class/bob is the wrong way round: make it "
                              "submitted/bob/class/"),
    "bob/clas/class.ipynb": ("bob", "course.toml has no assignment 'clas'; did you mean 'class'?"),
    "bob/class/solution.zip": ("bob", "/bob/class has no notebook in it, only solution.zip"),
    "bob/class/class/class.ipynb": ("bob", "submitted/bob/class has no notebook in it, only class"),
    "bobby/class/class.ipynb": ("", "not on the roster, so not graded: bobby; did you mean 'bob'?"),
    "class.ipynb": ("", "submitted/class.ipynb is misplaced"),
    "bob": ("bob", "submitted/bob is not a folder: the notebook belongs in a folder of this name"),
    "bob/class": ("bob", "submitted/bob/class is not a folder"),
}  # fmt: skip


@pytest.mark.parametrize("path", SLIPS)
def test_a_hand_in_that_lies_astray_is_said_and_left(course, path):
    file = course.folder / "submitted" / path
    file.parent.mkdir(parents=True)
    file.write_bytes(b"1")
    ((owner, words),) = misplaced(course)
    assert owner == SLIPS[path][0]
    assert SLIPS[path][1] in words
    assert file.read_bytes() == b"1"


def test_a_folder_from_which_all_was_moved_is_no_slip(course):
    (course.folder / "submitted" / "class" / "bob").mkdir(parents=True)
    assert misplaced(course) == []


@pytest.mark.parametrize("path", ["bob", "bob/class"])
def test_a_link_in_the_place_of_a_folder_is_said(course, tmp_path, path):
    (tmp_path / "elsewhere" / "class").mkdir(parents=True)
    link = course.folder / "submitted" / path
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert misplaced(course) == [
        ("bob", f"submitted/{path} is a link, which is not followed: put the folder itself there")
    ]


def test_an_id_in_other_characters_of_unicode_is_said(tmp_path):
    course = make(tmp_path, ["zoë"])
    name = unicodedata.normalize("NFD", "zoë")
    (course.folder / "submitted" / name / "class").mkdir(parents=True)
    ((_, words),) = misplaced(course)
    assert "in different Unicode characters: rename the folder" in words


def test_what_lies_right_is_no_slip(course):
    folder = course.folder / "submitted" / "ada" / "class"
    folder.mkdir(parents=True)
    (folder / "class.ipynb").write_bytes(b"1")
    (course.folder / "submitted" / ".DS_Store").write_bytes(b"1")
    (course.folder / "submitted" / "README.txt").write_bytes(b"1")
    Path(course.folder, "submitted", "bob").mkdir()
    assert misplaced(course) == []
