"""Exercises in another language: an exercise with its texts exchanged, and the box around it."""

from __future__ import annotations

from collections.abc import Iterator

from exercises import Exercise
from publishing.translation.language import ENGLISH, in_chinese, language

CATALOGUE = "exercises"


def say(message: str) -> str:
    return in_chinese(message, CATALOGUE)


def texts(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """What an exercise says to a reader, each with what it is; Markdown, with Jinja's marks."""
    yield exercise.title, f"{exercise.id}: title"
    yield exercise.text.strip(), f"{exercise.id}: text"
    for field in exercise.fields:
        if field.label:
            yield field.label, f"{exercise.id}: label of an answer field"
    for mistake in exercise.mistakes:
        yield mistake.hint, f"{exercise.id}: hint"
    if exercise.rubric:
        yield exercise.rubric.strip(), f"{exercise.id}: rubric"
        yield exercise.words, f"{exercise.id}: a good answer"


def chinese(exercise: Exercise) -> Exercise:
    """The exercise with its texts in Chinese, an answer that is one among them; its code and its
    numbers are the same."""
    return exercise.translated(say)


def here(exercise: Exercise) -> Exercise:
    """The exercise in the language that is made."""
    return exercise if language() == ENGLISH else chinese(exercise)
