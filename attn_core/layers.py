"""The layers of chapter 09, each a sentence of the paper, around the attention of chapter 08."""

import math
from collections.abc import Callable
from functools import partial
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.checks import check_batch, check_length, check_tensor, check_whole, shape_of
from attn_core.compiling import is_exporting
from attn_core.masks import Keep, causal
from attn_core.modules import MultiHeadAttention, StepDropout
from attn_core.precision import upcast

Tokens = Float[Tensor, "B T E"]


class WordEmbedding(nn.Embedding):
    """A row of numbers for each word, times √width, so that it is as large as the positions.

    >>> WordEmbedding(10, 4)(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 4])

    The rows start with variance 1/width; the factor brings it to 1. Vaswani et al. (2017), 3.4.
    Taught in chapter 09.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__(vocabulary, width)
        nn.init.normal_(self.weight, std=width**-0.5)

    def forward(self, ids: Int[Tensor, "B T"]) -> Tokens:
        return super().forward(ids) * math.sqrt(self.embedding_dim)


def sinusoids(length: int, width: int) -> Float[Tensor, "length width"]:
    """A row of numbers for each position: sines and cosines, slower from pair to pair.

    >>> sinusoids(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    Columns 2i and 2i+1 are sin and cos of position / 10000^(2i/width); width must be even, for a
    sine without its cosine could not be turned into another position. Vaswani et al. (2017), 3.5.
    Taught in chapter 09.
    """
    check_even_width(width)
    rate = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * rate
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class ActivationDropout(nn.Module):
    """Drops single numbers of [B, T, E], with the bits of `Dropout`.

    >>> ActivationDropout(0.5, seed=7)(torch.ones(1, 1, 6))
    tensor([[[2., 2., 0., 0., 0., 2.]]])

    ValueError if x has another number of axes, in eval too. It counts steps as StepDropout does.
    Taught in chapter 07.
    """

    def __init__(self, p: float, seed: int = 0) -> None:
        super().__init__()
        self.drop = StepDropout(p, seed)

    def forward(self, x: Tokens) -> Tokens:
        check_batch("x", x)
        dropout = self.drop()
        if dropout is None:
            return x
        B, T, E = x.shape
        survives = dropout.survives(range(B), range(1), range(T), range(E), x.device)[:, 0]
        return x * survives / (1 - dropout.p)


class PositionalEncoding(nn.Module):
    """Adds to each word the row of its position, then applies dropout.

    >>> PositionalEncoding(4, longest=10)(torch.zeros(1, 2, 4))[0, 1]
    tensor([0.8415, 0.5403, 0.0100, 0.9999])

    The row is added, not concatenated.

    positions: the position of each word, whole numbers [T] or [B, T]. Defaults to 0, 1, 2, … After
        padding on the left they are (is_word.cumsum(1) - 1).clamp(0), where is_word [B, T] is True
        for words.

    ValueError if x is not [B, T, width], or if a position is not below `longest`. Vaswani et al.
    (2017), 3.5 and 5.4. Taught in chapter 09.
    """

    positions: Tensor

    def __init__(
        self, width: int, *, longest: int = 5000, dropout: float = 0.0, seed: int = 0
    ) -> None:
        super().__init__()
        self.register_buffer("positions", sinusoids(longest, width), persistent=False)
        self.drop = ActivationDropout(dropout, seed)

    def forward(self, x: Tokens, positions: Int[Tensor, "*B T"] | None = None) -> Tokens:
        check_batch("x", x, self.positions.shape[1])
        places = checked_positions(positions, x, longest=len(self.positions))
        return self.drop(x + self.positions[places].to(x.dtype))


class LayerNorm(nn.Module):
    """Each token's numbers, brought to mean 0 and variance 1, then times a gain plus a bias.

    >>> LayerNorm(4)(torch.tensor([1.0, 2.0, 3.0, 4.0])).detach()
    tensor([-1.3416, -0.4472,  0.4472,  1.3416])

    The variance divides by n, not by n − 1; eps is added under the root. Variance and root are
    computed in float32 at least: in float16 the square of 256 is infinite, and an eps of 1e-12 is
    0. Ba, Kiros, Hinton, "Layer Normalization" (2016), equation 4. Taught in chapter 09.
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        variance, mean = torch.var_mean(upcast(x), -1, correction=0, keepdim=True)
        normed = (x - mean) * torch.rsqrt(variance + self.eps)
        return normed.to(x.dtype) * self.gain + self.bias


class FeedForward(nn.Module):
    """Each token separately: a wider projection, ReLU, and a projection back to its width.

    >>> FeedForward(4, 16)(torch.zeros(1, 2, 4)).shape
    torch.Size([1, 2, 4])

    max(0, x·W₁ + b₁)·W₂ + b₂; some models put another function in the place of max(0, ·). Vaswani
    et al. (2017), equation 2. Taught in chapter 09.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        activation: Callable[[Tensor], Tensor] = torch.relu,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.widen = nn.Linear(width, hidden)
        self.drop = ActivationDropout(dropout, seed)
        self.narrow = nn.Linear(hidden, width)

    def forward(self, x: Tokens) -> Tokens:
        return self.narrow(self.drop(self.activation(self.widen(x))))


class Residual(nn.Module):
    """x plus a sublayer's output, with a norm after the sum (post) or before the sublayer (pre).

    >>> Residual(4)(torch.zeros(1, 2, 4), lambda x: x + 1).shape
    torch.Size([1, 2, 4])

    Post: norm(x + dropout(sublayer(x))). Pre: x + dropout(sublayer(norm(x))). Vaswani et al.
    (2017), 3.1 and 5.4; Xiong et al., "On Layer Normalization in the Transformer Architecture"
    (2020). Taught in chapter 09.
    """

    def __init__(
        self,
        width: int,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        norm_first: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.norm = LayerNorm(width, eps)
        self.drop = ActivationDropout(dropout, seed)
        self.norm_first = norm_first

    def forward(self, x: Tokens, sublayer: Callable[[Tensor], Tensor]) -> Tokens:
        if self.norm_first:
            return x + self.drop(sublayer(self.norm(x)))
        return self.norm(x + self.drop(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in its residual.

    >>> EncoderLayer(8, num_heads=2, hidden=32)(torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])

    `keep` says which tokens may be seen; usually it hides the padding. It takes the shapes that
    `MultiHeadAttention` takes. Vaswani et al. (2017), 3.1. Taught in chapter 09.
    """

    def __init__(
        self,
        width: int,
        num_heads: int,
        hidden: int,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        norm_first: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        part = partial(Residual, width, dropout=dropout, norm_first=norm_first, eps=eps)
        self.attention = MultiHeadAttention(
            width, width, num_heads, dropout=dropout, seed=seed, bias=True
        )
        self.feed_forward = FeedForward(
            width, hidden, dropout=dropout, seed=seed + 1, activation=activation
        )
        self.residuals = nn.ModuleList((part(seed=seed + 2), part(seed=seed + 3)))

    def forward(self, x: Tokens, keep: Keep | Tensor | None = None) -> Tokens:
        x = self.residuals[0](x, lambda z: self.attention(z, keep=keep))
        return self.residuals[1](x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the memory, feed-forward, each with its own
    weights.

    >>> layer = DecoderLayer(8, num_heads=2, hidden=32)
    >>> layer(torch.zeros(1, 3, 8), memory=torch.zeros(1, 5, 8)).shape
    torch.Size([1, 3, 8])

    With `right_to_left=True` a further cross-attention, between the memory's and the feed-forward,
    reads the states of a decoder that runs from right to left. `keep` is the mask of x,
    `memory_keep` that of the memory, in the shapes of `MultiHeadAttention`. Vaswani et al. (2017),
    3.1; Zhang et al., "Asynchronous Bidirectional Decoding" (2018). Taught in chapter 09.
    """

    def __init__(
        self,
        width: int,
        num_heads: int,
        hidden: int,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        norm_first: bool = False,
        right_to_left: bool = False,
    ) -> None:
        super().__init__()
        attend = partial(MultiHeadAttention, width, width, num_heads, dropout=dropout, bias=True)
        part = partial(Residual, width, dropout=dropout, norm_first=norm_first)
        self.self_attention = attend(keep=causal(), seed=seed)
        self.cross_attention = attend(seed=seed + 1)
        last = attend(seed=seed + 2) if right_to_left else None
        # Not called where it is None: check_is_given sees to it.
        self.right_to_left = cast("MultiHeadAttention", last)
        self.feed_forward = FeedForward(width, hidden, dropout=dropout, seed=seed + 3)
        self.residuals = nn.ModuleList(part(seed=seed + 4 + i) for i in range(3 + right_to_left))

    def forward(
        self,
        x: Tokens,
        memory: Float[Tensor, "B S E"],
        *,
        keep: Keep | Tensor | None = None,
        memory_keep: Keep | Tensor | None = None,
        right_to_left: Float[Tensor, "B R E"] | None = None,
    ) -> Tokens:
        check_is_given("right_to_left", right_to_left, wanted=self.right_to_left is not None)
        sublayers = [
            lambda z: self.self_attention(z, keep=keep),
            lambda z: self.cross_attention(z, memory, keep=memory_keep),
        ]
        if right_to_left is not None:
            sublayers.append(lambda z: self.right_to_left(z, right_to_left))
        sublayers.append(self.feed_forward)
        for residual, sublayer in zip(self.residuals, sublayers, strict=True):
            x = residual(x, sublayer)
        return x


def check_even_width(width: int) -> None:
    check_whole("width", width, least=2)
    if width % 2:
        raise ValueError(f"width must be even, a sine and a cosine for each rate, got {width}")


def checked_positions(
    positions: Int[Tensor, "*B T"] | None, x: Tokens, longest: int
) -> Int[Tensor, "*B T"] | slice:
    """The positions, or the first ones if none are given."""
    if positions is None:
        check_length(x.shape[1], longest)
        return slice(x.shape[1])
    check_tensor("positions", positions)
    if positions.is_floating_point() or positions.dtype == torch.bool:
        raise TypeError(f"positions must be whole numbers, got {positions.dtype}")
    B, T = x.shape[:2]
    fits = positions.ndim in (1, 2) and positions.shape[-1] == T
    if not fits or positions.shape[:-1].numel() not in (1, B):
        raise ValueError(
            f"positions must be one for each word, ({T},) or ({B}, {T}), got {shape_of(positions)}"
        )
    # An export has no numbers to look at.
    if not is_exporting() and not 0 <= positions.min() <= positions.max() < longest:
        raise ValueError(
            f"positions must be at least 0 and below {longest}, "
            f"got {positions.min()} to {positions.max()}"
        )
    return positions


def check_is_given(name: str, value: object, wanted: bool) -> None:
    if (value is not None) != wanted:
        was = "nothing" if value is None else type(value).__name__
        raise ValueError(f"{name} must {'be given' if wanted else 'be None'} here, got {was}")
