"""A student's notebook, run cell by cell in a kernel inside the sandbox.

When a cell takes too long, prints too much or ends the kernel, the notebook is run again in a new
sandbox without that cell: it costs the questions that need it, and no others.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import socket
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.grading.remote import Gone, Remote
from tools.grading.sandbox import PYTHON, Limits, Sandbox

HERE = Path(__file__).parent
SERVER = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("encode.py", "inside.py"))
TRIES = 4  # kernels for one notebook
LOOK = 0.2  # seconds between two looks at the memory
SLOWEST = 8  # a cell may take so many times its limit by the clock on the wall
PATIENCE = 10  # seconds for the processes of a sandbox to end


class Manager(AsyncKernelManager):
    """Starts ipykernel inside a sandbox, with its sockets in the one folder that both sides see."""

    sandbox: Sandbox

    def __init__(self, sandbox: Sandbox) -> None:
        folder = sandbox.sockets
        super().__init__(
            transport="ipc",
            ip=str(folder / "k"),
            connection_file=str(folder / "kernel.json"),
        )
        self.sandbox = sandbox
        launch = [PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        quiet = ["--HistoryManager.hist_file=:memory:", "--log-level=CRITICAL"]
        self._kernel_spec = KernelSpec(
            argv=[*launch, *quiet], language="python", interrupt_mode="message"
        )

    def format_kernel_cmd(self, extra_arguments=None) -> list[str]:
        self.sandbox.open_sockets()
        return self.sandbox.command(super().format_kernel_cmd(extra_arguments))


class Client(NotebookClient):
    """nbclient, with an end to what a notebook may print."""

    said = 0
    most = 0

    def process_message(self, msg, cell, cell_index):
        content = msg["content"]
        size = len(str(content.get("text", ""))) + sum(
            len(str(value)) for value in (content.get("data") or {}).values()
        )
        self.said += size
        if self.said > self.most:
            raise TooMuchOutput
        return super().process_message(msg, cell, cell_index)


class TooMuchOutput(Exception):
    """The notebook has printed more than it may."""


@dataclass
class Run:
    """One notebook's stay in the sandbox. `flags` tells, in words, what went wrong."""

    notebook: NotebookNode
    library: Path | None = None
    limits: Limits = field(default_factory=Limits)
    flags: list[str] = field(default_factory=list)
    skip: dict[int, str] = field(default_factory=dict)  # cells that are not run (again), and why
    peak: int = 0  # bytes

    def flag(self, words: str) -> None:
        if words not in self.flags:
            self.flags.append(words)

    async def __aenter__(self) -> Run:
        self.until = time.monotonic() + self.limits.whole
        self.alive = False
        for _ in range(TRIES):
            await self.start()
            bad = await self.cells()
            if bad is None:
                return self
            index, why = bad
            self.skip[index] = why
            self.flag(f"{why} in cell {index + 1}")
            await self.stop()
        self.flag("the notebook was not run to its end")
        return self

    async def __aexit__(self, *_) -> None:
        await self.stop()

    async def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="grade-"))
        self.sandbox = Sandbox.make(self.folder, self.library, self.limits)
        self.manager = Manager(self.sandbox)
        self.watched = ""  # why the watch has ended it
        self.spent = self.began = 0.0  # seconds of the processors: by now, and before this cell
        await self.manager.start_kernel()
        process = self.manager.provisioner.process
        self.watch = asyncio.create_task(self.look(process.pid))
        self.alive = True

    async def stop(self) -> None:
        """End everything inside, and forget it."""
        if not self.alive:
            return
        self.alive = False
        self.watch.cancel()
        await self.kill()
        with contextlib.suppress(Exception):
            self.client.kc.stop_channels()
        with contextlib.suppress(Exception):
            await self.manager.cleanup_resources()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def kill(self) -> None:
        """End the sandbox at once: with its first process all others end."""
        provisioner = self.manager.provisioner
        if provisioner is None or provisioner.process is None:
            return
        inside: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            inside = psutil.Process(provisioner.process.pid).children(recursive=True)
            inside[0].kill()  # process 1 in there: the others end with it
        with contextlib.suppress(Exception):
            await provisioner.kill()
            await provisioner.wait()
        await asyncio.to_thread(psutil.wait_procs, inside, timeout=PATIENCE)

    async def look(self, pid: int) -> None:
        """End the sandbox when all its processes together take more than they may.

        A cell's time is the processors', so that a busy machine does not cost a student points.
        """
        while True:
            await asyncio.sleep(LOOK)
            used, self.spent = use(pid)
            self.peak = max(self.peak, used)
            if used > self.limits.memory:
                self.watched = "memory"
            elif self.spent - self.began > self.limits.cell:
                self.watched = "time"
            if self.watched:
                await self.kill()
                return

    async def cells(self) -> tuple[int, str] | None:
        """Run the cells in order. Returns the cell that cost the kernel, and why, or None."""
        self.client = Client(
            self.notebook,
            km=self.manager,
            timeout=self.limits.cell * SLOWEST,
            allow_errors=True,
            interrupt_on_timeout=False,
            store_widget_state=False,
            coalesce_streams=True,
        )
        self.client.most = self.limits.output
        codes = [i for i, cell in enumerate(self.notebook.cells) if cell.cell_type == "code"]
        index = codes[0] if codes else 0
        try:
            await self.client.async_start_new_kernel_client()
            late = []
            for index in codes:
                if index in self.skip:
                    self.note(index, self.skip[index])
                    continue
                error = await self.cell(index)
                if error == "MemoryError":  # what it holds is missing for all that follows
                    return index, "memory"
                if error == "NameError":
                    late.append(index)
            for index in late:
                if await self.cell(index) != "NameError":
                    self.flag("cells in another order than they run")
        except TooMuchOutput:
            return index, "too much output"
        except CellTimeoutError:
            return index, "time"
        except (DeadKernelError, RuntimeError, OSError, CellExecutionComplete):
            return index, self.watched or "the kernel was ended"
        return (index, self.watched) if self.watched else None

    async def cell(self, index: int) -> str:
        """Run one cell; returns the name of the error that it ended with, or ""."""
        cell = self.notebook.cells[index]
        cell.outputs = []
        if time.monotonic() > self.until:
            raise CellTimeoutError("the whole notebook takes too long")
        self.began = self.spent
        await self.client.async_execute_cell(cell, index, store_history=False)
        errors = [o.ename for o in cell.outputs if o.output_type == "error"]
        return errors[-1] if errors else ""

    def note(self, index: int, why: str) -> None:
        """Say in the notebook why a cell has no output."""
        text = f"This cell was stopped ({why}).\n"
        self.notebook.cells[index].outputs = [
            NotebookNode(output_type="stream", name="stdout", text=text)
        ]

    @contextlib.asynccontextmanager
    async def remote(self):
        """A link to a fork of the kernel, for the calls of one exercise."""
        if not self.alive:
            raise Gone("stopped")
        self.began = float("inf")  # calls have a limit of their own
        name = f"calls-{secrets.token_hex(4)}"
        path = self.folder / name
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen(1)
            self.sandbox.open_sockets()
            names = "get_ipython().user_ns"
            code = (
                f"_inside = dict(__name__='inside'); exec({SERVER!r}, _inside)\n"
                f"_inside['child'] = _inside['apart']({names}, {str(path)!r})"
            )
            self.client.kc.execute(code, silent=True, store_history=False)
            server.setblocking(False)
            loop = asyncio.get_running_loop()
            try:
                link, _ = await asyncio.wait_for(loop.sock_accept(server), self.limits.call)
            except TimeoutError:
                raise Gone(self.watched or "stopped") from None
            link.setblocking(True)
            with link:
                yield Remote(link, self.limits.call, self.limits.answers)
            after = "import os, signal; os.killpg(_inside['child'], signal.SIGKILL); "
            after += "os.waitpid(_inside['child'], 0)"
            self.client.kc.execute(after, silent=True, store_history=False)


def use(pid: int) -> tuple[int, float]:
    """Bytes, what is shared counted once, and seconds that all processes below this one take."""
    size, seconds = 0, 0.0
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                seconds += sum(process.cpu_times()[:2])
                try:
                    size += process.memory_full_info().pss
                except psutil.AccessDenied:
                    size += process.memory_info().rss
    return size, seconds
