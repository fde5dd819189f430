"""What an error of the steps says where a type is wrong, too: one sentence."""

import pytest
import torch

from attn_core.steps import Changes, Step, Steps, run, workings
from attn_core.steps.operations import OPERATIONS
from tests.attn_core.step_models import recorded

STEPS = recorded("transformer")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: run(STEPS, Changes(positions_off=[3])),
            ValueError,
            "positions_off must name steps of operation add_positions, got 3",
        ),
        (
            lambda: run(STEPS, Changes(heads_off=[("encoder.0.attention", 0.5)])),
            TypeError,
            "head of heads_off must be a whole number, got 0.5",
        ),
        (
            lambda: run(STEPS, Changes(heads_off=["encoder.0.attention"])),
            ValueError,
            "heads_off must hold pairs (step, head), got 'encoder.0.attention'",
        ),
        (
            lambda: run(STEPS, Changes(heads_off=["ab"])),
            ValueError,
            "heads_off must hold pairs (step, head), got 'ab'",
        ),
        (
            lambda: run(Steps([Step("x", "given")])).value("x"),
            ValueError,
            "x must be given, got nothing: these steps hold no values",
        ),
        (
            lambda: run(STEPS, source=["Tom"]),
            TypeError,
            "source must be ids or a torch tensor, got a list",
        ),
        (
            lambda: run(STEPS, target=[0.5]),
            ValueError,
            "target must be ids [T] or [B, T], at least one, got torch.float32 of shape (1,)",
        ),
        (
            lambda: Steps([Step("x", "given"), Step("sum", "add", ("x",))]),
            ValueError,
            "sum must have 2 inputs, got 1",
        ),
        (
            lambda: Steps([Step("beside", "concat")]),
            ValueError,
            "beside must have 1 or more inputs, got 0",
        ),
        (
            lambda: Steps([Step("state", "gru", ("x", "y", "z"))]),
            ValueError,
            "state must have 1 or 2 inputs, got 3",
        ),
        (
            lambda: Steps([Step("x", "cosine")]),
            ValueError,
            f"operation of x must be one of {', '.join(OPERATIONS)}, got 'cosine'",
        ),
        (
            lambda: Steps([Step("q", "linear", ("x",), {"weight": "w"}, {"turned": True})]),
            ValueError,
            "settings of q must be of transposed, got 'turned'",
        ),
        (
            lambda: Steps([Step("act", "relu", ("x",), settings={"slope": 0.1})]),
            ValueError,
            "settings of act must be none, got 'slope'",
        ),
        (
            lambda: Steps([Step("q", "linear", ("x",), {"weight": "w"}, {"transposed": 1})]),
            ValueError,
            "transposed of q must be True or False, got 1",
        ),
        (
            lambda: Steps([Step("row", "add_row", ("x",), {"table": "t"}, {"row": -1})]),
            ValueError,
            "row of row must be a whole number of at least 0, got -1",
        ),
        (
            lambda: Steps([Step("row", "add_row", ("x",), {"table": "t"})]),
            ValueError,
            "row must have the setting row, got none",
        ),
        (
            lambda: Steps([Step("q", "linear", ("x",), {"bias": "b"})]),
            ValueError,
            "q must have the parameter weight, got none",
        ),
        (
            lambda: Steps([Step("act", "relu", ("x",), {"slope": "w"})]),
            ValueError,
            "parameters of act must be none, got 'slope'",
        ),
        (
            lambda: Steps(
                [Step("at", "add_positions", ("x",), {"table": "t"}, {"kind": "sinusoids"})]
            ),
            ValueError,
            "at must have no table where its kind is sinusoids, got one",
        ),
        (
            lambda: Steps([Step("at", "add_positions", ("x",), {}, {"kind": "rotary"})]),
            ValueError,
            "kind of at must be 'table' or 'sinusoids', got 'rotary'",
        ),
        (
            lambda: OPERATIONS["add"]([torch.ones(1, 2, 3), torch.ones(1, 1, 3)], {}, {}),
            ValueError,
            "the inputs of add must have one shape, got (1, 2, 3) and (1, 1, 3)",
        ),
        (
            lambda: workings(STEPS, 3, (0, 0)),
            KeyError,
            "name must be one of the 69 steps, got 3",
        ),
        (
            lambda: workings(STEPS, "words_out", (0, 0.5)),
            TypeError,
            "index[1] must be a whole number, got 0.5",
        ),
        (
            lambda: workings(STEPS, "words_out", 5),
            TypeError,
            "index of words_out must be 2 whole numbers, got 5",
        ),
        (
            lambda: workings(STEPS, "words_out", (0, 0), 7),
            ValueError,
            "stage of words_out must be one of output, got 7",
        ),
        (
            lambda: workings([1], "words_out", (0, 0)),
            TypeError,
            "steps must be Steps or a Pass, got list",
        ),
    ],
)
def test_one_sentence(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert caught.value.args == (text,)
