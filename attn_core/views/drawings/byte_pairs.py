"""Byte-pair encoding of one word: its letters, and a row more for each merge that applies."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Drawing

LEFT, RIGHT = 120, 12
MOST = 10  # letters
WIDEST_CELL = 62
TOP, HIGH, ROW = 12, 34, 52


def byte_pairs(word: str, merges: Sequence[tuple[str, str]]) -> Drawing:
    """A word's letters, and below them what each merge makes of the row above it.

    >>> byte_pairs("tomcat", [("a", "t"), ("c", "at"), ("t", "o"), ("to", "m")])
    Drawing: “tomcat” is cut into tokens, with a row for each merge. At first: t, o, m, c, a, t. \
Merge a + t: t, o, m, c, at. Merge c + at: t, o, m, cat. Merge t + o: to, m, cat. Merge to + m: \
tom, cat.

    The first merge of the list that finds its pair is made wherever the pair stands; then the list
    is searched from its beginning again, until no pair is left.

    Args:
        word: two to ten letters.
        merges: pairs of neighbouring tokens, in the order in which they were learned.

    Taught in chapter 12.
    """
    if not 2 <= len(word) <= MOST:
        raise ValueError(f"word must have 2 to {MOST} letters, got {len(word)}")
    tokens = list(word)
    rows: list[tuple[str, list[str]]] = [("", tokens)]
    while pair := next((pair for pair in merges if is_in(pair, tokens)), None):
        tokens = merged(tokens, pair)
        rows.append((" + ".join(pair), tokens))
    said = [f"Merge {name}: {', '.join(of)}." for name, of in rows[1:]]
    sheet = Drawing(
        WIDEST,
        TOP + ROW * len(rows) - (ROW - HIGH) + 12,
        f"“{word}” is cut into tokens, with a row for each merge. At first: "
        f"{', '.join(rows[0][1])}. " + " ".join(said),
    )
    cell = min(WIDEST_CELL, (WIDEST - LEFT - RIGHT) / len(word))
    for n, (name, of) in enumerate(rows):
        y = TOP + ROW * n
        sheet.text(name or "letters", LEFT - 16, y + HIGH / 2, "accent" if name else "soft",
                   align="end", bold=bool(name))  # fmt: skip
        before = rows[n - 1][1] if n else of
        x = float(LEFT)
        for token, is_new in zip(of, new_ones(before, of), strict=True):
            wide = cell * len(token)
            if is_new:
                # From the pair above down to what it becomes.
                sheet.box(x + 7, y - (ROW - HIGH), wide - 14, ROW - HIGH, fill="more",
                          round=0, opacity=0.4)  # fmt: skip
            sheet.box(x + 2, y, wide - 4, HIGH, token, fill="more" if is_new else "wash",
                      line="accent" if is_new else "soft", bold=is_new)  # fmt: skip
            x += wide
    return sheet


def is_in(pair: tuple[str, str], tokens: Sequence[str]) -> bool:
    return any(tuple(tokens[n : n + 2]) == pair for n in range(len(tokens)))


def merged(tokens: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """The tokens with each such pair made one, from the left.

    >>> merged(list("aaab"), ("a", "a"))
    ['aa', 'a', 'b']
    """
    made: list[str] = []
    n = 0
    while n < len(tokens):
        count = 2 if tuple(tokens[n : n + 2]) == pair else 1
        made.append("".join(tokens[n : n + count]))
        n += count
    return made


def new_ones(before: Sequence[str], after: Sequence[str]) -> list[bool]:
    """Of each token after a merge whether the merge made it.

    >>> new_ones(["to", "m", "cat"], ["tom", "cat"])
    [True, False]
    """
    old, found = iter(before), []
    for token in after:
        is_new = next(old) != token
        if is_new:
            next(old)
        found.append(is_new)
    return found
