"""What an error of the steps says: one sentence."""

import torch

from attn_core.layers import LayerNorm
from attn_core.steps import Changes, Step, Steps, backward, run, workings
from attn_core.steps.operations import OPERATIONS
from tests.attn_core.step_models import one_pass, recorded
from tests.errors.sentences import refused, sentences

STEPS = recorded("transformer")
DONE = run(STEPS.with_softmax())
GRADIENTS = backward(STEPS, ("encoder.0.attention", (0, 1)))
OF_A_NORM = one_pass(LayerNorm(4), torch.zeros(1, 2, 4))


def changed(**changes):
    return lambda: run(STEPS, Changes(**changes))


def given(**words):
    return lambda: run(STEPS, **words)


def at(*place, **batch):
    return lambda: workings(STEPS, *place, **batch)


def made(*step):
    return lambda: Steps([Step(*step)])


def back(*loss, **batch):
    return lambda: backward(STEPS, *loss, **batch)


def over(targets, **settings):
    return lambda: run(STEPS.with_loss(targets, **settings)).value("loss")


def attended(**settings):
    given = {"num_heads": 2, "scale": 1.0} | settings
    return made("a", "attention", ("q", "k", "v"), {}, given)


FORWARD = [name for name in OPERATIONS if not name.endswith("_backward")]
IDS = "must be ids [T] or [B, T], at least one, got"
VALUES = {
    "positions_off must name steps of operation add_positions or rotary, got 3":
        changed(positions_off=[3]),
    "mask_off must name steps of operation attention, got 'encoder'": changed(mask_off=["encoder"]),
    "norms_off must name steps of operation layer_norm or rms_norm, got 'words_out'":
        changed(norms_off=["words_out"]),
    "heads_off must name steps of operation attention, got 'words_out'":
        changed(heads_off=[("words_out", 0)]),
    "head of heads_off must be at least 0 and below 2, got 2":
        changed(heads_off=[("encoder.0.attention", 2)]),
    "heads_off must hold pairs (step, head), got 'encoder.0.attention'":
        changed(heads_off=["encoder.0.attention"]),
    "heads_off must hold pairs (step, head), got 'ab'": changed(heads_off=["ab"]),
    "inputs must be named source or target, got 'sources'": given(sources=[1]),
    "an id of source must be at least 0 and below 6, got 6": given(source=[6]),
    "an id of target must be at least 0 and below 6, got -1": given(target=[-1, 2]),
    f"source {IDS} torch.float32 of shape (0,)": given(source=[]),
    f"source {IDS} torch.int64 of shape (1, 1, 1)": given(source=torch.ones(1, 1, 1).long()),
    f"target {IDS} torch.float32 of shape (1,)": [
        given(target=[0.5]), given(target=torch.ones(1))
    ],
    "x must be rows [T, E] or [B, T, E], got (4,)": lambda: run(OF_A_NORM, x=torch.zeros(4)),
    "x must be given, got nothing: these steps hold no values":
        lambda: run(Steps([Step("x", "given")])).value("x"),
    "stage of source must be one of output, got 'mean'": lambda: DONE.value("source", "mean"),
    "stage of probabilities must be one of output, row_max, row_sum, got 'q'":
        lambda: DONE.value("probabilities", "q"),
    "name must be that of an attention, got 'words_out'": lambda: DONE.record("words_out"),
    "name must be that of a recorded attention, got 'source'": lambda: STEPS.record("source"),
    "sum must have 2 inputs, got 1":
        lambda: Steps([Step("x", "given"), Step("sum", "add", ("x",))]),
    "beside must have 1 or more inputs, got 0": made("beside", "concat"),
    "state must have 1 or 2 inputs, got 3": made("state", "gru", ("x", "y", "z")),
    f"operation of x must be one of {', '.join(FORWARD)}, got 'cosine'": made("x", "cosine"),
    "settings of q must be of transposed, got 'turned'":
        made("q", "linear", ("x",), {"weight": "w"}, {"turned": True}),
    "settings of act must be none, got 'slope'": made("act", "relu", ("x",), {}, {"slope": 0.1}),
    "transposed of q must be True or False, got 1":
        made("q", "linear", ("x",), {"weight": "w"}, {"transposed": 1}),
    "row of row must be a whole number of at least 0, got -1":
        made("row", "add_row", ("x",), {"table": "t"}, {"row": -1}),
    "row of row must be a whole number of at least 0, got 0.5":
        made("row", "add_row", ("x",), {"table": "t"}, {"row": 0.5}),
    "settings of a must be of num_heads, num_kv_heads, scale, keep, heads_off, got 'p'":
        attended(p=0.1),
    "scale of a must be a number, got '1'": attended(scale="1"),
    "keep of a must be a Keep or None, got 'causal'": attended(keep="causal"),
    "heads_off of a must be a list of whole numbers, got a list": attended(heads_off=[0.5]),
    "side of x must be a string, got 3": made("x", "words", (), {}, {"side": 3}),
    "row must have the setting row, got none": made("row", "add_row", ("x",), {"table": "t"}),
    "q must have the parameter weight, got none": made("q", "linear", ("x",), {"bias": "b"}),
    "parameters of act must be none, got 'slope'": made("act", "relu", ("x",), {"slope": "w"}),
    "at must have no table where its kind is sinusoids, got one":
        made("at", "add_positions", ("x",), {"table": "t"}, {"kind": "sinusoids"}),
    "kind of at must be 'table' or 'sinusoids', got 'rotary'":
        made("at", "add_positions", ("x",), {}, {"kind": "rotary"}),
    "the inputs of add must have one shape, got (1, 2, 3) and (1, 1, 3)":
        lambda: OPERATIONS["add"]([torch.ones(1, 2, 3), torch.ones(1, 1, 3)], {}, {}),
    "index of words_out must have 2 numbers, got (0,)": at("words_out", (0,)),
    "index of source must have 1 numbers, got (0, 1)": at("source", (0, 1)),
    "index[1] must be at least 0 and below 6, got 6": at("words_out", (0, 6)),
    "index[0] must be at least 0 and below 2, got -1": at("words_out", (-1, 0)),
    "index of encoder.0.attention must have 3 numbers, got (0, 0)":
        at("encoder.0.attention", (0, 0), "weights"),
    "stage of words_out must be one of output, got 'mean'": at("words_out", (0, 0), "mean"),
    "stage of words_out must be one of output, got 7": at("words_out", (0, 0), 7),
    "batch must be at least 0 and below 1, got 1":
        [at("words_out", (0, 0), batch=1), back(("words_out", (0, 0)), batch=1)],
    "steps must have names that differ, got 'probabilities' twice":
        lambda: STEPS.with_softmax().with_softmax(),
    "loss must be a step that makes one number, or (name, index), got 'words_out', which makes "
    "(1, 2, 6)": back("words_out"),
    "loss must be a step that makes numbers, got 'source', which is words": back(("source", (0,))),
    "index[1] must be at least 0 and below 6, got 7": back(("words_out", (0, 7))),
    "stage of words_out.backward must be one of grad_input, grad_weight, grad_bias, got None":
        lambda: backward(STEPS, ("words_out", (0, 0))).value("words_out.backward"),
    "each step must have a backward pass, got 'places.grad' of operation sum: gradients of "
    "gradients are not computed": lambda: backward(
        Steps([Step("x", "given", value=torch.ones(1, 1)), Step("places.grad", "sum", ("x",))]),
        "places.grad",
    ),
    "name must be a step that encoder.0.attention[0, 1] depends on, got 'words_out'":
        lambda: GRADIENTS.address("words_out"),
    "name must be a step that makes numbers, got 'source', which is words":
        [lambda: GRADIENTS.of("source"), lambda: GRADIENTS.address("source")],
    "stage of source_words must be one whose gradient its backward step computes, output, got "
    "'weights'":
        lambda: GRADIENTS.of("source_words", "weights"),
    "stage of encoder.0.attention must be one whose gradient its backward step computes, scores or "
    "scaled or masked or weights or dropped or output or merged, got 'mean'":
        lambda: GRADIENTS.of("encoder.0.attention", "mean"),
    "targets of cross_entropy must be at least 0 and below 6, got 6": over([1, 6]),
    "targets of cross_entropy must be at least 0 and below 6, got -1": over([-1, 1], ignored=0),
    "targets of cross_entropy must have a word that counts, got 0, the ignored id, alone":
        over([0, 0], ignored=0),
    "targets of cross_entropy must be ids (1, 2), one for each row of scores, got torch.int64 of "
    "shape (1, 3)": over([1, 2, 3]),
    "ignored of loss must be a whole number, got 0.5": over([1, 2], ignored=0.5),
}  # fmt: skip
KINDS = {
    "head of heads_off must be a whole number, got 0.5":
        changed(heads_off=[("encoder.0.attention", 0.5)]),
    "source must be ids or a torch tensor, got a list": given(source=["Tom"]),
    "index[1] must be a whole number, got 0.5": at("words_out", (0, 0.5)),
    "index of words_out must be 2 whole numbers, got 5": at("words_out", 5),
    "steps must be Steps or a Pass, got list":
        [lambda: workings([1], "words_out", (0, 0)), lambda: backward([1])],
    "steps must be those of a forward pass, got Gradients, whose backward pass is there":
        lambda: backward(GRADIENTS, ("words_out", (0, 0))),
    "loss must be the name of a step or (name, index), got 3": back(3),
    "targets must be ids or a torch tensor, got a list": over(["Tom"]),
}  # fmt: skip
NAMES = {
    "name must be one of the 69 steps, got 3": at(3, (0, 0)),
    "name must be one of the 69 steps, got 'encoder'":
        [at("encoder", (0, 0)), lambda: STEPS["encoder"]],
    "name must be one of the 69 steps, got 'loss'": back(),
    "name must be one of the 88 weights, got 'words_out'": lambda: GRADIENTS.weight("words_out"),
}  # fmt: skip


@sentences((ValueError, VALUES), (TypeError, KINDS), (KeyError, NAMES))
def test_one_sentence(given, kind, sentence):
    refused(given, kind, sentence)
