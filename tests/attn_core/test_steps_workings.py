"""The arithmetic of any number of a pass: its value from its parts, its line, and the way down."""

import random
import re
from dataclasses import replace
from functools import cache

import pytest
import torch

from attn_core import pretrained
from attn_core.digits import written
from attn_core.layers import DecoderLayer, EncoderLayer, LayerNorm
from attn_core.masks import padding
from attn_core.modules import SelfAttentionV1, StackedHeads
from attn_core.steps import Changes, Pass, run, workings
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.passes import exact
from attn_core.transformer import Transformer
from attn_core.translators import recurrent, transformer
from generate import model_vectors
from tests.attn_core.evaluated import evaluated, said_of
from tests.attn_core.step_models import MODELS, filled, one_pass, recorded

# A number that the sign of its part chooses.
CHOSEN = re.compile(r"(\S+), because (\S+) (is|is not) above 0")
NUMBER = re.compile(r"-?(?:inf|\d+(?:\.\d+)?(?:e[+-]\d+)?)")


def addresses(done):
    """Every number of a pass."""
    for step in done.steps.values():
        for stage in step.arrays:
            shape = done.value(step.name, stage).shape[1:]
            for index in torch.cartesian_prod(*map(torch.arange, shape)).tolist():
                yield step.name, stage, tuple(index) if isinstance(index, list) else (index,)


def some(done, count, seed=0):
    """Numbers from anywhere, each step as likely as another."""
    dice = random.Random(seed)
    for _ in range(count):
        step = done.steps[dice.choice(list(done.steps))]
        stage = dice.choice(step.arrays)
        shape = done.value(step.name, stage).shape[1:]
        yield step.name, stage, tuple(dice.randrange(size) for size in shape)


@cache
def array(done, name, stage=None):
    """The numbers of a stage; they stay as they are."""
    return done.value(name, stage)


def check(done, name, stage, index):
    """One number: its value, its parts, and that the line gives it from them."""
    term, step = workings(done, name, index, stage), done.steps[name]
    is_output = stage == step.output
    assert (term.name, term.index) == (name if is_output else f"{name}.{stage}", index)
    assert term.value == array(done, name, stage)[(0, *index)].item()
    owners = {name, *(done.place(source)[0].name for source in step.inputs)}
    for part in term.parts:
        place = done.steps.get(part.name)
        owner, of_stage = (part.name, None) if place else part.name.rsplit(".", 1)
        assert part.value == array(done, owner, of_stage)[(0, *part.index)].item()
        assert owner in owners
    needs_parts = step.inputs and stage != "angle"  # which follows from the position alone
    assert term.parts or not needs_parts or "because" in term.how or index[0] == 0, term
    assert "\n" not in term.text
    if step.operation == "words":
        return
    if chosen := CHOSEN.fullmatch(term.how):
        [x] = term.parts
        is_above = "is" if x.value > 0 else "is not"
        assert chosen.groups() == (written(term.value), written(x.value), is_above), term
        return
    computed, _, said = said_of(term.how).rpartition(" = ")
    assert said == written(term.value)
    if step.operation == "embed":
        assert not computed or evaluated(computed) == pytest.approx(term.value, rel=5e-4, abs=1e-3)
    elif not computed or computed.startswith("head"):
        assert [part.value for part in term.parts] == [term.value] * len(term.parts)
    else:
        assert all(written_in(part.value, term.how) for part in term.parts), term
        for text in computed.split(" = "):
            if "more" not in text:  # a long sum, of which a line shows the first terms and the last
                assert evaluated(text) == pytest.approx(term.value, rel=5e-4, abs=1e-3), term


def written_in(value, how):
    """Whether a line has a number, with as many digits as it needs beside another."""
    digits = {written(value, beside) for beside in (0, 1e3, 1e4, 1e5, 1e6)}
    return bool(digits & set(NUMBER.findall(how.replace(" - ", " – "))))


