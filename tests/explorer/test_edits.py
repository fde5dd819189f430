"""What a reader changes in the page gives what attn_core gives for the changed input."""

import json
import random
import re

import pytest
import torch

from attn_core import Dropout, Projection, causal, padding, trace, window
from attn_core.checks import STAGES
from attn_core.views import explore
from tests.explorer.cases import (
    ROTATED,
    heads_of,
    projected_record,
    random_record,
    settings_of,
)
from tests.explorer.test_numbers import payload

DERIVE = """cases => cases.map(([payload, edits, settings]) => {
  const before = new inside.Data(payload);
  const old = new inside.Attention(before, settings);
  for (let i = 0; i < before.L; i++) old.row("output", i);
  const data = inside.EditedData.of(before, edits);
  const attention = new inside.Attention(data, settings);
  const stages = ["scores", "scaled", "masked", "weights", "dropped", "output"];
  const rows = (stage) => Array.from({ length: data.L }, (_, i) =>
    Array.from(attention.row(stage, i), String));
  return Object.fromEntries(stages.map((stage) => [stage, rows(stage)]));
})"""

SETTINGS = {"batch": 0, "head": 0, "scale": 1.0, "mask": "given"}


def compare(cells, record, batch, head, where):
    for stage in STAGES:
        rows = [[float(x.replace("Infinity", "inf")) for x in row] for row in cells[stage]]
        page = torch.tensor(rows, dtype=torch.float64)
        kept = record.stage(stage)[batch, head].double()
        assert torch.equal(page.isinf(), kept.isinf()), (where, stage)
        page, kept = page.nan_to_num(neginf=0.0), kept.nan_to_num(neginf=0.0)
        assert torch.allclose(page, kept, rtol=1e-9, atol=1e-9), (where, stage)


def in_float64(record, q=None, k=None, v=None, **changed):
    parts = [record.q if q is None else q, record.k if k is None else k]
    parts.append(record.v if v is None else v)
    return trace(*(part.double() for part in parts), **(settings_of(record) | changed))


def test_changed_numbers_of_q_k_and_v(inside):
    cases, wanted = [], []
    for seed in range(120):
        record, draw = random_record(3000 + seed), random.Random(seed)
        parts = {name: getattr(record, name).clone() for name in "qkv"}
        edits = []
        for _ in range(draw.randint(1, 4)):
            name = draw.choice("qkv")
            place = [draw.randrange(size) for size in parts[name].shape]
            value = draw.choice([0.0, -1.5, 7.25, 0.5])
            parts[name][tuple(place)] = value
            edits.append([name, place, value])
        batch, head = (draw.randrange(size) for size in record.shape[:2])
        settings = {"batch": batch, "head": head, "scale": record.scale, "mask": "given"}
        cases.append([payload(record), edits, settings])
        wanted.append((in_float64(record, **parts), batch, head))
    for seed, (cells, (record, batch, head)) in enumerate(
        zip(inside.evaluate(DERIVE, cases), wanted, strict=True)
    ):
        compare(cells, record, batch, head, seed)


@pytest.mark.parametrize("rotary", ROTATED, ids=repr)
@pytest.mark.parametrize("biased", [True, False])
def test_a_changed_source_is_projected_again(inside, biased, rotary):
    record = projected_record(5, biased=biased, dtype=torch.float64, rotary=rotary)
    source = record.source.each(torch.clone)
    edits = [["x", [1, 2, 0], 3.5], ["w_key", [1, 3], -2.0], ["w_value", [0, 3], 0.25]]
    source.x[1, 2, 0], source.w_key[1, 3], source.w_value[0, 3] = 3.5, -2.0, 0.25
    if biased:
        edits.append(["b_query", [2], 1.5])
        source.biases[0][2] = 1.5
    parts = heads_of(source, record.q.shape[-1])
    changed = trace(*parts, keep=causal(), scale=record.scale)
    places = [(batch, head) for batch in (0, 1) for head in (0, 1)]
    settings = [SETTINGS | {"batch": b, "head": h, "scale": record.scale} for b, h in places]
    derived = inside.evaluate(DERIVE, [[payload(record), edits, each] for each in settings])
    for (batch, head), cells in zip(places, derived, strict=True):
        compare(cells, changed, batch, head, (batch, head))


