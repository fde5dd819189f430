"""A drawing in steps that the reader takes; on paper, or without its script, all at once."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

import drawsvg

from attn_core.views.drawings.drawing import Drawing, neat
from attn_core.views.drawings.scripted import Scripted

LINE = 1.35  # from one line of letters to the next
ROOM = 12


class Steps(Scripted):
    """Drawings of one size, each with a sentence; buttons and arrow keys lead through them.

    >>> one, two = Drawing(200, 40, "a"), Drawing(200, 40, "b")
    >>> Steps([(one, "First this."), (two, "Then that.")], "Two steps.")
    Drawing: Two steps. 1: First this. 2: Then that.

    Nothing moves by itself. Where a reader wants no motion all steps stand there, one below
    another; so they do on paper, and where a notebook is only shown.
    """

    kind = "drawing steps"
    script = "steps.js"

    def __init__(self, steps: Sequence[tuple[Drawing, str]], alt: str) -> None:
        first = steps[0][0]
        sizes = {(step.width, step.height) for step, _ in steps}
        if len(sizes) > 1:
            raise ValueError(f"steps must have one size, got {sorted(sizes)}")
        # A letter is half as wide as it is high, or a little more.
        across = int(first.width / (0.56 * first.letters))
        lines = [textwrap.wrap(says, across) for _, says in steps]
        below = max(map(len, lines)) * LINE * first.letters + ROOM
        self.each = first.height + below
        description = " ".join(f"{n}: {says}" for n, (_, says) in enumerate(steps, 1))
        super().__init__(first.width, self.each * len(steps), f"{alt} {description}")
        for n, (step, says) in enumerate(steps):
            group = drawsvg.Group(
                class_="step",
                transform=f"translate(0 {neat(n * self.each)})",
                data_says=escape(says),
                data_top=neat(n * self.each),
                data_height=neat(self.each),
            )
            written = Drawing(first.width, self.each, says)
            for row, words in enumerate(lines[n]):
                written.text(
                    words, 8, step.height + (row + 0.5) * LINE * first.letters, align="start"
                )
            for part in (*step.parts, *written.parts):
                group.append(part)
            self.add(group)
