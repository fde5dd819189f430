"""The inner end of a link to the grader: messages in, messages out."""

from __future__ import annotations

import os
import socket

from .border import LINE, Message, line, read


class Link:
    """A socket that the sandbox was started with."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # a program that a cell starts has no link
        self.socket = socket.socket(fileno=descriptor)
        self.lines = self.socket.makefile("rb")

    def send(self, message: Message, instead: Message | None = None) -> None:
        """Send a message; one too long for the border is replaced, or not sent."""
        text = line(message)
        if len(text) > LINE:
            text = line(instead) if instead is not None else b""
        self.socket.sendall(text)

    def receive(self, decoder) -> Message:
        """The next message; where the grader has hung up, the process ends."""
        text = self.lines.readline()
        if not text:
            os._exit(0)
        return read(decoder, text)

    def close(self) -> None:
        self.lines.close()
        self.socket.close()
