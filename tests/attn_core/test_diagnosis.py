"""diagnose: right is right in every dtype, each mistake gets its name, and nothing is guessed."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings

from attn_core import Dropout, causal, diagnose, toy, trace
from attn_core.checks import STAGES
from attn_core.diagnosis.sentences import first_stage
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.questions import questions
from tests.attn_core.reference import cases

REPLAYED = [m for m in MISTAKES.values() if m.is_replayed]


def journey(**others):
    return trace(*[toy.journey().x] * 3, **others)


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_is_right_as_a_tensor_an_array_and_a_list(stage):
    record = journey(keep=causal(), dropout=Dropout(0.5, 7))
    cells = record.stage(stage)
    for yours in (cells, cells[None, None], cells.double(), cells.numpy(), cells.tolist()):
        found = diagnose(yours, record)
        assert found.verdict == "right"
        assert found.stages == (stage,)


@settings(max_examples=25)
@given(cases(with_dropout=False, dtypes=(torch.float32, torch.float64)))
def test_torchs_own_attention_is_right(case):
    record = trace(case.q, case.k, case.v, keep=case.keep, scale=case.scale)
    if case.dense is not None and not case.dense.any(-1).all():
        return
    theirs = F.scaled_dot_product_attention(
        case.q, case.k, case.v, attn_mask=case.dense, scale=case.scale
    )
    found = diagnose(theirs, record, stage="output")
    assert found.verdict == "right", found


@pytest.mark.parametrize("mistake", REPLAYED, ids=lambda mistake: mistake.name)
def test_a_mistake_is_named_wherever_it_shows(mistake):
    shown = 0
    for question in questions():
        record = question.trace()
        made = mistake.apply(record)
        for stage in ("masked", "output") if mistake.where != "weights" else ("weights",):
            found = diagnose(made[stage], record, stage=stage)
            assert found.verdict in ("right", "mistake")
            if found.verdict == "mistake":
                shown += 1
                assert mistake.name in found.mistakes
                assert mistake.title in str(found)
            elif STAGES.index(stage) >= STAGES.index(first_stage(mistake.name)):
                assert mistake.name in found.unseen
    assert shown


def test_what_it_cannot_tell_it_names_and_proposes_an_input_that_does():
    record = journey(keep=causal())
    turned = MISTAKES["mask-turned"].apply(record)["weights"]
    found = diagnose(turned, record)
    assert set(found.mistakes) == {"mask-turned", "upper-triangle-kept"}
    assert "On this input they are the same" in str(found)
    other = found.tell_apart.trace()
    yours = MISTAKES["mask-turned"].apply(other)["weights"]
    assert diagnose(yours, other).mistakes == ("mask-turned",)
    for tensor in found.tell_apart[:3]:
        assert torch.equal(tensor, tensor.round())


def test_nan_in_the_empty_rows_of_a_mistake_does_not_hide_it():
    record = journey(keep=causal())
    masked = record.stage("scaled").masked_fill(~torch.ones(6, 6).triu(1).bool(), -torch.inf)
    yours = torch.softmax(masked, -1)
    assert yours.isnan().any()
    assert "upper-triangle-kept" in diagnose(yours, record).mistakes


def test_right_up_to_a_factor():
    found = diagnose(journey().stage("scores") * 1.5, journey())
    assert found.verdict == "factor"
    assert found.factor == pytest.approx(1.5)
    assert str(found) == "right up to a factor of 1.5000: these are the scores times it"


def test_transposed():
    x = toy.tom_and_jerry()
    record = trace(x.queries, x.states, x.states)
    found = diagnose(record.stage("weights").T, record)
    assert str(found) == "these are the weights, transposed: rows and columns are exchanged"


def test_the_shape_of_a_stage_transposed_and_no_more():
    found = diagnose(torch.zeros(3, 6), journey())
    assert str(found) == (
        "not recognised. It has the shape of output transposed, but not its numbers"
    )


def test_a_hidden_cell_off_by_infinity():
    found = diagnose(journey().stage("scaled"), journey(keep=causal()), stage="masked")
    assert found.mistakes == ("no-mask", "mask-after-softmax")
    off = journey().stage("scaled") + torch.eye(6)
    assert "Nearest: masked, off by at most inf" in str(
        diagnose(off, journey(keep=causal()), stage="masked")
    )


def two_heads(**others):
    q, k, v = questions()[1][:3]
    return trace(q, k, v, keep=causal(), **others)


def merged(output):
    return output.transpose(-3, -2).flatten(-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_merged_output(dtype):
    record = two_heads()
    output = record.output.to(dtype)
    found = diagnose(merged(output), record)
    assert found.verdict == "right"
    assert str(found).startswith("right: this is the output, its heads side by side. 1")
    assert diagnose(merged(output)[0], record).verdict == "right"
    assert diagnose(merged(output), record, stage="output").verdict == "right"
    with pytest.raises(ValueError, match="yours must have the shape of a stage"):
        diagnose(merged(output), record, stage="weights")


def test_heads_that_are_right_and_merged_wrongly():
    record = two_heads()
    B, H, L, Dv = record.output.shape
    found = diagnose(record.output.reshape(B, L, H * Dv), record)
    assert found.mistakes == ("heads-merged-by-view",)
    assert str(found) == ("this is the output with heads merged by view alone. Each head is right")
    found = diagnose(torch.cat([record.output[:, h] for h in range(H)], dim=1), record)
    assert found.mistakes == ("heads-along-tokens",)
    assert diagnose(torch.zeros(B, H * L, Dv), record).verdict == "unknown"


def test_heads_that_are_wrong_and_merged_rightly():
    record = two_heads()
    found = diagnose(merged(MISTAKES["no-mask"].apply(record)["output"]), record)
    assert found.mistakes == ("no-mask",)
    assert str(found).startswith("this is the output, its heads side by side with no mask. Equal")
    unknown = diagnose(merged(record.output) + 5 * torch.eye(3, 6), record)
    assert str(unknown).startswith("not recognised. Nearest: output, its heads side by side, off")


def test_a_shape_that_fits_two_stages():
    x = toy.three_tokens()
    record = trace(x.x @ x.w_query, x.x @ x.w_key, x.x @ x.w_value)
    assert record.output.shape == record.stage("weights").shape
    assert diagnose(record.output, record).stages == ("output",)
    assert diagnose(record.stage("scores"), record).stages == ("scores",)


def test_printed_digits_are_enough_and_it_says_so():
    record = journey()
    printed = [[round(number, 4) for number in row] for row in record.stage("weights").tolist()]
    assert "to the 4 decimals given" in str(diagnose(printed, record))
    printed[2][1] += 0.0002
    assert diagnose(printed, record).verdict == "unknown"


def test_it_does_not_guess():
    record = journey()
    yours = record.stage("weights").clone()
    yours[3, 2] += 0.1
    found = diagnose(yours, record)
    assert found.verdict == "unknown"
    assert str(found) == (
        "not recognised. Nearest: weights, off by at most 0.1000; 5 of 6 rows are equal, "
        "the first row that differs is row 3"
    )
    assert found.mistakes == ()


def test_where_a_mistake_begins():
    record = journey(keep=causal())
    found = diagnose(MISTAKES["no-mask"].apply(record)["weights"], record)
    assert str(found) == (
        "these are the weights with no mask. Equal until masked; "
        "the first row that differs is row 0"
    )


@pytest.mark.parametrize(
    ("yours", "kind", "message"),
    [
        (torch.zeros(5, 5), ValueError, r"shape of a stage, \(6, 6\) or \(6, 3\), got \(5, 5\)"),
        ("0.5", TypeError, "yours must hold numbers, got '0.5'"),
        ([["1", "2"]], TypeError, "yours must hold numbers, got a list"),
        ([[1.0], [1.0, 2.0]], ValueError, "yours must have rows of one length, got a ragged list"),
        (torch.zeros(6, 6, dtype=torch.bool), TypeError, "yours must hold numbers, got torch.bool"),
        (
            torch.full((6, 6), torch.nan),
            ValueError,
            r"yours must hold numbers, got nan at \(0, 0\)",
        ),
        (torch.zeros(6), ValueError, r"yours must have rows and columns, got \(6,\)"),
        (None, TypeError, "yours must hold numbers, got None"),
    ],
)
def test_errors_are_one_sentence(yours, kind, message):
    with pytest.raises(kind, match=message):
        diagnose(yours, journey())
    with pytest.raises(ValueError, match="stage must be one of"):
        diagnose(journey().output, journey(), stage="attention")
