"""The whole Transformer of chapter 09: encoder, decoder, and words one after the other."""

from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.checks import check_whole, shape_of
from attn_core.compiling import is_exporting
from attn_core.layers import (
    DecoderLayer,
    EncoderLayer,
    LayerNorm,
    PositionalEncoding,
    WordEmbedding,
)
from attn_core.masks import Keep, in_four_axes


class Written(NamedTuple):
    """The ids of the words that were written, and for each the probabilities of all words."""

    ids: list[int]
    probabilities: Float[Tensor, "T words"]


class Transformer(nn.Module):
    """Encoder and decoder around one sentence pair: from word ids to a score for each next word.

    >>> model = Transformer(12, 9, width=8, num_heads=2, hidden=32, num_layers=2)
    >>> model(torch.tensor([[3, 4, 5]]), torch.tensor([[1, 2]])).shape
    torch.Size([1, 2, 9])

    Each layer has its own weights from the start; with norm_first, a final norm closes each stack.

    source_keep, target_keep: masks that hide padding, in the shapes of `MultiHeadAttention`.
    source_positions, target_positions: those of `PositionalEncoding`. After padding on the left,
        they must be passed (ValueError otherwise), because a mask hides words but does not move
        them.

    Vaswani et al. (2017), 3. Taught in chapter 09.
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
        self,
        source: Int[Tensor, "B S"],
        source_keep: Keep | Tensor | None = None,
        source_positions: Int[Tensor, "*B S"] | None = None,
    ) -> Float[Tensor, "B S E"]:
        check_places_are_said("source", source_keep, source_positions, source.shape[-1])
        memory = placed(self.source_places, self.source_words(source), source_positions)
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
        target_positions: Int[Tensor, "*B T"] | None = None,
    ) -> Float[Tensor, "B T words"]:
        check_places_are_said("target", target_keep, target_positions, target.shape[-1])
        x = placed(self.target_places, self.target_words(target), target_positions)
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
        source_positions: Int[Tensor, "*B S"] | None = None,
        target_positions: Int[Tensor, "*B T"] | None = None,
    ) -> Float[Tensor, "B T words"]:
        memory = self.encode(source, source_keep, source_positions)
        return self.decode(
            target,
            memory,
            target_keep=target_keep,
            source_keep=source_keep,
            target_positions=target_positions,
        )

    @torch.no_grad()
    def generate(
        self, source: Int[Tensor, "1 S"], *, start: int, end: int, longest: int = 60
    ) -> Written:
        """Writes the likeliest next word again and again, up to the end mark or `longest` words.

        The end mark is one of the words. Call it in eval, since dropout would change the words.
        ValueError if `longest` is below 1, or for more than one sentence.
        """
        check_whole("longest", longest, least=1)
        if source.ndim != 2 or len(source) != 1:
            raise ValueError(f"source must be one sentence [1, S], got {shape_of(source)}")
        memory, ids = self.encode(source), [start]
        probabilities: list[Tensor] = []
        while len(probabilities) < longest and (not probabilities or ids[-1] != end):
            scores = self.decode(torch.tensor([ids], device=source.device), memory)
            probabilities.append(torch.softmax(scores[0, -1], dim=-1))
            ids.append(int(probabilities[-1].argmax()))
        return Written(ids[1:], torch.stack(probabilities))


def placed(
    places: nn.Module, words: Float[Tensor, "B T E"], positions: Int[Tensor, "*B T"] | None
) -> Float[Tensor, "B T E"]:
    """Words at their positions; a module in the place of ours, as nn.Identity, may know of none."""
    return places(words) if positions is None else places(words, positions)


def check_places_are_said(
    side: str, keep: Keep | Tensor | None, positions: Int[Tensor, "*B T"] | None, words: int
) -> None:
    """Where a mask hides a sentence's first word, the second may be its first or its second."""
    cells, starts = (keep.cells, keep.starts) if isinstance(keep, Keep) else (keep, None)
    if positions is not None or (cells is None and starts is None) or is_exporting():
        return
    seen = Keep(starts=starts).dense(1, words)[:, 0, 0]
    if isinstance(cells, Tensor):
        # By any head and any query.
        seen = seen.to(cells.device) & in_four_axes(cells).any(1).any(1)
    if (seen.any(-1) & ~seen[:, 0]).any():
        raise ValueError(
            f"{side}_positions must be given where {side}_keep hides the first word of a sentence, "
            "got None: after padding on the left pass (is_word.cumsum(1) - 1).clamp(0), "
            f"or torch.arange({words}) for words that stay in their places"
        )
