"""`watch` records the attention of models that other people wrote."""

from dataclasses import replace

import pytest
import torch
from x_transformers import Decoder, TransformerWrapper

from attn_core import watch
from tests.models.kinds import IDS, KINDS, UNSEEN, maps_of


def close(records, maps):
    assert len(records) == len(maps)
    for record, expected in zip(records, maps, strict=True):
        weights = record.stage("weights").reshape(expected.shape)
        # sdpa gives 0 to a row that may see nothing, eager code an average that nobody uses.
        sees = weights.sum(-1, keepdim=True) > 0
        torch.testing.assert_close(weights, expected.where(sees, 0.0), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "how"), [(name, how) for name, kind in KINDS.items() for how in kind.ways]
)
def test_a_kind(name, how):
    kind = KINDS[name]
    model = kind.model(how)
    with torch.no_grad(), watch(model, strict=True, check=True) as seen:
        model(**kind.inputs)
    with torch.no_grad():
        maps = maps_of(kind.model("eager")(**kind.inputs, output_attentions=True))
    close(seen.all()[kind.attentions_a_map - 1 :: kind.attentions_a_map], maps)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rel_pos_bias": True},
        {"alibi_pos_bias": True, "alibi_num_heads": 4},
        {"rotary_pos_emb": True},
        {"attn_one_kv_head": True},
        {"attn_kv_heads": 2},
        {"attn_qk_norm": True},
        {"attn_softclamp_logits": True},
        {"attn_num_mem_kv": 4},
        {"attn_sparse_topk": 3},
    ],
    ids=str,
)
def test_x_transformers(settings):
    torch.manual_seed(0)
    layers = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, **settings)
    model = TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=layers).eval()
    with torch.no_grad(), watch(model, strict=True, check=True) as seen:
        model(IDS)
    with torch.no_grad():
        maps = model(IDS, return_attn=True)[1]
    close(seen.all(), maps)


def test_the_buckets_of_t5_are_a_rule():
    model = KINDS["T5Encoder"].model("sdpa")
    with torch.no_grad(), watch(model) as seen:
        model(**KINDS["T5Encoder"].inputs)
    assert {repr(record.bias) for record in seen.all()} == {"relative(4, 17)"}


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "LlamaForCausalLM", "GptOssForCausalLM"])
def test_a_generation_is_one_record_a_layer(name):
    kind = KINDS[name.removesuffix("LMHeadModel").removesuffix("ForCausalLM")]
    settings = kind.settings | {"sliding_window": 64}  # a cache that slides forgets its first keys
    model = replace(kind, name=name, config=f"{kind.name}Config", settings=settings).model("eager")
    with watch(model, strict=True) as seen:
        ids = model.generate(IDS, max_new_tokens=6, do_sample=False, eos_token_id=None)
    with torch.no_grad():
        maps = model(ids[:, :-1], output_attentions=True).attentions
    close(seen.all(), maps)


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_seen_is_named(name):
    model = UNSEEN[name].model("eager")
    with torch.no_grad(), pytest.raises(RuntimeError) as error, watch(model) as seen:
        model(**UNSEEN[name].inputs)
    assert f"got none in {name}Model; not seen: " in str(error.value)
    assert len(seen.unseen) == 2  # one a layer


PROJECTIONS = [
    ("GPT2", "h.1.attn", "c_proj"),
    ("Llama", "layers.1.self_attn", "o_proj"),
    ("Gemma2", "layers.1.self_attn", "o_proj"),
    ("GptOss", "layers.1.self_attn", "o_proj"),
    ("Bloom", "h.1.self_attention", "dense"),
    ("Falcon", "h.1.self_attention", "dense"),
    ("T5Encoder", "encoder.block.1.layer.0.SelfAttention", "o"),
]


@pytest.mark.parametrize(("name", "path", "projection"), PROJECTIONS)
def test_heads_are_changed_as_by_a_hook(name, path, projection):
    kind = KINDS[name]
    for model in map(kind.model, kind.ways):
        runs = []
        for inputs in (kind.inputs, kind.inputs | {"input_ids": IDS.flip(1)}):
            with torch.no_grad(), watch(model) as seen:
                model(**inputs)
            runs.append(seen)
        seen, other = runs
        outputs = other[path].output[:, [0, 2]].transpose(1, 2)
        project = model.get_submodule(path).get_submodule(projection)
        for edit, values in (
            (seen.ablate({path: [0, 2]}), 0),
            (seen.patch(other, {path: [0, 2]}), outputs),
        ):

            def change(module, args, values=values):
                heads = args[0].unflatten(-1, (4, -1)).clone()
                heads[..., [0, 2], :] = values
                return (heads.flatten(-2),)

            with torch.no_grad(), edit:
                ours = model(**kind.inputs)[0]
            hook = project.register_forward_pre_hook(change)
            with torch.no_grad():
                assert torch.equal(ours, model(**kind.inputs)[0])
            hook.remove()


@pytest.mark.parametrize(("name", "path", "projection"), PROJECTIONS)
def test_the_gradient_of_weights_is_that_of_an_eager_map(name, path, projection):
    kind = KINDS[name]
    eager = kind.model("eager")(**kind.inputs, output_attentions=True)
    (expected,) = torch.autograd.grad(eager[0][..., 0].sum(), eager.attentions[1])
    model, inputs = kind.model(kind.ways[-1]), []
    project = model.get_submodule(path).get_submodule(projection)
    project.register_forward_pre_hook(lambda module, args: inputs.append(args[0]))
    with watch(model) as seen:
        number = model(**kind.inputs)[0][..., 0].sum()
    (grad,) = torch.autograd.grad(number, inputs)
    grad_output = grad.unflatten(-1, (4, -1)).transpose(1, 2)
    got = seen[path].grad_weights(grad_output)
    sees = seen[path].stage("weights") > 0
    most = expected.abs().max()
    torch.testing.assert_close(got * sees / most, expected * sees / most, rtol=0, atol=1e-5)
