"""The written arithmetic of a backward pass: its values are autograd's, its text is its values."""

import math
import random

import pytest
import torch

from attn_core import Dropout, causal, trace, workings
from attn_core.digits import plain, written
from attn_core.gradients.cells import STAGES
from attn_core.rotary import Rotary
from attn_core.source import Projection
from tests.attn_core.evaluated import evaluated, every_term, said_of
from tests.attn_core.reference import drawn
from tests.attn_core.test_gradients import SOURCES, by_autograd, projected, split

OF_A_SOURCE = ("x", "w_query", "w_key", "w_value", "bias_query", "bias_key", "bias_value")
KEEPS = (None, causal(), "cells")
HEADS = ((1, 1), (2, 1), (2, 2))


def random_record(draw):
    """A record, the gradient of its output, and all its gradients from autograd."""
    B, L, heads = draw.randint(1, 2), draw.randint(1, 4), draw.choice(HEADS)
    with_source = draw.random() < 0.5
    S, D, Dv, E = (L if with_source else draw.randint(1, 4)), 2, draw.randint(1, 3), 3
    seed = draw.randrange(2**20)
    keep = draw.choice(KEEPS)
    how = {
        "keep": drawn(seed, L, S) > 0 if keep == "cells" else keep,
        "dropout": draw.choice((None, Dropout(0.4, seed))),
        "softcap": draw.choice((None, None, 1.5)),
        "sinks": draw.choice((None, None, drawn(seed, heads[0]))),
        "bias": draw.choice((None, None, drawn(seed, L, S))),
        "scale": draw.choice((None, 1.0, -0.7)),
    }
    pull = drawn(seed + 9, B, heads[0], L, Dv)
    if not with_source:
        q, k, v = (
            drawn(seed + n, B, *size)
            for n, size in enumerate(((heads[0], L, D), (heads[1], S, D), (heads[1], S, Dv)))
        )
        record = trace(q, k, v, **how)
        return record, pull, by_autograd(record, pull)
    widths = heads[0] * D, heads[1] * D, heads[1] * Dv
    matrices = [drawn(seed + 2 + n, E, width) for n, width in enumerate(widths)]
    biases = draw.choice((None, tuple(drawn(seed + 5 + n, w) for n, w in enumerate(widths))))
    rotary = draw.choice((None, Rotary(D), Rotary(D, 100.0, "interleaved")))
    source = Projection(drawn(seed, B, L, E), *matrices, biases, rotary)
    record = trace(*split(source, heads, D, Dv), source=source, **how)
    live = source.each(lambda tensor: tensor.clone().requires_grad_())
    output = trace(*split(live, heads, D, Dv), **how).output
    leaves = [live.x, live.w_query, live.w_key, live.w_value, *(live.biases or ())]
    grads = torch.autograd.grad(output, leaves, pull)
    return record, pull, by_autograd(record, pull) | dict(zip(OF_A_SOURCE, grads, strict=False))


def shape_of(record, name, wanted):
    """(batches, heads, rows, columns) of the numbers of one name."""
    shape = tuple(wanted.shape)
    if name == "x":
        return shape[0], 1, *shape[1:]
    return (1, 1, *shape) if name.startswith(("w_", "bias_")) else shape


def assert_line(term):
    """The printed numbers of a line give its result, and its parts are among them."""
    assert "\n" not in term.text
    assert term.text.startswith(f"{term.name}[")
    if math.isnan(term.value):
        return
    size = max([1.0, abs(term.value), *(abs(p.value) for p in term.parts if p.value == p.value)])
    lines = [said_of(text) for text in term.how.split(" = ")]
    for text in lines:
        if math.isfinite(term.value):
            assert evaluated(text) == pytest.approx(term.value, rel=1e-3, abs=2e-3 * size), (
                term.text
            )
    assert float(lines[-1]) == float(written(term.value))
    if term.name.split(": ")[-1].startswith("grad_"):
        for part in term.parts:
            if part.value == part.value:
                forms = written(part.value), plain(part.value), written(part.value, 5000.0)
                assert any(form in term.how for form in forms), (term.text, part.text)


def assert_lines(term, draw):
    """This line, all parts of it, and so on down one way to a leaf."""
    assert_line(term)
    while term.parts:
        for part in term.parts:
            assert_line(part)
        term = draw.choice(term.parts)


