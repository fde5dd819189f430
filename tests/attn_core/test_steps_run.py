"""A pass computed again, over other words and with something switched off: as hooks would do it."""

import contextlib
import math

import pytest
import torch

from attn_core.layers import LayerNorm
from attn_core.steps import Changes, run
from attn_core.translators import recurrent, transformer
from attn_core.translators.grammar import CHINESE, ENGLISH, START, ids, sentence
from attn_core.translators.training import TESTING
from tests.attn_core.step_models import MODELS, one_pass, recorded

SOURCE, TARGET = [3, 5, 4, 5], [1, 3, 5]
same = torch.testing.assert_close


def given(source=SOURCE, target=TARGET):
    return {"source": source, "target": target}


def words(recurrent=False, source=SOURCE, target=TARGET):
    source, target = torch.tensor([source]), torch.tensor([target])
    return (source, [source.shape[1]], target) if recurrent else (source, target)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("source", "target"), [([4], [1]), (SOURCE, TARGET), ([5, 3], [1, 4, 3])])
def test_other_words_than_those_recorded(name, source, target):
    model, taken = MODELS[name]()
    value = run(recorded(name), **given(source, target)).value("words_out")
    same(value, model(*words(len(taken) == 3, source, target)))


def test_several_sentences():
    model, _ = MODELS["transformer"]()
    source, target = torch.tensor([[3, 5, 4], [5, 4, 3]]), torch.tensor([[1, 3], [1, 5]])
    same(
        run(recorded("transformer"), **given(source, target)).value("words_out"),
        model(source, target),
    )


def test_the_stored_translators():
    pair = sentence(TESTING, 7, 13)
    source, before = ids(pair.english, ENGLISH)[None], ids([START, *pair.chinese], CHINESE)[None]
    model = transformer.stored()
    steps = transformer.recorded(model, ["Tom", "sees", "Jerry"], ["汤姆"])
    done = run(steps, source=source, target=before)
    same(done.value("probabilities"), torch.softmax(model(source, before), -1))
    for attends in (True, False):
        model = recurrent.stored(attends)
        steps = recurrent.recorded(model, ["Tom", "sees", "Jerry"], ["汤姆"])
        done = run(steps, source=source, target=before)
        wanted = torch.softmax(model(source, [source.shape[1]], before), -1)
        same(done.value("probabilities"), wanted)


def test_a_step_is_computed_when_it_is_asked_for():
    done = run(recorded("transformer"))
    assert not done.made
    done.value("encoder.0.attention.w_query")
    assert "encoder.0.attention.w_query" in done.made
    assert "encoder.0.residuals.0.sum" not in done.made
    first = done.value("encoder.0.attention.w_query")
    assert done.value("encoder.0.attention.w_query") is first


# Changes, against the modules with something done to them by hand.


@contextlib.contextmanager
def hooked(*handles):
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def columns_off(module, columns):
    """What goes into the module, with 0 in some columns."""

    def before(module, args):
        merged = args[0].clone()
        merged[..., columns] = 0
        return (merged,)

    return module.register_forward_pre_hook(before)


def passed_on(module):
    """What goes in comes out."""
    return module.register_forward_hook(lambda module, args, made: args[0])


def sublayer_alone(residual):
    """The norm gets what the sublayer made; pre-norm: that is the output."""
    made = []
    kept = residual.drop.register_forward_hook(lambda module, args, out: made.append(out))
    if residual.norm_first:
        return kept, residual.register_forward_hook(lambda module, args, out: made.pop())
    return kept, residual.norm.register_forward_pre_hook(lambda module, args: (made.pop(),))


def unscaled(attention):
    """Queries times √D, which takes the scale away."""
    width = attention.w_query.out_features // attention.num_heads
    return attention.w_query.register_forward_hook(
        lambda module, args, made: made * math.sqrt(width)
    )


