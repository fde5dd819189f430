"""The parts of the Transformer against torch's own on the same weights."""

import math
from copy import deepcopy

import pytest
import torch
from torch import nn

from attn_core import causal, padding
from attn_core.layers import (
    ActivationDropout,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    PositionalEncoding,
    Residual,
    WordEmbedding,
    sinusoids,
)
from attn_core.transformer import Transformer
from tests.attn_core.reference import copy_attention, copy_rest

WIDTH = 16


def shaken(module):
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_is_torchs(norm_first):
    torch.manual_seed(0)
    theirs = shaken(
        nn.TransformerEncoderLayer(WIDTH, 4, 32, 0.0, batch_first=True, norm_first=norm_first)
    )
    ours = EncoderLayer(WIDTH, 4, 32, norm_first=norm_first)
    with torch.no_grad():
        copy_attention(ours.attention, theirs.self_attn)
        copy_rest(ours, theirs, (theirs.norm1, theirs.norm2))
    x = torch.randn(2, 7, WIDTH)
    dropped = torch.arange(7) >= torch.tensor([[4], [7]])
    torch.testing.assert_close(
        ours(x, padding([4, 7])), theirs(x, src_key_padding_mask=dropped), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoder_layer_is_torchs(norm_first):
    torch.manual_seed(0)
    theirs = shaken(
        nn.TransformerDecoderLayer(WIDTH, 4, 32, 0.0, batch_first=True, norm_first=norm_first)
    )
    ours = DecoderLayer(WIDTH, 4, 32, norm_first=norm_first)
    with torch.no_grad():
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        copy_rest(ours, theirs, (theirs.norm1, theirs.norm2, theirs.norm3))
    x, memory = torch.randn(2, 7, WIDTH), torch.randn(2, 5, WIDTH)
    future = nn.Transformer.generate_square_subsequent_mask(7)
    torch.testing.assert_close(
        ours(x, memory), theirs(x, memory, tgt_mask=future), rtol=1e-4, atol=1e-5
    )


def test_each_attention_of_a_decoder_layer_has_its_own_weights():
    layer = DecoderLayer(WIDTH, 4, 32, right_to_left=True)
    parts = (layer.self_attention, layer.cross_attention, layer.right_to_left)
    assert len({part.w_query.weight.data_ptr() for part in parts}) == 3


def test_each_layer_starts_with_weights_of_its_own():
    layers = Transformer(9, 9, width=8, num_heads=2, hidden=16, num_layers=3).encoder
    assert len({layer.attention.w_query.weight.sum().item() for layer in layers}) == 3


def test_right_to_left_memory_is_a_fourth_sublayer():
    torch.manual_seed(0)
    layer = DecoderLayer(WIDTH, 4, 32, right_to_left=True)
    x, memory, other = torch.randn(3, 1, 5, WIDTH)
    assert len(layer.residuals) == 4
    a, b = layer(x, memory, right_to_left=other), layer(x, memory, right_to_left=other + 1)
    assert not torch.allclose(a, b)
    with pytest.raises(ValueError, match="right_to_left must be given here, got nothing"):
        layer(x, memory)
    with pytest.raises(ValueError, match="right_to_left must be None here, got Tensor"):
        DecoderLayer(WIDTH, 4, 32)(x, memory, right_to_left=other)


def test_layer_norm_is_torchs():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 8) * 3 + 1
    ours, theirs = LayerNorm(8), nn.LayerNorm(8)
    with torch.no_grad():
        for mine, other in ((ours.gain, theirs.weight), (ours.bias, theirs.bias)):
            mine.copy_(other.normal_())
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(LayerNorm(1)(torch.ones(3, 1)), torch.zeros(3, 1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("spread", "middle"), [(400, 0), (1, 0), (1e-3, 0), (1, 300)])
def test_layer_norm_in_half_precision_is_torchs(dtype, spread, middle):
    """Squares of 400 are beyond float16, those of 0.001 below it, a mean near 300 is coarse."""
    torch.manual_seed(0)
    x = (torch.randn(4, 8) * spread + middle).to(dtype)
    gain, bias = torch.randn(2, 8).to(dtype)
    ours, theirs = LayerNorm(8, eps=1e-12).to(dtype), nn.LayerNorm(8, eps=1e-12).to(dtype)
    with torch.no_grad():
        for norm, its_gain in ((ours, ours.gain), (theirs, theirs.weight)):
            its_gain.copy_(gain)
            norm.bias.copy_(bias)
    exact = deepcopy(theirs).double()(x.double())
    assert ours(x).dtype == dtype
    error, torchs = ((norm(x).double() - exact).abs().max() for norm in (ours, theirs))
    assert error <= 2 * torchs + torch.finfo(dtype).eps * exact.abs().max()


def test_layer_norm_of_equal_numbers_is_its_bias_in_half_precision():
    norm = LayerNorm(8, eps=1e-12).half()
    assert torch.equal(norm(torch.full((1, 8), 3.0).half()), torch.zeros(1, 8).half())


def test_layer_norm_computes_float32_and_float64_as_they_are():
    torch.manual_seed(0)
    for x in (torch.randn(3, 8), torch.randn(3, 8).double()):
        norm = LayerNorm(8).to(x.dtype)
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        wanted = (x - mean) * torch.rsqrt(variance + 1e-5) * norm.gain + norm.bias
        assert torch.equal(norm(x), wanted)


def test_sinusoids_are_the_papers():
    table = sinusoids(50, 6)
    for position in (0, 1, 49):
        for pair in range(3):
            angle = position / 10000 ** (2 * pair / 6)
            assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_an_odd_width_is_refused_with_its_reason():
    with pytest.raises(ValueError, match=r"width must be even, a sine and a cosine .* got 5"):
        sinusoids(3, 5)


def test_positions_are_added_along_the_tokens():
    x = torch.zeros(2, 7, 4)
    torch.testing.assert_close(PositionalEncoding(4, longest=9)(x)[1], sinusoids(7, 4))
    with pytest.raises(ValueError, match="x must have at most 6 tokens, got 7"):
        PositionalEncoding(4, longest=6)(x)


def test_word_embedding_is_its_formula():
    """The weights times the root of the width, which start so that this has a variance of one."""
    torch.manual_seed(0)
    words = WordEmbedding(1000, 64)
    embedded = words(torch.arange(1000)[None])
    torch.testing.assert_close(embedded[0], words.weight * 8)
    assert embedded.std().item() == pytest.approx(1.0, abs=0.02)


def test_feed_forward_is_its_formula():
    torch.manual_seed(0)
    layer, x = FeedForward(4, 8), torch.randn(1, 3, 4)
    inner = (x @ layer.widen.weight.T + layer.widen.bias).clamp(min=0)
    torch.testing.assert_close(layer(x), inner @ layer.narrow.weight.T + layer.narrow.bias)


def test_residual_dropout_leaves_the_stream_alone():
    torch.manual_seed(0)
    x = torch.randn(1, 6, 8)
    residual = Residual(8, dropout=0.5, norm_first=True)
    torch.testing.assert_close(residual(x, torch.zeros_like), x)
    changed = residual(x, torch.ones_like) - x
    assert set(changed.detach().round(decimals=4).flatten().tolist()) == {0.0, 2.0}


def test_activation_dropout_keeps_the_expectation():
    drop = ActivationDropout(0.25, seed=1)
    assert drop(torch.ones(4, 100, 100)).mean().item() == pytest.approx(1.0, abs=0.01)
    assert torch.equal(drop.eval()(torch.ones(1, 2, 3)), torch.ones(1, 2, 3))


def test_transformer_learns_to_copy():
    torch.manual_seed(0)
    model = Transformer(12, 12, width=32, num_heads=4, hidden=64, num_layers=1).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(150):
        words = torch.randint(2, 12, (32, 5), generator=torch.Generator().manual_seed(step))
        before = torch.cat((torch.ones(32, 1, dtype=torch.int64), words[:, :-1]), 1)
        loss = nn.functional.cross_entropy(model(words, before).flatten(0, 1), words.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.5
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_transformers_decoder_does_not_look_ahead():
    torch.manual_seed(0)
    model = Transformer(12, 12, width=16, num_heads=4, hidden=32, num_layers=2, norm_first=True)
    source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[1, 6, 7, 8]])
    changed = target.clone()
    changed[0, 3] = 9
    torch.testing.assert_close(model(source, target)[:, :3], model(source, changed)[:, :3])