@pytest.mark.gate
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_random_gradients(seed):
    draw = random.Random(seed)
    for _ in range(5):
        record, pull, found = random_record(draw)
        grads = record.gradients(pull)
        names = [name for name in found if name not in ("output", "weights", "dropped", "table")]
        names = [name for name in names if name != "sinks"] + ["weights", "dropped", "output"]
        for _ in range(10):
            name = draw.choice(names)
            wanted = found[name]
            sizes = shape_of(record, name, wanted)
            batch, head, *place = (draw.randrange(size) for size in sizes)
            label = "row_dot" if name == "row_dot" else f"grad_{name}"
            term = grads.workings(label, *place, batch=batch, head=head)
            assert (term.name, term.index) == (label, tuple(place))
            exact = wanted.reshape(sizes)[batch, head][tuple(place)].item()
            assert term.value == pytest.approx(exact, rel=1e-10, abs=1e-10)
            assert_lines(term, draw)


def by_hand(keep=None):
    q = torch.tensor([[3.0], [1.0]]).log()
    k, v = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [4.0]])
    return trace(q, k, v, scale=1.0, keep=keep).gradients(torch.tensor([[2.0], [-2.0]]))


def test_the_tree_as_text():
    assert str(by_hand().workings("grad_scores", 0, 1)) == (
        "grad_scores[0, 1] = 1.5000 · 1 = 1.5000\n"
        "  grad_masked[0, 1] = 0.7500 · (8 - 6.0000) = 1.5000\n"
        "    weights[0, 1] = exp(1.0986 - 1.0986) / 1.3333 = 0.7500\n"
        "      scaled[0, 1] = 1.0986 · 1 = 1.0986\n"
        "        scores[0, 1] = 1.0986·1 = 1.0986\n"
        "          q[0] = (1.0986)\n"
        "          k[1] = (1)\n"
        "      row_max[0] = max(0, 1.0986) = 1.0986\n"
        "      row_sum[0] = exp(0 - 1.0986) + exp(1.0986 - 1.0986) = 0.3333 + 1 = 1.3333\n"
        "    grad_dropped[0, 1] = 2·4 = 8\n"
        "      grad_output[0] = (2)\n"
        "      v[1] = (4)\n"
        "    row_dot[0] = 2·3.0000 = 6.0000\n"
        "      grad_output[0] = (2)\n"
        "      output[0, 0] = 0.2500·0 + 0.7500·4 = 3.0000\n"
        + "".join(f"{' ' * 8}{line}\n" for line in OUTPUT_0.splitlines())
    ).rstrip("\n")


OUTPUT_0 = "\n".join(
    line
    for term in workings(by_hand().record, "output", 0, 0).parts
    for line in str(term).splitlines()
)


def test_what_is_hidden_or_dropped_says_so():
    grads = by_hand(causal())
    for name in ("grad_masked", "grad_scaled"):
        term = grads.workings(name, 0, 1)
        assert term.text == f"{name}[0, 1] = 0, because the mask does not keep it"
        assert (term.value, term.parts) == (0.0, ())
    assert grads.workings("grad_scores", 0, 1).text == "grad_scores[0, 1] = 0 · 1 = 0"
    record = trace(*[drawn(1, 2, 3)] * 3, dropout=Dropout(0.5, 7))
    survives = record.dropout.survives(*record.everything)[0, 0]
    grads = record.gradients(drawn(9, 2, 3))
    row, col = (~survives).nonzero()[0].tolist()
    term = grads.workings("grad_weights", row, col)
    assert term.text == f"grad_weights[{row}, {col}] = 0, because dropout drops it"
    row, col = survives.nonzero()[0].tolist()
    term = grads.workings("grad_weights", row, col)
    assert term.how.split(" = ")[0].endswith(" / (1 - 0.5)")
    assert [part.name for part in term.parts] == ["grad_dropped"]


@pytest.mark.parametrize("keep", [None, causal()], ids=str)
@pytest.mark.parametrize("dropout", [None, Dropout(0.2, 3)], ids=["", "dropout"])
def test_a_mask_and_dropout_have_lines_only_where_there_are_some(keep, dropout):
    record = trace(*[drawn(1, 3, 2)] * 3, keep=keep, dropout=dropout)
    term = record.gradients(drawn(9, 3, 2)).workings("grad_q", 2, 1)
    names = {part.name for part in every_term(term)}
    assert ("grad_scaled" in names) == (keep is not None)
    assert ("grad_weights" in names) == ("dropped" in names) == (dropout is not None)
    always = {"grad_q", "grad_scores", "grad_masked", "grad_dropped", "row_dot", "grad_output"}
    assert always | {"output", "weights", "scores", "q", "k", "v"} <= names


