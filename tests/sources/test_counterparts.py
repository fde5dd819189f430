"""Every class and function of the five sources has a working counterpart, compared with torch.

The names are those of the sources; what each must do is stated by a plain computation in float64
or by torch's own module on the same weights.
"""

from __future__ import annotations

import math
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa

from attn_core import Dropout, attention, causal, padding, prefill, toy, trace
from attn_core.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    PositionalEncoding,
    Residual,
    WordEmbedding,
)
from attn_core.modules import (
    CausalAttention,
    MultiHeadAttention,
    SelfAttention,
    SelfAttentionV1,
    StackedHeads,
)
from attn_core.transformer import Transformer
from tests.attn_core.reference import copy_attention, copy_rest

close = torch.testing.assert_close


@pytest.fixture(autouse=True)
def _start():
    torch.manual_seed(0)


def batch() -> torch.Tensor:
    x = toy.journey().x.double()
    return torch.stack((x, x.flip(0)))


def plain(q, k, v, keep=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if keep is not None:
        scores = scores.masked_fill(~keep, -math.inf)
    return torch.softmax(scores, -1) @ v


def self_attention_v1():
    head, x = SelfAttentionV1(3, 2).double(), batch()[0]
    close(head(x), plain(x @ head.w_query, x @ head.w_key, x @ head.w_value))


def self_attention_v2():
    head, x = SelfAttention(3, 2, bias=True).double(), batch()
    close(head(x), plain(head.w_query(x), head.w_key(x), head.w_value(x)))


def causal_attention():
    head, x = CausalAttention(3, 2).double(), batch()
    q, k, v = head.w_query(x), head.w_key(x), head.w_value(x)
    close(head(x), sdpa(q, k, v, is_causal=True))


def head_wrapper():
    heads, x = StackedHeads(3, 2, num_heads=2).double(), batch()
    close(heads(x), torch.cat([head(x) for head in heads.heads], dim=-1))


def multi_head_of_the_long_note():
    heads, x = MultiHeadAttention(3, 4, 2, keep=causal()).double(), batch()
    q, k, v = (
        layer(x).view(2, 6, 2, 2).transpose(1, 2)
        for layer in (heads.w_query, heads.w_key, heads.w_value)
    )
    merged = sdpa(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 6, 4)
    close(heads(x), heads.out_proj(merged))


def multi_head_of_the_masking_note():
    """Fused projections with biases, a causal mask given from outside."""
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).double()
    ours, x = MultiHeadAttention(8, 8, 2, bias=True).double(), torch.randn(2, 4, 8).double()
    copy_attention(ours, theirs)
    future = ~torch.ones(4, 4).tril().bool()
    close(ours(x, keep=causal()), theirs(x, x, x, attn_mask=future)[0])


def multi_head_of_the_from_scratch_note():
    """Queries of one sequence, keys and values of another, padded one."""
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).double()
    ours = MultiHeadAttention(8, 8, 2, bias=True).double()
    copy_attention(ours, theirs)
    x, memory = torch.randn(2, 5, 8).double(), torch.randn(2, 7, 8).double()
    hidden = torch.arange(7) >= torch.tensor([[3], [7]])
    wanted = theirs(x, memory, memory, key_padding_mask=hidden)[0]
    close(ours(x, memory, keep=padding([3, 7])), wanted)


def scaled_dot_product_attention():
    q, k, v = torch.randn(3, 2, 4, 5, 6).double()
    keep = torch.ones(5, 5).tril().bool()
    close(attention(q, k, v, keep=keep), sdpa(q, k, v, attn_mask=keep))
    record = trace(q, k, v, keep=keep, dropout=Dropout(0.1, seed=1))
    close(record.stage("weights").sum(-1), torch.ones(2, 4, 5).double())


def self_attention_function():
    q, k, v = torch.randn(3, 2, 4, 5, 6).double()
    close(trace(q, k, v).output, sdpa(q, k, v))


def generate_prefill_mask():
    wanted = torch.ones(3, 5).tril(diagonal=2).bool()
    assert torch.equal(prefill(2).dense(3, 5)[0, 0], wanted)


