"""What a page gets of a model: steps, weights in float16, words; and what is refused."""

import json
import re

import pytest
import torch

from attn_core.masks import padding
from attn_core.steps import recording
from attn_core.views.model_payload import model_payload
from generate.model_vectors import MARKS, WORDS
from tests.attn_core.step_models import MODELS, filled, recorded
from tests.explorer.cases import decoded


@pytest.mark.parametrize("name", MODELS)
def test_the_program_is_json_and_holds_all_weights(name):
    model, _ = MODELS[name]()
    payload = json.loads(json.dumps(model_payload(recorded(name), MARKS, 8), allow_nan=False))
    assert list(payload) == ["version", "steps", "weights", "words", "marks", "longest"]
    assert payload["steps"] == [step.to_json() for step in recorded(name).with_softmax().values()]
    parameters = dict(model.named_parameters())
    for parameter, array in payload["weights"].items():
        assert array["dtype"] == "float16"
        assert torch.equal(decoded(array).double(), parameters[parameter])
    named = {parameter for step in payload["steps"] for parameter in step["parameters"].values()}
    assert named == payload["weights"].keys()
    assert payload["words"] == WORDS
    assert (payload["version"], payload["marks"], payload["longest"]) == (1, MARKS, 8)


def test_each_input_comes_before_its_step():
    seen = set()
    for step in model_payload(recorded("transformer"), MARKS)["steps"]:
        assert set(step["inputs"]) <= seen
        seen.add(step["name"])


def test_a_softmax_is_added_once():
    steps = recorded("transformer").with_softmax()
    names = [step["name"] for step in model_payload(steps, MARKS)["steps"]]
    assert names.count("probabilities") == 1


def of(model, *args, words=None, **kwargs):
    with recording(model, words) as steps:
        model(*args, **kwargs)
    return steps


def test_a_weight_that_float16_does_not_hold_is_refused():
    for number, error in ((0.1, "2.4e-05"), (1e6, "inf")):
        model, words = MODELS["transformer"]()
        with torch.no_grad():
            model.words_out.bias[1] = number
        text = f"weights must be held exactly by float16, got words_out.bias off by {error}: "
        with pytest.raises(ValueError, match=re.escape(text) + "round the model first"):
            model_payload(of(model, *words, words=WORDS), MARKS)


def test_what_no_page_can_begin_with_is_refused():
    model, words = MODELS["transformer"]()
    with pytest.raises(ValueError, match="steps must know the vocabulary of 'source', got none"):
        model_payload(of(model, *words), MARKS)
    layer = filled(torch.nn.Linear(4, 3))
    rows = torch.zeros(1, 2, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="steps must begin with words, got rows that were given"):
        model_payload(of(layer, rows), MARKS)
    for keep in (padding([2]), padding(starts=[0])):
        steps = of(model, *words, words=WORDS, source_keep=keep)
        text = f"encoder.0.attention must have a mask that serves any sentence, got {keep}"
        with pytest.raises(ValueError, match=re.escape(text)):
            model_payload(steps, MARKS)