@pytest.mark.parametrize("in_batch", [False, True])
def test_padding_on_the_left_gives_what_the_sentence_gives_alone(in_batch):
    """The mask hides what was padded, the positions say where the words stand."""
    torch.manual_seed(0)
    model = Transformer(12, 12, width=16, num_heads=4, hidden=32, num_layers=2).eval()
    source, target = torch.tensor([[3, 4, 5], [6, 7, 8]]), torch.tensor([[1, 6], [1, 9]])
    alone = model(source[:1, :2], target[:1, :1])
    source[0], target[0] = torch.tensor([0, 3, 4]), torch.tensor([0, 1])
    is_word = torch.tensor([[False, True, True], [True, True, True]])
    places = (is_word.cumsum(1) - 1).clamp(0)
    if not in_batch:
        source, target, is_word, places = source[:1], target[:1], is_word[:1], places[0]
    keeps = {
        "source_keep": is_word[:, None, None],
        "target_keep": causal() & is_word[:, None, None, :2],
        "source_positions": places,
        "target_positions": places[..., :2],
    }
    torch.testing.assert_close(model(source, target, **keeps)[:1, 1:], alone)


def test_a_first_word_that_is_hidden_may_keep_its_place():
    torch.manual_seed(0)
    model = Transformer(12, 12, width=16, num_heads=4, hidden=32, num_layers=1).eval()
    ids, hides = torch.tensor([[3, 4, 5]]), torch.tensor([False, True, True])
    memory = model.encode(ids, hides, torch.arange(3))
    changed = model.encode(torch.tensor([[9, 4, 5]]), hides, torch.arange(3))
    torch.testing.assert_close(memory[:, 1:], changed[:, 1:])
    later = model.encode(ids, torch.tensor([True, False, True]))  # is refused by nobody
    assert not torch.equal(later[:, 2], memory[:, 2])
    nothing = model.encode(torch.cat((ids, ids)), padding([3, 0]).dense(3, 3))
    torch.testing.assert_close(nothing[:1], model.encode(ids))


def test_places_may_be_left_out():
    model = Transformer(12, 12, width=16, num_heads=4, hidden=32, num_layers=1).eval()
    model.source_places = nn.Identity()
    model.encode(torch.tensor([[3, 4, 5]]))
