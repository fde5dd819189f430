"""Commands that tests run, and servers: waited for until they answer, ended whatever they do."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE, TO_START


def ran(*command: str | Path, **how: Any) -> subprocess.CompletedProcess:
    """A command that has ended, with what it printed."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def free_port() -> int:
    """A port for a server that takes its time to start.

    It is below those that the system hands out, so that nobody gets it in between.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def running(
    command: list, log: Path, environment: dict[str, str] | None = None, to_end: float = PATIENCE
) -> Iterator[subprocess.Popen]:
    """A process that runs inside the block; what it prints goes to a file.

    After the block it is asked to end. What has not ended after `to_end` seconds is ended, with the
    processes that it started.
    """
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(to_end)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until_it_answers(address: str, process: subprocess.Popen, log: Path) -> None:
    """Ask until it answers; an error with the end of its log if it ends or hangs before."""
    until = time.monotonic() + TO_START
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(address, timeout=TO_START):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    why = "hangs" if process.returncode is None else f"ended with {process.returncode}"
    said = log.read_text(encoding="utf-8")[-3000:]
    raise AssertionError(f"{process.args[0]} {why} and gave no answer at {address}:\n{said}")
