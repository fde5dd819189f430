"""A student's notebook, run cell by cell in a sandbox, and its answers as they stood.

An answer is read right after its own cell, by a snapshot (inside/answers.py), and what is missing
there at the notebook's end. When a cell takes too long, prints too much or ends its process, the
notebook is run again in a new sandbox without that cell: it costs the questions that need it, and
no others.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nbformat import NotebookNode
from nbformat.v4 import new_output

from exercises.form import Exercise
from exercises.messages import ENGLISH, Messages, sentence
from grading.box import UNREAD, Box, Over
from grading.inside.border import (
    FROM_RUNNER,
    FROM_SNAPSHOT,
    PLACE,
    Cell,
    Found,
    Keep,
    Picture,
    Ran,
)
from grading.remote import Moment, Remote, known_error
from grading.sandbox import Limits

TRIES = 5  # sandboxes for one notebook
SLOWEST = 4  # the clock on the wall may show so many times the limits of cells and calls
MESSAGE = 1000  # bytes of output that a message counts for, beside its picture
UNFINISHED = sentence(
    "the notebook was not run to its end: the time for the whole submission was used up"
)


@dataclass
class Run:
    """One notebook's stay in the sandbox. `flags` tells, in words, what went wrong.

    places: which of the cells is an exercise's own, by its id; their outputs are written to them.
    """

    cells: list[NotebookNode]
    exercises: tuple[Exercise, ...]
    places: dict[str, int]
    limits: Limits = field(default_factory=Limits)
    say: Messages = ENGLISH
    flags: list[str] = field(default_factory=list)
    skip: dict[int, str] = field(default_factory=dict)  # cells that are not run (again), and why
    errors: dict[int, str] = field(default_factory=dict)  # by cell: an error's name, or ""
    spent: float = 0.0  # seconds, by the cells of all tries
    peak: int = 0  # bytes
    limited: bool = False  # whether with other limits it might have gone another way

    def flag(self, words: str) -> None:
        if words not in self.flags:
            self.flags.append(words)

    def __enter__(self) -> Run:
        self.last = time.monotonic() + SLOWEST * self.limits.whole
        for left in reversed(range(TRIES)):
            self.start()
            bad = self.run()
            self.spent += self.box.spent
            self.last = self.box.last
            if bad is None:
                break
            index, why = bad
            self.skip[index] = why
            self.limited = True
            number = self.cells[index].metadata.get("number", index + 1)  # as it was handed in
            self.flag(sentence("{0} in cell {1}", why, number))
            self.note(index)
            if self.is_late():
                self.flag(UNFINISHED)
            elif left:
                self.stop()
                continue
            else:
                self.flag(sentence("the notebook was not run to its end"))
            break
        self.box.hush()
        self.box.kill(self.box.links[0])  # no cell runs beside a hidden input,
        self.box.clear()  # and nothing that a cell has started
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def start(self) -> None:
        self.box = Box(self.limits, 2 * len(self.exercises), self.last)
        self.moments: dict[str, list[Moment]] = {exercise.id: [] for exercise in self.exercises}
        self.free = iter(range(1, len(self.box.links)))

    def stop(self) -> None:
        self.peak = max(self.peak, self.box.peak)
        self.box.end()

    def is_late(self) -> bool:
        return self.spent >= self.limits.whole or time.monotonic() >= self.last

    def allow(self, seconds: float) -> None:
        """Give what comes next so many seconds, or as many as are left of the whole."""
        left = self.limits.whole - self.spent - self.box.spent
        self.box.until = self.box.spent + min(seconds, left)

    def run(self) -> tuple[int, str] | None:
        """Run the cells in order. Returns the cell that cost the kernel, and why, or None."""
        index, late = 0, []
        codes = [i for i, cell in enumerate(self.cells) if cell.cell_type == "code"]
        try:
            for index in codes:
                if index in self.skip:
                    continue
                error = self.errors[index] = self.cell(index)
                if error == "MemoryError":  # what it holds is missing for all that follows
                    return index, sentence("memory")
                if error == "NameError":
                    late.append(index)
                else:
                    self.keep_all(index)
            for index in late:
                self.errors[index] = self.cell(index)
                if self.errors[index] != "NameError":
                    self.flag(sentence("cells are not in the order in which they run"))
                self.keep_all(index)
            for exercise in self.exercises:
                self.keep(exercise)
        except Over as error:
            return index, str(error)
        return None

    def cell(self, index: int) -> str:
        """Run one cell; returns the name of the error that it ended with, or ""."""
        cell = self.cells[index]
        cell.outputs = []
        kernel = self.box.links[0]
        self.allow(self.limits.cell)
        self.box.send(kernel, Cell(cell.source))
        pictures = []
        while not isinstance(message := self.box.receive(kernel, FROM_RUNNER), Ran):
            self.box.take("output", MESSAGE)
            if isinstance(message, Picture):
                self.box.take("output", len(message.png))
                pictures.append(base64.b64encode(message.png).decode())
        # A cell may print what marks a place, too: there are no more places than pictures.
        for text in self.box.printed().split(PLACE, len(pictures)):
            cell.outputs += [new_output("stream", text=text)] if text else []
            data = {"image/png": pictures.pop(0)} if pictures else None
            cell.outputs += [new_output("display_data", data=data)] if data else []
        return message.error

    def note(self, index: int) -> None:
        """Say in the notebook why a cell has no output."""
        _ = self.say
        text = _("This cell was stopped ({why}).").format(why=_.tell(self.skip[index]))
        self.cells[index].outputs = [new_output("stream", text=f"{text}\n")]

    def failed(self, exercise: Exercise) -> tuple[str, str]:
        """What became of an exercise's own cell, as a mark's status and flag; or ("", "")."""
        place = self.places.get(exercise.id, -1)
        if why := self.skip.get(place):
            return "stopped", sentence("stopped: {0}", why)
        if error := self.errors.get(place):
            return "wrong", sentence("its cell raised {0}", known_error(error))
        return "", ""

    def keep_all(self, index: int) -> None:
        """Keep this moment for the exercises whose own cell has just run."""
        for exercise in self.exercises:
            if self.places.get(exercise.id) == index:
                self.keep(exercise)

    def keep(self, exercise: Exercise) -> None:
        """Keep this moment, and hear what stands under the exercise's names."""
        number = next(self.free)
        link = self.box.links[number]
        self.allow(self.limits.call)
        self.box.send(self.box.links[0], Keep(number, list(exercise.answers)))
        try:
            message = self.box.receive(link, FROM_SNAPSHOT)
            if not isinstance(message, Found) or len(message.kinds) != len(exercise.answers):
                raise Over(UNREAD)
        except Over as error:
            self.box.kill(link)
            self.moments[exercise.id].append(Moment(link, gone=str(error)))
        else:
            kinds = dict(zip(exercise.answers, message.kinds, strict=True))
            values = dict(zip(exercise.answers, message.values, strict=False))
            self.moments[exercise.id].append(Moment(link, kinds, values))

    @contextmanager
    def remote(self, exercise: Exercise) -> Iterator[Remote]:
        """The answer to one exercise, to be asked."""
        moments = self.moments[exercise.id]
        self.box.until = self.box.spent + self.limits.call
        self.box.room["answers"] = self.limits.answers
        self.box.last = time.monotonic() + SLOWEST * self.limits.call
        try:
            yield Remote(self.box, moments)
        finally:
            for moment in moments:
                self.box.kill(moment.link)
            self.box.clear()
