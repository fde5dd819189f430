"""What explore, show and figure say to bad arguments: one sentence each."""

from __future__ import annotations

import json

import numpy as np
import torch

from attn_core import alibi, toy, trace, watch
from attn_core.views import explore, figure, open_attention, show
from attn_core.views.model import open_model
from attn_core.views.paste import paste
from attn_core.views.payload import inline_json
from tests.errors.sentences import refused, sentences


def journey():
    x = toy.journey().x
    return trace(x, x, x, scale=1.0)


R = journey()
MORE = trace(*[toy.journey().x] * 3, bias=alibi([0.5]), softcap=2.0)
STAGE = "stage must be one of scores, scaled, masked, weights, dropped, output, got"
FURTHER = "heads, lines, draw, dropout, compare, table, link, inputs, got"


class Overlooking(torch.nn.Module):
    """A model that takes any input."""

    def forward(self, **inputs):
        raise AssertionError("it must not run")


MARKS = ["<pad>", "<start>", "<end>"]
WORDS = {"source": [*MARKS, "Tom"], "target": [*MARKS, "汤姆"]}


def of_both(**settings):
    return [lambda: explore(R, **settings), lambda: figure(R, **settings)]


def of_all(**settings):
    return [*of_both(**settings), lambda: show(R, **settings)]


VALUES = {
    f"{STAGE} 'attention'": of_all(stage="attention"),
    f"{STAGE} 'score'": lambda: explore(R, stages=["score"]),
    "tokens must name each of the 6 queries, got 1": of_all(tokens=["a"]),
    "key_tokens must name each of the 6 keys, got 1": lambda: explore(R, key_tokens=["a"]),
    "select's row must be at least 0 and below 6, got 6": of_both(select=(6, 0)),
    "select's column must be at least 0 and below 6, got 6": of_both(select=(0, 6)),
    "select's column must be at least 0 and below 3, got 3":
        of_both(select=(0, 3), stage="output"),
    "select must be a row and a column, got 3": of_both(select=3),
    "select must be a row and a column, got [1]": of_both(select=(1,)),
    "select must be a row and a column, got a tuple": of_both(select=()),
    "head must be at least 0 and below 1, got 1": of_both(head=1),
    "batch must be at least 0 and below 1, got -1": lambda: explore(R, batch=-1),
    "hide must name some of strip, formula, scale, mask, head, batch, legend, vectors, all, "
    f"{FURTHER} 'sound'": lambda: explore(R, hide=["sound"]),
    f"show must name some of {FURTHER} 'mask'": lambda: explore(R, show=["mask"]),
    "name must be of letters, digits, hyphens and underscores, got 'a b'":
        lambda: explore(R, name="a b"),
    "places must be at least 0, got -1": lambda: explore(R, places=-1),
    "places must be at most 12, got 40": lambda: explore(R, places=40),
    "mistakes must name some of attn_core.mistakes, got 'no-such'":
        lambda: explore(R, mistakes=["no-such"]),
    "mistakes must give 'layer-norm-n-minus-1' as a pair with its wrong record, since it is a "
    "mistake of LayerNorm, got its name alone":
        lambda: explore(R, mistakes=["layer-norm-n-minus-1"]),
    "the wrong record of 'no-mask' must have the right one's shape (B, H, L, S, Dv) = "
    "(1, 1, 6, 6, 3), got (1, 1, 6, 6, 2)":
        lambda: explore(R, mistakes=[("no-mask", trace(R.q[0], R.k[0], R.v[0][..., :2]))]),
    "record must have no bias, softcap, sinks or shared heads of keys here, got bias and softcap": [
        lambda: explore(MORE, mistakes=["no-scale"]),
        lambda: explore(MORE, mistakes=["shared-heads"]),
        lambda: paste(MORE),
    ],
}  # fmt: skip
PAIRS = "mistakes must be names, or pairs of a name and its wrong record, got"
KINDS = {
    "tokens must be strings, got 1": lambda: explore(R, tokens=[1] * 6),
    "record must be an AttentionTrace, got Tensor": [
        lambda: figure(R.q), lambda: explore(R, mistakes=[("no-mask", R.q)])
    ],
    "record must be an AttentionTrace, got NoneType": [lambda: show(None), lambda: explore(None)],
    f"{PAIRS} 5": lambda: explore(R, mistakes=[5]),
    f"{PAIRS} a tuple":
        [lambda: explore(R, mistakes=[("no-scale",)]), lambda: explore(R, mistakes=[(5, None)])],
    "mistakes must be a list of names, got 5": lambda: explore(R, mistakes=5),
    "mistakes must be a list of names, got 'no-scale'": lambda: explore(R, mistakes="no-scale"),
    "model must be a torch module, got 5": lambda: open_model(5, WORDS, "Tom"),
    "model must be called as model(source, target) or model(source, lengths, target), "
    "got a Linear, whose forward takes input":
        lambda: open_model(torch.nn.Linear(4, 3), WORDS, "Tom"),
}  # fmt: skip


W = torch.full((2, 2, 3, 3), 1 / 3)
WHAT = "weights must be a tensor [L, S], [H, L, S] or [B, H, L, S], or a tuple of one a layer, got"


def changed(number, *place):
    """W with another number at a place."""
    weights = W.clone()
    weights[place] = number
    return weights


def seen_of(tokens):
    layer = torch.nn.MultiheadAttention(2, 1)
    with torch.no_grad(), watch(layer) as seen:
        layer(*[torch.ones(tokens, 1, 2)] * 3)
    return seen


