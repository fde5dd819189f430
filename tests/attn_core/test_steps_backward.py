"""Gradients of steps: each operation against autograd and differences, whole models, every line."""

import math
import random
from functools import cache

import pytest
import torch
from torch import nn

from attn_core import causal, window
from attn_core.language.model import LanguageModel
from attn_core.layers import DecoderLayer, EncoderLayer, LayerNorm
from attn_core.masks import padding
from attn_core.modules import SelfAttentionV1, StackedHeads
from attn_core.steps import Changes, Step, Steps, backward, run, workings
from attn_core.steps.operation import INPUTS, Backward, BackwardOperation, gradient_of
from attn_core.steps.operations import FORWARD, OPERATIONS
from attn_core.translators import recurrent, transformer
from generate import model_vectors
from tests.attn_core.step_models import MODELS, filled, one_pass, recorded
from tests.attn_core.test_steps_workings import BY_ITSELF, addresses, check, some

WITHIN = {"rtol": 1e-10, "atol": 1e-10}
same = torch.testing.assert_close

# Each operation by itself, with all in which its steps can differ: inputs, weights, settings.

B, T, E = 2, 3, 4
ROWS, IDS = (B, T, E), "ids"
GAINS = {"gain": (E,), "bias": (E,)}
TABLE = {"table": (5, E)}
GRU = {"weight_hh": (3 * E, E), "bias_hh": (3 * E,)}
MATRIX = {"weight": (5, E), "bias": (5,)}
TURNED = {"weight": (E, 5)}
SIX = (B, T, 6)
HEADS = {"num_heads": 3, "scale": 0.7}
LETTERS = (B, 5, 2)
CASES = {
    "add": [([ROWS, ROWS], {}, {}), ([ROWS, ROWS], {}, {"off": True})],
    "linear": [
        ([ROWS], MATRIX, {}),
        ([ROWS], {"weight": (5, E)}, {}),
        ([ROWS], TURNED, {"transposed": True}),
    ],
    "embed": [([IDS], {"weight": (6, E)}, {}), ([IDS], {"weight": (6, E)}, {"times": 2.5})],
    "add_positions": [
        ([ROWS], TABLE, {}),
        ([ROWS], TABLE, {"off": True}),
        ([ROWS], {}, {"kind": "sinusoids"}),
    ],
    "add_row": [([ROWS], TABLE, {"row": 3})],
    "layer_norm": [
        ([ROWS], GAINS, {"eps": 0.25}),
        ([ROWS], GAINS, {"eps": 0}),
        ([ROWS], GAINS, {"eps": 0.25, "off": True}),
    ],
    "rms_norm": [
        ([ROWS], {"gain": (E,)}, {"eps": 0.25}),
        ([ROWS], {"gain": (E,)}, {"eps": 0.25, "off": True}),
    ],
    "relu": [([ROWS], {}, {})],
    "gelu": [([ROWS], {}, {})],
    "tanh": [([ROWS], {}, {})],
    "silu": [([ROWS], {}, {})],
    "multiply": [([ROWS, ROWS], {}, {})],
    "softmax": [([ROWS], {}, {})],
    "attention": [
        ([SIX, (B, 5, 6), (B, 5, 3)], {}, HEADS),
        ([SIX, SIX, SIX], {}, {**HEADS, "keep": causal()}),
        ([SIX, SIX, SIX], {}, {**HEADS, "keep": causal() & window(1)}),
        ([SIX, SIX, SIX], {}, {**HEADS, "keep": padding([2, 3])}),
        ([SIX, SIX, SIX], {}, {**HEADS, "keep": causal(), "heads_off": [0, 2]}),
        ([SIX, LETTERS, LETTERS], {}, {**HEADS, "num_kv_heads": 1, "keep": window(1, 1)}),
        ([(B, T, 8), ROWS, ROWS], {}, {"num_heads": 4, "num_kv_heads": 2, "scale": 1.0}),
    ],
    "rotary": [
        ([(B, T, 8)], {}, {"head_dim": 4, "base": 9.0, "pairing": "halves"}),
        ([(B, T, 8)], {}, {"head_dim": 4, "base": 9.0, "pairing": "interleaved"}),
        ([(B, T, 8)], {}, {"head_dim": 4, "off": True}),
    ],
    "concat": [([ROWS], {}, {}), ([ROWS, SIX, ROWS], {}, {})],
    "last_row": [([ROWS], {}, {})],
    "repeat": [([(B, 1, E), SIX], {}, {})],
    "gru": [([(B, T, 3 * E)], GRU, {}), ([(B, T, 3 * E), (B, 1, E)], GRU, {})],
    "cross_entropy": [([SIX, IDS], {}, {}), ([SIX, IDS], {}, {"ignored": 4})],
}  # fmt: skip
EACH = [(name, n) for name, cases in CASES.items() for n in range(len(cases))]
TORCH = {"gelu": nn.functional.gelu, "silu": nn.functional.silu, "relu": nn.functional.relu}