def test_a_source_of_which_only_one_head_has_values(inside):
    """Of more than 12 heads a page gets the values of one; the others' are not projected again."""
    made = torch.Generator().manual_seed(4)
    x = torch.randn(1, 3, 4, generator=made).double()
    matrices = [torch.randn(4, 26, generator=made).double() for _ in range(3)]

    def heads(x):
        return [(x @ w).view(1, 3, 13, 2).transpose(1, 2).contiguous() for w in matrices]

    record = trace(*heads(x), source=Projection(x, *matrices))
    data = json.loads(json.dumps(explore(record, head=9).payload))
    assert data["v"]["heads"] == [9]
    x = x.clone()
    x[0, 1, 2] = 3.5
    settings = SETTINGS | {"head": 9, "scale": record.scale}
    derived = inside.evaluate(DERIVE, [[data, [["x", [0, 1, 2], 3.5]], settings]])
    compare(derived[0], trace(*heads(x)), 0, 9, "one head")


def test_masks_and_dropout_of_the_reader(inside):
    made = torch.Generator().manual_seed(7)
    q, k = (torch.randn(2, 2, size, 4, generator=made) for size in (7, 9))
    v = torch.randn(2, 2, 9, 3, generator=made)
    record = trace(q, k, v, keep=window(3, 1), dropout=Dropout(0.5, 11), scale=0.5)
    drawn = [[0, 8], [3, 4], [6, 6]]
    dense = causal().dense(7, 9).expand(1, 1, 7, 9).clone()
    for i, j in drawn:
        dense[..., i, j] ^= True
    kinds = [
        ({"mask": "given", "dropout": None}, {"dropout": None}),
        ({"mask": "none"}, {"keep": None}),
        ({"mask": "padding:3,0"}, {"keep": padding([3, 0])}),
        ({"mask": "causal+padding:4,9"}, {"keep": causal() & padding([4, 9])}),
        ({"mask": "given+padding:4,9"}, {"keep": window(3, 1) & padding([4, 9])}),
        ({"mask": "window:1,2"}, {"keep": window(1, 2)}),
        ({"mask": "causal", "drawn": drawn}, {"keep": dense}),
        (
            {"mask": "causal", "dropout": {"p": 0.2, "seed": 2**52 + 5}},
            {"keep": causal(), "dropout": Dropout(0.2, 2**52 + 5)},
        ),
    ]
    data = payload(record)
    cases = [
        [data, [], {"batch": b, "head": h, "scale": 0.5} | page]
        for page, _ in kinds
        for b in (0, 1)
        for h in (0, 1)
    ]
    derived = iter(inside.evaluate(DERIVE, cases))
    for page, changed in kinds:
        wanted = in_float64(record, **changed)
        for batch in (0, 1):
            for head in (0, 1):
                compare(next(derived), wanted, batch, head, (page, batch, head))


EDIT = """([payload, texts]) => {
  Object.assign(inside.WORDS, { ...inside.LAB_WORDS, ...inside.WORDS });
  return texts.map((text) => {
    try { inside.edited(new inside.Data(payload), text); } catch (error) { return error.message; }
    return "taken";
  });
}"""

