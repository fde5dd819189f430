"""What is recorded of a pass: names, order and values of its steps, and who is refused."""

import pytest
import torch
from torch import nn

from attn_core import causal, pretrained, toy, window
from attn_core.layers import DecoderLayer, EncoderLayer, FeedForward, LayerNorm, PositionalEncoding
from attn_core.masks import padding
from attn_core.mistakes import layers as wrong
from attn_core.modules import (
    CausalAttention,
    MultiHeadAttention,
    SelfAttention,
    SelfAttentionV1,
    StackedHeads,
)
from attn_core.record import AttentionTrace
from attn_core.steps import Step, explain, recording, run
from attn_core.steps.operations import OPERATIONS
from attn_core.translators.recurrent import Translator
from tests.attn_core.step_models import MODELS, filled, one_pass, recorded

ATTENTION = [
    ("w_query", "linear"),
    ("w_key", "linear"),
    ("w_value", "linear"),
    ("", "attention"),
    ("out_proj", "linear"),
]
FEED_FORWARD = [("widen", "linear"), ("activation", "relu"), ("narrow", "linear")]


def under(path, steps):
    return [(".".join(part for part in (path, name) if part), kind) for name, kind in steps]


def residual(path, sublayer, n, norm_first):
    """A sublayer in its residual: the norm behind the sum, or before all."""
    norm, sum_ = under(f"{path}residuals.{n}", [("norm", "layer_norm"), ("sum", "add")])
    return [norm, *sublayer, sum_] if norm_first else [*sublayer, sum_, norm]


def encoder_layer(path, norm_first):
    attention = under(f"{path}attention", ATTENTION)
    wide = under(f"{path}feed_forward", FEED_FORWARD)
    return [*residual(path, attention, 0, norm_first), *residual(path, wide, 1, norm_first)]


def decoder_layer(path, norm_first):
    parts = [
        under(f"{path}self_attention", ATTENTION),
        under(f"{path}cross_attention", ATTENTION),
        under(f"{path}feed_forward", FEED_FORWARD),
    ]
    return [step for n, part in enumerate(parts) for step in residual(path, part, n, norm_first)]


def side(name):
    return [(name, "words"), (f"{name}_words", "embed"), (f"{name}_places", "add_positions")]


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_steps_of_a_transformer(norm_first):
    steps = recorded("norm first" if norm_first else "transformer")
    norms = [[("encoder_norm", "layer_norm")], [("decoder_norm", "layer_norm")]]
    first, last = norms if norm_first else ([], [])
    assert [(step.name, step.operation) for step in steps.values()] == [
        *side("source"),
        *encoder_layer("encoder.0.", norm_first),
        *encoder_layer("encoder.1.", norm_first),
        *first,
        *side("target"),
        *decoder_layer("decoder.0.", norm_first),
        *decoder_layer("decoder.1.", norm_first),
        *last,
        ("words_out", "linear"),
    ]


def test_the_inputs_of_a_transformers_steps():
    steps = recorded("transformer")
    first, memory = "encoder.0.residuals.0.norm", "encoder.1.residuals.1.norm"
    inputs = {name: list(step.inputs) for name, step in steps.items()}
    assert inputs["source"] == []
    assert inputs["source_places"] == ["source_words"]
    assert inputs["encoder.0.attention.w_key"] == ["source_places"]
    assert inputs["encoder.0.residuals.0.sum"] == [
        "source_places",
        "encoder.0.attention.out_proj",
    ]
    assert inputs["encoder.0.residuals.1.sum"] == [first, "encoder.0.feed_forward.narrow"]
    for n in range(2):
        assert inputs[f"decoder.{n}.cross_attention.w_query"] == [f"decoder.{n}.residuals.0.norm"]
        assert inputs[f"decoder.{n}.cross_attention.w_key"] == [memory]
        assert inputs[f"decoder.{n}.cross_attention.w_value"] == [memory]
    before = recorded("norm first")
    assert before["encoder.0.attention.w_key"].inputs == ("encoder.0.residuals.0.norm",)
    assert before["encoder.0.residuals.0.norm"].inputs == ("source_places",)
    assert before["encoder.0.residuals.0.sum"].inputs[0] == "source_places"
    assert before["decoder.1.cross_attention.w_key"].inputs == ("encoder_norm",)


