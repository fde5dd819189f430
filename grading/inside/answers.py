"""A snapshot: a process that holds the student's names as they stood right after one cell.

First it says what stands under an exercise's names; then it answers calls, until the grader hangs
up. It prints nothing: what it is asked is hidden.
"""

from __future__ import annotations

import os
import sys

from .border import (
    LARGE,
    RAISES,
    TO_SNAPSHOT,
    Back,
    Call,
    Found,
    Kind,
    Message,
    Other,
    Raised,
    Refused,
    Said,
    Value,
    decode,
    encode,
    plain,
)
from .links import Link

TOO_LARGE = Other(LARGE)


def serve(link: Link, names: list[str], namespace: dict) -> None:
    """Be a snapshot, to the end of the process."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    kinds = [kind_of(name, namespace) for name in names]
    values = [
        safely(namespace[name]) if kind == "value" else None
        for name, kind in zip(names, kinds, strict=True)
    ]
    link.send(Found(kinds, values), instead=Found(kinds, [TOO_LARGE] * len(kinds)))
    while True:
        call = link.receive(TO_SNAPSHOT)
        try:
            link.send(answer(call, namespace, link), instead=Said(TOO_LARGE, []))
        except BaseException as error:
            link.send(Raised(plain(type(error).__name__[:100])))


def kind_of(name: str, namespace: dict) -> Kind:
    if name not in namespace:
        return "missing"
    value = namespace[name]
    return "function" if callable(value) and not hasattr(value, "dtype") else "value"


def safely(value) -> Value:
    try:
        return encode(value)
    except BaseException:  # what it holds may raise anything
        return Other(RAISES)


def answer(call: Call, namespace: dict, link: Link) -> Message:
    def back(number: int):
        """A function that stays on the other side."""

        def ask(*arguments):
            link.send(Back(number, [encode(argument) for argument in arguments]))
            reply = link.receive(TO_SNAPSHOT)
            if isinstance(reply, Refused):
                raise RuntimeError(reply.why)
            return decode(reply.value)

        return ask

    arguments = [decode(argument, back) for argument in call.arguments]
    value = namespace[call.name](*arguments)
    return Said(encode(value), [encode(argument) for argument in arguments])