def drawn(shape, generator):
    if shape == IDS:
        return torch.tensor([[3, 1, 3], [4, 0, 4]])
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def case(name, n):
    """The operation, its inputs, weights and settings, and a gradient of its output."""
    shapes, weights, settings = CASES[name][n]
    generator = torch.Generator().manual_seed(n)
    inputs = [drawn(shape, generator) for shape in shapes]
    weights = {role: drawn(shape, generator) for role, shape in weights.items()}
    operation = OPERATIONS[name]
    made = operation(inputs, weights, settings)[operation.stages[-1]]
    return operation, inputs, weights, settings, drawn(made.shape, generator)


def gradients_of(operation, inputs, weights, settings, gradient):
    """The gradient of each input and each weight; that of a weight for each sentence."""
    back, taken = operation.backward_operation(), []
    made = operation(inputs, weights, settings)
    for read in operation.backward.reads:
        taken += inputs if read == INPUTS else [made[read]]
    stages = back([gradient, *taken], weights, settings)
    names = [*operation.gradients(len(inputs)), *map(gradient_of, weights)]
    return [None if name is None else stages[name] for name in names]


def parts_of(inputs, weights):
    return [*inputs, *weights.values()]


@pytest.mark.parametrize(("name", "n"), EACH)
def test_an_operation_against_autograd(name, n):
    operation, inputs, weights, settings, gradient = case(name, n)
    mine = gradients_of(operation, inputs, weights, settings, gradient)
    tensors = parts_of(inputs, weights)
    asked = [tensor for tensor in tensors if tensor.is_floating_point()]
    for tensor in asked:
        tensor.requires_grad_()
    made = operation(inputs, weights, settings)[operation.stages[-1]]
    sentences = range(len(made)) if weights else [slice(None)]
    for sentence in sentences:
        alone = torch.zeros_like(gradient)
        alone[sentence] = gradient[sentence]
        wanted = iter(
            torch.autograd.grad(made, asked, alone, retain_graph=True, materialize_grads=True)
        )
        for k, tensor in enumerate(tensors):
            if not tensor.is_floating_point():
                assert mine[k] is None
            elif mine[k] is None:
                assert not next(wanted).any()
            elif k < len(inputs):
                same(mine[k][sentence], next(wanted)[sentence], **WITHIN)
            else:
                same(mine[k][sentence], next(wanted), **WITHIN)