def test_heads_that_share_a_key_are_added():
    record = trace(drawn(1, 1, 4, 3, 2), drawn(2, 1, 2, 3, 2), drawn(3, 1, 2, 3, 2))
    grads = record.gradients(drawn(9, 1, 4, 3, 2))
    for name in ("grad_k", "grad_v"):
        term = grads.workings(name, 1, 0, head=1)
        assert [part.name for part in term.parts] == [f"head 2: {name}", f"head 3: {name}"]
        a, b = (part.value for part in term.parts)
        assert term.how == f"{bracketed(a)} + {bracketed(b)} = {written(a + b)}"


def bracketed(x):
    return f"({written(x)})" if x < 0 else written(x)


class TestWithASource:
    def test_every_gradient_goes_down_to_x_and_the_matrices(self):
        record, pull = projected(rotary=Rotary(4))
        grads = record.gradients(pull)
        term = grads.workings("grad_x", 1, 2, batch=1)
        ways = [f"through {name}: grad_x" for name in "qkv"]
        assert [part.name for part in term.parts] == ways
        of_q = term.parts[0]
        assert [part.name for part in of_q.parts[:1]] == ["head 0: grad_projected_q"]
        assert of_q.parts[-1].text.startswith("w_query[2, 15] = ")
        assert [part.name for part in of_q.parts[5].parts] == ["grad_q", "grad_q", "angle"]
        of_v = term.parts[2]
        assert of_v.parts[0].name == "head 0: grad_v"
        assert {"head 0: grad_v", "head 1: grad_v"} == {part.name for part in of_v.parts[0].parts}

    def test_sentences_are_added(self):
        record, pull = projected()
        grads = record.gradients(pull)
        for name, place in (("grad_w_key", (2, 3)), ("grad_bias_key", (3,))):
            term = grads.workings(name, *place)
            assert [part.name for part in term.parts] == [f"batch 0: {name}", f"batch 1: {name}"]
        first = grads.workings("grad_w_key", 2, 3).parts[0]
        assert [part.name for part in first.parts] == ["x"] * 5 + ["head 0: grad_k"] * 5

    @pytest.mark.parametrize(
        "how", ["positions of each", "positions for all", "positions of the first axis"]
    )
    def test_each_sentence_is_rotated_by_its_own_positions(self, how):
        record, pull = projected(**SOURCES[how])
        grads, last = record.gradients(pull), record.shape[0] - 1
        wanted = grads.grad_x.reshape(-1, 5, 6)[last, 3, 2].item()
        term = grads.workings("grad_x", 3, 2, batch=last)
        assert term.value == pytest.approx(wanted, rel=1e-10)
        for part in every_term(workings(record, "scores", 3, 1, batch=last, head=0)):
            assert_line(part)

    def test_the_leaves_of_the_forward_pass_go_on(self):
        record, pull = projected()
        term = record.gradients(pull).workings("grad_dropped", 1, 2, batch=0, head=3)
        vector = term.parts[1]
        assert vector.text.startswith("v[2] = (")
        assert [part.index for part in vector.parts] == [(2, 0), (2, 1), (2, 2)]
        assert all(" = " in part.how for part in vector.parts)


def test_long_sums_are_shortened():
    record = trace(*[drawn(seed, 40, 2) for seed in (1, 2, 3)])
    grads = record.gradients(drawn(9, 40, 2))
    for name in ("grad_q", "grad_k", "grad_v"):
        term = grads.workings(name, 7, 1)
        assert "… 27 more …" in term.how
        assert len(term.parts) == 26
        exact = by_autograd(record, grads.grad_output_4d)[name.removeprefix("grad_")]
        assert term.value == pytest.approx(exact[0, 0, 7, 1].item(), rel=1e-10)


def test_each_stage_says_its_number():
    record = trace(*[drawn(seed, 3, 2).float() for seed in (1, 2, 3)], keep=causal())
    grads = record.gradients(drawn(9, 3, 2).float())
    for name in STAGES:
        cells = grads.stage(name)
        for row in range(3):
            for col in range(cells.shape[1]):
                value = grads.workings(name, row, col).value
                assert value == pytest.approx(cells[row, col].item(), rel=1e-5, abs=1e-6)
