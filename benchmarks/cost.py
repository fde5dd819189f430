"""What attention, a recurrent and a convolutional layer cost over a text of n words.

    python -m benchmarks.cost

Under a minute. It writes attn_core/measured/cost.json, which chapter 11 reads: a chapter measures
no time itself. The unit is processor time of one thread, so that other programs on the machine
disturb it little. It counts work; what many processors would do side by side, it does not show.
"""

import json
import platform
import statistics
import time
from datetime import date
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

RESULT = Path(__file__).parents[1] / "attn_core" / "measured" / "cost.json"
WIDTH = 256
LENGTHS = (32, 128, 512, 2048, 4096)
ROUNDS = 21


class Attention(nn.Module):
    """One head over all words, with torch's own kernel: [1, n, width] → [1, n, width]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.out(scaled_dot_product_attention(self.query(x), self.key(x), self.value(x)))


class Convolution(nn.Module):
    """A kernel of three words, in and out [1, n, width]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x.mT).mT


def layers(width: int) -> dict[str, nn.Module]:
    """The three that are compared, by name."""
    made = {
        "attention": Attention(width),
        "recurrent": nn.GRU(width, width, batch_first=True),
        "convolution": Convolution(width),
    }
    return {name: layer.eval() for name, layer in made.items()}


def processor_time(layer: nn.Module, x: Tensor) -> float:
    """Milliseconds for which this thread computed."""
    start = time.thread_time()
    layer(x)
    return (time.thread_time() - start) * 1000


def measure(lengths: tuple[int, ...], rounds: int, width: int) -> dict:
    """Medians in ms and the median of each ratio to attention, by layer; one number a length.

    All layers are run in turn in each round, so that a slow moment hits all of them.
    """
    medians = {name: [] for name in layers(width)}
    ratios = {name: [] for name in medians}
    for n in lengths:
        x = torch.randn(1, n, width, generator=torch.Generator().manual_seed(n))
        times = {name: [] for name in medians}
        made = layers(width)
        for layer in made.values():  # the first call prepares things that later ones find ready
            layer(x)
        for _ in range(rounds):
            for name, layer in made.items():
                times[name].append(processor_time(layer, x))
        for name, row in times.items():
            pairs = zip(row, times["attention"], strict=True)
            medians[name].append(round(statistics.median(row), 3))
            ratios[name].append(round(statistics.median(a / b for a, b in pairs), 2))
    return {"milliseconds": medians, "ratio_to_attention": ratios}


def machine() -> str:
    """The processor's name, as Linux gives it, else as Python does."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    torch.set_num_threads(1)
    with torch.no_grad():
        result = measure(LENGTHS, ROUNDS, WIDTH)
    about = {
        "what": "processor time of one thread, one layer forward, one text of n words, float32",
        "machine": machine(),
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "width": WIDTH,
        "rounds": ROUNDS,
        "lengths": list(LENGTHS),
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(about | result, indent=1) + "\n", encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
