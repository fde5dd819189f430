"""The whole Transformer of chapter 09: encoder, decoder, and words one after the other."""

from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.checks import check_whole
from attn_core.layers import (
    DecoderLayer,
    EncoderLayer,
    LayerNorm,
    PositionalEncoding,
    WordEmbedding,
)
from attn_core.masks import Keep


class Written(NamedTuple):
    """The ids of the words that were written, and at each the probabilities of all words."""

    ids: list[int]
    probabilities: Float[Tensor, "T words"]


class Transformer(nn.Module):
    """Encoder and decoder around one sentence pair: from word ids to a score for each next word.

    >>> model = Transformer(12, 9, width=8, num_heads=2, hidden=32, num_layers=2)
    >>> model(torch.tensor([[3, 4, 5]]), torch.tensor([[1, 2]])).shape
    torch.Size([1, 2, 9])

    Each layer has weights of its own from the start; with norm_first a last norm closes each
    stack. Vaswani et al. (2017), 3. Taught in chapter 09.
    """

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabulary: int,
        *,
        width: int,
        num_heads: int,
        hidden: int,
        num_layers: int,
        dropout: float = 0.0,
        seed: int = 0,
        norm_first: bool = False,
        longest: int = 5000,
    ) -> None:
        super().__init__()
        sizes = width, num_heads, hidden
        encodes = partial(EncoderLayer, *sizes, dropout=dropout, norm_first=norm_first)
        decodes = partial(DecoderLayer, *sizes, dropout=dropout, norm_first=norm_first)
        self.source_words = WordEmbedding(source_vocabulary, width)
        self.target_words = WordEmbedding(target_vocabulary, width)
        place = partial(PositionalEncoding, width, longest=longest, dropout=dropout)
        self.source_places, self.target_places = place(seed=seed), place(seed=seed + 1)
        self.encoder = nn.ModuleList(encodes(seed=seed + 100 * n) for n in range(1, num_layers + 1))
        self.decoder = nn.ModuleList(
            decodes(seed=seed + 100 * n + 50) for n in range(1, num_layers + 1)
        )
        last = LayerNorm if norm_first else lambda width: nn.Identity()
        self.encoder_norm, self.decoder_norm = last(width), last(width)
        self.words_out = nn.Linear(width, target_vocabulary)

    def encode(
        self, source: Int[Tensor, "B S"], source_keep: Keep | Tensor | None = None
    ) -> Float[Tensor, "B S E"]:
        memory = self.source_places(self.source_words(source))
        for layer in self.encoder:
            memory = layer(memory, source_keep)
        return self.encoder_norm(memory)

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S E"],
        *,
        target_keep: Keep | Tensor | None = None,
        source_keep: Keep | Tensor | None = None,
    ) -> Float[Tensor, "B T words"]:
        x = self.target_places(self.target_words(target))
        for layer in self.decoder:
            x = layer(x, memory, keep=target_keep, memory_keep=source_keep)
        return self.words_out(self.decoder_norm(x))

    def forward(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        *,
        source_keep: Keep | Tensor | None = None,
        target_keep: Keep | Tensor | None = None,
    ) -> Float[Tensor, "B T words"]:
        memory = self.encode(source, source_keep)
        return self.decode(target, memory, target_keep=target_keep, source_keep=source_keep)

    @torch.no_grad()
    def generate(
        self, source: Int[Tensor, "1 S"], *, start: int, end: int, longest: int = 60
    ) -> Written:
        """Writes the likeliest next word, again and again: until the end mark, or `longest` words.

        The end mark is among the words. To be called in eval: dropout would draw the words anew.
        ValueError if `longest` is below 1.
        """
        check_whole("longest", longest, least=1)
        memory, ids = self.encode(source), [start]
        probabilities: list[Tensor] = []
        while len(probabilities) < longest and (not probabilities or ids[-1] != end):
            scores = self.decode(torch.tensor([ids], device=source.device), memory)
            probabilities.append(torch.softmax(scores[0, -1], dim=-1))
            ids.append(int(probabilities[-1].argmax()))
        return Written(ids[1:], torch.stack(probabilities))
