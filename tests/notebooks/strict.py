"""A pytest plugin that makes nbval strict; `-p tests.notebooks.strict` loads it.

Every output of every code cell is compared (nbval alone skips pictures), no cell may be skipped
or ignored, and a cell whose count is not its place fails (nbval alone passes a cell that was
never run).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from nbval import plugin
from nbval.kernel import Empty, RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from publishing.notebooks.outputs import differences
from tests.patience import TO_START


class PatientKernel(RunningKernel):
    def _ensure_iopub_up(self):
        """Ask until its answer is heard on the second channel as well, as nbval does for 30 s."""
        pause = 1
        while True:
            asked = self.kc.kernel_info()
            self.await_reply(asked, timeout=TO_START)
            try:
                return self.await_idle(asked, pause)
            except Empty:
                pause *= 2


plugin.RunningKernel = PatientKernel


def pytest_configure(config):
    if hasattr(config.option, "nbval_kernel_startup_timeout"):
        config.option.nbval_kernel_startup_timeout = TO_START


def page_of(path: Path) -> str:
    """The page of a Chinese notebook."""
    return f"{path.parents[1].name}/{path.stem}"


class StrictCell(IPyNbCell):
    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.output_timeout = TO_START  # nbval's 5 s decide on a busy machine

    def runtest(self):
        passed_over = self.options["skip"] or not self.options["check"]
        self.options.update(skip=False, check=True)
        super().runtest()
        if passed_over:
            self.raise_cell_error("No cell of a chapter may be skipped or ignored")
        if self.cell.execution_count != self.cell_num + 1:
            self.raise_cell_error(
                f"The count must be {self.cell_num + 1}, is {self.cell.execution_count}"
            )

    def compare_outputs(self, test, ref, skip_compare=None):
        if self.parent.path.parent.name == "zh":
            # A plugin is imported before shapes are checked in attn_core.
            from publishing.notebooks.chinese import in_chinese_too

            test = in_chinese_too(test, page_of(self.parent.path))
        self.comparison_traceback = list(differences(ref, test))
        return not self.comparison_traceback


class StrictFile(IPyNbFile):
    def setup(self):
        super().setup()
        if self.path.parent.name == "zh":
            from publishing.notebooks.plots import first_line

            asked = self.kernel.kc.execute(first_line(page_of(self.path)), silent=True)
            self.kernel.await_reply(asked, timeout=TO_START)
            self.kernel.await_idle(asked, TO_START)

    def collect(self):
        for cell in super().collect():
            yield StrictCell.from_parent(
                self,
                name=f"{cell.name} {cell.cell.get('id', '')}".strip(),
                cell_num=cell.cell_num,
                cell=cell.cell,
                options=cell.options,
            )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    collectors = yield
    return [
        StrictFile.from_parent(parent, path=c.path) if isinstance(c, IPyNbFile) else c
        for c in collectors
    ]
