"""Keep every processor busy, with arithmetic and with traffic to memory, until it is stopped.

    python -m machine.load

Beside the tests (`make test LOAD=1`) it shows which of them ask for a fast machine.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

NUMBERS = 2**23  # 64 MiB of float64 for each processor: more than its caches hold


def work(parent: int) -> None:
    """Computes and copies until the process that started it is gone."""
    numbers = np.ones(NUMBERS)
    while os.getppid() == parent:
        np.multiply(numbers, 1.0000001, out=numbers)
        numbers[:] = numbers[::-1].copy()
        sum(n * n for n in range(200_000))


@contextmanager
def busy(count: int = os.cpu_count() or 1) -> Iterator[None]:
    """Inside it `count` processes compute at the priority of any other."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(os.getpid(),)) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def main() -> None:
    with busy():
        print(f"{os.cpu_count()} processes compute; Ctrl-C ends them")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
