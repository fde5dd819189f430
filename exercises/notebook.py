"""For a notebook: the numbers of an exercise, and the feedback on an answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import tee

from attn_core.mistakes import MISTAKES
from exercises import load
from exercises.form import Exercise, Names
from exercises.known import Mistake
from exercises.lines import wrapped
from exercises.messages import ENGLISH, Messages
from exercises.not_taken import not_taken
from exercises.recognise import Seen, holds, observe, recognise

OTHERS = (1, 2)  # the seeds whose numbers a right function must hold for, too


def found(name: str) -> Exercise:
    """An exercise by its id."""
    known = load()
    if name not in known:
        raise ValueError(f'name must be the id of an exercise, like "01-context", got {name!r}')
    return known[name]


def given(name: str) -> Names:
    """The numbers that an exercise starts from, by their names, in the chapter's own variant.

    >>> given("01-shares")["keep"]
    0.5
    """
    return found(name).parameters(0)


def check(name: str, names: Names | None = None) -> None:
    """Print whether an answer is right, what it does not do yet, and which mistake it looks like.

    >>> def place(h, t, i, heads, width):
    ...     return h * 3 * width + t * width + i
    >>> check("08-place", {"place": place})
    08-place: not yet.
      ✓ `place(h, t, i, heads, width)` gives one whole number
      ✓ head 0 of word 0 begins at place 0
      ✓ every place is used once
      ✗ each head gets some numbers of every word, in order
      ✗ it is also right for 4 words and 3 heads of 5 numbers
    It looks like heads split by view alone. This is the wrong view for three words: head 1 begins
    in the middle of the sentence. From word to word it is `heads * width` places, from head to head
    only `width`.

    name: the id of the exercise.
    names: where the answer stands; if it is not given, among the names of the cell that calls.
    """
    print(feedback(found(name), sys._getframe(1).f_globals if names is None else names))


def feedback(exercise: Exercise, names: Names, _: Messages = ENGLISH) -> str:
    """What `check` prints; `_` says it in another language, in which the exercise is, too."""
    seen = observe(exercise, {**names, **read_twice(exercise, names)})
    if is_blank(seen):
        return _("{id}: not answered yet.").format(id=exercise.id)
    lines = [f"  {'✓' if passed else '✗'} {_.tell(text)}" for text, passed in seen.checks]
    if not seen.is_right:
        lines.insert(0, _("{id}: not yet.").format(id=exercise.id))
        if seen.error is not None:
            raised = f"{type(seen.error).__name__}: {seen.error}"
            lines.append(_("It raised {error}").format(error=raised))
        elif why := next(filter(None, map(not_taken, seen.said)), ""):
            lines.append(_("Not taken: {why}.").format(why=_(why)))
        return "\n".join(lines + hint(recognise(exercise, seen), _))
    if exercise.kind == "text":
        return _("{id}: a written answer, which a person reads.").format(id=exercise.id)
    for seed in (0, *OTHERS) if exercise.functions else ():
        other = seen if seed == 0 else observe(exercise, names, seed)
        if not (other.is_right and holds(exercise, other, seed)):
            first = _("{id}: right for these numbers, but not for all.").format(id=exercise.id)
            return "\n".join([first, *hint(recognise(exercise, other, seed), _)])
    lines = [_("{id}: right.").format(id=exercise.id)]
    if seen.changed:
        lines.append(_("Your function changes its input, which the caller may still need."))
    return "\n".join(lines)


def read_twice(exercise: Exercise, names: Names) -> Names:
    """Answers that are generators, to be read here and once more by their owner."""
    calls = {}
    for name in exercise.answers:
        if isinstance(names.get(name), Iterator):
            names[name], calls[name] = tee(names[name])
    return calls


def is_blank(seen: Seen) -> bool:
    """True if the answer is missing, or says nothing: `...`, None, an empty text."""
    return all(value is None or value is ... or is_empty_text(value) for value in seen.said)


def is_empty_text(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def hint(mistake: Mistake | None, _: Messages = ENGLISH) -> list[str]:
    """What to tell about a known mistake, as lines of at most 96 columns."""
    if mistake is None:
        return []
    text = mistake.hint
    if mistake.name is not None:
        title = _(MISTAKES[mistake.name].title)
        text = _("It looks like {mistake}. {hint}").format(mistake=title, hint=text)
    return wrapped(text, 96)
