"""Each mistake is wrong where it shows, right where it hides, and caught by the book's checks."""

import functools
import itertools
import re

import pytest
import torch
from hypothesis import given, settings
from torch.nn.functional import cross_entropy

from attn_core import Dropout, causal, toy, trace
from attn_core.checks import STAGES
from attn_core.layers import LayerNorm, Residual
from attn_core.learning import AttentionOnly, RepeatedSegments
from attn_core.mistakes import MISTAKES, layers, loops, runs
from attn_core.mistakes.mistake import FORMULAS, Inputs, right_stages, stages_with
from attn_core.mistakes.questions import alike, questions
from attn_core.mistakes.showing import evidence, first_difference, unequal, versions
from tests.attn_core import reference, test_modules, test_stages, test_transformer
from tests.attn_core.reference import Case, cases

FORMULA = [mistake for mistake in MISTAKES.values() if mistake.is_formula]
# Those that can be made again from any record.
REPLAYED = [mistake for mistake in MISTAKES.values() if mistake.is_replayed]


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_it_is_seen_where_it_shows_and_not_where_it_hides(mistake):
    seen = first_difference(*versions(mistake, hidden=False))
    assert seen == mistake.where if mistake.is_formula else seen in STAGES
    assert first_difference(*versions(mistake, hidden=True), mistake.silent_from) is None


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_its_one_line_passes_for_the_right_version_and_fails_for_the_wrong_one(mistake):
    assert mistake.passes(wrong=False)
    assert not mistake.passes(wrong=True)
    assert "\n" not in mistake.check


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_evidence_is_that_of_the_two_inputs(mistake):
    seen = evidence(mistake)
    right, wrong = versions(mistake, hidden=False)
    assert seen.stage == first_difference(right, wrong)
    assert unequal(seen.right, seen.wrong)
    if seen.place:
        rows = [stages[seen.stage].flatten(0, -2) for stages in (right, wrong)]
        first = next(n for n, pair in enumerate(zip(*rows, strict=True)) if unequal(*pair))
        assert torch.equal(seen.right, rows[0][first])
    assert seen.is_hidden
    assert seen.passes == (True, False)


def test_the_evidence_in_words():
    assert str(evidence(MISTAKES["mask-added"])) == (
        "first difference: masked, row 0\n"
        "  right  0.5771 -inf -inf -inf -inf -inf\n"
        "  wrong  1.5771 0.5510 0.5440 0.2744 0.2642 0.3643\n"
        "where it hides: the same from weights on\n"
        "check: True if right, False if wrong"
    )
    assert str(evidence(MISTAKES["shared-heads"])).startswith(
        "first difference: scores, sentence 0, head 1, row 0\n"
    )
    assert str(evidence(MISTAKES["heads-along-tokens"])).startswith(
        "scores differ in size: (1, 2, 3, 3) right, (1, 1, 6, 6) wrong\n"
    )


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_form(mistake):
    assert MISTAKES[mistake.name] is mistake
    assert re.fullmatch(r"[a-z0-9-]+", mistake.name)
    for text in (mistake.does, mistake.symptom, mistake.invisible):
        assert text.endswith(".")
    assert mistake.source
    for source in mistake.source:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|\d-\d\d", source)
    assert mistake.wrong != mistake.right
    assert bool(mistake.replaces) == (not mistake.is_formula)
    assert set(mistake.formulas) <= set(FORMULAS)


def test_at_least_twenty_with_names_of_their_own():
    assert len(MISTAKES) >= 20
    assert len({mistake.title for mistake in MISTAKES.values()}) == len(MISTAKES)


def test_the_formulas_unchanged_are_the_records_stages():
    for question in questions():
        record = question.trace()
        made = stages_with(Inputs.of(record), {})
        for stage, cells in right_stages(record).items():
            torch.testing.assert_close(made[stage], cells)


def test_wrong_stages_have_the_callers_rank_and_dtype():
    x = toy.journey().x.double()
    for rank in (x, x[None], x[None, None]):
        made = MISTAKES["no-scale"].apply(trace(rank, rank, rank))
        assert made["weights"].shape == (*rank.shape[:-1], 6)
        assert made["output"].dtype == torch.float64


