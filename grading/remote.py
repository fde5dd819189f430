"""An answer as seen from outside the sandbox: values are read, functions are called there.

    with run.remote(exercise) as answer:
        answer.kind("scores")              # "function"
        answer.function("scores")(x)       # runs inside, comes back as a value

Every function is called twice with the same inputs. An input that the function has changed is
changed here too, and an input that is itself a function is called here, not there.
"""

from __future__ import annotations

import builtins
import time
from dataclasses import dataclass, field
from typing import Any

import torch

from exercises.comparing import same
from exercises.messages import sentence
from grading.box import ENDED, UNREAD, Box, Link, Over
from grading.inside.border import (
    FROM_SNAPSHOT,
    Back,
    Call,
    Kind,
    Message,
    Raised,
    Refused,
    Reply,
    Said,
    Unreadable,
    Value,
    decode,
    encode,
)

MOST_BACK = 4096  # numbers that an answer may hand to one of our functions
OWN = sentence("an error of its own")  # what an exception is called whose name is the student's
NEVER = sentence("the notebook ended before it")
# Which error it was, or why it was stopped, would tell of an input that nobody may know.
ERROR = sentence("an error on inputs that appear nowhere in the exercise")
ASKED = sentence("on inputs that appear nowhere in the exercise")


class Gone(Exception):
    """The answer gives no answers any more: "time", "memory" or the like."""


class Failed(Exception):
    """The student's function raised an exception."""


# A known mistake is told by the type of its error, too. No other name comes out of the sandbox.
ERRORS = {
    name: type(name, (Failed,), {})
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
} | {"LinAlgError": type("LinAlgError", (Failed,), {})}


def known_error(name: str) -> str:
    """The name of an exception, unless it is one that a student has given."""
    return name if name in ERRORS else OWN


@dataclass
class Moment:
    """A snapshot, and what it said stands under the names; `gone` says why there is none."""

    link: Link
    kinds: dict[str, Kind] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    gone: str = ""


class Remote:
    """One exercise's answer.

    moments: of its own cell, and of the notebook's end. What is missing in the first, be it a name
    of the answer or one that its function needs, is looked for in the next.
    """

    def __init__(self, box: Box, moments: list[Moment]) -> None:
        self.box = box
        self.moments = moments
        self.seconds = box.limits.call  # that our own part may take
        # Why every further call fails at once.
        reasons = [moment.gone for moment in moments] or [NEVER]
        self.gone = reasons[0] if all(reasons) else ""
        self.changes = False  # some function gave two answers to the same question
        self.hidden = False  # whether inputs are asked that the student does not see
        self.raised = ""  # the first exception's name, as it may be told
        self.late = False  # something was missing right after its cell

    def having(self, name: str) -> list[Moment]:
        """The moments that have a name."""
        return [moment for moment in self.moments if moment.kinds.get(name, "missing") != "missing"]

    def kind(self, name: str) -> Kind:
        return next((moment.kinds[name] for moment in self.having(name)), "missing")

    def value(self, name: str) -> Any:
        """A value; raises Unreadable for what is none."""
        return decode(self.having(name)[0].values.get(name))

    def function(self, name: str):
        """What calls the student's function."""

        def call(*arguments: Any) -> Any:
            functions: list = []

            def number(function) -> int:
                functions.append(function)
                return len(functions) - 1

            asked = Call(name, [encode(argument, number) for argument in arguments])
            first, second = (self.ask(asked, functions) for _ in range(2))
            self.changes |= not alike(first, second)
            if isinstance(first, Raised):
                said = known_error(first.error)
                self.raised = self.raised or (ERROR if self.hidden else said)
                raise ERRORS.get(first.error, Failed)(said)
            put_back(arguments, first.arguments)
            try:
                return decode(first.value)
            except Unreadable as error:
                raise Failed(str(error)) from None

        call.__name__ = name
        return call

    def ask(self, call: Call, functions: list) -> Said | Raised:
        """The reply to a call, of the first moment that has all that it needs."""
        if self.gone:
            raise Gone(self.gone)
        try:
            able = [moment for moment in self.having(call.name) if not moment.gone]
            if not able:
                raise Over(ENDED)
            here, *later = able
            said = self.ask_one(here, call, functions)
            if said == Raised("NameError") and later:
                here.gone, self.late = sentence("something is missing"), True
                return self.ask(call, functions)
            return said
        except Over as error:
            self.gone = self.why(str(error))
            raise Gone(self.gone) from None

    def hide(self) -> None:
        """From now on say nothing that depends on what is asked."""
        self.hidden = True

    def why(self, reason: str) -> str:
        """Why it is stopped, as it may be told."""
        return ASKED if self.hidden else reason

    def ask_one(self, moment: Moment, call: Call, functions: list) -> Said | Raised:
        self.box.send(moment.link, call)
        while True:
            message = self.box.receive(moment.link, FROM_SNAPSHOT)
            if isinstance(message, Said | Raised):
                return message
            if not isinstance(message, Back):
                raise Over(UNREAD)
            began = time.process_time()
            reply = back(message, functions)
            self.box.spent += time.process_time() - began
            self.box.send(moment.link, reply)


def back(asked: Back, functions: list) -> Message:
    """Call one of our functions for the answer."""
    try:
        arguments = [decode(argument) for argument in asked.arguments]
        if sum(map(size, arguments)) > MOST_BACK:
            return Refused("it takes no more numbers than that")
        return Reply(encode(functions[asked.number](*arguments)))
    except Exception as error:
        return Refused(f"{type(error).__name__}: {error}"[:200])


def size(value: Any) -> int:
    """How many numbers a value holds."""
    if isinstance(value, list | tuple | set | frozenset | range):
        return sum(map(size, value))
    if isinstance(value, dict):
        return size([*value, *value.values()])
    return getattr(value, "numel", lambda: getattr(value, "size", 1))()


def alike(first: Said | Raised, second: Said | Raised) -> bool:
    """Two answers to one question, up to a rounding: a solver may add in another order."""
    if isinstance(first, Raised) or isinstance(second, Raised):
        return first == second
    if first.value == second.value:
        return True
    try:
        return same(decode(first.value), decode(second.value))
    except Unreadable:
        return False


def put_back(arguments: tuple, after: list[Value]) -> None:
    """Do to the arguments what the function has done to its copies of them."""
    for argument, encoded in zip(arguments, after, strict=False):
        if not isinstance(argument, torch.Tensor | list) or encode(argument) == encoded:
            continue
        try:
            new = decode(encoded)
        except Unreadable:
            continue
        if isinstance(argument, list) and isinstance(new, list):
            argument[:] = new
        elif isinstance(argument, torch.Tensor) and isinstance(new, torch.Tensor):
            if new.shape == argument.shape:
                argument.copy_(new)
            else:
                argument.zero_()
