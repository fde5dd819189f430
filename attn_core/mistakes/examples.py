"""Small records on which a mistake shows, or on which it hides. No generator, no module."""

import torch

from attn_core import toy
from attn_core.api import trace
from attn_core.dropout import Dropout
from attn_core.masks import Keep, causal, padding, prefill
from attn_core.record import AttentionTrace
from attn_core.source import Projection


def plain(
    keep: Keep | None = None, scale: float | None = None, dropout: Dropout | None = None
) -> AttentionTrace:
    """The six words of chapter 03, each one query, key and value."""
    return trace(*[toy.journey().x] * 3, keep=keep, scale=scale, dropout=dropout)


def one_scale() -> AttentionTrace:
    return plain(scale=1.0)


def projected() -> AttentionTrace:
    """The three words of chapter 04: width 4, keys of width 3."""
    words = toy.three_tokens()
    source = Projection(words.x, words.w_query, words.w_key, words.w_value)
    return trace(*source.project(), source=source)


def unscaled() -> AttentionTrace:
    """The same, not scaled, as in the note that rounds the weights."""
    words = toy.three_tokens()
    return trace(words.x @ words.w_query, words.x @ words.w_key, words.x @ words.w_value, scale=1.0)


def seen_by_all() -> AttentionTrace:
    """One query behind a cache of five keys: decoding, where nothing is hidden."""
    x = toy.journey().x
    return trace(x[5:], x, x, keep=causal())


def masked() -> AttentionTrace:
    return plain(keep=causal())


def cached() -> AttentionTrace:
    """Two new words behind a cache of four."""
    x = toy.journey().x
    return trace(x[4:], x, x, keep=prefill(4))


def padded() -> AttentionTrace:
    """Two sentences, the second of two words and four rows of padding."""
    x = toy.journey().x
    short = torch.zeros(6, 3)
    short[:2] = x[4:]
    batch = torch.stack((x, short))
    return trace(batch, batch, batch, keep=padding([6, 2]))


def full() -> AttentionTrace:
    """Two sentences as long as the batch: nothing is padded."""
    x = toy.journey().x
    batch = torch.stack((x, x.flip(0)))
    return trace(batch, batch, batch, keep=padding([6, 6]))


def empty_rows() -> AttentionTrace:
    """Four rows of padding on the left, then two words, and causal: four rows keep nothing."""
    left = torch.cat((torch.zeros(4, 3), toy.journey().x[4:]))
    is_word = torch.tensor([False, False, False, False, True, True])
    return trace(left, left, left, keep=causal().dense(6, 6)[0, 0] & is_word)


def large() -> AttentionTrace:
    """The words 32 times as long: scores of some hundreds, no weight between 0 and 1e-38."""
    x = 32 * toy.journey().x
    return trace(x, x, toy.journey().x)


def signed() -> AttentionTrace:
    """Tom and Jerry of chapter 02, with scores of both signs."""
    words = toy.tom_and_jerry()
    return trace(words.queries, words.states, words.states)


def alike() -> AttentionTrace:
    """Five equal keys: every weight is 0.2."""
    x = torch.ones(5, 2)
    return trace(x, x, torch.arange(10.0).view(5, 2))


def mirrored() -> AttentionTrace:
    """Two words at a right angle: the table of scores has the same numbers down as across."""
    return trace(*[torch.eye(2)] * 3)


def dropping(p: float) -> AttentionTrace:
    return plain(dropout=Dropout(p, seed=7))