def test_apply_and_pair_say_what_they_are_for():
    record = questions()[0].trace()
    with pytest.raises(ValueError, match=r"layer-norm-n-minus-1 must be a mistake of a formula"):
        MISTAKES["layer-norm-n-minus-1"].apply(record)
    with pytest.raises(ValueError, match=r"no-scale must be a mistake of a module"):
        MISTAKES["no-scale"].pair()


def test_a_naive_softmax_divides_0_by_0_far_below_0_and_leaves_empty_rows_to_others():
    k = torch.tensor([[-110.0], [-111.0], [-112.0]])
    keep = torch.tensor([[True, True, True], [False, False, False]])
    record = trace(torch.ones(2, 1), k, k, scale=1.0, keep=keep)
    weights = MISTAKES["naive-softmax"].apply(record)["weights"]
    assert weights[0].isnan().all()
    assert (weights[1] == 0).all()


def test_a_naive_softmax_whose_sum_alone_overflows_gives_zeros_and_is_caught():
    record = trace(torch.ones(1, 1), torch.full((3, 1), 88.0), torch.ones(3, 1), scale=1.0)
    mistake = MISTAKES["naive-softmax"]
    weights = mistake.apply(record)["weights"]
    assert (weights == 0).all()
    assert not eval(mistake.check, {"weights": weights})


@pytest.mark.parametrize("width", [2, 101, 512, 16384])
def test_a_variance_over_n_minus_1_is_caught_at_any_width(width):
    mistake = MISTAKES["layer-norm-n-minus-1"]
    x = (torch.arange(3 * width) ** 2 % 101 / 25 - 2).view(3, width)
    for kind, passes in ((LayerNorm, True), (mistake.replaces[0], False)):
        names = {"normed": kind(width).requires_grad_(False)(x)}
        assert bool(eval(mistake.check, names)) == passes


def test_when_a_mask_on_the_axis_of_the_heads_crashes():
    def made(heads, words):
        keep = torch.ones(words, words).bool().tril()
        names = {"torch": torch, "keep": keep, "scores": torch.zeros(2, heads, words, words)}
        return eval(MISTAKES["mask-on-heads"].wrong, names).shape

    assert made(3, 3) == (2, 3, 3, 3)
    assert made(1, 3) == (2, 3, 3, 3)  # a single head comes out three times
    assert made(3, 1) == (2, 3, 1, 1)
    with pytest.raises(RuntimeError, match="must match"):
        made(2, 3)


@pytest.mark.parametrize("p", [0.5, 0.001])
@pytest.mark.parametrize("kind", [Residual, layers.DropoutAfterNorm])
def test_dropout_after_the_norm_is_told_from_zeros_of_the_norm_itself(kind, p):
    residual, x = kind(4, dropout=p, seed=7).requires_grad_(False), runs.wide_words()
    assert (residual.norm(x) == 0).any()
    names = {"torch": torch, "norm": residual.norm, "x": x, "stream": residual(x, torch.zeros_like)}
    assert eval(MISTAKES["dropout-after-norm"].check, names) == (kind is Residual)


def test_a_mistake_made_of_a_record_is_the_modules_own():
    for name in ("heads-split-by-view", "shared-heads", "mask-on-heads"):
        right, wrong = MISTAKES[name].pair()
        assert first_difference(right_stages(wrong), MISTAKES[name].apply(right)) is None, name


def test_every_pair_is_told_apart_by_an_input_of_diagnose():
    made = [{m.name: m.apply(question.trace()) for m in REPLAYED} for question in questions()]
    same = [
        (a.name, b.name)
        for a, b in itertools.combinations(REPLAYED, 2)
        if all(first_difference(inputs[a.name], inputs[b.name]) is None for inputs in made)
    ]
    assert same == []


