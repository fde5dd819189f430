"""What explore, show and figure say to bad arguments: one sentence each."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from attn_core import toy, trace
from attn_core.views import explore, figure, show
from attn_core.views.model import open_model
from attn_core.views.payload import inline_json


def journey():
    x = toy.journey().x
    return trace(x, x, x, scale=1.0)


BAD = [
    (lambda r: explore(r, stage="attention"), ValueError, "stage must be one of scores, scaled"),
    (
        lambda r: explore(r, tokens=["a"]),
        ValueError,
        "tokens must name each of the 6 queries, got 1",
    ),
    (lambda r: explore(r, tokens=[1] * 6), TypeError, "tokens must be strings, got 1"),
    (lambda r: explore(r, key_tokens=["a"]), ValueError, "key_tokens must name each of the 6 keys"),
    (
        lambda r: explore(r, select=(6, 0)),
        ValueError,
        "select's row must be at least 0 and below 6",
    ),
    (lambda r: explore(r, select=(0, 3), stage="output"), ValueError, "select's column must be"),
    (lambda r: explore(r, select=(1,)), ValueError, "select must be a row and a column"),
    (lambda r: explore(r, head=1), ValueError, "head must be at least 0 and below 1, got 1"),
    (lambda r: explore(r, batch=-1), ValueError, "batch must be at least 0 and below 1, got -1"),
    (lambda r: explore(r, stages=["score"]), ValueError, "stage must be one of"),
    (lambda r: explore(r, hide=["sound"]), ValueError, "hide must name some of strip, formula"),
    (
        lambda r: explore(r, show=["mask"]),
        ValueError,
        "show must name some of heads, draw",
    ),
    (lambda r: explore(r, name="a b"), ValueError, "name must be of letters, digits, hyphens"),
    (lambda r: explore(r, places=-1), ValueError, "places must be at least 0, got -1"),
    (lambda r: explore(r, places=40), ValueError, "places must be at most 12, got 40"),
    (
        lambda r: explore(r.stage("weights")),
        TypeError,
        "record must be an AttentionTrace, got Tensor",
    ),
    (
        lambda r: explore(r, mistakes=["no-such"]),
        ValueError,
        "mistakes must name some of attn_core.mistakes, got 'no-such'",
    ),
    (
        lambda r: explore(r, mistakes=["layer-norm-n-minus-1"]),
        ValueError,
        "mistakes must give 'layer-norm-n-minus-1' as a pair with its wrong record",
    ),
    (
        lambda r: explore(r, mistakes=[("no-mask", trace(r.q[0], r.k[0], r.v[0][..., :2]))]),
        ValueError,
        "the wrong record of 'no-mask' must have the right one's shape",
    ),
    (
        lambda r: explore(r, mistakes=[("no-mask", r.q)]),
        TypeError,
        "record must be an AttentionTrace, got Tensor",
    ),
    (lambda r: show(r, "attention"), ValueError, "stage must be one of"),
    (lambda r: show(None), TypeError, "record must be an AttentionTrace, got NoneType"),
    (lambda r: show(r, tokens=["a"]), ValueError, "tokens must name each of the 6 queries"),
    (lambda r: figure(r, "attention"), ValueError, "stage must be one of"),
    (lambda r: figure(r, tokens=["a"]), ValueError, "tokens must name each of the 6 queries"),
    (lambda r: figure(r, head=2), ValueError, "head must be at least 0 and below 1"),
    (lambda r: figure(r.q), TypeError, "record must be an AttentionTrace, got Tensor"),
]


@pytest.mark.parametrize(("call", "kind", "said"), BAD)
def test_bad_arguments_get_one_sentence(call, kind, said):
    with pytest.raises(kind) as error:
        call(journey())
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_whole_numbers_of_numpy_are_pythons_in_the_payload():
    place = np.unravel_index(7, (6, 6))
    view = explore(journey(), select=place, places=np.int64(3))
    assert view.payload["view"]["select"] == [1, 1]
    assert view._repr_mimebundle_()[0]["image/png"]
    x = torch.randn(1, 13, 4, 2, generator=torch.Generator().manual_seed(1))
    view = explore(trace(x, x, x), head=np.int64(5), batch=np.int32(0))
    assert json.dumps(view.payload)
    assert json.loads(inline_json(view.payload))["v"]["heads"] == [5]
    assert view.html
    wrong = trace(x.flip(2), x, x)
    name = "position-exponent"
    view = explore(trace(x, x, x), head=np.int64(5), mistakes=[(name, wrong)])
    assert '"heads":[5]' in inline_json(view.payload["mistakes"][0]["other"])
    picture = figure(trace(x, x, x), head=np.int64(5), select=place[::-1], places=np.int64(2))
    assert picture.png()


@pytest.mark.parametrize("view", [explore, figure])
@pytest.mark.parametrize(
    ("select", "said"),
    [
        (3, "select must be a row and a column, got 3"),
        ((1,), r"select must be a row and a column, got \[1\]"),
        ((), r"select must be a row and a column, got a tuple"),
        ((0, 6), "select's column must be at least 0 and below 6, got 6"),
    ],
)
def test_a_selection_that_is_none_is_said(view, select, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        view(journey(), select=select)


@pytest.mark.parametrize(
    ("mistakes", "said"),
    [
        ([5], "mistakes must be names, or pairs of a name and its wrong record, got 5"),
        ([("no-scale",)], "mistakes must be names, or pairs .*, got a tuple"),
        ([(5, None)], "mistakes must be names, or pairs .*, got a tuple"),
        (5, "mistakes must be a list of names, got 5"),
        ("no-scale", "mistakes must be a list of names, got 'no-scale'"),
    ],
)
def test_mistakes_that_are_none_are_said(mistakes, said):
    with pytest.raises(TypeError, match=f"^{said}$"):
        explore(journey(), mistakes=mistakes)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (5, "model must be a torch module, got 5"),
        (
            torch.nn.Linear(4, 3),
            "model must be called as model(source, target) or model(source, lengths, target), "
            "got a Linear, whose forward takes input",
        ),
    ],
    ids=repr,
)
def test_what_is_no_model_of_two_sentences_is_said(model, said):
    marks = ["<pad>", "<start>", "<end>"]
    words = {"source": [*marks, "Tom"], "target": [*marks, "汤姆"]}
    with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
        open_model(model, words, "Tom")
