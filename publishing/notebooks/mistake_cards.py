"""The gallery's Markdown: one entry for each of attn_core.mistakes, from its own fields."""

from __future__ import annotations

from attn_core.checks import STAGES
from attn_core.mistakes import Mistake

# The sections of the errata, by the first digit of an erratum's id.
NOTES = (
    "the long note",
    "the textbook chapter",
    "the masking note",
    "the notebook note",
    "the from-scratch note",
)

CARD = """\
### {title}

{does} {symptom}

```diff
- {wrong}
+ {right}
```

- **Caught by** `{check}`
- **Hides** {invisible}
- **Begins** {where}.
- **Seen in** {seen}.
"""


def card(mistake: Mistake) -> str:
    """What a mistake is, beside what is right; when it hides; what catches it; who met it.

    >>> from attn_core.mistakes import MISTAKES
    >>> print(card(MISTAKES["rounded-weights"]).splitlines()[-1])
    - **Seen in** [errata: the textbook chapter](../book/errata.md#the-textbook-chapter).
    """
    where = f"at the stage *{mistake.where}*"
    if mistake.where not in STAGES:
        where = f"in `{mistake.where}`, outside the six stages"
    return CARD.format(
        title=mistake.title[0].upper() + mistake.title[1:],
        does=mistake.does,
        symptom=mistake.symptom,
        wrong=mistake.wrong,
        right=mistake.right,
        check=mistake.check,
        invisible=mistake.invisible[0].lower() + mistake.invisible[1:],
        where=where,
        seen=", ".join(dict.fromkeys(link(source) for source in mistake.source)),
    ).strip()


def link(source: str) -> str:
    """A thread on GitHub, or the part of the book's errata that an erratum's id belongs to.

    >>> link("pytorch/pytorch#103963")
    '[pytorch/pytorch#103963](https://github.com/pytorch/pytorch/issues/103963)'
    """
    if "/" in source:
        repository, number = source.split("#")
        return f"[{source}](https://github.com/{repository}/issues/{number})"
    name = NOTES[int(source[0])]
    return f"[errata: {name}](../book/errata.md#{name.replace(' ', '-')})"
