"""Heads of a model that are set to 0, or have the outputs of another run: as by a hook."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from attn_core import watch
from attn_core.modules import MultiHeadAttention
from tests.watching.forms import FORMS, Attends, by_softmax, by_torch, dropped
from tests.watching.test_watch import Scripted, flex, softmax_layers

X, Y = torch.linspace(-1, 1, 2 * 2 * 6 * 16).sin().view(2, 2, 6, 16)


class Hooked(Attends):
    """Some heads' outputs are others, put there by hand."""

    def forward(self, x):
        form, self.form = self.form, self.changed
        self.inner = form
        try:
            return super().forward(x)
        finally:
            self.form = form

    def changed(self, q, k, v):
        output, weights = self.inner(q, k, v)
        output = output.clone()
        output[:, self.heads_changed] = self.values
        return output, weights


def run(model, x, mode):
    """Its output, and the gradient of it."""
    x = x.clone().requires_grad_()
    with mode():
        output = model(x)
    if mode is not torch.enable_grad:
        return output, None
    return output.detach(), torch.autograd.grad(output.square().sum(), x)[0]


def test_a_model_that_attends_itself_goes_by_its_name_in_the_table():
    model = Attends(by_torch())
    with torch.no_grad(), watch(model) as seen:
        before = model(X)
    assert "(the model)" in repr(seen)
    assert seen["(the model)"] is seen[""]
    assert seen.all("(the model)") == [seen[0]]
    with torch.no_grad(), seen.ablate({"(the model)": True}):
        off = model(X)
    with torch.no_grad(), seen.ablate({"": True}):
        assert torch.equal(off, model(X))
    assert not torch.equal(off, before)
    with pytest.raises(KeyError, match=r"such as '\(the model\)'"):
        seen["other"]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_form_as_by_a_hook(name, mode):
    form, heads_of_keys, _ = FORMS[name]
    torch.manual_seed(0)
    model, hooked = (kind(form, heads_of_keys) for kind in (Attends, Hooked))
    hooked.load_state_dict(model.state_dict())
    with torch.no_grad(), watch(model) as seen:
        model(X)
    with torch.no_grad(), watch(model) as other:
        model(Y)
    in_heads = seen[0].shape[1] == 4
    heads = [1, 3] if in_heads else [0]
    hooked.heads_changed = heads if in_heads else slice(None)
    outputs = torch.cat([record.output_4d.flatten(0, 1) for record in other.all()])
    outputs = outputs.view(2, -1, *outputs.shape[1:])[:, hooked.heads_changed]
    for edit, hooked.values in ((seen.ablate, 0), (lambda h: seen.patch(other, h), outputs)):
        with edit({"": heads}):
            ours = run(model, X, mode)
        theirs = run(hooked, X, mode)
        for got, expected in zip(ours, theirs, strict=True):
            assert got is expected or torch.equal(got, expected)


@pytest.mark.parametrize(
    ("model", "path", "args"),
    [
        (MultiHeadAttention(16, 16, 4, dropout=0.5), "", (X,)),
        (nn.MultiheadAttention(16, 4, batch_first=True), "", (X, X, X)),
        (nn.TransformerEncoderLayer(16, 4, 16, 0.0, batch_first=True), "self_attn", (X,)),
    ],
    ids=["this library's", "torch's", "in a layer"],
)
def test_a_module_as_without_columns_of_its_projection(model, path, args):
    with torch.no_grad(), watch(model) as seen:
        model.eval()(*args)
        without = deepcopy(model)
        without.get_submodule(path).out_proj.weight[:, 4:8] = 0
        with seen.ablate({path: [1]}):
            changed, expected = model(*args), without(*args)
        torch.testing.assert_close(changed, expected, rtol=0, atol=0)


LAYERS = softmax_layers(by_softmax(), by_torch(), by_softmax())
PATH = "1.0"


def watched(model=LAYERS, x=X):
    with torch.no_grad(), watch(model) as seen:
        model(x)
    return seen