@pytest.mark.parametrize("attends", [True, False])
def test_the_steps_of_a_recurrent_translator(attends):
    steps = recorded("with attention" if attends else "one vector")
    context = (
        [("ask", "linear"), ("attention", "attention")] if attends else [("context", "repeat")]
    )
    assert [(step.name, step.operation) for step in steps.values()] == [
        ("source", "words"),
        ("source_words", "embed"),
        ("reader.input", "linear"),
        ("reader", "gru"),
        ("target", "words"),
        ("target_words", "embed"),
        ("c", "last_row"),
        ("writer.input", "linear"),
        ("writer", "gru"),
        *context,
        ("beside", "concat"),
        ("blend", "linear"),
        ("blended", "tanh"),
        ("words_out", "linear"),
    ]
    assert steps["writer"].inputs == ("writer.input", "c")
    assert steps["beside"].inputs == ("writer", context[-1][0])
    if attends:
        assert steps["attention"].inputs == ("ask", "reader", "reader")
        assert steps["attention"].settings["keep"] is None
    else:
        assert steps["context"].inputs == ("c", "writer")


def drawn(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((7 * n * n + 3 * n) % 17 - 8) / 8).view(shape)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (nn.Linear(4, 3), "input linear"),
        (LayerNorm(4), "x layer_norm"),
        (nn.RMSNorm(4), "x rms_norm"),
        (PositionalEncoding(4), "x add_positions"),
        (FeedForward(4, 6), "x widen activation narrow"),
        (SelfAttentionV1(4, 2), "x w_query w_key w_value attention"),
        (SelfAttention(4, 2, bias=True), "x w_query w_key w_value attention"),
        (CausalAttention(4, 2, dropout=0.5).eval(), "x w_query w_key w_value attention"),
        (MultiHeadAttention(4, 4, 2, keep=causal()), "x w_query w_key w_value attention out_proj"),
        (nn.GRU(4, 3, batch_first=True), "input gru.input gru"),
        (nn.Sequential(nn.Linear(4, 4), nn.Identity(), LayerNorm(4)), "input 0 2"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_the_steps_of_one_module(model, names):
    x = drawn(2, 3, 4)
    steps = one_pass(filled(model, torch.float32), x)
    assert list(steps) == names.split()
    made = model(x)
    made = made[0] if isinstance(made, tuple) else made
    last = list(steps.values())[-1]
    assert next(iter(steps.values())).operation == "given"
    value = run(steps).value(last.name)
    torch.testing.assert_close(value, made.double(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("eps", [None, 0.25])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_eps_of_an_rms_norm(eps, dtype):
    steps = one_pass(filled(nn.RMSNorm(4, eps), dtype), 64 * drawn(1, 3, 4).to(dtype))
    own = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    assert steps["rms_norm"].settings == {"eps": own if eps is None else eps}
    assert steps["rms_norm"].parameters == {"gain": "weight"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_rows_of_an_rms_norm_have_the_eps_of_torch(dtype):
    model, x = filled(nn.RMSNorm(4), dtype), drawn(1, 3, 4).to(dtype) * 1e-4
    torch.testing.assert_close(run(one_pass(model, x)).value("rms_norm"), model(x).double())


def test_heads_side_by_side_are_joined():
    steps = one_pass(filled(StackedHeads(4, 2, num_heads=3), torch.float32), drawn(2, 3, 4))
    heads = tuple(f"heads.{n}" for n in range(3))
    assert steps["merged"].inputs == heads
    assert [steps[head].operation for head in heads] == ["attention"] * 3
    assert steps.record("heads.1").keep == causal()


def test_one_sentence_without_a_batch():
    x = toy.journey().x
    module = filled(SelfAttentionV1(3, 2), torch.float32)
    steps = one_pass(module, x)
    assert steps["w_query"].settings == {"transposed": True}
    assert steps.record("attention").stage("weights").shape == (6, 6)
    assert torch.equal(steps["w_query"].value, (x @ module.w_query)[None])
    torch.testing.assert_close(run(steps).value("attention")[0], module(x).double())


def test_a_layer_takes_its_memory_and_what_reads_from_right_to_left():
    layer = filled(DecoderLayer(4, 2, 6, right_to_left=True), torch.float32)
    steps = one_pass(layer, drawn(1, 3, 4), memory=drawn(1, 5, 4), right_to_left=drawn(1, 2, 4))
    given = [step.name for step in steps.values() if step.operation == "given"]
    assert given == ["x", "memory", "right_to_left.given"]
    assert steps["right_to_left.w_key"].inputs == ("right_to_left.given",)


@pytest.mark.trained_model
def test_the_steps_of_minilm():
    steps = pretrained.minilm().recorded("Your journey starts.")
    names = ["ids", "words", "positions", "kinds", "norm"]
    assert list(steps)[:5] == names
    assert [steps[name].operation for name in names] == [
        "words", "embed", "add_positions", "add_row", "layer_norm"
    ]  # fmt: skip
    assert steps["words"].settings == {"times": 1.0}
    assert steps["positions"].parameters == {"table": "positions.weight"}
    layer = [
        (name, "gelu" if kind == "relu" else kind)
        for n in range(6)
        for name, kind in encoder_layer(f"layers.{n}.", norm_first=False)
    ]
    assert [(step.name, step.operation) for step in list(steps.values())[5:]] == layer
    assert steps.words["ids"][4990] == "journey"


@pytest.mark.parametrize("name", MODELS)
def test_values_are_what_the_modules_gave(name):
    model, words = MODELS[name]()
    seen = {}
    handles = [
        module.register_forward_hook(lambda m, args, made, path=path: seen.setdefault(path, made))
        for path, module in model.named_modules()
    ]
    with recording(model) as steps:
        last = model(*words)
    for handle in handles:
        handle.remove()
    assert steps["words_out"].value is last
    compared = 0
    for path in steps.keys() & seen.keys():
        value = steps[path].value
        if isinstance(value, torch.Tensor) and isinstance(seen[path], torch.Tensor):
            assert value is seen[path]
            compared += 1
    assert compared > 3


@pytest.mark.parametrize("name", MODELS)
def test_each_step_follows_its_inputs_and_names_its_parameters(name):
    model, _ = MODELS[name]()
    steps, known = recorded(name), set()
    parameters = dict(model.named_parameters()) | dict(model.named_buffers())
    for step in steps.values():
        assert known >= set(step.inputs)
        known.add(step.name)
        assert step.parameters.keys() <= {
            "weight", "bias", "gain", "table", "weight_hh", "bias_hh"
        }  # fmt: skip
        for parameter in step.parameters.values():
            assert torch.equal(steps.weights[parameter], parameters[parameter])
    named = {parameter for step in steps.values() for parameter in step.parameters.values()}
    idle = {"ask.weight"} if name == "one vector" else set()
    assert named == set(steps.weights) == {name for name, _ in model.named_parameters()} - idle


def test_an_attentions_value_is_its_record():
    model, words = MODELS["transformer"]()
    steps = one_pass(model, *words)
    record = steps.record("decoder.0.self_attention")
    assert isinstance(record, AttentionTrace)
    assert record.keep == causal()
    assert record.source is not None
    assert steps.record("decoder.0.cross_attention").source is None
    assert steps["decoder.0.self_attention"].settings == {
        "num_heads": 2, "scale": record.scale, "keep": causal()
    }  # fmt: skip


def test_masks_of_the_call_are_in_the_settings():
    model, (source, target) = MODELS["transformer"]()
    steps = one_pass(model, source, target, source_keep=padding([2]), target_keep=window(1))
    assert steps["encoder.0.attention"].settings["keep"] == padding([2])
    assert steps["decoder.0.self_attention"].settings["keep"] == causal() & window(1)
    assert steps["decoder.0.cross_attention"].settings["keep"] == padding([2])


def test_as_json_and_as_text():
    steps = recorded("transformer")
    assert steps["decoder.0.self_attention"].to_json() == {
        "name": "decoder.0.self_attention",
        "operation": "attention",
        "inputs": [f"decoder.0.self_attention.w_{name}" for name in ("query", "key", "value")],
        "parameters": {},
        "settings": {"num_heads": 2, "scale": 1 / 2**0.5, "keep": {"kind": "causal"}},
        "stages": ["scores", "scaled", "masked", "weights", "dropped", "output", "merged"],
    }
    assert steps["source"].to_json()["settings"] == {"side": "source"}
    assert repr(steps).splitlines()[1:3] == [
        "source_words = embed(source) [1, 3, 4]",
        "source_places = add_positions(source_words) [1, 3, 4]",
    ]
    assert repr(Step("sum", "add", ("x", "y"))) == "sum = add(x, y)"
    *_, said = repr(steps["decoder.0.cross_attention"]).partition(") ")
    assert said == "[1, 2, 2, 3]", "the shape of its map"


def test_a_softmax_may_follow():
    steps = recorded("transformer")
    longer = steps.with_softmax()
    assert list(longer) == [*steps, "probabilities"]
    assert longer["probabilities"].inputs == ("words_out",)
    assert longer.weights == steps.weights


def test_positions_that_are_no_sinusoids_are_a_table():
    places = PositionalEncoding(4, longest=8)
    assert one_pass(places, drawn(1, 3, 4))["add_positions"].settings == {"kind": "sinusoids"}
    places.positions[1] = 0.5
    steps = one_pass(places, drawn(1, 3, 4))
    assert steps["add_positions"].parameters == {"table": "positions"}
    made = places(drawn(1, 3, 4)).double()
    torch.testing.assert_close(run(steps).value("add_positions"), made, atol=1e-6, rtol=0)


def test_nothing_of_the_recording_stays():
    model, words = MODELS["transformer"]()
    wanted = model(*words)
    with recording(model):
        assert torch.equal(model(*words), wanted)
    with pytest.raises(RuntimeError, match="its part"), recording(model):
        model.encode(words[0])
    hooks = [
        hook
        for module in model.modules()
        for kind in (module._forward_hooks, module._forward_pre_hooks)
        for hook in kind.values()
    ]
    assert hooks == []
    # A new one knows nothing of those before.
    assert len(one_pass(model, *words)) == len(recorded("transformer"))


def test_half_precision_is_recorded_within_its_rounding():
    layer = filled(EncoderLayer(8, 2, 16), torch.float16)
    steps = one_pass(layer, drawn(1, 3, 8).half())
    assert steps["residuals.1.norm"].value.dtype == torch.float16


# Who is refused.


def said(error, model, *args, **kwargs):
    with pytest.raises(error) as caught, recording(model):
        model(*args, **kwargs)
    return str(caught.value)


X = drawn(1, 3, 4)


def test_dropout_is_refused():
    assert said(RuntimeError, EncoderLayer(4, 2, 6, dropout=0.1), X) == (
        "recording takes a model without dropout, got 'attention.drop' in training: "
        "call model.eval()"
    )
    dropped = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    assert "got '1' in training" in said(RuntimeError, dropped, X)
    several = nn.GRU(4, 4, num_layers=2, dropout=0.5, batch_first=True)
    assert "recording takes a model without dropout" in said(RuntimeError, several, X)


def test_no_step_of_dropout_is_counted():
    layer = EncoderLayer(4, 2, 6, dropout=0.1)
    said(RuntimeError, layer, X)
    assert int(layer.attention.drop.steps) == 0


class Gate(nn.Module):
    def forward(self, x):
        return x * 2


class Between(nn.Module):
    """Computes between its modules what nobody tells."""

    def __init__(self):
        super().__init__()
        self.widen = nn.Linear(4, 4)

    def forward(self, x):
        return self.widen(x * 2)


@pytest.mark.parametrize(
    ("model", "stranger"),
    [
        (Gate(), "a Gate"),
        (nn.Sequential(nn.Linear(4, 4), Gate()), "a Gate at '1'"),
        (nn.Sequential(Gate(), nn.Linear(4, 4)), "a Gate at '0'"),
        (nn.Sequential(nn.Linear(4, 4), Between()), "a Between at '1'"),
        (nn.Sequential(Gate(), FeedForward(4, 6)), "a Gate at '0'"),
        (FeedForward(4, 6, activation=torch.sigmoid), "a FeedForward"),
        (nn.RMSNorm(4, elementwise_affine=False), "a RMSNorm"),
        (nn.RMSNorm((3, 4)), "a RMSNorm"),
        (nn.GRU(4, 4, num_layers=2, batch_first=True), "a GRU"),
        (nn.GRU(4, 4, bidirectional=True, batch_first=True), "a GRU"),
        (nn.GRU(4, 4, batch_first=False), "a GRU"),
    ],
    ids=str,
)
def test_a_module_that_is_not_known(model, stranger):
    assert said(RuntimeError, model, X) == (
        f"recording must know each module that computes, got {stranger}: "
        "attn_core.steps.explain takes what it does"
    )


@pytest.mark.parametrize(
    ("model", "operation"),
    [
        (filled(wrong.SampleNorm(4), torch.float32), "layer_norm"),
        (filled(wrong.MergedByView(4, 4, 2), torch.float32), "attention"),
        (filled(wrong.SplitByView(4, 4, 2), torch.float32), "attention"),
        (filled(wrong.DoubledExponent(4), torch.float32), "add_positions"),
        (filled(wrong.HeadsAlongTokens(4, 2, 2), torch.float32), "concat"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_a_module_that_computes_something_else_is_found_out(model, operation):
    text = said(RuntimeError, model, X)
    assert text.startswith(f"recording must find what the formula of {operation} gives at ")
    assert text.endswith(f"from a {type(model).__name__}")


def test_one_pass_and_each_module_once():
    model, words = MODELS["transformer"]()
    layer = nn.Linear(4, 4)
    twice = nn.Sequential(layer, layer)
    assert said(RuntimeError, twice, X) == (
        "recording must see each module called once, got '0' twice"
    )
    with recording(model):
        model(*words)
        with pytest.raises(RuntimeError, match="called once, got the model twice"):
            model(*words)
    with recording(model), pytest.raises(RuntimeError) as caught:
        model.generate(words[0], start=1, end=2)
    assert str(caught.value) == (
        "recording must see the model itself called, got a call of its part 'source_words'"
    )


@pytest.mark.parametrize("attends", [True, False])
def test_sentences_of_several_lengths_are_refused_where_a_gru_reads(attends):
    model = filled(Translator(6, 6, width=3, attends=attends))
    source, target = torch.tensor([[3, 4, 5], [3, 4, 0]]), torch.tensor([[1, 2], [1, 3]])
    assert said(ValueError, model, source, [3, 1], target) == (
        "sentences must be of one length where recording sees a GRU read them, got 2 sentences, "
        "of which 1 have the longest"
    )
    steps = one_pass(model, source, [3, 3], target)
    torch.testing.assert_close(run(steps).value("words_out"), model(source, [3, 3], target))


def test_a_weight_that_changes_afterwards_is_noticed():
    model, words = MODELS["transformer"]()
    steps = one_pass(model, *words)
    done = run(steps)
    with torch.no_grad():
        model.words_out.bias.add_(1)
    for ask in (lambda: run(steps), lambda: done.value("words_out"), steps.with_softmax):
        with pytest.raises(RuntimeError, match=r"words_out.bias must stay as it was"):
            ask()


def test_rows_that_change_afterwards_are_noticed():
    x = drawn(1, 3, 4)
    steps = one_pass(LayerNorm(4), x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="x must stay as it was"):
        run(steps)


def test_steps_of_inference_tensors_keep_copies():
    with torch.inference_mode():
        layer, x = LayerNorm(4), drawn(1, 3, 4) * 1
        steps = one_pass(layer, x)
        wanted = run(steps).value("layer_norm")
        x.zero_(), layer.gain.zero_()
        assert torch.equal(run(steps).value("layer_norm"), wanted)
        steps["x"].value.zero_()
        with pytest.raises(RuntimeError, match="x must stay as it was"):
            run(steps)


def test_positions_that_a_step_does_not_know_are_refused():
    with pytest.raises(ValueError, match=r"^positions must be None where recording sees them"):
        one_pass(PositionalEncoding(4), drawn(1, 3, 4), torch.arange(3))


def test_a_pass_under_autocast_is_recorded():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        steps = one_pass(EncoderLayer(4, 2, 6), drawn(1, 3, 4))
    assert steps.record("attention").q.dtype == torch.bfloat16


def test_a_rule_of_ones_own():
    class Twice(nn.Module):
        def forward(self, x):
            return x + x

    @explain(Twice)
    def of_twice(module: Twice, call, value, child):
        call.add("", "add", [call.argument(), call.argument()], made=value)

    steps = one_pass(nn.Sequential(Twice(), nn.Linear(4, 2)), X)
    assert [(step.name, step.operation) for step in steps.values()] == [
        ("input", "given"), ("0", "add"), ("1", "linear")
    ]  # fmt: skip


def test_a_shape_that_the_formula_does_not_give_is_found_out():
    class Turned(nn.Module):
        def forward(self, x):
            return x.tanh().mT

    @explain(Turned)
    def of_turned(module, call, value, child):
        call.add("", "tanh", [call.argument()], made=value)

    assert said(RuntimeError, Turned(), torch.zeros(1, 2, 4)) == (
        "recording must find what the formula of tanh gives at 'tanh', "
        "got the shape (1, 4, 2) from a Turned"
    )


def test_a_rule_that_adds_a_step_twice_is_refused():
    class Same(nn.Module):
        def forward(self, x):
            return x.tanh()

    @explain(Same)
    def of_same(module: Same, call, value, child):
        for _ in range(2):
            call.add("tanh", "tanh", [call.argument()], made=value)

    assert said(RuntimeError, Same(), X) == (
        "recording must see each module called once, got 'tanh' twice"
    )


# The formulas, against torch's own.


def test_the_formulas_are_torchs():
    x = drawn(2, 3, 6).double()
    gain, bias = drawn(6).double() + 1, drawn(6).double() / 3
    F = nn.functional
    weights = {"gain": gain, "bias": bias}

    def made(operation, inputs, weights=(), **settings):
        operation = OPERATIONS[operation]
        return operation(inputs, dict(weights), settings)[operation.stages[-1]]

    same = torch.testing.assert_close
    same(made("layer_norm", [x], weights, eps=1e-3), F.layer_norm(x, (6,), gain, bias, 1e-3))
    same(made("rms_norm", [x], {"gain": gain}, eps=1e-3), F.rms_norm(x, (6,), gain, 1e-3))
    same(made("relu", [x]), F.relu(x))
    same(made("gelu", [x]), F.gelu(x))
    same(made("tanh", [x]), torch.tanh(x))
    same(made("softmax", [x]), torch.softmax(x, dim=-1))
    matrix = drawn(5, 6).double()
    linear = {"weight": matrix, "bias": drawn(5).double()}
    same(made("linear", [x], linear), F.linear(x, matrix, linear["bias"]))
    same(made("linear", [x], {"weight": matrix.mT}, transposed=True), F.linear(x, matrix))
    q, k = x.view(2, 3, 2, 3).transpose(1, 2), x.flip(1).view(2, 3, 2, 3).transpose(1, 2)
    merged = F.scaled_dot_product_attention(q, k, q, is_causal=True).transpose(1, 2).flatten(2)
    settings = {"num_heads": 2, "scale": 3**-0.5, "keep": causal()}
    same(made("attention", [x, x.flip(1), x], **settings), merged)
    gru = filled(nn.GRU(6, 4, batch_first=True))
    start = drawn(2, 1, 4).double()
    states, _ = gru(x, start.transpose(0, 1))
    brought = F.linear(x, gru.weight_ih_l0, gru.bias_ih_l0)
    recurrent = {"weight_hh": gru.weight_hh_l0, "bias_hh": gru.bias_hh_l0}
    same(made("gru", [brought, start], recurrent), states)
    same(made("gru", [brought], recurrent), gru(x)[0])
    same(
        made("embed", [torch.tensor([[2, 0]])], {"weight": matrix}, times=2.0)[0],
        matrix[[2, 0]] * 2,
    )