def by_hand(model, change):
    """The model's output under one change of each kind."""
    encoder, decoder = model.encoder[1], model.decoder[0]
    handles, mask = [], decoder.self_attention.keep
    if change == "heads_off":
        handles = [
            columns_off(encoder.attention.out_proj, slice(2, 4)),
            columns_off(decoder.cross_attention.out_proj, slice(0, 2)),
        ]
    elif change == "positions_off":
        handles = [passed_on(model.target_places)]
    elif change == "residuals_off":
        handles = sublayer_alone(encoder.residuals[1])
    elif change == "norms_off":
        handles = [passed_on(encoder.residuals[0].norm), passed_on(decoder.residuals[2].norm)]
    elif change == "mask_off":
        decoder.self_attention.keep = None
    elif change == "scale_off":
        handles = [unscaled(decoder.cross_attention)]
    with hooked(*handles):
        made = model(*words())
    decoder.self_attention.keep = mask
    return made


CHANGES = {
    "heads_off": [("encoder.1.attention", 1), ("decoder.0.cross_attention", 0)],
    "positions_off": ["target_places"],
    "residuals_off": ["encoder.1.residuals.1.sum"],
    "norms_off": ["encoder.1.residuals.0.norm", "decoder.0.residuals.2.norm"],
    "mask_off": ["decoder.0.self_attention"],
    "scale_off": ["decoder.0.cross_attention"],
}


@pytest.mark.parametrize("name", ["transformer", "norm first"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_does_what_hooks_do(name, change):
    model, _ = MODELS[name]()
    steps = recorded(name)
    value = run(steps, Changes(**{change: CHANGES[change]}), **given()).value("words_out")
    same(value, by_hand(model, change))
    usual = run(steps, **given()).value("words_out")
    assert (value - usual).abs().max() > 1e-3


def test_all_heads_off_and_what_is_left():
    steps = recorded("transformer")
    changes = Changes(heads_off=[("encoder.0.attention", 1), ("encoder.0.attention", 0)])
    changed, usual = run(steps, changes), run(steps)
    assert (changed.value("encoder.0.attention") == 0).all()
    same(
        changed.value("encoder.0.attention", "output"), usual.value("encoder.0.attention", "output")
    )
    assert changed.record("encoder.0.attention").shape == (1, 2, 3, 3)


def test_a_norm_that_is_off_still_has_its_numbers():
    steps, norm = recorded("transformer"), "encoder.0.residuals.0.norm"
    changed, usual = run(steps, Changes(norms_off=[norm])), run(steps)
    for stage in ("mean", "variance", "normed"):
        same(changed.value(norm, stage), usual.value(norm, stage))
    same(changed.value(norm), usual.value("encoder.0.residuals.0.sum"))


def test_mask_and_scale_off_together():
    steps, name = recorded("transformer"), "decoder.1.self_attention"
    record = run(steps, Changes(mask_off=[name], scale_off=[name])).record(name)
    assert (record.keep, record.scale) == (None, 1.0)


def test_recurrent_translators_take_changes_too():
    steps = recorded("with attention")
    without = run(steps, Changes(heads_off=[("attention", 0)]))
    assert (without.value("attention") == 0).all()
    assert (without.value("beside")[..., 3:] == 0).all()


def test_changes_as_json_and_as_text():
    changes = Changes(heads_off=[("encoder.0.attention", 1)], mask_off=["decoder.0.self_attention"])
    assert changes.to_json() == {
        "heads_off": [["encoder.0.attention", 1]],
        "positions_off": [],
        "residuals_off": [],
        "norms_off": [],
        "mask_off": ["decoder.0.self_attention"],
        "scale_off": [],
    }
    assert repr(Changes()) == "Changes()"
    assert repr(Changes(scale_off=["a"])) == "Changes(scale_off=['a'])"
    two = Changes(norms_off=["a"], scale_off=["b"])
    assert repr(two) == "Changes(norms_off=['a'], scale_off=['b'])"


def test_the_steps_themselves_stay_as_they_are():
    steps = recorded("transformer")
    before = [step.to_json() for step in steps.values()]
    run(steps, Changes(**CHANGES)).value("words_out")
    assert [step.to_json() for step in steps.values()] == before


def test_rows_may_come_without_a_batch():
    steps = one_pass(LayerNorm(4), torch.zeros(1, 2, 4))
    assert run(steps, x=torch.ones(2, 4)).value("layer_norm").shape == (1, 2, 4)
