"""diagnose: right is right in every dtype, each mistake gets its name, and nothing is guessed."""

import functools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings

from attn_core import Dropout, causal, diagnose, toy, trace
from attn_core.checks import STAGES
from attn_core.diagnosis import classes, comparing
from attn_core.diagnosis.sentences import NAMES
from attn_core.mistakes import MISTAKES, mistake
from attn_core.mistakes.questions import Question, questions
from tests.attn_core.reference import cases

REPLAYED = [m for m in MISTAKES.values() if m.is_replayed]


def journey(**others):
    return trace(*[toy.journey().x] * 3, **others)


@pytest.fixture(scope="module")
def made_once():
    """Each wrong version of a record is made once, and each question is asked once."""
    once = functools.cache
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mistake, "wrong_stages", once(mistake.wrong_stages))
        patch.setattr(Question, "trace", once(Question.trace))
        patch.setattr(classes, "questions", once(classes.questions))
        for module in (comparing, classes):
            patch.setattr(module, "compared_stages", once(comparing.compared_stages))
        yield


def test_each_stage_is_right_as_a_tensor_an_array_and_a_list(made_once):
    record = journey(keep=causal(), dropout=Dropout(0.5, 7))
    for stage in STAGES:
        cells = record.stage(stage)
        for yours in (cells, cells[None, None], cells.double(), cells.numpy(), cells.tolist()):
            answer = diagnose(yours, record)
            assert answer.verdict == "right"
            assert answer.stages == (stage,)


@settings(max_examples=25)
@given(cases(with_dropout=False, dtypes=(torch.float32, torch.float64)))
def test_torchs_own_attention_is_right(case):
    record = trace(case.q, case.k, case.v, keep=case.keep, scale=case.scale)
    if case.dense is not None and not case.dense.any(-1).all():
        return
    theirs = F.scaled_dot_product_attention(
        case.q, case.k, case.v, attn_mask=case.dense, scale=case.scale
    )
    answer = diagnose(theirs, record, stage="output")
    assert answer.verdict == "right", answer