@pytest.mark.parametrize("name", MODELS)
def test_numbers_of_small_models(name):
    done = run(recorded(name).with_softmax(), source=[3, 5, 4], target=[1, 3])
    places = list(addresses(done))
    assert len(places) > 200
    for place in places[:: max(1, len(places) // 250)]:
        check(done, *place)


@pytest.mark.parametrize(
    "changes",
    [
        Changes(heads_off=[("encoder.0.attention", 1)]),
        Changes(positions_off=["source_places", "target_places"]),
        Changes(residuals_off=["encoder.0.residuals.1.sum"]),
        Changes(norms_off=["encoder.0.residuals.0.norm"]),
        Changes(mask_off=["decoder.0.self_attention"], scale_off=["decoder.1.cross_attention"]),
    ],
    ids=repr,
)
def test_numbers_under_a_change(changes):
    done = run(recorded("transformer").with_softmax(), changes, source=[3, 5, 4], target=[1, 3])
    named = {
        switched_off if isinstance(switched_off, str) else switched_off[0]
        for of in vars(changes).values()
        for switched_off in of
    }
    places = [place for place in addresses(done) if place[0] in named]
    assert places
    for place in [*places, *some(done, 50)]:
        check(done, *place)


@pytest.mark.gate
def test_a_thousand_numbers_of_the_translator():
    words = ["the", "big", "cat", "sees", "Spike", "in", "the", "garden"]
    done = exact(
        transformer.recorded(transformer.stored(), words, ["大", "的", "猫", "在", "花园"])
    )
    for place in some(done, 1000):
        check(done, *place)


@pytest.mark.parametrize("attends", [True, False])
def test_numbers_of_the_recurrent_translators(attends):
    model, words = recurrent.stored(attends), ["the", "big", "cat", "sees", "Spike"]
    done = exact(recurrent.recorded(model, words, ["大", "的", "猫"]))
    for place in some(done, 300):
        check(done, *place)


@pytest.mark.trained_model
def test_numbers_of_minilm():
    done = exact(pretrained.minilm().recorded("Your journey starts."))
    for place in some(done, 200):
        check(done, *place)


def test_a_number_beside_a_large_one_has_the_digits_that_the_line_needs():
    norm = LayerNorm(4)
    model = Transformer(6, 6, width=6, num_heads=1, hidden=2, num_layers=1, longest=8)
    with torch.no_grad():
        norm.gain.fill_(5000.0)
        model.source_words.weight.fill_(2500.0)
    line = workings(one_pass(norm, torch.tensor([[1.0, 2.0, 3.0, 4.0]])), "layer_norm", (0, 3))
    assert line.text == "layer_norm[0, 3] = 1.34163542 · 5000 + 0 = 6708.1771"
    line = workings(one_pass(model, *MODELS["transformer"]()[1]), "source_words", (0, 0))
    assert line.text == "source_words[0, 0] = 2500 · 2.44948974 = 6123.7244"
    model, words = MODELS["with attention"]()
    with torch.no_grad():
        model.reader.bias_hh_l0[:6], model.reader.bias_hh_l0[6:] = 0.25, 5000.0
    line = workings(one_pass(model, *words), "reader", (0, 1), "candidate")
    assert line.text == "reader.candidate[0, 1] = tanh(-0.4375 + 0.58888913·5000) = 1"


def test_numbers_of_layers_and_single_modules():
    x = ((torch.arange(24.0) * 7 % 11 - 5) / 4).view(1, 6, 4)
    keep = torch.ones(6, 6, dtype=torch.bool)
    keep[2] = False
    passes = [
        one_pass(filled(SelfAttentionV1(4, 2), torch.float32), x[0]),
        one_pass(filled(StackedHeads(4, 2, num_heads=2), torch.float32), x),
        one_pass(filled(EncoderLayer(4, 2, 6), torch.float32), x, keep),
        one_pass(
            filled(DecoderLayer(4, 2, 6), torch.float32), x, x[:, :3], memory_keep=padding([2])
        ),
    ]
    for steps in passes:
        for place in some(exact(steps), 200):
            check(exact(steps), *place)
    dead = workings(passes[2], "attention", (0, 2, 1), "weights")
    assert [part.text for part in dead.parts[1:]] == [
        "attention.row_max[0, 2] = 0, because the row keeps nothing",
        "attention.row_sum[0, 2] = 1, because the row keeps nothing",
    ]
    assert dead.parts[1].parts == ()


OF_OTHER_SHAPES = {"words", "given", "embed", "concat", "gru", "repeat", "cross_entropy", "itself"}
BY_ITSELF = [
    name
    for name, operation in OPERATIONS.items()
    if operation.has_output and name not in OF_OTHER_SHAPES
]


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", BY_ITSELF)
def test_numbers_of_an_operation_with_each_of_its_settings(name, is_whole):
    steps, dice = model_vectors.repeated(OPERATIONS[name]), random.Random(0)
    for changes in (Changes(), *model_vectors.switched(OPERATIONS[name])):
        done = run(steps, changes, source=[5, 4], target=[1, 3, 5])
        places = [place for place in addresses(done) if place[0].startswith(f"{name}.")]
        for place in places if is_whole else dice.sample(places, min(250, len(places))):
            check(done, *place)


def test_an_eps_that_is_a_whole_number_has_no_point():
    line = workings(model_vectors.repeated(OPERATIONS["rms_norm"]), "rms_norm.2", (0, 1), "normed")
    assert re.search(r"√\(\d\.\d+ \+ 2\)", line.how), line.how


def test_of_a_float32_model_numbers_are_computed_in_float64():
    model, words = MODELS["transformer"]()
    steps = one_pass(model.float(), *words)
    term = workings(steps, "encoder.0.residuals.1.norm", (2, 3))
    assert term.value != steps["encoder.0.residuals.1.norm"].value[0, 2, 3].item()
    assert term.value == pytest.approx(
        steps["encoder.0.residuals.1.norm"].value[0, 2, 3].item(), 1e-5
    )


# The lines.


WANTED = [
    "source[1] = chases (5)",
    "source_words[1, 2] = -0.3125 · 2 = -0.625",
    "source_places[1, 2] = -0.625 + 0.0100 = -0.6150",
    "encoder.0.attention.w_query[1, 2] = 0.3415·(-0.5) + 0.1653·(-0.25) + "
    "(-0.6150)·(-0.1875) + 1.8749·(-0.3125) + 0.5 = -0.1827",
    "encoder.0.attention.scaled[1, 1, 0] = 0.3267 · 0.7071 = 0.2310",
    "encoder.0.attention[1, 2] = head 1, column 0 = 0.2383",
    "encoder.0.residuals.0.sum[1, 2] = -0.6150 + 0.5425 = -0.0725",
    "encoder.0.residuals.0.norm.mean[1, 0] = ((-0.1288) + 0.8267 + (-0.0725) + 2.1989) / 4 = "
    "0.7061",
    "encoder.0.residuals.0.norm.variance[1, 0] = ((-0.1288 - 0.7061)² + (0.8267 - 0.7061)² + "
    "(-0.0725 - 0.7061)² + (2.1989 - 0.7061)²) / 4 = 0.8866",
    "encoder.0.residuals.0.norm.normed[1, 2] = (-0.0725 - 0.7061) / √(0.8866 + 1e-05) = -0.8269",
    "encoder.0.residuals.0.norm[1, 2] = -0.8269 · 1.3125 + 0.3125 = -0.7728",
    "encoder.0.feed_forward.activation[1, 2] = max(0, -0.2685) = 0",
    "probabilities[0, 1] = exp(0.5334 - 0.5334) / 4.4595 = 0.2242",
    "probabilities.row_sum[0] = exp(0.4883 - 0.5334) + exp(0.5334 - 0.5334) + exp(0.1290 - "
    "0.5334) + exp(-0.5736 - 0.5334) + exp(0.4603 - 0.5334) + exp(-0.0178 - 0.5334) = 0.9559 "
    "+ 1 + 0.6674 + 0.3305 + 0.9295 + 0.5762 = 4.4595",
]
# Its first word has no state before it, which counts as 0.
WANTED_OF_GRU = [
    "reader.recurrent[0, 1] = 0·0.3125 + 0·(-0.0625) + 0·0.4375 + (-0.25) = -0.25",
    "reader.update[0, 1] = σ(0.7852 + 0.4375) = 0.7725",
    "reader.candidate[0, 1] = tanh(-0.4375 + 0.4649·0.5) = -0.2022",
    "reader[0, 1] = (1 - 0.7725)·(-0.2022) + 0.7725·0 = -0.0460",
    "reader.recurrent[1, 0] = 0.2748·0.3125 + (-0.0460)·0.5 + 0.0881·0.5 + (-0.5) = -0.3931",
    "reader.reset[1, 0] = σ(-0.5742 + (-0.3931)) = 0.2754",
    "reader.candidate[1, 0] = tanh(0.3711 + 0.2754·0.4544) = 0.4592",
    "reader[1, 0] = (1 - 0.5157)·0.4592 + 0.5157·0.2748 = 0.3641",
    "reader[0, 0] = (1 - 0.4216)·0.4751 + 0.4216·0 = 0.2748",
    "c[0, 1] = 0.1860",
    "beside[1, 4] = 0.0959",
    "blended[1, 1] = tanh(-0.1134) = -0.1129",
]


def at(done, place):
    """The number at a place as its line names it, "reader.update[0, 1]"."""
    name, _, index = place.removesuffix("]").partition("[")
    stage = None
    if name not in done.steps:
        name, _, stage = name.rpartition(".")
    return workings(done, name, tuple(map(int, index.split(", "))), stage)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("transformer", WANTED), ("with attention", WANTED_OF_GRU)],
    ids=["transformer", "gru"],
)
def test_lines(name, wanted):
    done = run(recorded(name).with_softmax(), source=[3, 5, 4], target=[1, 3])
    assert [at(done, line.partition(" = ")[0]).text for line in wanted] == wanted


