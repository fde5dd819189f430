"""Files in the GGUF format: their settings, and their weights, stored in 4 or 8 bits each."""

import math
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float32, UInt8
from torch import Tensor

MAGIC, VERSION = b"GGUF", 3
BLOCK = 32  # weights that share a scale
STRING, ARRAY = 8, 9
# The kinds of numbers among the settings, by their numbers in a file, as struct names them.
KINDS = dict(enumerate(("B", "b", "H", "h", "I", "i", "f", "?")))
KINDS |= {10: "Q", 11: "q", 12: "d"}


Blocks = UInt8[Tensor, "bytes"]


def float32(blocks: Blocks) -> Tensor:
    return blocks.view(torch.float32)


def q8_0(blocks: Blocks) -> Tensor:
    """A block is a float16 scale d and 32 whole numbers: weight = d · whole."""
    blocks = blocks.view(-1, 2 + BLOCK)
    return blocks[:, 2:].contiguous().view(torch.int8).float().mul_(halves(blocks[:, :2]))


def q4_1(blocks: Blocks) -> Tensor:
    """A block is a float16 scale d, a minimum m, and 32 numbers from 0 to 15: d · number + m.

    Byte j has number j in its low four bits and number j + 16 in its high ones.
    """
    blocks = blocks.view(-1, 4 + BLOCK // 2)
    scale, least = halves(blocks[:, :4]).split(1, dim=1)
    packed = blocks[:, 4:].contiguous()
    return torch.cat([packed & 15, packed >> 4], dim=1).float().mul_(scale).add_(least)


def halves(blocks: UInt8[Tensor, "n bytes"]) -> Float32[Tensor, "n numbers"]:
    """The float16 numbers that blocks begin with."""
    return blocks.contiguous().view(torch.float16).float()


class Stored(NamedTuple):
    """How a file stores weights: its name, the bytes of a block, its weights, and the formula."""

    name: str
    bytes_each: int
    weights_each: int
    formula: Callable[[Blocks], Tensor]


FORMATS = {
    0: Stored("F32", 4, 1, float32),
    3: Stored("Q4_1", 4 + BLOCK // 2, BLOCK, q4_1),
    8: Stored("Q8_0", 2 + BLOCK, BLOCK, q8_0),
}


@dataclass(frozen=True)
class Entry:
    """A weight in a file: its shape as torch has it, how it is stored, and where it begins."""

    shape: tuple[int, ...]
    stored: Stored
    start: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) // self.stored.weights_each * self.stored.bytes_each


class GGUF:
    """A file of llama.cpp's kind: `settings`, and `entries` with the weights.

    path: the file; it is mapped, so that only what is asked for is read. ValueError with one
    sentence for another format, another version, or a weight stored in a way that is not known.

    The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Taught in chapter 12.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.at = 0
        if self.bytes[:4] != MAGIC or self.number("I", at=4) != VERSION:
            raise ValueError(f"path must be a GGUF file of version {VERSION}, got {path.name}")
        self.at = 8
        entries, settings = self.number("Q"), self.number("Q")
        self.settings: dict[str, Any] = {}
        for _ in range(settings):
            name = self.string()
            self.settings[name] = self.value(self.number("I"))
        self.entries = dict(self.entry() for _ in range(entries))
        alignment = self.settings.get("general.alignment", 32)
        self.data = -(-self.at // alignment) * alignment

    def number(self, kind: str, at: int | None = None) -> Any:
        start = self.at if at is None else at
        [value] = struct.unpack_from(f"<{kind}", self.bytes, start)
        if at is None:
            self.at += struct.calcsize(kind)
        return value

    def string(self) -> str:
        end = self.number("Q") + self.at
        text = self.bytes[self.at : end]
        self.at = end
        return text.decode()

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            return self.number(KINDS[kind])
        of, count = self.number("I"), self.number("Q")
        if of == STRING:
            return [self.string() for _ in range(count)]
        end = self.at + count * struct.calcsize(KINDS[of])
        values = struct.unpack(f"<{count}{KINDS[of]}", self.bytes[self.at : end])
        self.at = end
        return list(values)

    def entry(self) -> tuple[str, Entry]:
        name = self.string()
        axes = [self.number("Q") for _ in range(self.number("I"))]
        kind = self.number("I")
        if kind not in FORMATS:
            known = ", ".join(stored.name for stored in FORMATS.values())
            raise ValueError(
                f"weights must be stored as {known}, got the kind {kind} for {name} in "
                f"{self.path.name}"
            )
        return name, Entry(tuple(reversed(axes)), FORMATS[kind], self.number("Q"))

    def blocks(self, name: str) -> Blocks:
        """A copy of a weight's bytes, as they are stored."""
        entry = self.entries[name]
        start = self.data + entry.start
        return torch.frombuffer(
            bytearray(self.bytes[start : start + entry.size]), dtype=torch.uint8
        )

    def weight(self, name: str) -> Float32[Tensor, "*shape"]:
        """A weight in float32, in the shape that torch has."""
        entry = self.entries[name]
        return entry.stored.formula(self.blocks(name)).view(entry.shape)