def drawn(dtype, T, **others):
    """q, k and v of width 64 with many roundings in half precision, and their record."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(T, 64, generator=generator).to(dtype) for _ in range(3))
    return q, k, v, trace(q, k, v, **others)


HALVES = [(torch.bfloat16, 16), (torch.float16, 64)]


@pytest.mark.parametrize(("dtype", "T"), HALVES)
def test_what_half_precision_makes_is_right(dtype, T):
    for keep in (None, causal()):
        q, k, v, record = drawn(dtype, T, keep=keep)
        allowed = torch.ones(T, T, dtype=torch.bool) if keep is None else keep.dense(T, T)[0, 0]
        for scaled in (q @ k.T / 8, (q / 8) @ k.T):
            weights = torch.softmax(scaled.masked_fill(~allowed, -torch.inf), -1)
            for stage, made in (("scaled", scaled), ("weights", weights), ("output", weights @ v)):
                if stage != "scaled" or keep is None:
                    answer = diagnose(made, record)
                    assert answer.text.startswith(f"right: {NAMES[stage]}")
                    assert "decimals" not in answer.text
        theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        assert diagnose(theirs, record).verdict == "right"
    q, k, v, record = drawn(dtype, T, dropout=Dropout(0.5, 7))
    dropped = torch.softmax(q @ k.T / 8, -1) * record.dropout.survives(*map(range, (1, 1, T, T)))
    assert diagnose(2 * dropped[0, 0], record).stages == ("dropped",)
    assert diagnose(2 * dropped[0, 0] @ v, record).stages == ("output",)


@pytest.mark.parametrize(("dtype", "T"), HALVES)
def test_what_is_wrong_in_half_precision_is_not_right(dtype, T):
    q, k, v, record = drawn(dtype, T)
    over_queries = torch.softmax(q @ k.T / 8, 0)
    for made in (over_queries, over_queries @ v):
        assert diagnose(made, record).mistakes == ("softmax-over-queries",)
    for made in (torch.full((T, T), 1 / T), torch.softmax(q @ k.T / 32, -1), torch.zeros(T, T)):
        assert diagnose(made.to(dtype), record).verdict == "unknown"
    for made in (torch.zeros(T, 64), v.flip(0), v.mean(0).expand(T, 64)):
        assert diagnose(made.to(dtype), record).verdict == "unknown"


@pytest.mark.parametrize(("dtype", "T"), HALVES)
def test_mistakes_of_the_mask_are_told_apart_in_half_precision(dtype, T):
    q, k, v, record = drawn(dtype, T, keep=causal())
    weights = torch.softmax(q @ k.T / 8, -1)
    assert diagnose(weights, record).mistakes == ("no-mask",)
    assert diagnose(weights.tril(), record).mistakes == ("mask-after-softmax",)
    assert diagnose(weights.tril() @ v, record).mistakes == ("mask-after-softmax",)


def test_large_scores_do_not_make_every_array_right():
    x = toy.journey().x
    weights, made = torch.eye(6).double(), torch.rand(6, 6, generator=torch.manual_seed(0))
    for size in (1, 30, 300, 3000):
        record = trace(x * size, x * size, x)
        weights = torch.softmax(x * size @ (x * size).T / 3**0.5, -1)
        assert diagnose(weights, record).stages[0] == "weights"
        assert diagnose(weights @ x, record).stages[0] == "output"
        for wrong in (made, torch.zeros(6, 6), torch.full((6, 6), 1 / 6)):
            assert diagnose(wrong, record).verdict == "unknown"
        assert diagnose(torch.zeros(6, 3), record).verdict == "unknown"


def test_a_number_that_is_not_finite_gives_no_room():
    record = trace(torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [-1.0]]), torch.eye(2))
    wrong = MISTAKES["divided-by-sum"].apply(record)["weights"]
    assert wrong.isinf().all()
    assert diagnose(wrong, record).mistakes == ("divided-by-sum",)
    assert diagnose(torch.full((2, 2), 0.3), record).verdict == "unknown"


def test_what_half_precision_makes_of_large_scores_is_named():
    q, k, _ = torch.randn(3, 64, 1024, generator=torch.Generator().manual_seed(0)).bfloat16()
    yours = torch.softmax(q @ k.T, -1)
    assert diagnose(yours, trace(q, k, k)).mistakes == ("no-scale",)


def test_half_precision_where_the_scores_are_zero():
    q, _, v, _ = drawn(torch.bfloat16, 7)
    record = trace(0 * q, q, v)
    yours = torch.full((7, 7), 1 / 7).bfloat16()
    assert diagnose(yours, record, stage="weights").verdict == "right"
    assert diagnose(yours @ v, record).verdict == "right"


def test_float16_has_no_smaller_numbers():
    q, k = torch.ones(2, 1).double(), torch.tensor([[0.0], [-16.3]]).double()
    record = trace(q, k, k, scale=1.0)
    yours = record.stage("weights").half()
    assert yours[0, 1] == 2**-24
    assert diagnose(yours, record, stage="weights").verdict == "right"


def test_float64_from_what_is_stored_in_half_precision_is_right():
    *halves, record = drawn(torch.bfloat16, 16)
    q, k, v = (half.double() for half in halves)
    assert diagnose(torch.softmax(q @ k.T / 8, -1), record).verdict == "right"
    assert diagnose(torch.softmax(q @ k.T / 8, -1) @ v, record).verdict == "right"


def test_the_values_of_another_head_have_their_own_room():
    q, k, v, _ = drawn(torch.bfloat16, 16)
    q, k, v = (tensor.view(1, 16, 2, 32).transpose(1, 2) for tensor in (q, k, v))
    record = trace(q, k, v * torch.tensor([100, 1])[:, None, None])
    yours = torch.softmax(q[0, 0] @ k[0, 0].T * record.scale, -1) @ (100 * v[0, 0])
    answer = diagnose(yours.expand(2, 16, 32), record, stage="output")
    assert answer.mistakes == ("shared-heads",)


@pytest.fixture(scope="module")
def asked(made_once):
    """The records of all questions."""
    return [question.trace() for question in classes.questions()]


@pytest.mark.gate
@pytest.mark.parametrize("name", [replayed.name for replayed in REPLAYED])
def test_a_mistake_is_named_wherever_it_shows(name, asked):
    shown, mistake = 0, MISTAKES[name]
    for record in asked:
        made = mistake.apply(record)
        for stage in ("masked", "output") if mistake.where != "weights" else ("weights",):
            answer = diagnose(made[stage], record, stage=stage)
            assert answer.verdict in ("right", "mistake")
            if answer.verdict == "mistake":
                shown += 1
                assert mistake.name in answer.mistakes
                assert mistake.title in str(answer)
            elif STAGES.index(stage) >= STAGES.index(mistake.first_stage):
                assert mistake.name in answer.unseen
    assert shown


def in_one_head(record, mask):
    scaled = record.stage("scaled")
    return torch.softmax(scaled.masked_fill(~mask, -torch.inf), -1)


def drop(weights, p=0.5):
    survives = torch.rand(weights.shape, generator=torch.Generator().manual_seed(0)) >= p
    return weights * survives / (1 - p)


TRIANGLE = torch.ones(6, 6, dtype=torch.bool)
# What students bring that the gallery does not show; a sentence, and a word about dropped rows.
SLIPPED = {
    "the diagonal hidden, so that no word sees itself": [
        (causal(), lambda record: in_one_head(record, TRIANGLE.tril(-1))),
        (causal(), lambda record: in_one_head(record, TRIANGLE.tril(-1)).nan_to_num()),
    ],
    "one key too many seen, the one after each word": [
        (causal(), lambda record: in_one_head(record, TRIANGLE.tril(1)))
    ],
    "scores divided by d_k, not by √d_k": [
        (keep, lambda record: trace(record.q, record.k, record.v, keep=record.keep, scale=1 / 3))
        for keep in (None, causal())
    ],
    "scores multiplied by √d_k, not divided by it": [
        (None, lambda record: trace(record.q, record.k, record.v, scale=3**0.5))
    ],
    "softmax taken twice": [
        (None, lambda record: torch.softmax(record.stage("weights"), -1)),
        (causal(), lambda record: torch.softmax(record.stage("weights"), -1)),
    ],
    "dropout left on: 23 of 36 are 0, and the others are 2.0000 times as large": [
        (None, lambda record: drop(record.stage("weights")))
    ],
}


@pytest.mark.parametrize(
    ("said", "keep", "make"), [(said, *case) for said, all in SLIPPED.items() for case in all]
)
def test_a_slip_that_the_gallery_does_not_show_is_named(said, keep, make):
    record = journey(keep=keep)
    made = make(record)
    yours = made if isinstance(made, torch.Tensor) else made.stage("weights").view(6, 6)
    for each in (yours, torch.round(yours.double(), decimals=4)):
        answer = diagnose(each, record)
        assert answer.verdict == "mistake"
        assert str(answer).startswith("these are the weights with ")
        assert said in str(answer).replace(", to the 4 decimals given", "")
        assert len(answer.mistakes) == 1
    assert diagnose(yours @ toy.journey().x, record).mistakes in (answer.mistakes, ())


@pytest.mark.parametrize(
    ("stage", "take", "said"),
    [
        (
            "weights",
            lambda w: w.mean(1),
            "these are the weights, averaged over the 3 heads, as torch",
        ),
        ("weights", lambda w: w[0, 1], "these are the weights of head 1 alone, one of 3"),
        (
            "output",
            lambda o: o.sum(1),
            "this is the output, the 3 heads added up; they belong side",
        ),
        ("output", lambda o: o[:, 2], "this is the output of head 2 alone, one of 3"),
        ("scores", lambda s: s.mean(1), "these are the scores, averaged over the 3 heads"),
    ],
)
def test_heads_in_one_are_told(stage, take, said):
    record = two_heads()
    for name in (None, stage):
        assert str(diagnose(take(record.stage(stage)), record, stage=name)).startswith(said)
    with pytest.raises(ValueError, match="yours must have the shape of a stage"):
        diagnose(take(record.stage(stage)) + 0.1, record)


def test_no_slip_is_named_that_was_not_made():
    """Rows that add up to 1 after cells were hidden, one row alone, other numbers."""
    made = torch.Generator().manual_seed(0)
    for keep in (None, causal()):
        record = journey(keep=keep)
        weights = record.stage("weights")
        hidden = drop(weights)[:, :] * 0.5
        hidden = hidden / hidden.sum(-1, keepdim=True).clamp(min=1e-9)
        for yours in (hidden, weights * 2, weights.tril(-1), torch.rand(6, 6, generator=made)):
            assert diagnose(yours, record).verdict in ("unknown", "factor"), yours
    one = trace(toy.journey().x[:1], toy.journey().x, toy.journey().x)
    assert diagnose(drop(one.stage("weights")), one).verdict == "unknown"


def test_what_it_cannot_tell_it_names_and_proposes_an_input_that_does():
    record = journey(keep=causal())
    turned = MISTAKES["mask-turned"].apply(record)["weights"]
    answer = diagnose(turned, record)
    assert set(answer.mistakes) == {"mask-turned", "upper-triangle-kept"}
    assert "On this input they are the same" in str(answer)
    other = answer.tell_apart.trace()
    yours = MISTAKES["mask-turned"].apply(other)["weights"]
    assert diagnose(yours, other).mistakes == ("mask-turned",)
    for tensor in answer.tell_apart[:3]:
        assert torch.equal(tensor, tensor.round())


def test_nan_in_the_empty_rows_of_a_mistake_does_not_hide_it():
    record = journey(keep=causal())
    masked = record.stage("scaled").masked_fill(~torch.ones(6, 6).triu(1).bool(), -torch.inf)
    yours = torch.softmax(masked, -1)
    assert yours.isnan().any()
    assert "upper-triangle-kept" in diagnose(yours, record).mistakes


def off_in_one_cell():
    cells = journey().stage("weights")
    cells[3, 2] += 0.1
    return cells


def alignment():
    x = toy.tom_and_jerry()
    return trace(x.queries, x.states, x.states)


SENTENCES = {
    "right up to a factor of 1.5000: these are the scores times it":
        (journey().stage("scores") * 1.5, journey()),
    "these are the weights, transposed: rows and columns are exchanged":
        (alignment().stage("weights").T, alignment()),
    "these are the weights with no mask. Equal until masked; "
    "the first row that differs is row 0": (journey().stage("weights"), journey(keep=causal())),
    "not recognised. It has the shape of output transposed, but not its numbers":
        (torch.zeros(3, 6), journey()),
    "not recognised. Nearest: weights, off by at most 0.1000; 5 of 6 rows are equal, "
    "the first row that differs is row 3": (off_in_one_cell(), journey()),
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "yours", "record"), [(said, *of) for said, of in SENTENCES.items()], ids=SENTENCES
)
def test_what_it_says(sentence, yours, record):
    assert str(diagnose(yours, record)) == sentence


@pytest.mark.parametrize("factor", [2.0, 3e-5, 1e-8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_factor_of_any_size(factor, dtype):
    for stage in ("scores", "weights", "output"):
        record = journey(scale=1.0) if stage == "weights" else journey()
        yours = (record.stage(stage) * factor).to(dtype)
        answer = diagnose(yours, record, stage=stage)
        assert (answer.verdict, answer.stages) == ("factor", (stage,))
        assert answer.factor == pytest.approx(factor, rel=3e-2)


def test_what_is_small_is_not_a_stage_times_a_factor():
    made = torch.rand(6, 6, generator=torch.manual_seed(0))
    for size in (1e-3, 1e-8, 1e-14):
        for keep in (None, causal()):
            assert diagnose(made * size, journey(keep=keep)).verdict == "unknown"
    assert diagnose((made * 1e-3).half(), journey()).verdict == "unknown"
    for dtype, T in HALVES:
        q, k, _, record = drawn(dtype, T)
        for yours in (torch.softmax(q @ k.T / 32, -1), torch.full((T, T), 1 / T, dtype=dtype)):
            assert diagnose(yours, record).verdict == "unknown"


def test_a_factor_is_not_found_in_what_the_decimals_leave_open():
    scores = journey().stage("scores").double()
    for factor in (0.5, 1.5, 7.0):
        answer = diagnose(torch.round(scores * factor, decimals=4), journey())
        assert answer.factor == pytest.approx(factor, rel=1e-3)
    tiny = torch.full((6, 6), 0.0).double()
    tiny[0, 0] = 0.001
    assert diagnose(tiny, journey()).verdict == "unknown"
    tiny[~causal().dense(6, 6)[0, 0]] = -torch.inf
    assert diagnose(tiny, journey(keep=causal())).verdict == "unknown"


def test_a_hidden_cell_off_by_infinity():
    answer = diagnose(journey().stage("scaled"), journey(keep=causal()), stage="masked")
    assert answer.mistakes == ("no-mask", "mask-after-softmax")
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
    answer = diagnose(merged(output), record)
    assert answer.verdict == "right"
    assert str(answer).startswith("right: this is the output, its heads side by side. 1")
    assert diagnose(merged(output)[0], record).verdict == "right"
    assert diagnose(merged(output), record, stage="output").verdict == "right"
    with pytest.raises(ValueError, match="yours must have the shape of a stage"):
        diagnose(merged(output), record, stage="weights")


def test_heads_that_are_right_and_merged_wrongly():
    record = two_heads()
    B, H, L, Dv = record.output.shape
    answer = diagnose(record.output.reshape(B, L, H * Dv), record)
    assert answer.mistakes == ("heads-merged-by-view",)
    assert str(answer) == ("this is the output with heads merged by view alone. Each head is right")
    answer = diagnose(torch.cat([record.output[:, h] for h in range(H)], dim=1), record)
    assert answer.mistakes == ("heads-along-tokens",)
    assert diagnose(torch.zeros(B, H * L, Dv), record).verdict == "unknown"


def test_heads_that_are_wrong_and_merged_rightly():
    record = two_heads()
    answer = diagnose(merged(MISTAKES["no-mask"].apply(record)["output"]), record)
    assert answer.mistakes == ("no-mask",)
    assert str(answer).startswith("this is the output, its heads side by side with no mask. Equal")
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


def test_numbers_too_coarse_for_decimals_have_none():
    x = 40 * toy.journey().x
    record = trace(x, x, x)
    assert record.stage("scores").amax() > 1000
    assert "decimals" not in diagnose(record.stage("scores"), record).text
    weights = journey().stage("weights")
    assert "decimals" not in diagnose(weights.bfloat16(), journey()).text


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8", np.longdouble, ">i4", "<f4"])
def test_numpy_arrays_of_other_layouts_are_read(dtype):
    record = journey()
    scores = np.asarray(record.stage("scores"))
    if np.dtype(dtype).kind == "i":
        record = questions()[1].trace()
        scores = np.asarray(record.stage("scores"))
    answer = diagnose(scores.astype(dtype), record)
    assert answer.stages[0] == "scores"
    assert diagnose(scores.astype(dtype)[..., ::-1], record).verdict == "unknown"
