"""A student's names as seen from outside the sandbox: values are read, functions are called there.

    with Remote(link, seconds=20) as student:
        student.kinds(["scores"])          # ["function"]
        student.function("scores")(x)      # runs inside, comes back as a value

Every function is called twice with the same inputs. An input that the function has changed is
changed here too, and an input that is itself a function is called here, not there.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import torch

from exercises.comparing import same
from tools.grading.encode import Unreadable, decode, encode

PART = 1 << 16


class Gone(Exception):
    """The other side gives no answers any more: "time", "too large" or "stopped"."""


class Raised(Exception):
    """The student's function raised an exception, of the type that the text names."""


class Remote:
    """One exercise's link into the sandbox.

    seconds: for all calls together. room: bytes, for all that comes back. After a failure `gone`
    says why, and every further call fails at once.
    """

    def __init__(self, link: socket.socket, seconds: float, room: int) -> None:
        self.link, self.room = link, room
        self.until = time.monotonic() + seconds
        self.rest = b""
        self.gone = ""
        self.changes = False  # some function gave two answers to the same question
        self.raised = ""  # the first exception's type
        self.log: list[list[Any]] = []  # each call: its arguments and its value, encoded

    def line(self) -> dict:
        """The next line from inside."""
        while b"\n" not in self.rest:
            left = self.until - time.monotonic()
            if left <= 0:
                raise Gone("time")
            self.link.settimeout(left)
            try:
                part = self.link.recv(PART)
            except TimeoutError:
                raise Gone("time") from None
            except OSError:
                raise Gone("stopped") from None
            if not part:
                raise Gone("stopped")
            self.room -= len(part)
            if self.room < 0:
                raise Gone("too large")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            raise Gone("stopped") from None
        if not isinstance(said, dict):
            raise Gone("stopped")
        return said

    def say(self, what: dict) -> None:
        try:
            self.link.settimeout(max(0.01, self.until - time.monotonic()))
            self.link.sendall((json.dumps(what) + "\n").encode())
        except OSError:
            raise Gone("stopped") from None

    def ask(self, what: dict, functions: list | None = None) -> dict:
        """The reply to a question; on the way the functions that it hands in may be called."""
        if self.gone:
            raise Gone(self.gone)
        try:
            self.say(what)
            while "back" in (said := self.line()):
                self.say(self.back(said, functions or []))
            return said
        except Gone as error:
            self.gone = str(error)
            raise

    def back(self, said: dict, functions: list) -> dict:
        try:
            arguments = [decode(one) for one in said["arguments"]]
            return {"value": encode(functions[said["back"]](*arguments))}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:200]}

    def kinds(self, names: tuple[str, ...]) -> list[str]:
        """For each name "value", "function" or "missing"."""
        said = self.ask({"kinds": list(names)}).get("kinds")
        good = isinstance(said, list) and len(said) == len(names)
        return [str(kind) for kind in said] if good else ["missing"] * len(names)

    def value(self, name: str) -> Any:
        """A value; raises Unreadable or Raised for what is none."""
        said = self.ask({"value": name})
        if "value" not in said:
            raise Raised(str(said.get("error"))[:60])
        return decode(said["value"])

    def function(self, name: str):
        """What calls the student's function."""

        def call(*arguments: Any) -> Any:
            functions: list = []

            def number(function) -> int:
                functions.append(function)
                return len(functions) - 1

            counted = counters()
            asked = {
                "call": name,
                "arguments": [encode(argument, number) for argument in arguments],
                "flops": bool(counted),
            }
            first, second = (self.ask(asked, functions) for _ in range(2))
            self.changes |= not alike(first.get("value"), second.get("value"))
            self.log.append([asked["arguments"], first.get("value")])
            if "value" not in first:
                name_of = str(first.get("error"))[:60]
                self.raised = self.raised or name_of
                # A known mistake is told by the error's type, too.
                raise type(name_of, (Raised,), {})(name_of)
            put_back(arguments, first.get("arguments"))
            spend(first.get("flops", 0) if counted else 0)
            try:
                return decode(first["value"])
            except Unreadable as error:
                raise Raised(str(error)) from None

        call.__name__ = name
        return call


def alike(first: Any, second: Any) -> bool:
    """Two answers to one question, up to a rounding: a solver may add in another order."""
    if json.dumps(first) == json.dumps(second):
        return True
    try:
        return same(decode(first), decode(second))
    except Unreadable:
        return False


def put_back(arguments: tuple, after: Any) -> None:
    """Do to the arguments what the function has done to its copies of them."""
    if not isinstance(after, list):
        return
    for argument, encoded in zip(arguments, after, strict=False):
        if not isinstance(argument, torch.Tensor | list) or encode(argument) == encoded:
            continue
        new = decode(encoded)
        if isinstance(argument, list) and isinstance(new, list):
            argument[:] = new
        elif isinstance(argument, torch.Tensor) and isinstance(new, torch.Tensor):
            if new.shape == argument.shape:
                argument.copy_(new)
            else:
                argument.zero_()


def counters() -> bool:
    """Whether a check counts the multiplications of what it calls."""
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return any("FlopCounter" in type(mode).__name__ for mode in _get_current_dispatch_mode_stack())


def spend(flops: Any) -> None:
    """Tell a running count of this many floating-point operations that were done inside."""
    if isinstance(flops, int) and 0 < flops < 2**50:
        row = torch.empty(1, flops // 2, device="meta")
        row @ row.T
