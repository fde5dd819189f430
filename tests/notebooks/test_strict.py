"""nbval on a busy machine: a kernel that is slow to start and to answer is waited for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from nbval import plugin
from nbval.kernel import Empty, RunningKernel

from tests.notebooks.strict import PatientKernel
from tests.patience import TO_START


class Late:
    """Hears of a kernel on its second channel only after forty questions."""

    def __init__(self, *args, **how):
        self.asked, self.startup = 0, how["startup_timeout"]
        self.kc = SimpleNamespace(kernel_info=self.ask)
        self._ensure_iopub_up()

    def ask(self):
        self.asked += 1
        return self.asked

    def await_reply(self, asked, timeout):
        if timeout < 60:
            raise Empty  # it takes a minute

    def await_idle(self, asked, timeout):
        if asked < 40:
            raise Empty


def test_a_late_kernel_is_waited_for():
    kernel = type("Ours", (Late, PatientKernel), {})(startup_timeout=TO_START)
    assert kernel.asked == 40
    with pytest.raises(RuntimeError, match="timed out after 10 seconds"):
        type("Theirs", (Late, RunningKernel), {})(startup_timeout=TO_START)


def test_nbval_takes_it(request):
    assert plugin.RunningKernel is PatientKernel
    assert request.config.option.nbval_kernel_startup_timeout == TO_START