def test_lines_of_what_is_switched_off():
    changes = Changes(
        heads_off=[("encoder.0.attention", 1)],
        positions_off=["source_places"],
        residuals_off=["encoder.0.residuals.0.sum"],
        norms_off=["encoder.0.residuals.0.norm"],
    )
    done = run(recorded("transformer"), changes, source=[3, 5, 4], target=[1, 3])
    for place, why, parts in (
        ("encoder.0.attention[1, 2]", "head 1 is", []),
        ("source_places[1, 2]", "the positions are", ["source_words"]),
        ("encoder.0.residuals.0.sum[1, 2]", "the residual is", ["encoder.0.attention.out_proj"]),
        ("encoder.0.residuals.0.norm[1, 2]", "the norm is", ["encoder.0.residuals.0.sum"]),
    ):
        term = at(done, place)
        assert term.how.partition(", ")[2] == f"because {why} switched off"
        assert [part.name for part in term.parts] == parts


def test_a_long_sum_shows_its_first_terms_and_the_last():
    steps = transformer.recorded(transformer.stored(), ["Tom", "sees", "Jerry"], ["汤姆"])
    term = workings(steps, "words_out", (0, 3))
    assert " + … 19 more … + " in term.how
    assert term.how.count("·") == len(term.parts) == 13
    assert [part.index[1] for part in term.parts] == [*range(12), 31]


