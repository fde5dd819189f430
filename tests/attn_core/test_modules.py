"""The modules against torch's own on the same weights, and their three ways to the same heads."""

from copy import deepcopy
from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from attn_core import causal, padding, toy, workings
from attn_core.modules import (
    CausalAttention,
    MultiHeadAttention,
    SelfAttention,
    SelfAttentionV1,
    StackedHeads,
    StepDropout,
    same_steps,
)
from attn_core.views import explore
from tests.attn_core.reference import drawn


def batch_of(x):
    return torch.stack((x, x.flip(0)))


def test_self_attention_with_the_same_matrices_is_the_same():
    x = toy.journey().x
    torch.manual_seed(0)
    linear, bare = SelfAttention(3, 2), SelfAttentionV1(3, 2)
    with torch.no_grad():
        for name in ("w_query", "w_key", "w_value"):
            getattr(bare, name).copy_(getattr(linear, name).weight.T)
    torch.testing.assert_close(linear(x), bare(x))
    assert not torch.allclose(linear(x)[0], linear(x)[1])


def test_self_attention_is_torchs():
    x = batch_of(toy.journey().x)
    torch.manual_seed(0)
    head = SelfAttention(3, 2, bias=True)
    q, k, v = (layer(x) for layer in (head.w_query, head.w_key, head.w_value))
    torch.testing.assert_close(head(x), nn.functional.scaled_dot_product_attention(q, k, v))


def test_causal_attention_is_torchs():
    x = batch_of(toy.journey().x)
    head = CausalAttention(3, 2)
    q, k, v = (layer(x) for layer in (head.w_query, head.w_key, head.w_value))
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(head(x), wanted)


def test_stacked_heads_stand_side_by_side():
    x = batch_of(toy.journey().x)
    heads = StackedHeads(3, 2, num_heads=3)
    assert heads(x).shape == (2, 6, 6)
    torch.testing.assert_close(heads(x)[..., 2:4], heads.heads[1](x))


def test_split_heads_equal_stacked_heads():
    x = batch_of(toy.journey().x)
    stacked, split = StackedHeads(3, 2, num_heads=2), MultiHeadAttention(3, 4, 2, keep=causal())
    with torch.no_grad():
        for name in ("w_query", "w_key", "w_value"):
            rows = [getattr(head, name).weight for head in stacked.heads]
            getattr(split, name).weight.copy_(torch.cat(rows))
        split.out_proj.weight.copy_(torch.eye(4))
        split.out_proj.bias.zero_()
    torch.testing.assert_close(split(x), stacked(x))


@pytest.mark.parametrize("cross", [False, True])
def test_multi_head_attention_is_torchs(cross):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True)
    ours = MultiHeadAttention(12, 12, 3, bias=True)
    with torch.no_grad():
        for n, layer in enumerate((ours.w_query, ours.w_key, ours.w_value)):
            layer.weight.copy_(theirs.in_proj_weight[12 * n : 12 * n + 12])
            layer.bias.copy_(theirs.in_proj_bias[12 * n : 12 * n + 12].uniform_())
        ours.out_proj.load_state_dict(theirs.out_proj.state_dict())
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12) if cross else None
    keys = x if memory is None else memory
    dropped = torch.arange(keys.shape[1]) >= torch.tensor([[3], [5]])
    output, weights = theirs(
        x, keys, keys, key_padding_mask=dropped, need_weights=True, average_attn_weights=False
    )
    keep = padding([3, 5])
    torch.testing.assert_close(ours(x, memory, keep=keep), output)
    torch.testing.assert_close(ours.trace(x, memory, keep=keep).stage("weights"), weights)


def test_masks_of_the_module_and_of_the_call_are_joined():
    x = batch_of(toy.journey().x)
    head = MultiHeadAttention(3, 4, 2, keep=causal())
    kept = head.trace(x, keep=padding([2, 6])).stage("weights") > 0
    assert torch.equal(kept, (causal() & padding([2, 6])).dense(6, 6).expand(2, 2, 6, 6))
    dense = padding([2, 6]).dense(6, 6)
    torch.testing.assert_close(head(x, keep=dense), head(x, keep=padding([2, 6])))