def generate_causal_mask():
    assert torch.equal(causal().dense(4, 4), torch.ones(1, 1, 4, 4).tril().bool())


def layer_norm():
    x = torch.randn(2, 5, 8).double()
    close(LayerNorm(8).double()(x), nn.LayerNorm(8).double()(x))


def word_embedding():
    words = WordEmbedding(10, 4)
    ids = torch.tensor([[3, 1]])
    close(words(ids), words.weight[ids] * 2)


def positional_encoding():
    added = PositionalEncoding(6, longest=50)(torch.zeros(1, 50, 6))[0]
    for position in (0, 7, 49):
        for i in range(0, 6, 2):
            angle = position / 10000 ** (i / 6)
            close(added[position, i].item(), math.sin(angle), atol=1e-6, rtol=0)
            close(added[position, i + 1].item(), math.cos(angle), atol=1e-6, rtol=0)


def feed_forward():
    layer, x = FeedForward(4, 16).double(), torch.randn(1, 3, 4).double()
    wanted = nn.Sequential(layer.widen, nn.ReLU(), layer.narrow)
    close(layer(x), wanted(x))


def sublayer_connection():
    residual, x = Residual(8).double(), torch.randn(1, 3, 8).double()
    close(residual(x, torch.sin), nn.LayerNorm(8).double()(x + torch.sin(x)))


def encoder_layer():
    theirs = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True).double()
    ours, x = EncoderLayer(8, 2, 16).double(), torch.randn(2, 5, 8).double()
    copy_attention(ours.attention, theirs.self_attn)
    copy_rest(ours, theirs, (theirs.norm1, theirs.norm2))
    close(ours(x), theirs(x))


def decoder_layer():
    theirs = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True).double()
    ours = DecoderLayer(8, 2, 16).double()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, (theirs.norm1, theirs.norm2, theirs.norm3))
    x, memory = torch.randn(2, 5, 8).double(), torch.randn(2, 7, 8).double()
    future = ~torch.ones(5, 5).tril().bool()
    close(ours(x, memory), theirs(x, memory, tgt_mask=future))
    fourth = DecoderLayer(8, 2, 16, right_to_left=True).double()
    assert fourth(x, memory, right_to_left=memory).shape == x.shape


def module_cloning():
    """A stack of layers with weights of their own; unlike clones, they also start apart."""
    sizes = {"width": 8, "num_heads": 2, "hidden": 16, "num_layers": 3}
    layers = Transformer(10, 10, **sizes).encoder
    assert len(layers) == 3
    starts = {layer.attention.w_query.weight.sum().item() for layer in layers}
    assert len(starts) == 3
    clone = deepcopy(layers[0])
    close(clone(torch.ones(1, 2, 8)), layers[0](torch.ones(1, 2, 8)))
    assert clone.attention.w_query.weight is not layers[0].attention.w_query.weight


COUNTERPARTS = {
    "SelfAttention_v1": self_attention_v1,
    "SelfAttention_v2": self_attention_v2,
    "CausalAttention": causal_attention,
    "MultiHeadAttentionWrapper": head_wrapper,
    "MultiHeadAttention (the long note)": multi_head_of_the_long_note,
    "MultiHeadAttention (the masking note)": multi_head_of_the_masking_note,
    "MutiHeadAttention (the from-scratch note)": multi_head_of_the_from_scratch_note,
    "ScaledDotProductAttention": scaled_dot_product_attention,
    "self_attention": self_attention_function,
    "generate_prefill_mask": generate_prefill_mask,
    "generate_causal_mask": generate_causal_mask,
    "LayerNorm": layer_norm,
    "WordEmbedding": word_embedding,
    "PositionalEncoding": positional_encoding,
    "FeedForward": feed_forward,
    "SublayerConnection": sublayer_connection,
    "EncoderLayer": encoder_layer,
    "DecoderLayer": decoder_layer,
    "clone_module_to_modulelist": module_cloning,
}


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_counterpart(name):
    COUNTERPARTS[name]()
