"""What took the place of the 2017 parts around attention: RMSNorm, SwiGLU, and their layer."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from attn_core.language.attention import Cache, GroupedQueryAttention
from attn_core.layers import Tokens
from attn_core.masks import Keep
from attn_core.precision import upcast
from attn_core.rotary import Rotary
from attn_core.steps import ModuleCall, explain


class RMSNorm(nn.Module):
    """Each token's numbers divided by the root of their mean square, then times a gain.

    >>> RMSNorm(4)(torch.tensor([1.0, 3.0, 3.0, 9.0])).detach()
    tensor([0.2000, 0.6000, 0.6000, 1.8000])

    Unlike LayerNorm, it subtracts no mean and adds no bias, so adding 1 to all numbers changes the
    result. eps is added under the root, which is computed in float32 at least. Zhang and Sennrich,
    "Root Mean Square Layer Normalization" (2019), equation 4. Taught in chapter 12.
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        wide = upcast(x)
        mean_square = wide.square().mean(-1, keepdim=True)
        return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.gain


@explain(RMSNorm)
def of_norm(module: RMSNorm, call: ModuleCall, value: object, child: str | None) -> None:
    parameters, settings = {"gain": "gain"}, {"eps": module.eps}
    call.add("", "rms_norm", [call.argument()], parameters, settings, made=value)


class SwiGLU(nn.Module):
    """A feed-forward network with a gate: down(silu(gate(x)) · up(x)), number by number.

    >>> SwiGLU(4, 16)(torch.zeros(1, 2, 4)).shape
    torch.Size([1, 2, 4])

    silu(x) = x / (1 + exp(−x)). It has three matrices instead of two, so `hidden` is often 8/3 of
    the width instead of 4 times the width. Shazeer, "GLU Variants Improve Transformer" (2020),
    equation 6. Taught in chapter 12.
    """

    def __init__(self, width: int, hidden: int, *, bias: bool = False) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=bias)
        self.up = nn.Linear(width, hidden, bias=bias)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tokens) -> Tokens:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


@explain(SwiGLU)
def of_swiglu(module: SwiGLU, call: ModuleCall, value: object, child: str | None) -> None:
    if child == "down":
        gate = call.add("activation", "silu", [call.child("gate")])
        call.add("product", "multiply", [gate, call.child("up")], made=value)


class LanguageLayer(nn.Module):
    """One layer of a decoder-only model: attention, then SwiGLU, each on normed rows and added.

    >>> LanguageLayer(12, num_heads=6, num_kv_heads=2, hidden=32)(torch.zeros(1, 5, 12)).shape
    torch.Size([1, 5, 12])

    x + attention(norm(x)), then x + feed_forward(norm(x)). Touvron et al., "LLaMA: Open and
    Efficient Foundation Language Models" (2023), 2.2. Taught in chapter 12.
    """

    def __init__(
        self,
        width: int,
        num_heads: int,
        num_kv_heads: int,
        hidden: int,
        *,
        rotary: Rotary | None = None,
        keep: Keep | None = None,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(width, eps)
        self.attention = GroupedQueryAttention(
            width, num_heads, num_kv_heads, rotary=rotary, keep=keep
        )
        self.feed_forward_norm = RMSNorm(width, eps)
        self.feed_forward = SwiGLU(width, hidden)

    def forward(
        self,
        x: Tokens,
        *,
        keep: Keep | Tensor | None = None,
        positions: Shaped[Tensor, "*P T"] | None = None,
        cache: Cache | None = None,
    ) -> Tokens:
        normed = self.attention_norm(x)
        x = x + self.attention(normed, keep=keep, positions=positions, cache=cache)
        return x + self.feed_forward(self.feed_forward_norm(x))


@explain(LanguageLayer)
def of_layer(module: LanguageLayer, call: ModuleCall, value: object, child: str | None) -> None:
    if child == "feed_forward_norm":
        call.add("attention_sum", "add", [call.argument(), call.child("attention")], made=value)
    if child is None:
        before = f"{call.path}.attention_sum".removeprefix(".")
        call.add("sum", "add", [before, call.child("feed_forward")], made=value)
