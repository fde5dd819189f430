"""The wrong modules: each a right one of the library with one method written anew."""

from collections.abc import Callable

import torch
from torch import Tensor

from attn_core.api import trace
from attn_core.layers import DecoderLayer, LayerNorm, PositionalEncoding, Residual
from attn_core.modules import MultiHeadAttention, StackedHeads, both_masks
from attn_core.record import AttentionTrace

Heads = tuple[Tensor, Tensor, Tensor]


def trace_without_source(self, x: Tensor, memory: Tensor | None = None, keep=None):
    """A record that knows no source: `trace` would see that q is not a projection of x."""
    return trace(
        *self.split_heads(x, memory), keep=both_masks(self.keep, keep, x), dropout=self.drop.now()
    )


class SplitByView(MultiHeadAttention):
    def split_heads(self, x: Tensor, memory: Tensor | None = None) -> tuple[Tensor, ...]:
        memory = x if memory is None else memory
        rows = self.w_query(x), self.w_key(memory), self.w_value(memory)
        return tuple(t.view(t.shape[0], self.num_heads, t.shape[1], -1) for t in rows)

    trace = trace_without_source


class SharedHeads(MultiHeadAttention):
    def split_heads(self, x: Tensor, memory: Tensor | None = None) -> Heads:
        q, k, v = (t[:, :1].expand_as(t) for t in super().split_heads(x, memory))
        return q, k, v

    trace = trace_without_source


class MaskOnHeads(MultiHeadAttention):
    def trace(self, x: Tensor, memory: Tensor | None = None, keep=None) -> AttentionTrace:
        q, k, v = self.split_heads(x, memory)
        keep = both_masks(self.keep, keep, x)
        if keep is not None:
            # [L, S] becomes [L, 1, S]; the map reads it as [heads, 1, S].
            keep = keep.dense(q.shape[2], k.shape[2])[0, 0].unsqueeze(1)
        return trace(q, k, v, keep=keep)

    def forward(self, x: Tensor, memory: Tensor | None = None, keep=None) -> Tensor:
        return self.out_proj(self.trace(x, memory, keep).output.transpose(1, 2).flatten(2))


class MergedByView(MultiHeadAttention):
    def forward(self, x: Tensor, memory: Tensor | None = None, keep=None) -> Tensor:
        q, k, v = self.split_heads(x, memory)
        heads = trace(q, k, v, keep=both_masks(self.keep, keep, x), dropout=self.drop()).output
        return self.out_proj(heads.reshape(heads.shape[0], heads.shape[2], -1))


class HeadsAlongTokens(StackedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([head(x) for head in self.heads], dim=1)


class SampleNorm(LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        mean, spread = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return (x - mean) / (spread + self.eps) * self.gain + self.bias


class DoubledExponent(PositionalEncoding):
    def forward(self, x: Tensor) -> Tensor:
        T, width = x.shape[1:]
        rate = 10000.0 ** (-2 * torch.arange(0, width, 2, dtype=torch.float64) / width)
        angle = torch.arange(T, dtype=torch.float64)[:, None] * rate
        places = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        return self.drop(x + places.to(x.dtype))


class PlacesAlongBatch(PositionalEncoding):
    def forward(self, x: Tensor) -> Tensor:
        return self.drop(x + self.positions[: x.shape[0], None].to(x.dtype))


class OneAttention(DecoderLayer):
    def forward(
        self, x: Tensor, memory: Tensor, *, keep=None, memory_keep=None, right_to_left=None
    ) -> Tensor:
        def cross(z: Tensor) -> Tensor:
            own = self.self_attention
            heads = trace(*own.split_heads(z, memory), keep=memory_keep).output
            return own.out_proj(heads.transpose(1, 2).flatten(2))

        x = self.residuals[0](x, lambda z: self.self_attention(z, keep=keep))
        return self.residuals[2](self.residuals[1](x, cross), self.feed_forward)


class DropoutAfterNorm(Residual):
    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.drop(self.norm(x + sublayer(x)))