def test_the_parts_of_a_softmax():
    steps = recorded("transformer").with_softmax()
    attention = "decoder.0.cross_attention"
    for name, place, row in (
        ("probabilities", (1,), [("words_out", (1, i)) for i in range(6)]),
        (attention, (1, 0), [(f"{attention}.scaled", (1, 0, i)) for i in range(3)]),
    ):
        for stage, more in (("row_max", []), ("row_sum", [(f"{name}.row_max", place)])):
            parts = workings(steps, name, place, stage).parts
            assert [(part.name, part.index) for part in parts] == row + more


# The tree.


def test_parts_are_made_when_they_are_asked_for(monkeypatch):
    counted, linear = [], OPERATIONS["linear"]
    counting = replace(linear, line=lambda cell: counted.append(cell) or linear.line(cell))
    monkeypatch.setitem(OPERATIONS, "linear", counting)
    term = workings(recorded("transformer"), "words_out", (0, 1))
    assert len(counted) == 1
    assert term.parts is term.parts
    assert len(counted) == 1  # its parts are of a norm
    str(term)
    assert len(counted) == 1


def test_one_level_is_written_unless_more_are_asked_for():
    term = workings(recorded("transformer"), "source_places", (1, 2))
    below = ["source_places[1, 2]", "  source_words[1, 2]", "    source[1]"]
    for text, lines in ((str(term), 2), (term.written(0), 1), (term.written(), 3)):
        assert [line.partition(" = ")[0] for line in text.splitlines()] == below[:lines]
    assert repr(term) == str(term)
    assert term.written().splitlines()[2] == "    source[1] = chases (5)"


@pytest.mark.parametrize("name", MODELS)
def test_each_way_down_ends_at_a_word(name):
    steps = recorded(name).with_softmax()
    for seed in range(20):
        dice, term, length = random.Random(seed), workings(steps, "probabilities", (1, 3)), 0
        while term.parts:
            term, length = dice.choice(term.parts), length + 1
            assert length < 200
        is_word = term.name in ("source", "target")
        assert is_word or "because" in term.how or term.name == "reader.recurrent"
        if is_word:
            assert re.search(r"= .+ \(\d\)$", term.text)


def test_without_a_vocabulary_a_word_is_its_id():
    model, words = MODELS["transformer"]()
    steps = one_pass(model, *words)
    assert workings(steps, "source", (2,)).text == "source[2] = 4"


def test_of_several_sentences_one_is_asked_for():
    model, _ = MODELS["transformer"]()
    words = torch.tensor([[3, 5, 4], [4, 4, 3]]), torch.tensor([[1, 2], [1, 5]])
    steps = one_pass(model, *words)
    for batch in range(2):
        term = workings(steps, "words_out", (1, 3), batch=batch)
        assert term.value == pytest.approx(model(*words)[batch, 1, 3].item())
        weights = workings(steps, "decoder.0.cross_attention", (1, 1, 2), "weights", batch=batch)
        wanted = steps.record("decoder.0.cross_attention").stage("weights")[batch, 1, 1, 2]
        assert weights.value == pytest.approx(wanted.item())
        leaf = workings(steps, "source", (0,), batch=batch)
        assert leaf.value == words[0][batch, 0].item()


def test_a_pass_is_computed_once_for_all_questions():
    steps = recorded("one vector")
    assert exact(steps) is exact(steps)
    assert isinstance(exact(steps), Pass)
