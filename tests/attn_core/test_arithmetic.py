"""The written arithmetic: its values are the record's, its text is its values."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_core import Dropout, Projection, alibi, causal, toy, trace, window, workings
from attn_core.arithmetic import Term
from attn_core.digits import plain, written
from tests.attn_core.evaluated import evaluated, every_term, said_of
from tests.attn_core.reference import STAGES, cases, drawn

NUMBER = re.compile(r"-?(?:inf|\d+(?:\.\d+)?(?:e[+-]\d+)?)")


def assert_same(value, wanted, rel, floor):
    if math.isinf(wanted):
        assert value == wanted
    else:
        assert abs(value - wanted) <= rel * max(abs(wanted), floor), (value, wanted)


def assert_every_number(record, rel):
    B, H, L, S = record.shape
    for name in STAGES:
        width = record.v.shape[-1] if name == "output" else S
        whole = record.stage(name).reshape(B, H, L, width)
        # What cancels is exact only relative to what it was made of.
        finite = whole[whole.isfinite()].abs()
        floor = max(1.0, finite.max().item() if finite.numel() else 0.0)
        for b in range(B):
            for h in range(H):
                for i in range(L):
                    for j in range(width):
                        term = workings(record, name, i, j, batch=b, head=h)
                        assert (term.name, term.index) == (name, (i, j))
                        assert_same(term.value, whole[b, h, i, j].item(), rel, floor)


@pytest.mark.parametrize(("dtype", "rel"), [(torch.float64, 1e-12), (torch.float32, 2e-6)], ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_every_number_equals_the_record(dtype, rel, data):
    assert_every_number(data.draw(cases(dtypes=(dtype,), most=3, with_added=True)).trace(), rel)


@settings(max_examples=60)
@given(cases(dtypes=(torch.float64, torch.float32), most=4, with_added=True))
def test_the_text_says_the_value_and_the_parts(case):
    record = case.trace()
    for name in STAGES:
        root = workings(record, name, record.shape[2] - 1, 0, batch=0, head=0)
        for term in every_term(root):
            assert "\n" not in term.text
            assert term.text.startswith(f"{term.name}[")
            if not math.isnan(term.value):
                last = NUMBER.findall(said_of(term.how))[-1]
                assert last == written(term.value)
                assert float(last) == float(written(term.value))
        lines = str(root).splitlines()
        assert [line.strip() for line in lines] == [term.text for term in every_term(root)]


def test_the_tree_as_text():
    x = toy.journey().x
    assert str(workings(trace(x[:2], x[:2], x[:2], scale=1.0), "weights", 1, 0)) == (
        "weights[1, 0] = exp(0.9544 - 1.4950) / 1.5824 = 0.3680\n"
        "  scaled[1, 0] = 0.9544 · 1 = 0.9544\n"
        "    scores[1, 0] = 0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544\n"
        "      q[1] = (0.55, 0.87, 0.66)\n"
        "      k[0] = (0.43, 0.15, 0.89)\n"
        "  row_max[1] = max(0.9544, 1.4950) = 1.4950\n"
        "  row_sum[1] = exp(0.9544 - 1.4950) + exp(1.4950 - 1.4950) = 0.5824 + 1 = 1.5824"
    )


def test_what_is_added_as_text():
    x = toy.journey().x
    added = {"bias": alibi([0.5]), "softcap": 2.0, "sinks": torch.tensor([0.25])}
    assert str(workings(trace(x[:2], x[:2], x[:2], scale=1.0, **added), "weights", 1, 0)) == (
        "weights[1, 0] = exp(0.3880 - 1.2673) / 1.7766 = 0.2336\n"
        "  scaled[1, 0] = 2 · tanh(0.9544 · 1 / 2) + (-0.5) = 0.3880\n"
        "    scores[1, 0] = 0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544\n"
        "      q[1] = (0.55, 0.87, 0.66)\n"
        "      k[0] = (0.43, 0.15, 0.89)\n"
        "    bias[1, 0] = -0.5 · 1 = -0.5\n"
        "  row_max[1] = max(0.3880, 1.2673, 0.25) = 1.2673\n"
        "  row_sum[1] = exp(0.3880 - 1.2673) + exp(1.2673 - 1.2673) + exp(0.25 - 1.2673)"
        " = 0.4151 + 1 + 0.3616 = 1.7766\n"
        "  sink[0] = 0.25"
    )


@pytest.mark.parametrize("keep", [None, causal()])
@pytest.mark.parametrize("dropout", [None, Dropout(0.5, 3)])
def test_the_output_reaches_down_to_the_inputs(keep, dropout):
    """A mask and dropout have lines of their stage only where there are some."""
    x = toy.notebook().x
    term = workings(trace(x, x, x, scale=1.0, keep=keep, dropout=dropout), "output", 0, 2)
    mixing = "dropped" if dropout else "weights"
    assert [(part.name, part.index) for part in term.parts] == [
        *[(mixing, (0, j)) for j in range(3)],
        *[("v", (j, 2)) for j in range(3)],
    ]
    names = {part.name for part in every_term(term)}
    always = {"output", "weights", "scaled", "scores", "row_max", "row_sum", "q", "k", "v"}
    assert names == always | ({"masked"} if keep else set()) | {mixing}
    scores = next(part for part in every_term(term) if part.name == "scores")
    assert scores.text == "scores[0, 0] = 1·1 + 2·2 + 1·1 + 2·2 + 1·1 = 11"


def test_each_part_feeds_the_number_above_it():
    """The written numbers of a line are those of the parts, at their places."""
    x = toy.journey().x
    record = trace(x, x, x, keep=causal(), dropout=Dropout(0.25, 3), scale=0.5)
    term = workings(record, "output", 4, 1)
    factors = re.findall(r"(\S+)·(\S+)", term.how)
    assert len(factors) == 6
    for j, (dropped, value) in enumerate(factors):
        assert dropped == plain(term.parts[j].value)
        assert value == plain(term.parts[6 + j].value)
        assert term.parts[6 + j].value == record.v[0, 0, j, 1].item()


def test_negative_factors_stand_in_brackets():
    q, k = torch.tensor([[-1.0, 2.0]]), torch.tensor([[3.0, -0.5]])
    record = trace(q, k, k, scale=-2.0)
    scaled = workings(record, "scaled", 0, 0)
    assert scaled.parts[0].how == "(-1)·3 + 2·(-0.5) = -4"
    assert scaled.how == "-4 · -2 = 8"
    weights = workings(trace(q, k, k, scale=1.0), "weights", 0, 0)
    assert weights.how == "exp(-4 - (-4)) / 1 = 1"


def test_masked_and_dead():
    q = drawn(1, 2, 2)
    keep = torch.tensor([[True, False], [False, False]])
    record = trace(q, q, q, keep=keep)
    masked = workings(record, "masked", 0, 1)
    assert (masked.value, masked.parts) == (-math.inf, ())
    assert masked.text == "masked[0, 1] = -inf, because the mask does not keep it"
    dead = workings(record, "weights", 1, 0)
    assert dead.value == 0
    assert dead.text == "weights[1, 0] = exp(-inf - 0) / 1 = 0"
    assert [part.text for part in dead.parts[1:]] == [
        "row_max[1] = 0, because the row keeps nothing",
        "row_sum[1] = 1, because the row keeps nothing",
    ]
    assert workings(record, "output", 1, 1).value == 0


@pytest.mark.parametrize(
    ("row", "hidden"),
    [
        (0, (", without the 2 hidden keys", ", with 0 for each of the 2 hidden keys")),
        (1, (", without the hidden key", ", with 0 for the hidden key")),
        (2, ("", "")),
    ],
)
def test_hidden_keys_are_named_once(row, hidden):
    x = toy.journey().x[:3]
    _, row_max, row_sum = workings(trace(x, x, x, keep=causal()), "weights", row, 0).parts
    for part, remark in zip((row_max, row_sum), hidden, strict=True):
        assert "inf" not in part.how
        assert part.how == said_of(part.how) + remark
    assert row_sum.how.count("exp(") == row + 1


def test_of_many_keys_those_that_are_seen_are_written():
    q = drawn(1, 40, 2)
    _, row_max, row_sum = workings(trace(q, q, q, keep=window(2, 0)), "weights", 30, 30).parts
    assert row_sum.how.count("exp(") == 3
    assert row_max.how.endswith(", without the 37 hidden keys")
    sinks = torch.tensor([0.5], dtype=torch.float64)
    nothing = trace(q[:2], q[:2], q[:2], keep=torch.zeros(2, 2).bool(), sinks=sinks)
    *_, row_sum, _ = workings(nothing, "weights", 0, 0).parts
    assert row_sum.how == "exp(0.5 - 0.5) = 1 = 1, with 0 for each of the 2 hidden keys"


def assert_lines_give_their_results(record, stage, i, j, size):
    for term in every_term(workings(record, stage, i, j)):
        if " = " in term.how:
            first, *_, last = said_of(term.how).split(" = ")
            # A factor below a thousand leaves the other its four decimals.
            slack = 3e-4 if term.name in ("weights", "row_sum") else 4e-4 * min(max(size, 1), 1e3)
            near = pytest.approx(evaluated(last), rel=1e-5, abs=slack)
            assert evaluated(first) == near, term.text


@pytest.mark.parametrize("p", [0.999, 0.99999, 1 - 2**-40, 0.5, 1 / 3, 1e-5])
def test_the_printed_p_gives_the_printed_weight(p):
    x = toy.journey().x
    record = trace(x, x, x, dropout=Dropout(p, 3360))
    kept = 0
    for i in range(6):
        for j in range(6):
            term = workings(record, "dropped", i, j)
            kept += term.value > 0
            value = evaluated(said_of(term.how).split(" = ")[0])
            assert value == pytest.approx(term.value, rel=5e-4), term.text
            assert term.value or term.how == "0, because dropout drops it"
    assert kept or p > 0.9999999


def test_a_p_near_1_is_written_whole():
    x = toy.journey().x
    record = trace(x, x, x, dropout=Dropout(0.99999, 3360))
    term = workings(record, "dropped", 3, 3)
    assert term.text == "dropped[3, 3] = 0.1551656392 / (1 - 0.99999) = 15516.5639"


def test_numbers_from_a_million_on_give_the_result_of_their_line():
    x = toy.journey().x
    term = workings(trace(x * 2000, x * 1000, x, scale=1.0), "weights", 1, 2)
    assert term.text == "weights[1, 2] = exp(2950800 - 2990000) / 1 = 0"
    term = workings(trace(x * 1000, x * 1000, x), "scaled", 1, 1)
    assert term.text == "scaled[1, 1] = 1495000 · 0.57735026919 = 863138.6524"


@pytest.mark.parametrize("size", [1.0, 30.0, 1e3, 3e4, 1e6, 1e9, 1e15])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_printed_line_gives_its_result(size, dtype):
    q, k, v = (drawn(seed, 3, 4).to(dtype) * size for seed in (1, 2, 3))
    for scale in (None, 1.0, 1 / size**2):
        record = trace(q, k, v, scale=scale, keep=causal())
        for i in range(3):
            assert_lines_give_their_results(record, "output", i, 1, size)


def test_sums_of_up_to_16_are_written_out_longer_ones_shortened():
    for count, terms in ((16, 16), (17, 13), (40, 13)):
        q = torch.ones(count, count)
        record = trace(q, q, q)
        how = workings(record, "scores", 0, 0).how
        assert how.count("1·1") == terms
        assert ("more" in how) == (count > 16)
        if count > 16:
            assert f"1·1 + … {count - 13} more … + 1·1 = {count}" in how
        weights = workings(record, "weights", 0, 0)
        assert weights.parts[2].how.count("exp(") == terms
        assert weights.value == pytest.approx(1 / count)
        output = workings(record, "output", 0, 0)
        shown = [part.index[1] for part in output.parts if part.name == "weights"]
        assert shown == (list(range(16)) if count == 16 else [*range(12), count - 1])
        assert len(output.parts) == 2 * terms


class TestWithASource:
    def record(self, biases=None, lead=(2,)):
        x = drawn(1, *lead, 4, 5)
        matrices = drawn(2, 5, 6), drawn(3, 5, 6), drawn(4, 5, 9)
        source = Projection(x, *matrices, biases)
        q, k, v = source.project()
        q, k = (t.unflatten(-1, (3, 2)).transpose(-3, -2) for t in (q, k))
        v = v.unflatten(-1, (3, 3)).transpose(-3, -2)
        return trace(q, k, v, source=source)

    @pytest.mark.parametrize("with_biases", [False, True])
    def test_the_tree_goes_on_to_x(self, with_biases):
        biases = (drawn(5, 6), drawn(6, 6), drawn(7, 9)) if with_biases else None
        record = self.record(biases)
        source = record.source
        term = workings(record, "output", 1, 2, batch=1, head=2)
        below = [part for part in every_term(term) if part.name in "qkv" and len(part.index) == 2]
        assert {part.name for part in below} == {"q", "k", "v"}
        for part in below:
            place = "qkv".index(part.name)
            matrix = (source.w_query, source.w_key, source.w_value)[place]
            position, d = part.index
            column = 2 * (3 if part.name == "v" else 2) + d
            wanted = (source.x[1, position] @ matrix[:, column]).item()
            pairs = re.findall(r"\(?(-?[\d.e-]+)\)?·\(?(-?[\d.e-]+)\)?", part.how)
            assert [pair[0] for pair in pairs] == [plain(n) for n in source.x[1, position].tolist()]
            assert [pair[1] for pair in pairs] == [plain(n) for n in matrix[:, column].tolist()]
            if with_biases:
                bias = biases[place][column].item()
                wanted += bias
                assert part.how.split(" = ")[0].endswith(f" + {plain(bias)}")
            assert part.value == pytest.approx(wanted, rel=1e-12)
            assert part.how.endswith(f" = {plain(part.value)}")

    def test_whole_numbers(self):
        toys = toy.three_tokens()
        source = Projection(toys.x, toys.w_query, toys.w_key, toys.w_value)
        record = trace(*source.project(), scale=1.0, source=source)
        assert str(workings(record, "scores", 0, 1)) == (
            "scores[0, 1] = 1·4 + 0·4 + 2·0 = 4\n"
            "  q[0] = (1, 0, 2)\n"
            "    q[0, 0] = 1·1 + 0·1 + 1·0 + 0·0 = 1\n"
            "    q[0, 1] = 1·0 + 0·0 + 1·0 + 0·1 = 0\n"
            "    q[0, 2] = 1·1 + 0·0 + 1·1 + 0·1 = 2\n"
            "  k[1] = (4, 4, 0)\n"
            "    k[1, 0] = 0·0 + 2·1 + 0·0 + 2·1 = 4\n"
            "    k[1, 1] = 0·0 + 2·1 + 0·1 + 2·1 = 4\n"
            "    k[1, 2] = 0·1 + 2·0 + 0·0 + 2·0 = 0"
        )

    def test_more_leading_axes(self):
        for lead in ((1,), (2, 2)):
            record = self.record(lead=lead)
            B = record.shape[0]
            term = workings(record, "scores", 0, 1, batch=B - 1, head=1)
            below = [part for part in every_term(term) if len(part.index) == 2 and part.name == "q"]
            assert len(below) == 2
            x = record.source.x.reshape(-1, 4, 5)[B - 1, 0]
            for part in below:
                assert part.value == pytest.approx(
                    (x @ record.source.w_query[:, 2 + part.index[1]]).item()
                )


def test_inputs_that_ask_for_gradients_and_float16():
    q = drawn(1, 2, 2).half().requires_grad_()
    term = workings(trace(q, q, q), "scores", 0, 0)
    assert term.value == sum(x * x for x in q[0].tolist())


def test_a_term_shows_itself():
    term = Term("scores", (0, 1), 2.0, "1·2 = 2", lambda: (Term("q", (0,), math.nan, "(1)"),))
    assert term.text == "scores[0, 1] = 1·2 = 2"
    assert repr(term) == str(term) == "scores[0, 1] = 1·2 = 2\n  q[0] = (1)"
