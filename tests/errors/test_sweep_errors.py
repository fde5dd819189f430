"""A sweep says what does not fit in one sentence."""

import pytest

from attn_core import causal, padding, sweep
from tests.attn_core.reference import drawn


def message(tokens=4, **settings):
    x = drawn(1, tokens, 2)
    with pytest.raises((TypeError, ValueError)) as error:
        sweep(x, x, x, **settings)
    return str(error.value)


def test_what_does_not_fit_is_said():
    assert message(scale=0.5) == "scale must be a list of settings, got 0.5"
    assert message(keep=causal()) == "keep must be a list of settings, got a Keep"
    assert message(dropout=[]) == "dropout must name at least one setting, got an empty list"
    assert message(dropout=[0.5]) == "dropout must be a Dropout or None, got float"
    assert message(scale=[1.0, "a"]) == "scale must be a number or None, got str"
    assert message(scale=[1.0, 1e308]).startswith("q, k and scale must give scores below 1.8e+308")
    assert message(keep=[padding([1, 2])]).startswith("lengths must name one length for each of")
    assert message(tokens=2048, scale=[1.0] * 17) == (
        "a sweep must have at most 2**26 weights over all its settings, got 17 × 1 × 1 × 1 × 1 × "
        "2048 × 2048: trace the settings one by one"
    )


def test_what_is_no_tensor_is_one_sentence():
    with pytest.raises(TypeError, match=r"^q must be a torch tensor, got list$"):
        sweep([[1.0]], [[1.0]], [[1.0]])
