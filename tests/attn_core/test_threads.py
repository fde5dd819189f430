"""Long work goes to threads that run torch's operations alone; nothing of it is left behind."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from attn_core import Dropout, attention, causal, trace
from attn_core.threads import FEW, parallel_map
from tests.attn_core.reference import drawn
from tests.patience import PATIENCE

pytestmark = pytest.mark.gate

T = 2100


def gradients(q, k, v, dropout):
    inputs = [x.clone().requires_grad_() for x in (q, k, v[..., :3])]
    output = attention(*inputs, keep=causal(), dropout=dropout)
    return torch.cat(torch.autograd.grad(output.square().sum(), inputs), -1)


CALLS = {
    "narrow values": lambda q, k, v: attention(q, k, v[..., :3], keep=causal()),
    "dropout": lambda q, k, v: attention(q, k, v, dropout=Dropout(0.3, 5)),
    "gradients": lambda q, k, v: gradients(q, k, v, None),
    "gradients of dropout": lambda q, k, v: gradients(q, k, v, Dropout(0.3, 5)),
    "row statistics": lambda q, k, v: trace(q, k, v, keep=causal()).lse,
    "all weights": lambda q, k, v: trace(q, k, v, keep=causal()).stage("weights"),
    "a stage": lambda q, k, v: trace(q, k, v, keep=causal()).stage("masked"),
    "a tile": lambda q, k, v: trace(q, k, v).tile("dropped", range(T), range(T)),
    "an overview": lambda q, k, v: trace(q, k, v).pooled("weights", (30, 30)),
}


def events(call, *inputs):
    """What it gives, and how many operations this thread runs: torch divides them, and waits."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        got = call(*inputs)
    return got, len(profiled.events())


class Operations(TorchDispatchMode):
    """Counts those that it sees."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


@pytest.fixture
def threads():
    """Sets how many threads torch may use here and in threads to come."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def allowed() -> tuple[int, int]:
    """How many threads torch may use here, and in a thread that starts now."""
    with ThreadPoolExecutor(1) as pool:
        return torch.get_num_threads(), pool.submit(torch.get_num_threads).result()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_loop_waits_once_and_gives_the_same_bits(call, threads):
    inputs = [drawn(i, T, 4) for i in range(3)]
    threads(1)
    wanted = call(*inputs)
    for count in (2, 3):
        threads(count)
        got, count_here = events(call, *inputs)
        assert count_here < 150
        assert torch.equal(got, wanted)
        assert not got.is_inference()
        assert allowed() == (count, count)


def test_a_mode_that_sees_each_operation_sees_the_same_on_any_number_of_threads(threads):
    q, k, v = (drawn(i, T, 4) for i in range(3))
    counts = set()
    for count in (1, 3):
        threads(count)
        with Operations() as operations:
            attention(q, k, v[..., :3], keep=causal())
        counts.add(operations.count)
    assert len(counts) == 1


def test_an_error_is_the_callers_and_leaves_nothing_behind(threads):
    threads(2)
    begun, is_raised = [], Event()

    def work(item):
        begun.append((item, torch.get_num_threads()))
        if item == 0:
            raise ValueError("item 0")
        is_raised.wait(PATIENCE)

    with torch.no_grad(), pytest.raises(ValueError, match="item 0"):
        parallel_map(work, range(100), FEW, "cpu")
    is_raised.set()
    assert set(begun) <= {(0, 1), (1, 1), (2, 1)}
    assert allowed() == (2, 2)


@pytest.mark.parametrize(
    ("cells", "device", "with_gradients"),
    [(FEW - 1, "cpu", False), (FEW, "meta", False), (FEW, None, True)],
)
def test_what_stays_in_this_thread(cells, device, with_gradients, threads):
    threads(2)
    with torch.set_grad_enabled(with_gradients):
        assert parallel_map(lambda _: allowed(), range(3), cells, device) == [(2, 2)] * 3


def test_work_may_have_such_work_itself_and_many_threads_may_begin_it(threads):
    threads(2)

    def squares(n: int) -> list[int]:
        return parallel_map(lambda m: m * m, range(n), FEW, "cpu")

    def begin(n: int) -> list[list[int]]:
        with torch.no_grad():
            return parallel_map(squares, range(n), FEW, "cpu")

    with ThreadPoolExecutor(10) as pool:
        got = list(pool.map(begin, range(2, 12)))
    assert got == [[[m * m for m in range(i)] for i in range(n)] for n in range(2, 12)]
    assert allowed() == (2, 2)


FORKED = """
import os, torch
from attn_core.threads import FEW, parallel_map

torch.set_grad_enabled(False)
ended = set()
for count in range(2, 9):
    torch.set_num_threads(count)
    parallel_map(abs, range(2), FEW, "cpu")
    if (child := os.fork()) == 0:
        parallel_map(abs, range(9), FEW, "cpu")
        os._exit(7)
    ended.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert ended == {7}
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
def test_a_process_that_was_forked_off_starts_threads_itself():
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    subprocess.run(command, timeout=PATIENCE, check=True)
