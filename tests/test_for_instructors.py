"""The page for instructors: its pictures, and the exercises that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

import exercises
from publishing.instructor_pictures import LARGEST

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "for_instructors.md").read_text(encoding="utf-8")
PICTURES = dict(re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", PAGE))


def test_there_is_a_picture_of_each_step():
    assert {Path(path).stem for path in PICTURES.values()} == {
        "answer-field",
        "feedback",
        "formgrader",
        "key",
    }


@pytest.mark.parametrize(("words", "path"), PICTURES.items(), ids=PICTURES.values())
def test_a_picture_says_in_words_what_it_shows_and_is_small(words, path):
    picture = ROOT / "book" / path
    assert len(words) > 60
    assert picture.stat().st_size <= LARGEST
    with Image.open(picture) as image:
        assert image.mode == "P"


def test_every_exercise_that_is_named_exists():
    named = set(re.findall(r"`(\d\d-[a-z0-9-]+)`", PAGE))
    assert named - set(exercises.load()) == set()
    outcomes = PAGE.partition("| students can then |")[2]
    chapters = {name[:2] for name in re.findall(r"`(\d\d-[a-z0-9-]+)`", outcomes)}
    assert chapters == {exercise.chapter for exercise in exercises.load().values()}
