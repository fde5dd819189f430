"""The mistakes that an exercise knows: each a whole wrong answer, or what differs in it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give, and what to tell them."""

    code: str
    hint: str  # says what went wrong; it may not give the solution away
    name: str | None = None  # where it is one of attn_core.mistakes: its name, "no-scale"


@dataclass(frozen=True)
class Change(Mistake):
    """A mistake as what differs from the solution, which `change` writes; `Exercise` gives it its
    code."""

    pairs: tuple[tuple[str, str], ...] = ()  # each an old text and the new one

    def of(self, solution: str) -> Mistake:
        """The mistake: the solution with all old texts replaced at once.

        >>> change("n - 1", "n", hint="One too many.").of("wide = n - 1").code
        'wide = n'
        >>> change(("a", "b"), ("b", "a"), hint="They have changed places.").of("a = 2 * b").code
        'b = 2 * a'
        """
        for old, _ in self.pairs:
            if solution.find(old) != solution.rfind(old):
                raise ValueError(f"{UNFIT}, and {old!r} stands there more than once")
            if old not in solution:
                raise ValueError(f"{UNFIT}, and {old!r} does not stand there")
        new = dict(self.pairs)
        olds = re.compile("|".join(map(re.escape, new)))
        code, count = olds.subn(lambda match: new[match[0]], solution)
        if count < len(self.pairs):
            raise ValueError(f"the old texts of a change must lie apart, got {[*new]}")
        return Mistake(code, self.hint, self.name)


UNFIT = "the old text of a change must stand in the solution once"


def change(*texts: str | tuple[str, str], hint: str, name: str | None = None) -> Change:
    """A known mistake that is the solution but for a text: `change("old", "new", hint="…")`.

    texts: the old text, which stands in the solution once, and the new one; or several such pairs,
        `change(("old", "new"), ("other", "new"), hint="…")`.
    hint: what to tell, as a `Mistake` has it.
    name: where it is one of attn_core.mistakes, its name.
    """
    pairs = []
    for pair in [texts] if all(isinstance(text, str) for text in texts) else texts:
        match pair:
            case (str(old), str(new)):
                pairs.append((old, new))
            case _:
                raise ValueError(
                    f"change must get an old and a new text, or such pairs, got {pair!r}"
                )
    return Change("", hint, name, tuple(pairs))
