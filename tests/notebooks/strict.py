"""A pytest plugin that makes nbval strict; `-p tests.notebooks.strict` loads it.

Every output of every code cell is compared (nbval alone skips pictures), no cell may be skipped
or ignored, and a cell whose count is not its place fails (nbval alone passes a cell that was
never run).
"""

from __future__ import annotations

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from tests.notebooks.compare import differences


class StrictCell(IPyNbCell):
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
        self.comparison_traceback = list(differences(ref, test))
        return not self.comparison_traceback


class StrictFile(IPyNbFile):
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
