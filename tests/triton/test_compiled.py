"""The kernels compile for GPUs, and a tile of each fits into a multiprocessor of any of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("compiled.py")
SMALLEST = 99 * 1024  # bytes that a program may have from compute capability 8.0 on: 8.6 and 8.9


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("capability", [80, 90])
def test_tiles_fit_into_a_multiprocessor(capability):
    apart = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    run = subprocess.run(
        [sys.executable, SCRIPT, str(capability)], env=apart, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    sizes = json.loads(run.stdout)
    assert len(sizes) == 2 + 2 * (3 + 1 + 2)
    assert {name: size for name, size in sizes.items() if size > SMALLEST} == {}