@pytest.mark.parametrize(
    ("batch", "axes"),
    [(4, (5,)), (4, (5, 5)), (5, (1, 5)), (4, (1, 5, 5)), (5, (1, 2, 5, 5)), (5, (5, 1, 1, 5)),
     (1, (5, 5))],
    ids=str,
)  # fmt: skip
def test_masks_that_can_be_read_in_one_way_alone(batch, axes):
    cells = drawn(1, *axes) > -0.5
    seen = MultiHeadAttention(3, 4, 2).trace(drawn(2, batch, 5, 3).float(), keep=cells)
    kept = seen.stage("masked") > -torch.inf
    assert torch.equal(kept, cells.expand(batch, 2, 5, 5))


HEADS = {
    "bare": SelfAttentionV1(3, 4),
    "linear": SelfAttention(3, 4, bias=True),
    "causal": CausalAttention(3, 4),
    "stacked": StackedHeads(3, 4, 2, bias=True).heads[1],
    "multi-head": MultiHeadAttention(3, 4, 2, bias=True),
}


@pytest.mark.parametrize("of_x", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("name", HEADS)
def test_a_trace_under_autocast_is_of_what_the_module_computes(name, of_x):
    module, x = deepcopy(HEADS[name]), batch_of(toy.journey().x).to(of_x)
    if of_x == torch.float64:  # which autocast leaves as it is
        module.double()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, record, explorer = module(x), module.trace(x), explore(module.trace(x))
        heads = record.output
        if name == "multi-head":
            heads = module.out_proj(heads.transpose(1, 2).flatten(2))
    assert torch.equal(heads, output)
    assert record.q.dtype == output.dtype == (x.dtype if x.dtype.itemsize > 4 else torch.bfloat16)
    assert torch.equal(record.source.x, x.to(record.q.dtype))
    score = workings(record, "scores", 1, 0, batch=0, head=0).value
    assert score == pytest.approx(record.tile("scores", range(1, 2), range(1)).item(), rel=0.05)
    assert "w_query" in explorer.html


def test_dropout_counts_its_steps_in_training_only():
    x = toy.journey().x
    torch.manual_seed(0)
    head = CausalAttention(3, 2, dropout=0.5, seed=3)
    traced = head.trace(x).output
    first, second = head(x), head(x)
    torch.testing.assert_close(first, traced)
    assert not torch.allclose(first, second)
    assert head.drop.steps == 2
    head.eval()
    torch.testing.assert_close(head(x), head(x))
    assert head.drop.steps == 2
    again = CausalAttention(3, 2, dropout=0.5, seed=3)
    again.load_state_dict(head.state_dict())
    assert again.drop.now() == StepDropout(0.5, 3).dropout.step(2)


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_recomputation_draws_the_bits_of_its_pass(early_stop):
    torch.manual_seed(0)
    plain = nn.Sequential(*(MultiHeadAttention(4, 4, 2, dropout=0.5, seed=n) for n in (1, 2)))
    stored, blind = deepcopy(plain), deepcopy(plain)
    again = partial(checkpoint, stored, context_fn=partial(same_steps, stored), use_reentrant=False)
    batches = torch.randn(2, 3, 6, 4)
    for call in (plain, again, partial(checkpoint, blind, use_reentrant=False)):
        with set_checkpoint_early_stop(early_stop):
            # Both passes before the first gradient: the later one is recomputed first.
            sum(call(x).square().sum() for x in batches).backward()
    ours, theirs = (torch.cat([p.grad.flatten() for p in m.parameters()]) for m in (stored, plain))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert [part.drop.steps.item() for part in (*plain, *stored)] == [2, 2, 2, 2]
    # What it is there for: without it the gradients belong to other bits.
    assert not torch.allclose(torch.cat([p.grad.flatten() for p in blind.parameters()]), theirs)


def test_gradients_flow_to_every_matrix():
    x = batch_of(toy.journey().x)
    head = MultiHeadAttention(3, 4, 2, keep=causal(), bias=True)
    head(x).square().sum().backward()
    for name, parameter in head.named_parameters():
        if name != "w_key.bias":
            assert parameter.grad.abs().max() > 1e-6, name
    assert head.w_key.bias.grad.abs().max() < 1e-6
