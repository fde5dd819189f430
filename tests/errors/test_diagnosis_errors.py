"""What diagnose refuses, as a user sees it."""

import torch

from attn_core import diagnose, toy, trace
from tests.errors.sentences import refused, sentences

X = toy.journey().x
RECORD = trace(X, X, X)
JAGGED = torch.nested.nested_tensor([torch.zeros(2, 6)] * 3, layout=torch.jagged)
DENSE = "yours must be a dense tensor, got one of layout"
KINDS = {
    "yours must hold numbers, got '0.5' of <U3": "0.5",
    "yours must hold numbers, got a list of <U1": [[["1", "2"]]],
    "yours must hold numbers, got None of object": None,
    "yours must hold numbers, got torch.bool": torch.zeros(6, 6, dtype=torch.bool),
    f"{DENSE} torch.sparse_coo": torch.eye(6).to_sparse(),
    f"{DENSE} nested": JAGGED,
    "yours must hold numbers, got a tensor on the device meta": torch.zeros(6, 6, device="meta"),
}
VALUES = {
    "yours must have the shape of a stage, (6, 6) or (6, 3), got (5, 5)": torch.zeros(5, 5),
    "yours must have rows of one length, got a ragged list": [[[1.0], [1.0, 2.0]]],
    "yours must hold numbers, got nan at (0, 0)": torch.full((6, 6), torch.nan),
    "yours must have rows and columns, got (6,)": torch.zeros(6),
}


@sentences((TypeError, KINDS), (ValueError, VALUES))
def test_what_holds_no_numbers_of_a_stage(given, kind, sentence):
    refused(lambda: diagnose(given, RECORD), kind, sentence)


def test_the_stage_must_be_one():
    known = "scores, scaled, masked, weights, dropped, output"
    sentence = f"stage must be one of {known}, got 'attention'"
    refused(lambda: diagnose(X, RECORD, stage="attention"), ValueError, sentence)


RECORDS = {
    "trace must be an AttentionTrace, got Tensor": X,
    "trace must be an AttentionTrace, got NoneType": None,
    "trace must be an AttentionTrace, got str": "weights",
}


@sentences((TypeError, RECORDS))
def test_the_record_must_be_one(given, kind, sentence):
    refused(lambda: diagnose(X, given), kind, sentence)