@pytest.mark.parametrize(("name", "n"), EACH)
def test_an_operation_against_differences(name, n):
    operation, inputs, weights, settings, gradient = case(name, n)
    mine = gradients_of(operation, inputs, weights, settings, gradient)
    step = 2.0**-18

    def number():
        return (operation(inputs, weights, settings)[operation.stages[-1]] * gradient).sum().item()

    for k, tensor in enumerate(parts_of(inputs, weights)):
        if not tensor.is_floating_point() or mine[k] is None:
            continue
        whole = mine[k] if k < len(inputs) else mine[k].sum(0)
        flat = tensor.view(-1)
        for i in range(0, len(flat), max(1, len(flat) // 12)):
            before = flat[i].item()
            flat[i] = before + step
            above = number()
            flat[i] = before - step
            below = number()
            flat[i] = before
            wanted = (above - below) / (2 * step)
            assert whole.flatten()[i].item() == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_each_operation_has_a_backward_pass_or_says_why_not():
    for operation in OPERATIONS.values():
        if operation.is_leaf:
            continue
        if isinstance(operation.backward, Backward):
            assert OPERATIONS[f"{operation.name}_backward"].of is operation
            assert operation.name in CASES
        else:
            assert operation.backward, f"{operation.name} must have a backward pass or say why not"
    assert set(CASES) == {forward.name for forward in FORWARD if forward.backward_operation()}


def test_each_input_that_reads_numbers_gets_a_gradient():
    """What gets none are ids, and a row that only says how many there are."""
    without = {
        forward.name: [n for n, name in enumerate(forward.backward.inputs) if name is None]
        for forward in FORWARD
        if forward.backward_operation()
    }
    assert {name: none for name, none in without.items() if none} == {
        "embed": [0],
        "repeat": [1],
        "cross_entropy": [1],
    }


# Whole models.


def by_autograd(done, name, index, batch=0):
    """The gradients of one number as autograd gives them, through the formulas of the pass."""
    weights = {key: done.steps.weights[key].detach().double() for key in done.steps.weights}
    weights = {key: weight.requires_grad_() for key, weight in weights.items()}
    made = {}
    for step in done.steps.values():
        operation = OPERATIONS[step.operation]
        if operation.is_leaf:
            value = done.inputs[step.name]
            value = value.clone().requires_grad_() if value.is_floating_point() else value
        else:
            roles = {role: weights[key] for role, key in step.parameters.items()}
            inputs = [made[source] for source in step.inputs]
            value = operation(inputs, roles, step.settings)[step.output]
        if value.requires_grad:
            value = value.clone()  # a norm that is off gives the same tensor
            value.retain_grad()
        made[step.name] = value
    made[name][(batch, *index)].backward()
    return weights, made


def check_all(done, name, index, batch=0):
    """Every gradient, of weights and of outputs."""
    gradients = backward(done, (name, index), batch=batch)
    weights, made = by_autograd(done, name, index, batch)
    for key, weight in weights.items():
        wanted = torch.zeros_like(weight) if weight.grad is None else weight.grad
        same(gradients.weight(key), wanted, **WITHIN)
    for key, value in made.items():
        if value.is_floating_point():
            wanted = torch.zeros_like(value) if value.grad is None else value.grad
            same(gradients.of(key), wanted, **WITHIN)
    return gradients


def check_parameters(steps, model, loss, targets):
    """The gradient of each parameter of a model, after its own loss.backward()."""
    model.zero_grad()
    loss.backward()
    gradients = backward(steps.with_loss(targets))
    same(gradients.value("loss").item(), loss.item(), **WITHIN)
    for name, weight in model.named_parameters():
        wanted = torch.zeros_like(weight) if weight.grad is None else weight.grad
        if name in steps.weights:
            same(gradients.weight(name), wanted, **WITHIN)
        else:
            assert not wanted.any()


def loss_of(scores, targets, **settings):
    return nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), **settings)


@pytest.mark.parametrize("name", MODELS)
def test_all_parameters_of_small_models(name):
    model, words = MODELS[name]()
    targets = torch.tensor([[3, 5]])
    check_parameters(recorded(name), model, loss_of(model(*words), targets), targets)