INPUTS = {"shared": "x, tokens", "parts": "q, k, v, tokens", "heads": "q, k, v, queries, keys"}
INPUTS["source"] = "x, w_query, w_key, w_value, tokens"
INPUTS["biased"] = "x, w_query, b_query, w_key, b_key, w_value, b_value, tokens"
NO_NAME = "edits must be one of {inputs}, got {name}"
# What is asked of which record, and the sentence about it; "taken" if it is.
EDITS = [
    ("shared", "", "taken"),
    ("shared", "x.0.1.2:0.5,tokens.1:cat", "taken"),
    ("shared", "nonsense", NO_NAME),
    ("shared", "q.0.0.0.0:1", NO_NAME),
    ("shared", "constructor.0:1", NO_NAME),
    ("shared", "x.0.0.0:1,edits", NO_NAME),
    ("shared", "x.0.0.0:0%2C5", "x[0, 0] must be a number, got 0,5"),
    ("shared", "x.0.0.0:50%25", "x[0, 0] must be a number, got 50%"),
    ("shared", "x.0.0.0:", "x[0, 0] must be a number, got nothing"),
    ("shared", "x.0.0.0:３", "x[0, 0] must be a number, got ３"),
    ("shared", "x.0.0.0:1e400", "x[0, 0] must be a number that fits float32, got 1e400"),
    ("shared", "x.0.0.0:-1e39", "x[0, 0] must be a number that fits float32, got -1e39"),
    ("shared", "x.0.0.0:1e38", "taken"),
    ("shared", "x.0.0.0:+.5e-3", "taken"),
    ("shared", "x.0.9.9:1", "there is no number x[0, 9, 9]"),
    ("shared", "x.0.9:1", "there is no number x[0, 9]"),
    ("shared", "tokens.0:", "a token must not be empty"),
    ("shared", "tokens.77:cat", "queries has no token 77"),
    ("parts", "x.0.0.0:1e38", NO_NAME),
    ("parts", "q.0.0.0.0:1", "taken"),
    ("parts", "q.0.0.0.9:1", "there is no number q[0, 0, 0, 9]"),
    ("parts", "v.0.0.0.0:7x", "v[0, 0, 0] must be a number, got 7x"),
    ("heads", "q.1.1.4.2:two", "q[1, 1, 4, 2] must be a number, got two"),
    ("heads", "k.0.1.0.0:1e39", "k[0, 1, 0, 0] must be a number that fits float32, got 1e39"),
    ("heads", "tokens.0:", NO_NAME),
    ("heads", "queries.0:a%2Cb", "taken"),
    ("heads", "keys.1:cat", "taken"),
    ("heads", "keys.40:cat", "keys has no token 40"),
    ("source", "b_query.5:1.5", NO_NAME),
    ("source", "w_key.1.4:-2", "taken"),
    ("source", "w_key.9.9:-2", "there is no number w_key[9, 9]"),
    ("source", "w_key.1.4:x", "w_key[1, 4] must be a number, got x"),
    ("source", "x.1.2.0:abc", "x[1, 2, 0] must be a number, got abc"),
    ("biased", "b_query.5:1.5", "taken"),
    ("biased", "b_query.5:1e99", "b_query[5] must be a number that fits float32, got 1e99"),
    ("biased", "b_query.6:1", "there is no number b_query[6]"),
    ("float64", "x.0.0.0:-1e39", "taken"),
    ("float64", "x.0.0.0:1e400", "x[0, 0] must be a number that fits float64, got 1e400"),
]


def test_what_cannot_be_changed_is_said(inside, journey):
    made = torch.Generator().manual_seed(3)
    x = torch.randn(2, 2, 5, 3, generator=made)
    records = {
        "shared": journey[0],
        "parts": trace(x[:, :1], x[:, :1] + 1, x[:, :1]),
        "heads": trace(x, x[..., :4, :], x[..., :4, :]),
        "source": projected_record(3, biased=False),
        "biased": projected_record(3),
        "float64": trace(x[0, 0].double(), x[0, 0].double(), x[0, 0].double()),
    }
    for kind, record in records.items():
        asked = [(text, said) for which, text, said in EDITS if which == kind]
        answers = inside.evaluate(EDIT, [payload(record), [text for text, _ in asked]])
        for (text, said), got in zip(asked, answers, strict=True):
            name = re.match(r"\w+", text.split(",")[-1])
            assert got == said.format(inputs=INPUTS.get(kind), name=name and name[0]), text


def test_a_head_whose_values_were_not_sent_is_named(inside):
    x = torch.randn(1, 13, 3, 2, generator=torch.Generator().manual_seed(4))
    view = explore(trace(x, x, x), head=9)
    said = inside.evaluate(EDIT, [json.loads(json.dumps(view.payload)), ["v.0.0.1.1:abc"]])
    assert said == ["v[9, 1, 1] must be a number, got abc"]
