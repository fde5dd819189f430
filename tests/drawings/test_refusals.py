"""What a drawing cannot show is refused: which argument, what it must be, and what it was."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core import Dropout, Projection, causal, modules, toy, trace
from attn_core.views import drawings

WORDS, X = toy.journey()
THREE, Y = toy.notebook()
CHINESE, QUERIES, ENGLISH, STATES = toy.tom_and_jerry()
RECORD = trace(X, X, X, keep=causal(), dropout=Dropout(0.5, seed=7))
READ = trace(QUERIES, STATES, STATES, scale=1.0)
PLAIN = trace(X, X, X)
UNEVEN = trace(X[:2], X, X)
NOTEBOOK = trace(Y, Y, Y)
SCORES = X @ X[1]
EYE = torch.eye(3)
FLAT = trace(torch.ones(4, 3), EYE, EYE)
ONE_NUMBER = trace(*[torch.ones(2, 1)] * 3)
BOTH = {"one": causal(), "other": causal()}
CHAIN = {(1, 0): [(0, 0)], (1, 1): [(0, 1), (1, 0)]}
APART = {(1, 0): [(0, 0)], (1, 1): [(0, 1)]}


def source(x=X, **how):
    return modules.SelfAttention(3, 2, **how).double().source(x.double())


def projection(*shape):
    return Projection(X, *[torch.ones(shape)] * 3)


def layer(heads):
    return modules.MultiHeadAttention(3, 2 * heads, num_heads=heads)


def pages(*heights):
    return [(drawings.Drawing(200, height, ""), "said") for height in heights]


# Of each drawing, arguments that it takes.
TAKEN = {
    "Drawing": {"width": 520, "height": 50, "alt": ""},
    "Steps": {"steps": pages(40, 40), "alt": ""},
    "alignment": {"weights": EYE[:2], "written": "ab", "read": "xyz"},
    "attended_words": {"rows": {"a": torch.ones(2)}, "tokens": "ab", "query": 0},
    "byte_pairs": {"word": "tomcat", "merges": [("a", "t")]},
    "chain_rule": {"source": source(), "word": 4, "target": 5, "tokens": WORDS},
    "contexts": {
        "states": STATES,
        "weights": torch.eye(3),
        "english": ENGLISH,
        "chinese": "一二三",
    },
    "cross_attention": {"record": READ, "written": CHINESE, "read": ENGLISH},
    "dot_product": {"query": X[0], "key": X[1], "tokens": WORDS[:2]},
    "dropout": {"record": RECORD, "tokens": WORDS},
    "encoder_decoder": {"states": STATES, "english": ENGLISH, "chinese": CHINESE[:3]},
    "fast_memory": {"words": 4096, "width": 64, "rows": 256},
    "film_strip": {"frames": {0: [EYE], 50: [EYE]}, "losses": {"all": [(0, 2.0), (50, 1.0)]}},
    "gradient_arcs": {"record": ONE_NUMBER, "grad_output": torch.ones(2, 1), "tokens": "ab"},
    "grouped_heads": {"num_heads": 9, "num_kv_heads": [9, 3]},
    "heads": {"layer": layer(2), "x": X, "tokens": WORDS},
    "influence": {"strengths": {"a": [1.0, 2.0]}},
    "look_up": {"record": READ, "query": 1, "key": "Tom", "tokens": CHINESE, "key_tokens": ENGLISH},
    "map_sizes": {"lengths": (64, 128), "width": 64},
    "masked_late": {"scores": torch.zeros(3), "sees": EYE[0].bool(), "tokens": "abc"},
    "masks": {"keeps": BOTH, "tokens": WORDS},
    "masks_added": {"scores": X @ X.T, "keeps": BOTH, "tokens": WORDS, "fill": -1e9},
    "memory": {"q": torch.zeros(3, 4), "heads": 2, "tokens": THREE},
    "mistaken_maps": {"record": NOTEBOOK, "names": ["no-scale"]},
    "one_pass": {"scores": SCORES, "values": X},
    "one_stream": {"source": ENGLISH, "target": CHINESE[:3]},
    "overwritten": {"vectors": STATES.tolist(), "words": ENGLISH},
    "pass_times": {"width": 64, "ratio": 40.0, "longest": 4096},
    "path_lengths": {"nets": {"rnn": CHAIN}, "tokens": WORDS[:2]},
    "position_waves": {"table": torch.ones(25, 32)},
    "prefill_decode": {"record": RECORD, "tokens": WORDS},
    "query_key_value": {"source": projection(3, 2)},
    "rotations": {"query": (1, 0), "key": (1, 0), "angle": 0.9},
    "row_shares": {"shares": {"a": {"word": 1.0}}},
    "sampled": {"scores": [2.0, 1.0], "names": ["a", "b"], "temperatures": [0.5, 1]},
    "score_spread": {"widths": [4]},
    "self_attention_row": {"x": X, "query": 1, "tokens": WORDS},
    "silu_gate": {"gates": [1.0, -1.0]},
    "sink_gate": {"scores": [0.0, 1.0], "sink": 0.0, "tokens": ["a", "b"]},
    "softmax_shares": {"scores": SCORES, "tokens": WORDS},
    "strip": {"record": RECORD},
    "three_stages": {"record": READ, "query": 0, "tokens": CHINESE, "key_tokens": ENGLISH},
    "training_steps": {"record": RECORD, "tokens": WORDS},
    "triangle": {"record": NOTEBOOK, "tokens": THREE},
    "two_arrows": {"a": (1, 1), "b": (4, -3)},
    "two_norms": {"x": (1, 3, 3, 9)},
    "window_reach": {"tokens": 7, "window": 3, "layers": 2},
    "within_reach": {"values": 2 * torch.eye(2), "wanted": (1, 1), "tokens": "ab", "names": "cd"},
}
TAKEN["within_reach"] |= {"query": "e"}

# What it refuses in the place of one of them, and what it says.
REFUSED = [
    ("Drawing", {"width": 521}, "width must be at most 520, got 521"),
    ("Steps", {"steps": pages(40, 50)}, "one size, got [(200, 40), (200, 50)]"),
    ("alignment", {"read": "xy"}, "weights must be [2, 2], got [2, 3]"),
    ("attended_words", {"tokens": "abc"}, "tokens must be 2 words, got 3"),
    ("byte_pairs", {"word": "a"}, "word must have 2 to 10 letters, got 1"),
    ("byte_pairs", {"word": 11 * "a"}, "word must have 2 to 10 letters, got 11"),
    ("chain_rule", {"word": 6}, "word must be from 0 to 5, got 6"),
    ("chain_rule", {"target": -1}, "target must be from 0 to 5, got -1"),
    ("chain_rule", {"number": (3, 0)}, "number must be a place in w_query, [3, 2], got (3, 0)"),
    ("chain_rule", {"tokens": WORDS[:2]}, "tokens must be 6 words, got 2"),
    ("chain_rule", {"source": source(X.repeat(2, 1))}, "source must have at most 6 words, got 12"),
    ("contexts", {"weights": EYE[:2]}, "a column for each word that is read, (3, 3), got (2, 3)"),
    ("cross_attention", {"head": 1}, "head must be from 0 to 0, got 1"),
    ("cross_attention", {"query": 4}, "query must be from 0 to 3, got 4"),
    ("cross_attention", {"written": ["汤姆"]}, "written must be 4 words, got 1"),
    ("cross_attention", {"read": ["Tom"]}, "read must be 3 words, got 1"),
    ("dot_product", {"key": torch.zeros(3)}, "key must have a length, got only zeros"),
    ("dropout", {"record": PLAIN}, "record must have a dropout"),
    ("dropout", {"tokens": WORDS[:5]}, "tokens must be 6 words, got 5"),
    (
        *("encoder_decoder", {"states": STATES[:2]}),
        "states must have a row for each of the 3 words that are read, got the shape (2, 2)",
    ),
    ("encoder_decoder", {"english": []}, "english must have 1 to 4 words, got 0"),
    ("encoder_decoder", {"english": "abcde"}, "english must have 1 to 4 words, got 5"),
    ("fast_memory", {"rows": 0}, "rows must be from 1 to 4096, got 0"),
    ("fast_memory", {"rows": 4097}, "rows must be from 1 to 4096, got 4097"),
    ("fast_memory", {"words": 0}, "words and width must be at least 1, got 0 and 64"),
    ("fast_memory", {"width": 0}, "words and width must be at least 1, got 4096 and 0"),
    ("film_strip", {"frames": {0: [EYE]}}, "2 to 8 evenly spaced steps, got [0]"),
    (
        "film_strip",
        {"frames": {0: [EYE], 5: [EYE], 7: [EYE]}},
        "evenly spaced steps, got [0, 5, 7]",
    ),
    ("film_strip", {"frames": {0: [EYE], 50: [EYE, EYE]}}, "the same 1 to 3 square maps at each"),
    ("film_strip", {"frames": {0: [EYE[:2]], 50: [EYE[:2]]}}, "up to 16 tokens, got [[2, 3]]"),
    (
        "film_strip",
        {"losses": {"all": [(0, 2.0), (40, 1.0)]}},
        "to step 50, as the frames do, got 0",
    ),
    ("gradient_arcs", {"record": PLAIN}, "values of one number, got 6 queries, 6 keys and values"),
    ("gradient_arcs", {"grad_output": torch.ones(2)}, "grad_output must be [2, 1], got [2]"),
    ("gradient_arcs", {"tokens": "abc"}, "tokens must be 2 words, got 3"),
    ("grouped_heads", {"num_heads": 13}, "num_heads must be from 1 to 12, got 13"),
    (
        "grouped_heads",
        {"num_kv_heads": []},
        "num_kv_heads must have a number for a panel, got none",
    ),
    ("grouped_heads", {"num_kv_heads": [9, 2]}, "num_kv_heads must divide num_heads, 9, got 2"),
    ("grouped_heads", {"num_kv_heads": [0]}, "num_kv_heads must divide num_heads, 9, got 0"),
    ("heads", {"layer": layer(3)}, "layer must have 2 heads, got 3"),
    ("heads", {"tokens": WORDS[:2]}, "tokens must be 6 words, got 2"),
    ("influence", {"strengths": {}}, "strengths must have rows of one length, 2 to 40, got []"),
    ("influence", {"strengths": {"a": [1.0, 2.0], "b": [1.0] * 3}}, "2 to 40, got [2, 3]"),
    ("influence", {"strengths": {"a": [1.0, -0.5]}}, "strengths must not be negative, got -0.5"),
    ("look_up", {"key": "Spike"}, "key must be one of Tom, chases, Jerry, got 'Spike'"),
    ("map_sizes", {"lengths": (8,)}, "lengths must be two or three, the largest last, got [8]"),
    ("map_sizes", {"lengths": (8, 4)}, "two or three, the largest last, got [8, 4]"),
    ("map_sizes", {"width": 0}, "width must be at least 1, got 0"),
    ("masked_late", {"scores": torch.zeros(4)}, "of one length, got [4] and [3]"),
    ("masked_late", {"tokens": "a"}, "tokens must be 3 words, got 1"),
    ("masks", {"keeps": dict.fromkeys("abcd", causal())}, "one to three masks, got 4"),
    ("masks_added", {"scores": torch.zeros(3, 6)}, "scores must be 6 × 6, got [3, 6]"),
    ("masks_added", {"keeps": {"one": causal()}}, "keeps must be two masks, got 1"),
    ("memory", {"q": torch.zeros(4, 4)}, "at most 12 numbers"),
    ("memory", {"heads": 4}, "heads must be 2"),
    ("memory", {"tokens": THREE[:2]}, "tokens must be 3 words, got 2"),
    ("mistaken_maps", {"names": []}, "names must be one to five, got 0"),
    ("mistaken_maps", {"names": ["no-skale"]}, "names must be among MISTAKES, got no-skale"),
    ("mistaken_maps", {"record": PLAIN}, "record must have at most 3 × 3 weights, got 6 × 6"),
    ("one_pass", {"size": 0}, "size must be from 1 to 6, got 0"),
    ("one_pass", {"tokens": ["one"]}, "tokens must be 6 words or none, got 1"),
    ("one_pass", {"values": X[:2]}, "values must be [6, 3 at most], got [2, 3]"),
    ("one_pass", {"scores": SCORES[:1]}, "scores must be 2 to 6 in a row, got [1]"),
    ("one_stream", {"source": []}, "source must have 1 to 4 words, got 0"),
    ("one_stream", {"target": "abcde"}, "target must have 1 to 4 words, got 5"),
    ("overwritten", {"vectors": [(8.0, 0.0)] * 2}, "two numbers for each of the 3 words"),
    ("overwritten", {"vectors": [(1.0,)] * 3}, "vectors must have two numbers for each of the 3"),
    ("overwritten", {"keep": 1.0}, "keep must lie between 0 and 1, got 1.0"),
    ("pass_times", {"width": 0}, "width must be at least 1, got 0"),
    ("pass_times", {"ratio": 1}, "ratio must be above 1, got 1"),
    ("pass_times", {"longest": 32}, "longest must be a power of 2 above the ratio, got 32"),
    ("pass_times", {"longest": 3000}, "longest must be a power of 2 above the ratio, got 3000"),
    ("path_lengths", {"nets": {"cnn": APART}}, "let the end words meet, and cnn does not"),
    ("path_lengths", {"tokens": WORDS[:1]}, "tokens must be two words at least, got 1"),
    ("position_waves", {"pairs": (0, 16)}, "pairs must be two from 0 to 15, got [0, 16]"),
    ("position_waves", {"starts": (2, 22)}, "starts must be two from 0 to 21, got [2, 22]"),
    ("prefill_decode", {"prompt": 6}, "prompt must be from 1 to 5, got 6"),
    ("prefill_decode", {"tokens": WORDS[:2]}, "tokens must be 6 words, got 2"),
    (
        "prefill_decode",
        {"record": UNEVEN},
        "record must have 2 to 6 words that read each other, got 2",
    ),
    ("query_key_value", {"source": source(bias=True)}, "source must have no biases"),
    ("query_key_value", {"source": projection(3, 4)}, "at most 4 rows and 2 columns, got 3 × 4"),
    ("query_key_value", {"token": 7}, "token must be one of the 6 rows of x, got 7"),
    ("rotations", {"query": (0, 0)}, "query must have a length, got only zeros"),
    ("rotations", {"key": (0.0, 0.0)}, "key must have a length, got only zeros"),
    ("rotations", {"distances": 5}, "distances must be from 2 to 4, got 5"),
    ("row_shares", {"shares": {}}, "shares must have a station, got none"),
    ("row_shares", {"shares": {"a": {"word": 0.9}}}, "'a' must add up to 1, got 0.9000"),
    (
        *("row_shares", {"shares": {"a": {"word": 1.0}, "b": {"place": 1.0}}}),
        "'b' must begin with those before it, word; got place",
    ),
    (
        "sampled",
        {"scores": [1.0, math.inf]},
        "scores must be two to five finite numbers, got [1.0, inf]",
    ),
    ("sampled", {"scores": [1.0]}, "scores must be two to five finite numbers, got [1.0]"),
    ("sampled", {"names": "aa"}, "names must be 2 different words, got ['a', 'a']"),
    ("sampled", {"names": "abc"}, "names must be 2 different words, got ['a', 'b', 'c']"),
    ("sampled", {"temperatures": [1, 0]}, "temperatures must be above 0, got [1, 0]"),
    ("sampled", {"temperatures": []}, "temperatures must be above 0, got []"),
    ("score_spread", {"widths": [0]}, "widths must be whole numbers from 1, got [0]"),
    ("self_attention_row", {"x": torch.ones(6, 4)}, "at most 3 numbers, got [6, 4]"),
    ("self_attention_row", {"query": 6}, "query must be one of the 6 rows of x, got 6"),
    ("silu_gate", {"gates": []}, "gates must be one to three numbers from -4 to 4, got []"),
    ("silu_gate", {"gates": [4.5]}, "gates must be one to three numbers from -4 to 4, got [4.5]"),
    ("sink_gate", {"tokens": "a"}, "tokens must be 2 words, got 1"),
    ("sink_gate", {"scores": []}, "scores must be one to five finite numbers, got []"),
    ("sink_gate", {"scores": [math.nan]}, "scores must be one to five finite numbers, got [nan]"),
    ("sink_gate", {"sink": -math.inf}, "sink must be a finite number, got -inf"),
    ("softmax_shares", {"tokens": WORDS[:2]}, "tokens must be 6, one for each score, got 2"),
    ("softmax_shares", {"scores": torch.tensor([1.0, -torch.inf])}, "one row of finite numbers"),
    ("strip", {"lit": ["wights"]}, "lit must be among scores, "),
    ("three_stages", {"query": 4}, "query must be 0 to 3, got 4"),
    ("three_stages", {"tokens": CHINESE[:3]}, "tokens must have 4 words, got 3"),
    ("three_stages", {"key_tokens": ENGLISH[:2]}, "key_tokens must have 3 words, got 2"),
    ("three_stages", {"record": FLAT}, "two numbers a vector, got 3"),
    ("training_steps", {"record": PLAIN}, "record must have a dropout"),
    ("training_steps", {"steps": 4}, "steps must be 1 to 3, got 4"),
    ("triangle", {"record": trace(Y[:2], Y, Y)}, "must have 3 queries and 3 keys, got [2, 3]"),
    ("triangle", {"tokens": THREE[:2]}, "tokens must be 3 names, got 2"),
    ("triangle", {"without": 3}, "without must be from 0 to 2, got 3"),
    ("triangle", {"record": trace(Y, Y, Y[[0, 1, 1]])}, "that are not nearly on one line"),
    ("triangle", {"record": trace(Y, Y, Y[[0, 1, 0]])}, "that are not nearly on one line"),
    ("two_arrows", {"b": (5, 0)}, "b must be whole numbers of at most 4 and 3, got"),
    ("two_arrows", {"b": (0, 4)}, "b must be whole numbers of at most 4 and 3, got"),
    ("two_arrows", {"b": (0.5, 1)}, "b must be whole numbers of at most 4 and 3, got"),
    ("two_norms", {"x": (1,)}, "x must have 2 to 8 numbers, got 1"),
    (
        "two_norms",
        {"x": (2, 2)},
        "x must have finite numbers that are not all the same, got [2, 2]",
    ),
    ("two_norms", {"x": (2, math.inf)}, "finite numbers that are not all the same, got [2, inf]"),
    ("window_reach", {"tokens": 13}, "tokens must be from 1 to 12, got 13"),
    ("window_reach", {"window": 8}, "window must be from 1 to 7, got 8"),
    ("window_reach", {"layers": 0}, "layers must be from 1 to 4, got 0"),
    ("window_reach", {"window": 7, "layers": 4}, "shares with a denominator of at most 999, got "),
    ("within_reach", {"values": torch.zeros(3, 2)}, "values must be two rows of two numbers"),
    ("within_reach", {"values": -torch.eye(2)}, "values must be two rows of two numbers from 0 up"),
    ("within_reach", {"wanted": (1, -1)}, "wanted must be two numbers from 0 up, got [1, -1]"),
]


@pytest.mark.parametrize("name", TAKEN)
def test_what_it_takes_is_drawn(name):
    """So that what is refused below is refused for what is changed."""
    getattr(drawings, name)(**TAKEN[name])


@pytest.mark.parametrize(("name", "changed", "says"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_it_cannot_show_is_refused(name, changed, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        getattr(drawings, name)(**TAKEN[name] | changed)