@pytest.mark.slow
@settings(max_examples=25)
@given(cases(with_dropout=False, dtypes=(torch.float64,)))
def test_what_no_question_tells_apart_is_alike_on_any_input(case):
    record = trace(case.q, case.k, case.v, keep=case.keep, dropout=Dropout(0.5, 1))
    right = right_stages(record)
    for stage in STAGES:
        for group in alike_at(stage):
            made = [right if name == "right" else MISTAKES[name].apply(record) for name in group]
            assert not any(unequal(made[0][stage], other[stage]) for other in made[1:]), group


alike_at = functools.cache(alike)


class Wrong:
    """A record all of whose stages a mistake has made."""

    def __init__(self, record, mistake):
        self.record, self.stages = record, mistake.apply(record)

    def stage(self, name):
        return self.stages[name]

    @property
    def output(self):
        return self.stages["output"]

    def __getattr__(self, name):
        return getattr(self.record, name)


def reference_cases():
    for question in questions():
        q, k, v, keep, dropout = question
        cells = keep.dense(q.shape[2], k.shape[2]).expand(*q.shape[:3], k.shape[2])
        given = (dropout.p, dropout.seed) if isinstance(dropout, Dropout) else None
        yield Case(q, k, v, [lambda keep=keep: keep], cells, None, given)


def reference_checks():
    """test_stages: every stage against a plain loop."""
    check = test_stages.test_every_stage_equals_a_plain_loop.hypothesis.inner_test
    return [lambda case=case: check(case) for case in reference_cases()]


def test_a_training_loop_is_torchs():
    loop, model = loops.Loop(), AttentionOnly(8, 12, keep=causal())
    loop.run(3)
    task = RepeatedSegments()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / 10)
    for step in range(3):
        batch = task.batch(task.texts(1, range(8 * step, 8 * step + 8)))
        optimizer.zero_grad()
        cross_entropy(model(batch.ids).mT, batch.targets).backward()
        optimizer.step()
        schedule.step()
    for ours, wanted in zip(loop.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours, wanted)


@pytest.mark.parametrize(("kind", "is_learned"), [(loops.Loop, False), (loops.NotShifted, True)])
def test_to_name_the_token_that_is_read_is_learned_in_some_dozens_of_steps(kind, is_learned):
    loop = kind()
    loop.run(50)
    assert (loop.losses[-1] < 0.1) == is_learned


def module_checks():
    return [
        test_a_training_loop_is_torchs,
        test_modules.test_stacked_heads_stand_side_by_side,
        test_modules.test_split_heads_equal_stacked_heads,
        lambda: test_modules.test_multi_head_attention_is_torchs(False),
        test_modules.test_masks_of_the_module_and_of_the_call_are_joined,
        test_transformer.test_layer_norm_is_torchs,
        test_transformer.test_positions_are_added_along_the_tokens,
        lambda: test_transformer.test_decoder_layer_is_torchs(False),
        test_transformer.test_residual_dropout_leaves_the_stream_alone,
    ]


def fails(checks):
    for check in checks:
        try:
            check()
        except Exception:
            return True
    return False


def put_in_place(mistake, monkeypatch):
    """The mistake in the place of the right code."""
    if mistake.is_formula:
        wrong = lambda *given, **others: Wrong(trace(*given, **others), mistake)  # noqa: E731
        monkeypatch.setattr(reference, "trace", wrong)
    for wrong in mistake.replaces:
        for name, method in vars(wrong).items():
            if callable(method):
                monkeypatch.setattr(wrong.__bases__[0], name, method)


def test_the_books_own_checks_catch_every_mistake(monkeypatch, record_property):
    """Mutation proof. Unchanged, all checks pass."""
    assert not fails(reference_checks())
    assert not fails(module_checks())
    missed = []
    for mistake in MISTAKES.values():
        with monkeypatch.context() as patch:
            put_in_place(mistake, patch)
            if not fails(reference_checks() if mistake.is_formula else module_checks()):
                missed.append(mistake.name)
    caught = len(MISTAKES) - len(missed)
    record_property("summary", f"mistakes: {caught} of {len(MISTAKES)} caught by the book's checks")
    assert missed == []
