"""What Python answers to a live map that asks for tiles."""

import numpy as np
import pytest
import torch

from attn_core import Dropout, causal, trace
from attn_core.checks import STAGES
from attn_core.views import explore
from attn_core.views.tiles import MOST_SENT, answer


@pytest.fixture(scope="module")
def record():
    made = torch.Generator().manual_seed(8)
    q, k = torch.randn(2, 3, 90, 4, generator=made), torch.randn(2, 3, 130, 4, generator=made)
    v = torch.randn(2, 3, 130, 40, generator=made)
    return trace(q, k, v, keep=causal(), dropout=Dropout(0.25, 3))


def ask(record, **more):
    asked = {"kind": "tile", "id": 7, "stage": "weights", "batch": 1, "head": 2}
    asked |= {"rows": [40, 75], "cols": [93, 130], "pool": None, "how": "mean"}
    if more.get("stage") == "output":
        asked["cols"] = [3, 40]
    reply, buffers = answer(record, asked | more)
    assert (reply["kind"], reply["id"]) == ("tile", 7)
    if reply["error"]:
        assert buffers == []
        return reply["error"]
    return torch.from_numpy(np.frombuffer(buffers[0], "<f4").reshape(reply["shape"]).copy())


@pytest.mark.parametrize("stage", STAGES)
def test_a_tile_has_the_records_numbers(record, stage):
    cells = record.stage(stage)[1, 2, 40:75]
    wanted = cells[:, 3:40] if stage == "output" else cells[:, 93:130]
    torch.testing.assert_close(ask(record, stage=stage), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("stage", ["scores", "masked", "weights", "output"])
def test_a_pooled_part_is_pooled_by_the_rule_of_the_record(record, stage, how):
    first = 3 if stage == "output" else 93
    cells = record.stage(stage)[1, 2, 40:75, first : first + 37].double()
    tile = ask(record, stage=stage, pool=[6, 5], how=how).double()
    hidden = 0
    for r in range(6):
        for c in range(5):
            rows = slice(r * 35 // 6, (r + 1) * 35 // 6)
            block = cells[rows, c * 37 // 5 : (c + 1) * 37 // 5]
            kept = block[block > -torch.inf]
            if not len(kept):
                kept = torch.tensor([-torch.inf])
                hidden += 1
            wanted = kept.max() if how == "max" else kept.mean()
            assert tile[r, c].item() == pytest.approx(wanted.item(), rel=1e-5, abs=1e-7)
    assert (hidden > 0) == (stage == "masked")


def test_the_whole_map_is_pooled_as_the_record_does_it(record):
    whole = {"rows": [0, 90], "cols": [0, 130], "pool": [9, 10]}
    for how in ("mean", "max"):
        wanted = record.pooled("weights", (9, 10), how, batch=1, head=2)
        torch.testing.assert_close(ask(record, how=how, **whole), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"stage": "attention"}, "stage must be one of"),
        ({"head": 3}, "head must be at least 0 and below 3, got 3"),
        ({"batch": -1}, "batch must be at least 0"),
        ({"rows": [40, 91]}, "rows must lie within 0 to 90, got 40 to 91"),
        ({"cols": [5, 5]}, "cols must lie within 0 to 130, got 5 to 5"),
        ({"pool": [36, 5]}, "pool must be at most 35, 37, got 36, 5"),
        ({"pool": [0, 5]}, f"a tile must have at most {MOST_SENT} numbers, got 0"),
        ({"pool": [5, 5], "how": "min"}, "how must be 'mean' or 'max', got 'min'"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(record, more, said):
    assert said in ask(record, **more)


def test_too_much_is_refused():
    x = torch.zeros(1100, 1)
    asked = {"rows": [0, 1100], "cols": [0, 1100], "batch": 0, "head": 0}
    assert "a tile must have at most 1048576 numbers" in ask(trace(x, x, x), **asked)


def test_a_record_that_changed_is_said_and_not_raised():
    x = torch.eye(3)
    record = trace(x, x, x)
    x[0, 0] = 5.0
    said = "q must stay as it was when it was traced, got a tensor changed in place"
    assert said in ask(record, rows=[0, 3], cols=[0, 3], batch=0, head=0)


def test_the_widget_hears_and_answers(record, monkeypatch):
    view = explore(record)
    sent = []
    monkeypatch.setattr(view, "send", lambda content, buffers: sent.append((content, buffers)))
    asked = {"kind": "tile", "id": 1, "stage": "scores", "batch": 0, "head": 0}
    view._handle_custom_msg(asked | {"rows": [0, 2], "cols": [0, 3]}, [])
    view._handle_custom_msg({"kind": "else"}, [])
    ((reply, (numbers,)),) = sent
    assert reply == {"kind": "tile", "id": 1, "shape": [2, 3], "error": None}
    wanted = record.stage("scores")[0, 0, :2, :3]
    assert np.frombuffer(numbers, "<f4").reshape(2, 3) == pytest.approx(wanted.numpy(), rel=1e-6)
