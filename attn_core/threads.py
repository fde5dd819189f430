"""Work for several threads, each of which runs torch's operations alone.

torch divides each operation among its threads, which wait for one another at its end. When another
program keeps a processor busy, each such wait can take milliseconds, and a loop over tiles has
thousands of operations. Here a thread takes whole items, and there is one wait, for the last item.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cache
from threading import Lock, Thread
from typing import TypeVar

import torch

# torch has no public way to ask these.
from torch._C import _len_torch_dispatch_stack
from torch._C._functorch import maybe_current_level

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW = 2**19  # cells of a map that are not worth a wait for other threads
STARTING = Lock()


def parallel_map(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    cells: int,
    device: torch.device | str | None,
) -> list[Result]:
    """[work(item) for item in items], on as many threads as torch may use here.

    >>> with torch.no_grad():
    ...     parallel_map(lambda n: n * n, range(5), cells=2**20, device="cpu")
    [0, 1, 4, 9, 16]

    cells: of the maps that are worked on; few of them stay in this thread. So does work on a GPU,
    work that gradients follow, work inside a transform of torch.func, and work under a dispatch
    mode, such as a counter of operations, which sees those of its own thread alone. If `work`
    raises an error, it is raised here, and items that have not begun are left out.
    """
    count = torch.get_num_threads()
    is_followed = torch.is_grad_enabled() or maybe_current_level() is not None
    is_counted = _len_torch_dispatch_stack() > 0
    is_on_cpu = device is None or torch.device(device).type == "cpu"
    if min(count, len(items)) < 2 or cells < FEW or is_followed or is_counted or not is_on_cpu:
        return [work(item) for item in items]

    def without_gradients(item: Item) -> Result:
        with torch.inference_mode():  # another thread doesn't know what is switched off here
            return work(item)

    pool = helpers(count)
    futures = [pool.submit(without_gradients, item) for item in items]
    try:
        # Once for all: to wake up for each item would hold up the others.
        wait(futures, return_when=FIRST_EXCEPTION)
    finally:
        for future in futures:
            future.cancel()
    return [future.result() for future in futures]


@cache
def helpers(count: int) -> ThreadPoolExecutor:
    """Threads that wait for work, at most `count`."""
    return ThreadPoolExecutor(count, "attn_core", initializer=run_alone)


if hasattr(os, "register_at_fork"):
    # A process that is forked off has none of the threads, nor the one that could open the lock.
    opened = STARTING.release
    os.register_at_fork(before=STARTING.acquire, after_in_parent=opened, after_in_child=opened)
    os.register_at_fork(after_in_child=helpers.cache_clear)


def run_alone() -> None:
    """This thread runs each operation alone; threads that start later are allowed what they were.

    For them, torch takes the number that any thread has set last.
    """
    with STARTING:
        allowed = torch.get_num_threads()
        torch.set_num_threads(1)
        last = Thread(target=torch.set_num_threads, args=(allowed,))
        last.start()
        last.join()
