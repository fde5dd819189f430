"""A watched pass of a language model beside the same pass unwatched, in one run.

    make bench

The models have the shapes of GPT-2 small and of SmolLM2-135M, without their vocabularies, and
random weights; they attend by scaled_dot_product_attention. Times are processor time
of one thread, float32.
"""

import json
import sys
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention, silu

from attn_core import watch
from attn_core.watching import Seen
from benchmarks import report
from benchmarks.kernels import no_slower, row
from benchmarks.timing import in_another_process, in_turn, peak_memory

TOKENS, LONG = 256, 2048
MEGABYTES = 16
APART = {"MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed between tensors that stay is given back


@dataclass(frozen=True)
class Shape:
    """A model that reads its own text, and how much longer a watched pass of it may take."""

    layers: int
    heads: int
    heads_of_keys: int
    head_dim: int
    hidden: int
    is_llama: bool  # rotary positions, RMSNorm and a gate
    goal: float

    @property
    def width(self) -> int:
        return self.heads * self.head_dim


MODELS = {
    "GPT-2 small": Shape(12, 12, 12, 64, 3072, is_llama=False, goal=1.05),
    "SmolLM2-135M": Shape(30, 9, 3, 64, 1536, is_llama=True, goal=1.1),
}


class Attention(nn.Module):
    """Projects x to q, k and v, attends causally, and projects the output."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        heads = shape.heads, shape.heads_of_keys, shape.heads_of_keys
        self.project = nn.ModuleList(nn.Linear(shape.width, n * shape.head_dim) for n in heads)
        self.out_proj = nn.Linear(shape.width, shape.width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor] | None) -> Tensor:
        D = self.shape.head_dim
        q, k, v = (linear(x).unflatten(-1, (-1, D)).transpose(1, 2) for linear in self.project)
        if turn is not None:
            q, k = rotated(q, *turn), rotated(k, *turn)
        is_grouped = q.shape[1] != k.shape[1]
        output = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=is_grouped)
        return self.out_proj(output.transpose(1, 2).flatten(2))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions; the two halves of the width are the two coordinates of each pair."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Layer(nn.Module):
    """Attention and a feed-forward network, each behind its norm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        norm = nn.RMSNorm if shape.is_llama else nn.LayerNorm
        self.is_gated = shape.is_llama
        self.norms = nn.ModuleList(norm(shape.width) for _ in range(2))
        self.self_attn = Attention(shape)
        self.up = nn.ModuleList(
            nn.Linear(shape.width, shape.hidden) for _ in range(1 + self.is_gated)
        )
        self.down = nn.Linear(shape.hidden, shape.width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor] | None) -> Tensor:
        x = x + self.self_attn(self.norms[0](x), turn)
        inner = [linear(self.norms[1](x)) for linear in self.up]
        active = silu(inner[0]) * inner[1] if self.is_gated else gelu(inner[0], approximate="tanh")
        return x + self.down(active)


class Model(nn.Module):
    """The layers of a language model."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    def forward(self, x: Tensor) -> Tensor:
        turn = None
        if self.shape.is_llama:
            half = self.shape.head_dim // 2
            speeds = 10_000.0 ** (-torch.arange(half) / half)
            angles = torch.arange(x.shape[1])[:, None] * speeds.repeat(2)
            turn = angles.cos(), angles.sin()
        for layer in self.layers:
            x = layer(x, turn)
        return x


def model_and_input(shape: Shape, tokens: int) -> tuple[Model, Tensor]:
    torch.manual_seed(tokens)
    return Model(shape).eval(), torch.randn(1, tokens, shape.width)


def watched(model: Model, x: Tensor) -> Seen:
    """All records of a pass; none is asked for anything."""
    with watch(model, strict=True) as seen:
        model(x)
    return seen


def time_row(name: str, shape: Shape, tokens: int, rounds: int) -> dict:
    """A watched pass against a plain one."""
    model, x = model_and_input(shape, tokens)
    calls = {"ours": lambda: watched(model, x), "theirs": lambda: model(x)}
    what = f"a watched pass, the shape of {name}, {tokens:,} tokens"
    times = in_turn(calls, rounds)
    return no_slower(what, shape.goal, times, "ours", "theirs", "theirs: the same pass, unwatched")


def memory_row(name: str, tokens: int) -> dict:
    """What a watched pass takes beside q, k and v."""
    taken, held = in_another_process("benchmarks.watching", "memory", name, str(tokens), **APART)
    return row(
        f"memory of a watched pass in addition to its q, k and v, the shape of {name}, "
        f"{tokens:,} tokens",
        f"< {MEGABYTES} MB",
        f"{taken / 1e6:.1f} MB",
        met=taken < MEGABYTES * 1e6,
        note=f"q, k and v of all layers: {held / 1e6:.0f} MB",
    )


def memory(shape: Shape, tokens: int) -> tuple[int, int]:
    """By how many bytes the peak of a pass grows beside q, k and v; and the bytes of these."""
    model, x = model_and_input(shape, tokens)
    watched(model, x[:, :8])
    model(x)
    before = peak_memory()
    seen = watched(model, x)
    more = peak_memory() - before
    held = sum(t.numel() * t.element_size() for r in seen.all() for t in (r.q, r.k, r.v))
    return max(0, more - held), held


def rows(models: dict[str, Shape], tokens: int, long: int, rounds: int) -> list[dict]:
    lines = [time_row(name, shape, tokens, rounds) for name, shape in models.items()]
    lines += [memory_row(name, long) for name in models]
    return [line | {"section": "watching"} for line in lines]


def main() -> None:
    torch.set_num_threads(1)
    with torch.no_grad():
        if sys.argv[1:2] == ["memory"]:
            print(json.dumps(memory(MODELS[sys.argv[2]], int(sys.argv[3]))))
            return
        lines = rows(MODELS, TOKENS, LONG, 9)
    report.store(lines, "A watched model beside the model alone", "make bench", ["torch"])


if __name__ == "__main__":
    main()