WEIGHTS = {
    f"{WHAT} (3,)": lambda: explore(torch.ones(3)),
    f"{WHAT} (0, 3)": lambda: explore(torch.ones(0, 3)),
    f"{WHAT} an empty tuple": lambda: explore(()),
    "layer 0 of weights must have the axes [H, L, S] or [B, H, L, S], got (3, 3)":
        lambda: explore((W[0, 0],)),
    "weights must have as many queries and keys in each layer as in layer 0, (2, 2, 3, 3), got "
    "(2, 2, 2, 3) in layer 1: show them apart": lambda: explore((W, W[:, :, :2])),
    "weights must be at least 0, got -0.25 in sequence 1, head 0, row 2, column 1":
        lambda: explore(changed(-0.25, 1, 0, 2, 1)),
    "weights must be finite, got nan in layer 1, head 1, row 0, column 2":
        lambda: explore((W[0], changed(torch.nan, 0, 1, 0, 2)[0])),
    "weights must have rows that add up to 1, got 1.167 in row 1: give the numbers after softmax, "
    "and with stage='dropped' if dropout has changed them":
        lambda: explore(changed(0.5, 0, 0, 1, 0)[0, 0]),
    "stage must be 'weights' or 'dropped' where there are only weights, got 'scores'":
        lambda: explore(W, stage="scores"),
    "mistakes must be left out where there are only weights, got a list":
        lambda: explore(W, mistakes=["no-scale"]),
    "stages must be left out where there are only weights, got a list":
        lambda: explore(W, stages=["weights"]),
    "other must have the shape (B, H, L, S, Dv) = (1, 1, 6, 6, 3) of what it is compared with, got "
    "(1, 1, 6, 6, 2)": lambda: explore(R, other=trace(R.q[0], R.k[0], R.v[0][..., :2])),
    "grad_output must be left out where there are only weights, since no q, k and v came with them":
        lambda: explore(W, grad_output=torch.ones(2, 2, 3, 3)),
    "grad_output must be left out beside mistakes and other, got one": [
        lambda: explore(R, grad_output=R.output, other=R),
        lambda: explore(R, grad_output=R.output, mistakes=["no-scale"]),
    ],
    "grad_output must have the shape of output, (6, 3), got (6, 2)":
        lambda: explore(R, grad_output=torch.ones(6, 2)),
    "run_names must differ, got 'a' twice": lambda: explore(R, other=R, run_names=["a", "a"]),
    "other must have an attention of the same size, got none for the model: 1 layer × 1 head, 3 "
    "queries × 3 keys": lambda: open_attention(seen_of(3), other=seen_of(4)),
    "image must have the axes [h, w], [h, w, 3] or [3, h, w], of one image, got (2, 3, 8, 8)":
        lambda: explore(W, image=torch.ones(2, 3, 8, 8)),
    "image must be finite, got a number that is not":
        lambda: explore(W, image=np.full((8, 8), np.nan)),
    "grid must be given as the rows and columns of the patches, such as (14, 14), where the 3 keys "
    "do not tell it, got None": lambda: explore(W, image=np.ones((8, 8))),
    "grid must have at most the 3 keys as patches, got 2 × 2":
        lambda: explore(W, image=np.ones((8, 8)), grid=(2, 2)),
    "grid must be at least 1, got 0": lambda: explore(W, image=np.ones((8, 8)), grid=(0, 2)),
    "grid must be left out where there is no image, got one": lambda: explore(W, grid=(1, 3)),
    "grid must be the rows and columns of the patches among the 3 keys, such as (14, 14), got None":
        lambda: open_attention(
            torch.nn.MultiheadAttention(2, 1), *[torch.ones(3, 1, 2)] * 3, image=np.ones((8, 8))
        ),
    "tokens must name each of the 3 queries, got 2": lambda: explore(W, tokens=["a", "b"]),
}  # fmt: skip
WEIGHT_KINDS = {
    "other must be a record, as what it is compared with, got weights":
        lambda: explore(R, other=W),
    "other must be weights, as what it is compared with, got a record":
        lambda: explore(W, other=R),
    "other must be an AttentionTrace, got int": lambda: explore(R, other=5),
    "run_names must be two strings, got 'ab'": lambda: explore(R, other=R, run_names="ab"),
    "run_names must be two strings, got 'a' and 1": lambda: explore(R, other=R, run_names=["a", 1]),
    "other must be a Seen or None, got int": lambda: open_attention(seen_of(3), other=5),
    "token must be an argument of open_attention or an input of the model, got neither: write "
    "tokens": lambda: open_attention(Overlooking(), token=["a", "b"]),
    "run_name must be an argument of open_attention or an input of the model, got neither: write "
    "run_names": lambda: open_attention(seen_of(3), run_name=["a", "b"]),
    "image must be an image of PIL, an array or a tensor, got 'cat.png'":
        lambda: explore(W, image="cat.png"),
    "image must be of bytes or of floating point, got torch.int64":
        lambda: explore(W, image=np.ones((8, 8), dtype=np.int64)),
    "grid must be two whole numbers, got 14":
        lambda: explore(W, image=np.ones((8, 8)), grid=14),
    "weights must be of floating point, got torch.int64": lambda: explore(torch.ones(2, 2).long()),
    "layer 1 of weights must be a tensor, got None, as of a model whose attention keeps no "
    "weights: open_attention(model, …) needs none, or load the model with "
    "attn_implementation='eager'": lambda: explore((W, None)),
    "layer 0 of weights must be a tensor, got a tuple, as from generate(): show one of its steps, "
    "such as weights[0]": lambda: explore(((W, W), (W, W))),
}  # fmt: skip


@sentences((ValueError, VALUES | WEIGHTS), (TypeError, KINDS | WEIGHT_KINDS))
def test_bad_arguments_get_one_sentence(given, kind, sentence):
    refused(given, kind, sentence)


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
