"""A language model of attention alone, small enough to be looked at whole."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.checks import check_length, check_tensor, check_whole, shape_of
from attn_core.dice import random_words
from attn_core.language import GroupedQueryAttention
from attn_core.layers import Tokens
from attn_core.masks import Keep
from attn_core.modules import each
from attn_core.record import AttentionTrace
from attn_core.steps import ModuleCall, explain

KIND = 1  # of dice: 0 are the texts
THROWS = 12


def drawn(weight: Tensor, seed: int, number: int) -> Tensor:
    """First numbers for weight `number` of a model: nearly normal, with variance 1/width."""
    words = random_words(seed, range(number, number + 1), THROWS * weight.numel(), kind=KIND)
    sums = words.view(-1, THROWS).sum(-1).double() / 2**32 - THROWS / 2
    return (sums / math.sqrt(weight.shape[-1])).view_as(weight)


class AttentionLayer(nn.Module):
    """x plus the output of one head of attention; no norm and no feed-forward.

    >>> AttentionLayer(16)(torch.zeros(1, 5, 16)).shape
    torch.Size([1, 5, 16])

    keep: which keys a query may see. Defaults to causal().

    Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021). Taught in chapter 13.
    """

    def __init__(self, width: int, keep: Keep | None = None) -> None:
        super().__init__()
        self.attention = GroupedQueryAttention(width, num_heads=1, num_kv_heads=1, keep=keep)

    def forward(self, x: Tokens) -> Tokens:
        return x + self.attention(x)


@explain(AttentionLayer)
def of_layer(module: AttentionLayer, call: ModuleCall, value: object, child: str | None) -> None:
    if child is None:
        call.add("sum", "add", [call.argument(), call.child("attention")], made=value)


class AttentionOnly(nn.Module):
    """A decoder-only model with attention and nothing else: learned positions, no norm, no MLP.

    >>> model = AttentionOnly(8, 12)
    >>> sum(weight.numel() for weight in model.parameters())
    2496
    >>> model(torch.tensor([[0, 1, 2, 0, 1]])).shape
    torch.Size([1, 5, 8])

    vocabulary: how many tokens there are.
    longest: how many places have a position.
    keep: which keys a query may see. Defaults to causal(); Keep() hides nothing.
    seed: draws the first weights, a whole number below 2**53. Each weight is a sum of twelve
        uniform numbers, which is nearly normal, with mean 0 and variance 1/width; no processor
        rounds it.

    Weights are float64. `recording` knows the model, so every number of a pass can be opened.
    Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021). Taught in chapter 13.
    """

    def __init__(
        self,
        vocabulary: int,
        longest: int,
        *,
        width: int = 16,
        num_layers: int = 2,
        keep: Keep | None = None,
        seed: int = 1,
    ) -> None:
        super().__init__()
        check_whole("vocabulary", vocabulary, least=1)
        check_whole("longest", longest, least=1)
        check_whole("width", width, least=1)
        check_whole("num_layers", num_layers, least=1)
        self.positions = nn.Parameter(torch.zeros(longest, width))
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(AttentionLayer(width, keep) for _ in range(num_layers))
        self.unembedding = nn.Linear(width, vocabulary, bias=False)
        self.double()
        self.draw(seed)

    @torch.no_grad()
    def draw(self, seed: int) -> None:
        """Gives each weight the number with which its training begins."""
        check_whole("seed", seed)
        for number, weight in enumerate(self.parameters()):
            weight.copy_(drawn(weight, seed, number))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T words"]:
        """For each of the ids, the score of every token to come next."""
        x = self.placed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.unembedding(x)

    def placed(self, ids: Int[Tensor, "B T"]) -> Tokens:
        """The embedding of each id plus its position."""
        check_tensor("ids", ids)
        if ids.ndim != 2:
            raise ValueError(
                f"ids must be [B, T], got {shape_of(ids)}: ids[None] is a batch of one"
            )
        check_length(ids.shape[1], len(self.positions))
        return self.embedding(ids) + self.positions[: ids.shape[1]]

    def traces(self, ids: Int[Tensor, "B T"]) -> list[AttentionTrace]:
        """The record of each layer's attention."""
        x, records = self.placed(ids), []
        for layer in each(self.layers, AttentionLayer):
            records.append(layer.attention.trace(x))
            x = layer(x)
        return records


@explain(AttentionOnly)
def of_model(module: AttentionOnly, call: ModuleCall, value: object, child: str | None) -> None:
    if child == "layers.0":
        placed = [call.child("embedding")], {"table": "positions"}
        call.add("placed", "add_positions", *placed, made=value)
