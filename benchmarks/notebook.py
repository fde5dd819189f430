"""The explorer in a live notebook: what it takes to show itself, and to be imported.

    make bench

Processor time, in a kernel that is asked as JupyterLab asks it.
"""

import json
import subprocess
import sys
from statistics import median

from jupyter_client.manager import start_new_kernel

from benchmarks import driver
from benchmarks.timing import duration

TOKENS, HEADS = 16, (1, 12)
MOST_SHOWN, MOST_IMPORT = 0.1, 0.5  # seconds
ROUNDS = 9

SHOW = """
import json, time
import torch
from attn_core import causal, trace
from attn_core.views import explore

def seconds(act):
    start = time.process_time()
    act()
    return time.process_time() - start

x = torch.arange({heads} * {tokens} * 8.0).view(1, {heads}, {tokens}, 8).cos()
record = trace(x, x, x, keep=causal())
shown = [seconds(lambda: display(explore(record, select=(1, 0)))) for _ in range({rounds})]
drawn = [seconds(explore(record, select=(1, 0)).picture.png) for _ in range({rounds})]
print(json.dumps([shown, drawn]))
"""

IMPORT = """
import time
import attn_core
start = time.process_time()
import attn_core.views
print(time.process_time() - start)
"""


def printed(code: str) -> str:
    """What a cell prints in a fresh kernel, sent by a front end with a person before it."""
    texts = []

    def hear(message: dict) -> None:
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            texts.append(message["content"]["text"])

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        reply = client.execute_interactive(code, allow_stdin=True, output_hook=hear)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"]["traceback"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return "".join(texts)


def shown(heads: int) -> list[dict]:
    code = SHOW.format(heads=heads, tokens=TOKENS, rounds=ROUNDS)
    live, drawn = json.loads(printed(code).splitlines()[-1])
    what = f"`explore`, {TOKENS} tokens, {heads} head{'s' if heads > 1 else ''}"
    return [
        row(f"{what}: it shows itself", live, MOST_SHOWN),
        row(f"{what}: the picture that is stored when a program runs the notebook", drawn, None),
    ]


def imported() -> dict:
    command = [sys.executable, "-c", IMPORT]
    runs = (
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for _ in range(ROUNDS)
    )
    return row(
        "`import attn_core.views`, after `import attn_core`",
        [float(run.stdout) for run in runs],
        MOST_IMPORT,
    )


def row(what: str, seconds: list[float], limit: float | None) -> dict:
    middle = median(seconds)
    return driver.row(
        "notebook",
        what,
        duration(middle),
        "" if limit is None else f"under {limit * 1000:.0f} ms",
        None if limit is None else middle < limit,
        spread=f"{duration(min(seconds))} to {duration(max(seconds))}",
    )


def main() -> None:
    rows = [line for heads in HEADS for line in shown(heads)] + [imported()]
    packages = ("torch", "anywidget", "ipykernel", "matplotlib")
    driver.publish(rows, "The explorer in a live notebook", packages)


if __name__ == "__main__":
    main()