def test_all_parameters_of_the_translator():
    model = transformer.stored().double()
    steps = transformer.recorded(model, ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"])
    source, target = (run(steps).inputs[name] for name in ("source", "target"))
    targets = torch.arange(target.shape[1])[None] + 3
    scores = model(source, target)
    check_parameters(steps, model, loss_of(scores, targets), targets)


@pytest.mark.parametrize("attends", [True, False])
def test_all_parameters_of_a_recurrent_translator(attends):
    model = recurrent.stored(attends).double()
    steps = recurrent.recorded(model, ["Tom", "chases", "Jerry"], ["汤姆", "追逐"])
    source, before = (run(steps).inputs[name] for name in ("source", "target"))
    targets = torch.arange(before.shape[1])[None] + 3
    scores = model(source, [source.shape[1]], before)
    check_parameters(steps, model, loss_of(scores, targets), targets)


@pytest.mark.parametrize("is_tied", [True, False])
def test_all_parameters_of_a_language_model(is_tied):
    sizes = {"width": 8, "num_heads": 4, "num_kv_heads": 2, "hidden": 6, "num_layers": 2}
    model = filled(LanguageModel(6, **sizes, is_tied=is_tied))
    ids, targets = torch.tensor([[3, 5, 4, 1]]), torch.tensor([[5, 4, 1, 2]])
    steps = one_pass(model, ids)
    check_parameters(steps, model, loss_of(model(ids), targets), targets)
    uses = backward(steps.with_loss(targets)).steps["embedding.weight.grad"].inputs
    from_words, from_scores = "embedding.backward.grad_weight", "unembedding.backward.grad_weight"
    assert uses == ((from_scores, from_words) if is_tied else (from_words,))


@pytest.mark.parametrize("name", model_vectors.PARTS)
def test_all_parameters_of_the_chapters_classes(name):
    model = filled(model_vectors.PARTS[name]())
    source, target, targets = (
        torch.tensor([[3, 5, 4], [1, 4, 4]]),
        *torch.tensor([[[1, 3, 5], [1, 5, 5]], [[3, 5, 2], [0, 2, 0]]]),
    )
    steps = one_pass(model, source, target)
    check_parameters(steps, model, loss_of(model(source, target), targets), targets)


def test_sentences_and_their_padding_count_as_torch_counts_them():
    model, _ = MODELS["transformer"]()
    source, target = torch.tensor([[3, 5, 4], [4, 4, 3]]), torch.tensor([[1, 3, 0], [1, 5, 3]])
    targets = torch.tensor([[3, 2, 0], [0, 3, 2]])
    steps = one_pass(model, source, target)
    loss = loss_of(model(source, target), targets, ignore_index=0)
    model.zero_grad()
    loss.backward()
    gradients = backward(steps.with_loss(targets, ignored=0))
    assert gradients.value("loss").item() == pytest.approx(loss.item(), rel=1e-12)
    for name, weight in model.named_parameters():
        same(gradients.weight(name), weight.grad, **WITHIN)
    assert not gradients.of("words_out")[0, 2].any()


@pytest.mark.parametrize("name", MODELS)
def test_any_number_and_each_output(name):
    source, target = torch.tensor([[3, 5, 4], [4, 4, 1]]), torch.tensor([[1, 3], [1, 5]])
    done = run(recorded(name).with_softmax(), source=source, target=target)
    steps = [step for step in done.steps if done.steps[step].inputs]
    dice = random.Random(0)
    for loss in [*dice.sample(steps, 3), "probabilities"]:
        shape = done.value(loss).shape
        batch, *index = (dice.randrange(size) for size in shape)
        check_all(done, loss, tuple(index), batch)


OFF = {
    "heads_off": [("encoder.0.attention", 1), ("decoder.0.cross_attention", 0)],
    "positions_off": ["source_places"],
    "residuals_off": ["encoder.1.residuals.1.sum"],
    "norms_off": ["encoder.0.residuals.0.norm", "decoder.0.residuals.2.norm"],
    "mask_off": ["decoder.0.self_attention"],
    "scale_off": ["decoder.0.cross_attention"],
}


@pytest.mark.gate
@pytest.mark.parametrize("change", OFF)
@pytest.mark.parametrize("name", ["transformer", "norm first"])
def test_what_is_switched_off(name, change):
    steps = recorded(name).with_loss([3, 5])
    changes = Changes(**{change: OFF[change]})
    done = run(steps, changes)
    gradients = check_all(done, "loss", (0,))
    usual = backward(steps)
    assert (gradients.of("source_words") - usual.of("source_words")).abs().max() > 1e-4
    # The steps of both ways are a program, too: run with other words, and with something off.
    again = run(usual.steps, changes, source=[5, 4], target=[1, 3])
    wanted = backward(run(steps, changes, source=[5, 4], target=[1, 3]))
    for key in wanted.steps.weights:
        same(again.value(f"{key}.grad")[0], wanted.weight(key), rtol=0, atol=0)


def test_a_row_that_keeps_nothing_and_rows_that_are_given():
    x = ((torch.arange(24.0) * 7 % 11 - 5) / 4).view(1, 6, 4).double()
    keep = torch.ones(6, 6, dtype=torch.bool)
    keep[2] = False
    passes = [
        (one_pass(filled(SelfAttentionV1(4, 2)), x[0]), "attention"),
        (one_pass(filled(StackedHeads(4, 2, num_heads=2)), x), "merged"),
        (one_pass(filled(EncoderLayer(4, 2, 6)), x, keep), "residuals.1.norm"),
        (
            one_pass(filled(DecoderLayer(4, 2, 6)), x, x[:, :3], memory_keep=padding([2])),
            "residuals.2.norm",
        ),
    ]
    for steps, name in passes:
        for row in (2, 4):
            gradients = check_all(run(steps), name, (row, 1))
            assert gradients.of("x").abs().max() > 1e-3


# The gradients themselves.


def of_rows(numbers, *steps):
    """Steps over one given row."""
    given = torch.tensor([[numbers]], dtype=torch.float64)
    return Steps([Step("x", "given", value=given), *steps])


def test_norms_by_hand():
    gain, bias = torch.ones(4), torch.zeros(4)
    weights = {"gain": gain, "bias": bias}
    for operation, roles, wanted in (
        ("layer_norm", ("gain", "bias"), [3 / 18, -2 / 18, -2 / 18, 1 / 18]),
        ("rms_norm", ("gain",), [0.198, -0.006, -0.006, -0.018]),
    ):
        norm = Step("norm", operation, ("x",), {role: role for role in roles}, {"eps": 0})
        steps = Steps([*of_rows([1.0, 3.0, 3.0, 9.0]).values(), norm], weights)
        gradient = backward(steps, ("norm", (0, 0))).of("x")[0, 0]
        same(gradient, torch.tensor(wanted).double(), atol=1e-12, rtol=1e-7)
        assert gradient @ steps["x"].value[0, 0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("operation", "x", "slope"),
    [
        ("gelu", 0.0, 0.5),
        ("gelu", 1.0, 1.0833),
        ("gelu", -math.sqrt(2), -0.1289),
        ("silu", 0.0, 0.5),
        ("silu", math.log(3), 0.9560),
        ("tanh", 0.0, 1.0),
        ("relu", 0.0, 0.0),
    ],
)
def test_slopes_by_hand(operation, x, slope):
    gradients = backward(of_rows([x], Step("y", operation, ("x",))), ("y", (0, 0)))
    assert gradients.of("x").item() == pytest.approx(slope, abs=5e-5)
    assert gradients.value("y.backward", "slope").item() == gradients.of("x").item()


def test_a_loss_by_hand():
    steps = of_rows([math.log(9), math.log(4), 0.0]).with_loss([1], words=["a", "dog", "barks"])
    gradients = backward(steps)
    wanted = torch.tensor([[[9, -10, 1]]], dtype=torch.float64) / 14
    same(gradients.of("x"), wanted, atol=1e-15, rtol=0)
    assert gradients.value("loss").item() == pytest.approx(math.log(3.5), abs=1e-15)
    assert workings(gradients, "loss", (0,)).written().splitlines()[:2] == [
        "loss[0] = (1.2528) / 1 = 1.2528",
        "  loss.losses[0] = -ln(0.2857) = 1.2528",
    ]
    lines = [workings(gradients, "loss.backward", (0, i), "grad_scores").how for i in range(3)]
    assert lines == ["0.6429 / 1 = 0.6429", "(0.2857 - 1) / 1 = -0.7143", "0.0714 / 1 = 0.0714"]
    assert workings(gradients, "targets", (0,)).text == "targets[0] = dog (1)"


def test_a_loss_of_what_has_no_probability_left():
    steps = of_rows([0.0, 2000.0]).with_loss([0])
    assert run(steps).value("loss").item() == 2000
    assert workings(steps, "loss", (0,), "losses").how == "ln(1) - (0 - 2000) = 2000"
    assert backward(steps).of("x").tolist() == [[[-1, 1]]]


# Two words of one number each; the loss is ½Σ(output − target)², so its gradient is what is given.


@pytest.mark.parametrize(
    ("keep", "given", "wanted"),
    [
        (
            None,
            [2, -2],
            {
                "grad_weights": [[0, 8], [0, -8]],
                "row_dot": [6, -4],
                "grad_scaled": [[-1.5, 1.5], [2, -2]],
                "grad_q": [[1.5], [-2]],
                "grad_k": [[-1.5 * math.log(3)], [1.5 * math.log(3)]],
                "grad_v": [[-0.5], [0.5]],
            },
        ),
        (
            causal(),
            [-1, -2],
            {
                "grad_scaled": [[0, 0], [2, -2]],
                "grad_q": [[0], [-2]],
                "grad_k": [[0], [0]],
                "grad_v": [[-2], [-1]],
            },
        ),
    ],
    ids=["", "causal"],
)
def test_attention_by_hand(keep, given, wanted):
    rows = [math.log(3), 0.0], [0.0, 1.0], [0.0, 4.0]
    q, k, v, gradient = (
        torch.tensor(row, dtype=torch.float64).view(1, 2, 1) for row in (*rows, given)
    )
    attention, settings = OPERATIONS["attention"], {"num_heads": 1, "scale": 1.0, "keep": keep}
    made = attention([q, k, v], {}, settings)
    taken = [gradient, q, k, v, made["weights"], made["output"]]
    stages = attention.backward_operation()(taken, {}, settings)
    for stage, numbers in wanted.items():
        numbers = torch.tensor(numbers, dtype=torch.float64)
        same(stages[stage].view(numbers.shape), numbers, **WITHIN)


# Names.


def test_the_steps_of_a_backward_pass():
    gradients = backward(recorded("transformer").with_loss([3, 5]))
    steps = list(gradients.steps.values())
    forward = len(recorded("transformer")) + 2
    assert [(step.name, step.operation) for step in steps[forward : forward + 5]] == [
        ("loss.grad_output", "itself"),
        ("loss.backward", "cross_entropy_backward"),
        ("words_out.backward", "linear_backward"),
        ("decoder.1.residuals.2.norm.backward", "layer_norm_backward"),
        ("decoder.1.residuals.2.sum.backward", "add_backward"),
    ]
    memory = gradients.steps["encoder.1.residuals.1.norm.grad_output"]
    assert memory.operation == "sum"
    assert memory.inputs == tuple(
        f"decoder.{n}.cross_attention.w_{name}.backward.grad_input"
        for n in (1, 0)
        for name in ("value", "key")
    )
    known = set()
    for step in steps:
        assert {gradients.place(source)[0].name for source in step.inputs} <= known
        known.add(step.name)
    assert gradients.steps["words_out.backward"].stages == (
        "grad_input", "grad_weight", "grad_bias"
    )  # fmt: skip
    assert repr(gradients.steps["words_out.backward"]) == (
        "words_out.backward = linear_backward(loss.backward.grad_scores, "
        "decoder.1.residuals.2.norm)"
    )
    named = {f"{name}.grad" for name in gradients.steps.weights}
    assert {step.name for step in steps if step.operation == "sum_of_sentences"} == named


def test_there_is_no_gradient_of_what_a_step_does_not_have():
    plain = backward(recorded("with attention").with_loss([3, 5])).steps
    assert "grad_start" not in plain["reader.backward"].stages
    assert "grad_start" in plain["writer.backward"].stages
    assert (
        "grad_bias"
        not in backward(
            one_pass(filled(nn.Linear(4, 3, bias=False)), torch.ones(1, 2, 4).double()),
            ("linear", (0, 0)),
        )
        .steps["linear.backward"]
        .stages
    )


def test_where_a_gradient_is():
    gradients = backward(recorded("transformer").with_loss([3, 5]))
    assert gradients.address("words_out") == ("loss.backward", "grad_scores")
    memory = "encoder.1.residuals.1.norm"
    assert gradients.address(memory) == (f"{memory}.grad_output", "output")
    attention = "decoder.1.cross_attention"
    assert gradients.address(attention, "weights") == (f"{attention}.backward", "grad_weights")
    same(
        gradients.of(attention, "weights"),
        gradients.value(f"{attention}.backward", "grad_weights"),
    )
    same(gradients.of(attention, "merged"), gradients.of(attention))


def test_what_a_number_does_not_depend_on_has_the_gradient_zero():
    steps = recorded("transformer")
    gradients = backward(steps, ("encoder.0.attention", (0, 1)))
    assert not gradients.of("words_out").any()
    assert gradients.of("words_out").shape == (1, 2, 6)
    assert not gradients.weight("words_out.bias").any()
    assert gradients.weight("encoder.0.attention.w_query.weight").any()


def test_a_gradient_is_computed_when_it_is_asked_for():
    steps = recorded("transformer").with_loss([3, 5])
    done = run(steps)
    done.value("loss")
    gradients = backward(done)
    assert gradients.made.keys() == done.made.keys()
    gradients.of("words_out")
    assert gradients.made.keys() - done.made.keys() == {"loss.grad_output", "loss.backward"}


def test_a_loss_follows_the_scores():
    steps = recorded("transformer")
    plain, after_softmax = steps.with_loss([3, 5]), steps.with_softmax().with_loss([3, 5])
    assert plain["loss"].inputs == after_softmax["loss"].inputs == ("words_out", "targets")
    assert backward(after_softmax).weight("words_out.bias").tolist() == (
        backward(plain).weight("words_out.bias").tolist()
    )
    run(plain, targets=[5, 5]).value("loss")


# Lines.


def of_backward_pass(done):
    """The names of the backward steps, of the sums and of the loss."""
    return {name for name, step in done.steps.items() if not OPERATIONS[step.operation].is_on_page}


@pytest.mark.parametrize("name", MODELS)
def test_lines_of_small_models(name):
    done = backward(recorded(name).with_loss([3, 5]))
    names = of_backward_pass(done)
    places = [place for place in addresses(done) if place[0] in names]
    assert len(places) > 500
    for place in places[:: max(1, len(places) // 250)]:
        check(done, *place)


@pytest.mark.parametrize("name", BY_ITSELF)
def test_lines_of_an_operation_with_each_of_its_settings(name):
    if not OPERATIONS[name].backward_operation():
        return
    steps = model_vectors.repeated(OPERATIONS[name])
    for changes in (Changes(), *model_vectors.switched(OPERATIONS[name])):
        done = run(steps, changes, source=[5, 4], target=[1, 3, 5])
        back = backward(done, ("words_out", (done.value("words_out").shape[1] - 1, 1)))
        names = {step for step in of_backward_pass(back) if step.startswith(f"{name}.")}
        places = [place for place in addresses(back) if place[0] in names]
        assert places
        for place in places[:: max(1, len(places) // 150)]:
            check(back, *place)


def test_lines_of_a_language_model():
    sizes = {"width": 8, "num_heads": 4, "num_kv_heads": 2, "hidden": 6, "num_layers": 2}
    steps = one_pass(filled(LanguageModel(6, **sizes)), torch.tensor([[3, 5, 4, 1]]))
    done = backward(steps.with_loss([5, 4, 1, 2]))
    for place in some_of_backward_pass(done, 500):
        check(done, *place)


def some_of_backward_pass(done, count, seed=0):
    names = of_backward_pass(done)
    found = (place for place in some(done, 10 * count, seed) if place[0] in names)
    return [place for place, _ in zip(found, range(count), strict=False)]


@cache
def translated():
    words = ["the", "big", "cat", "sees", "Spike", "in", "the", "garden"]
    chinese = ["大", "的", "猫", "在", "花园"]
    steps = transformer.recorded(transformer.stored(), words, chinese)
    targets = torch.arange(run(steps).value("words_out").shape[1]) + 3
    return backward(steps.with_loss(targets))


@pytest.mark.gate
def test_a_thousand_gradients_of_the_translator_opened_down_to_words_and_weights():
    done = translated()
    places = some_of_backward_pass(done, 1000)
    assert len(places) == 1000
    large = 0
    for n, (name, stage, index) in enumerate(places):
        check(done, name, stage, index)
        dice, term, length = random.Random(n), workings(done, name, index, stage), 0
        large += abs(term.value) > 0.01
        while term.parts and n < 40:
            term, length = dice.choice(term.parts), length + 1
            assert length < 300
        if n < 40:
            assert_is_an_end(done, term)
    assert large > 300


def assert_is_an_end(done, term):
    """A word, or a number whose line says why it is what it is."""
    is_word = term.name in ("source", "target")
    assert is_word or "because" in term.how, term


def test_lines_of_several_sentences():
    model, _ = MODELS["transformer"]()
    source, target = torch.tensor([[3, 5, 4], [4, 4, 3]]), torch.tensor([[1, 3], [1, 5]])
    steps = one_pass(model, source, target)
    done = backward(steps.with_loss(torch.tensor([[3, 0], [5, 3]]), ignored=0))
    line = workings(done, "words_out.bias.grad", (3,))
    [first, second] = done.value("words_out.backward", "grad_bias")[:, 3].tolist()
    assert [part.value for part in line.parts] == [first, second]
    assert line.value == first + second
    mean = workings(done, "loss", (0,))
    losses = done.value("loss", "losses")
    assert [part.value for part in mean.parts] == [losses[0, 0], losses[1, 0], losses[1, 1]]
    ignored = workings(done, "loss.backward", (1, 2), "grad_scores")
    assert ignored.how == "0, because the target of this place is ignored"
    of_second = workings(done, "words_out.backward", (1, 2), "grad_input", batch=1)
    assert of_second.value == done.value("words_out.backward", "grad_input")[1, 1, 2].item()
    other = workings(done, "loss.grad_output", (0,))
    assert other.how == "1, because this is the number itself"


def test_a_norm_opens():
    norm = LayerNorm(4, eps=0)
    done = backward(one_pass(norm, torch.tensor([[[1.0, 3.0, 3.0, 9.0]]])), ("layer_norm", (0, 0)))
    assert isinstance(OPERATIONS["layer_norm_backward"], BackwardOperation)
    step, stage = done.address("x")
    assert workings(done, step, (0, 3), stage).written(2).splitlines()[:3] == [
        "layer_norm.backward.grad_input[0, 3] = (0 - 0.25 - 1.6667·(-0.25)) / √(9 + 0) = 0.0556",
        "  layer_norm.backward.grad_normed[0, 3] = 0 · 1 = 0",
        "    layer_norm.grad_output[0, 3] = 0, because this is another number",
    ]
