"""A decoder-only language model: one stream of tokens, from ids to a score for each next token."""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from attn_core.checks import check_whole, shape_of
from attn_core.language.attention import Cache
from attn_core.language.layers import LanguageLayer, RMSNorm
from attn_core.language.sampling import GREEDY, Sampling
from attn_core.masks import Keep
from attn_core.modules import each
from attn_core.rotary import Rotary
from attn_core.transformer import Written


class LanguageModel(nn.Module):
    """Layers of attention and SwiGLU between an embedding and the scores of the next token.

    >>> model = LanguageModel(50, width=12, num_heads=6, num_kv_heads=2, hidden=32, num_layers=2)
    >>> model(torch.tensor([[7, 3, 9]])).shape
    torch.Size([1, 3, 50])

    There is no encoder and no cross-attention: prompt and answer share one stream, and every row
    predicts the token after it.

    rotary: rotates the queries and keys of each layer. Defaults to Rotary(width // num_heads).
    keeps: a mask for each layer, such as window(127) for some and causal() for others. Defaults to
        causal() in all layers.
    is_tied: if True, the scores are products with the embedding's rows; otherwise a separate matrix
        makes them.

    Touvron et al., "LLaMA" (2023), 2.2; Press and Wolf, "Using the Output Embedding to Improve
    Language Models" (2017). Taught in chapter 12.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        width: int,
        num_heads: int,
        num_kv_heads: int,
        hidden: int,
        num_layers: int,
        rotary: Rotary | None = None,
        keeps: Sequence[Keep] | None = None,
        eps: float = 1e-5,
        is_tied: bool = True,
    ) -> None:
        super().__init__()
        check_whole("num_layers", num_layers, least=1)
        if keeps is not None and len(keeps) != num_layers:
            raise ValueError(
                f"keeps must have a mask for each of {num_layers} layers, got {len(keeps)}"
            )
        rotary = Rotary(width // num_heads) if rotary is None else rotary
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.layers = nn.ModuleList(
            LanguageLayer(
                width, num_heads, num_kv_heads, hidden,
                rotary=rotary, keep=None if keeps is None else keeps[n], eps=eps,
            )
            for n in range(num_layers)
        )  # fmt: skip
        self.norm = RMSNorm(width, eps)
        self.unembedding = nn.Linear(width, vocabulary, bias=False)
        if is_tied:
            self.unembedding.weight = self.embedding.weight

    def caches(self) -> list[Cache]:
        """An empty cache for each layer."""
        return [Cache() for _ in self.layers]

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        *,
        keep: Keep | Tensor | None = None,
        positions: Shaped[Tensor, "*P T"] | None = None,
        caches: Sequence[Cache] | None = None,
    ) -> Float[Tensor, "B T words"]:
        """For each of the ids, the score of every token to come next.

        keep: a mask that hides padding; each layer joins it with the layer's own mask. positions:
        the place of each token. Defaults to 0, 1, 2, … or to the places after those in the caches.
        caches: what `caches()` returns; ids are then the new tokens only.
        """
        if ids.ndim != 2:
            raise ValueError(
                f"ids must be [B, T], got {shape_of(ids)}: ids[None] is a batch of one"
            )
        x = self.embedding(ids)
        for n, layer in enumerate(self.layers):
            cache = None if caches is None else caches[n]
            x = layer(x, keep=keep, positions=positions, cache=cache)
        return self.unembedding(self.norm(x))

    @torch.no_grad()
    def generate(
        self,
        ids: Int[Tensor, "1 T"],
        *,
        longest: int,
        sampling: Sampling = GREEDY,
        ends: Sequence[int] = (),
    ) -> Written:
        """Continues the text token by token, up to one of `ends` or to `longest` tokens.

        ids: the prompt, [1, T]. It is read in one pass (prefill); each further pass reads the one
        new token and finds the others' keys and values in the caches (decode). Returns the ids of
        the new tokens, including the end, and for each of them the probabilities of all tokens
        before sampling.
        """
        check_whole("longest", longest, least=1)
        if ids.ndim != 2 or len(ids) != 1 or not ids.numel():
            raise ValueError(
                f"ids must be one prompt [1, T], at least one token, got {shape_of(ids)}"
            )
        caches, new = self.caches(), ids
        written: list[int] = []
        probabilities: list[Tensor] = []
        while len(written) < longest and not (written and written[-1] in ends):
            scores = self(new, caches=caches)[0, -1]
            probabilities.append(torch.softmax(scores, dim=-1))
            written.append(sampling.choose(scores, len(written)))
            new = torch.tensor([written[-1:]], device=ids.device)
        return Written(written, torch.stack(probabilities))


def wide_layers(model: LanguageModel) -> Iterator[LanguageLayer]:
    """Copies of its layers in float64, one at a time: all at once would need gigabytes."""
    for layer in each(model.layers, LanguageLayer):
        yield deepcopy(layer).double()
