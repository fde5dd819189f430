"""What the processes of a sandbox use, read from /proc."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICK = os.sysconf("SC_CLK_TCK")
# Lines of /proc: memory that is no file's, be it where it may, of one process and of several.
TAKEN = ("RssAnon", "RssShmem", "VmSwap", "HugetlbPages")
TAKEN_TOGETHER = ("Pss", "SwapPss", "Private_Hugetlb", "Shared_Hugetlb")
WANTING = ("R", "D")  # states of a thread that runs, waits for a processor, or for a disk


@dataclass(frozen=True)
class Use:
    """What some processes use together."""

    seconds: float  # of the processors, those of ended processes included
    wants: bool  # whether a thread runs or would like to
    memory: int  # bytes that are no file's; what processes share is counted for each
    born: dict[int, str]  # when each of the processes began, as the kernel says it
    waited: dict[str, float]  # seconds that each of their threads has waited for a processor


def family(first: int) -> list[int]:
    """The processes below one, all generations."""
    descendants = []
    with contextlib.suppress(OSError):
        for children in (PROC / str(first) / "task").glob("*/children"):
            for child in map(int, children.read_text(encoding="ascii").split()):
                descendants += [child, *family(child)]
    return descendants


def use(processes: list[int], base: int = 0) -> Use:
    """base: bytes of each process that are not counted."""
    seconds, wants, memory, born, waited = 0.0, False, 0, {}, {}
    for process in processes:
        with contextlib.suppress(OSError):  # it has just ended
            folder = PROC / str(process)
            stat = fields(folder / "stat")
            seconds += sum(map(int, stat[11:15])) / TICK
            threads = list(folder.glob("task/*"))
            wants = wants or any(fields(thread / "stat")[0] in WANTING for thread in threads)
            memory += max(0, sum(sizes(folder / "status", *TAKEN)) - base)
            born[process] = stat[19]
            waited |= {thread.name: queued(thread) for thread in threads}
    return Use(seconds, wants, memory, born, waited)


def queued(thread: Path) -> float:
    """Seconds that a thread has waited for a processor; 0 where the kernel does not count them."""
    with contextlib.suppress(OSError):
        return int((thread / "schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return 0.0


def shared(processes: list[int]) -> int:
    """Bytes that processes take together, each page counted once. It takes its time."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError):
            total += sum(sizes(PROC / str(process) / "smaps_rollup", *TAKEN_TOGETHER))
    return total


def fields(stat: Path) -> list[str]:
    """The fields of a process or a thread behind its name, which may hold anything."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def sizes(file: Path, *names: str) -> list[int]:
    text = file.read_text(encoding="utf-8", errors="replace")
    numbers = re.findall(rf"^(?:{'|'.join(names)}):\s*(\d+) kB$", text, re.M)
    return [int(number) * 1024 for number in numbers]
