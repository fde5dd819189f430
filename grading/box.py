"""A sandbox that runs: what comes out of it, and an end to what it uses."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path

from exercises.messages import sentence
from grading.inside import border
from grading.inside.border import FROM_RUNNER, LINE, Message, Ready, Unreadable
from grading.processes import Use, family, shared, use
from grading.sandbox import PYTHON, WRITABLE, CannotGrade, Limits, Sandbox

RUNNER = {
    f"/runner/inside/{path.name}": path.read_text(encoding="utf-8")
    for path in Path(__file__).with_name("inside").glob("*.py")
}
START = "import sys; sys.path.insert(0, '/runner'); from inside import runner; runner.main()"
STARTING = 120  # seconds until the runner says that it is there
LOOK = 0.2  # seconds between two looks at what is used
PART = 1 << 16
SOCKETS = 500
ROUNDS = 100  # of killing, until nobody is left who makes new ones
ENDED, TOO_LARGE = sentence("its process ended"), sentence("too large an answer")
UNREAD, TOO_MUCH = sentence("no answer that can be read"), sentence("too much output")
CREDENTIALS = struct.Struct("3i")  # of who sent a message: process, user, group


class Over(Exception):
    """An end to what a submission may use, or of its process. The text says which."""


class Link:
    """The outer end of a link: lines in, messages out, and which process sends."""

    def __init__(self) -> None:
        self.socket, self.inner = socket.socketpair()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.lines: deque[bytes] = deque()
        self.rest = bytearray()  # the beginning of a line
        self.process = 0  # as the kernel says, not the sender

    def read(self) -> None:
        """Take in what is there."""
        try:
            # There is room for the credentials and for nothing else, as no file may be handed out.
            part, extra, _, _ = self.socket.recvmsg(PART, socket.CMSG_SPACE(CREDENTIALS.size))
        except BlockingIOError:  # there is something, and yet nothing to read: out of band
            return
        except OSError:
            part, extra = b"", []
        if not part:
            raise Over(ENDED)
        for level, kind, data in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                self.process = CREDENTIALS.unpack(data)[0]
        first, *others = part.split(b"\n")
        self.rest += first
        for other in others:
            self.lines.append(bytes(self.rest))
            self.rest = bytearray(other)
        if len(self.rest) > LINE:
            raise Over(TOO_LARGE)

    def write(self, part: memoryview) -> int:
        """Hand over as much of it as the other side takes at once; returns how much that was."""
        try:
            return self.socket.send(part)
        except BlockingIOError:
            return 0
        except OSError:
            raise Over(ENDED) from None


class Box:
    """One sandbox with the runner in it, and a link to the kernel and to each snapshot.

    Time is the processors', so that a busy machine costs nobody anything, and the clock's while
    nothing inside wants a processor, so that nobody sleeps for ever. `spent` counts it. `until` is
    where it ends for what runs now, and `last` where the clock on the wall ends it all the same,
    which stands still while somebody inside waits for a processor.
    """

    def __init__(self, limits: Limits, snapshots: int, last: float) -> None:
        self.limits, self.last = limits, last
        self.room = {"output": limits.output, "answers": limits.answers}  # bytes that are left
        self.said = bytearray()  # what was printed since somebody asked
        self.spent = 0.0
        self.until = float(STARTING)
        self.base = self.peak = 0  # bytes: of the runner alone, and the most of all
        self.looked = self.steady = time.monotonic()
        self.used = use([])
        self.links = [Link() for _ in range(1 + snapshots)]
        self.output: int | None
        self.output, output = os.pipe()
        os.set_blocking(self.output, False)
        line, self.line = os.pipe()  # held by us: where it ends, the sandbox ends
        inner = tuple(link.inner.fileno() for link in self.links)
        asked = json.dumps({"links": inner, "line": line, "limits": asdict(limits)})
        command = [PYTHON, "-I", "-c", START, asked]
        try:
            sandbox = Sandbox(limits, RUNNER)
            self.process = sandbox.start(command, output, (*inner, line))
        finally:
            os.close(output)
            os.close(line)
            for link in self.links:
                link.inner.close()
        try:
            self.begin()
        except Over as error:
            said = self.printed().strip().split("\n")[-1]
            self.end()
            raise CannotGrade(sentence("the sandbox did not start ({0})", said or error)) from None
        except BaseException:
            self.end()
            raise

    def begin(self) -> None:
        """Wait for the runner."""
        if not isinstance(self.receive(self.links[0], FROM_RUNNER), Ready):
            raise Over("no runner")
        processes = family(self.process.pid)
        self.spent = 0.0
        self.base = max((use([process]).memory for process in processes), default=0)
        self.peak = shared(processes)
        self.began = self.peak

    def send(self, link: Link, message: Message) -> None:
        """Hand a message over; whoever does not take it uses up the time."""
        rest = memoryview(border.line(message))
        self.waiting = time.monotonic()
        while rest := rest[link.write(rest) :]:
            select.select([], [link.socket], [], LOOK)
            self.drain()
            self.look()

    def receive(self, link: Link, decoder) -> Message:
        """The next message of a link; raises Over where something ends, or is no message."""
        self.waiting = time.monotonic()
        while not link.lines:
            outputs = [] if self.output is None else [self.output]
            ready, _, _ = select.select([link.socket, *outputs], [], [], LOOK)
            self.drain()
            if link.socket in ready:
                link.read()
            self.look()
        self.drain()  # what was printed before the message was sent
        line = link.lines.popleft()
        if decoder is not FROM_RUNNER:
            self.take("answers", len(line))
        try:
            return border.read(decoder, line)
        except Unreadable:
            raise Over(UNREAD) from None

    def take(self, what: str, size: int) -> None:
        """Use up some of what may come out."""
        self.room[what] -= size
        if self.room[what] < 0:
            raise Over({"output": TOO_MUCH, "answers": TOO_LARGE}[what])

    def drain(self) -> None:
        """Take in what was printed."""
        while self.output is not None:
            try:
                part = os.read(self.output, PART)
            except BlockingIOError:
                return
            if not part:
                return
            self.take("output", len(part))
            self.said += part

    def printed(self) -> str:
        """What was printed since this was asked the last time."""
        text = self.said.decode(errors="replace")
        self.said.clear()
        return text

    def hush(self) -> None:
        """From now on nothing that is printed comes out."""
        if self.output is not None:
            os.close(self.output)
        self.output = None
        self.said.clear()

    def look(self) -> None:
        """Raise Over if more is used than may be."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        processes = family(self.process.pid)
        # At first bubblewrap is alone, or what it has started stands outside still; a busy machine
        # leaves time enough to see it so.
        is_inside = self.base > 0
        used = use(processes or [self.process.pid], self.base)
        step = max(0.0, used.seconds - self.used.seconds)
        if not used.wants:
            step = max(step, now - max(self.looked, self.waiting))
        self.last += self.waited(used, now)
        self.spent, self.used, self.looked = self.spent + step, used, now
        self.peak = max(self.peak, self.began + used.memory if is_inside else 0)
        if used.memory > self.limits.memory and shared(processes) > self.limits.memory:
            raise Over(sentence("memory"))
        if is_inside and (
            self.names(processes) > self.limits.names or self.sockets(processes) > SOCKETS
        ):
            raise Over(sentence("too many files"))
        if self.spent > self.until or now > self.last:
            raise Over(sentence("time"))
        if not processes and (is_inside or self.process.poll() is not None):
            raise Over(ENDED)

    def waited(self, used: Use, now: float) -> float:
        """Seconds, since this was asked, in which some thread inside waited for a processor.

        They count only while the same processes stand there: whoever starts and ends them on and on
        could work in some that nobody sees, beside one that waits.
        """
        if used.born != self.used.born:
            self.steady = now
            return 0.0
        before = self.used.waited
        waits = [total - before.get(thread, 0.0) for thread, total in used.waited.items()]
        # The kernel tells of a wait when it is over, which may be many looks after it began.
        waited = min(max(waits, default=0.0), now - self.steady)
        self.steady = now if waited > 0 else self.steady
        return waited

    def names(self, processes: list[int]) -> int:
        """How many files and folders lie where a student may write."""
        total = 0
        with contextlib.suppress(OSError, IndexError):
            for folder in WRITABLE:
                volume = os.statvfs(f"/proc/{processes[0]}/root{folder}")
                total += volume.f_files - volume.f_ffree
        return total

    def sockets(self, processes: list[int]) -> int:
        """How many sockets there are: what waits in them is memory that is no process's."""
        with contextlib.suppress(OSError, IndexError):
            return Path(f"/proc/{processes[0]}/net/unix").read_bytes().count(b"\n") - 1
        return 0

    def kill(self, link: Link) -> None:
        """End the process that speaks on a link, if it is one of this sandbox."""
        with contextlib.suppress(OSError):
            link.socket.close()
            if link.process in family(self.process.pid):
                os.kill(link.process, signal.SIGKILL)

    def clear(self) -> None:
        """End all processes but the first, and those that speak on an open link."""
        spared = {link.process for link in self.links if link.socket.fileno() >= 0}
        for _ in range(ROUNDS):
            doomed = {*family(self.process.pid)[1:]} - spared
            if not doomed:
                return
            for process in doomed:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            spared |= doomed

    def end(self) -> None:
        """End everything inside. When this returns, nothing of it is left."""
        with contextlib.suppress(OSError):
            for process in family(self.process.pid)[:1]:  # the first in there: all end with it
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STARTING)
        self.process.kill()
        self.process.wait()
        os.close(self.line)
        self.hush()
        for link in self.links:
            link.socket.close()