def test_a_watch_beside_it_records_what_was_computed_before_the_change():
    seen = watched()
    with torch.no_grad(), seen.ablate({PATH: [1]}), watch(LAYERS, strict=True, check=True) as after:
        LAYERS(X)
    with torch.no_grad(), watch(LAYERS, strict=True) as inner, seen.ablate({PATH: [1]}):
        LAYERS(X)
    for got, expected in zip(after.all(), inner.all(), strict=True):
        assert torch.equal(got.output, expected.output)
    assert torch.equal(after[PATH].output, seen[PATH].output)
    assert not torch.equal(after["2.0"].output, seen["2.0"].output)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_what_a_checkpoint_computes_again_is_changed_again(use_reentrant):
    class Checkpointed(nn.Module):
        def forward(self, x):
            return checkpoint(LAYERS, x, use_reentrant=use_reentrant)

    model = Checkpointed()
    model.layers = LAYERS
    seen, slopes = watched(model, X.clone().requires_grad_()), []
    for part, edit in (
        (model, seen.ablate({f"layers.{PATH}": [0, 2]})),
        (LAYERS, watched().ablate({PATH: [0, 2]})),
    ):
        x = X.clone().requires_grad_()
        with edit:
            part(x).square().sum().backward()
        slopes.append(x.grad)
    assert torch.equal(*slopes)


def test_a_module_that_attends_twice_has_its_outputs_in_turn():
    twice = nn.Sequential(LAYERS[0], LAYERS[0])
    seen, other = watched(twice), watched(twice, Y)
    with torch.no_grad(), seen.patch(other, {"0.0": True}):
        # All that the second layer gets is from the other run, and so is what it gives.
        assert torch.allclose(twice(X), twice(Y))


def test_flex_attention():
    model = softmax_layers(flex)
    with torch.no_grad(), watched(model).ablate({"0.0": True}):
        assert torch.equal(model(X), model[0][1].bias.expand(2, 6, 16))


def refused(sentence, kind=ValueError, model=LAYERS, x=X, **how):
    return pytest.param(model, x, how, kind, sentence, id=sentence)


@pytest.mark.parametrize(
    ("model", "x", "how", "kind", "sentence"),
    [
        refused("'3' is not among the 3 paths", KeyError, heads={"3": [0]}),
        refused("heads of '1.0' must be at least 0 and below 4, got 4", heads={PATH: [0, 4]}),
        refused("heads of '1.0' must name at least one of 4, got none", heads={PATH: []}),
        refused(
            "heads of '1.0' must be a list of numbers or True, got 2", TypeError, heads={PATH: 2}
        ),
        refused("heads of '1.0' must be a whole number, got True", TypeError, heads={PATH: [True]}),
        refused("heads must be a dict of at least one path with its heads", TypeError, heads=[2]),
        refused("other must be what watch gave, got int", TypeError, other=1),
        refused("other must have outputs of '1.0' of the same shapes", other=watched(x=X[:, :3])),
        refused("other must know the outputs", model=softmax_layers(dropped, dropped), other=...),
        refused("'1.0' must attend inside the block, but did not", RuntimeError, x=None),
        refused("have the shape of those that replace them", RuntimeError, x=X[:1], other=...),
    ],
)
def test_refusals(model, x, how, kind, sentence):
    seen = watched(model)
    ask = {"heads": {PATH: [0]}} | how
    if "other" in ask:
        ask["other"] = seen if ask["other"] is ... else ask["other"]
    edit = seen.patch if "other" in ask else seen.ablate
    with pytest.raises(kind, match=sentence), torch.no_grad(), edit(**ask):
        None if x is None else model(x)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gradients_that_cannot_be_followed_are_refused():
    model = torch.jit.script(Scripted())
    seen = watched(model)
    with torch.no_grad(), seen.ablate({"": True}):
        assert not model(X).any()
    with pytest.raises(RuntimeError, match="run under torch"), seen.ablate({"": True}):
        model(X.clone().requires_grad_())


def test_a_model_that_is_gone():
    seen = watched(softmax_layers(by_torch()))
    with pytest.raises(RuntimeError, match="the model that was watched must still exist"):
        seen.ablate({"0.0": True})
