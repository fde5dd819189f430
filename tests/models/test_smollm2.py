"""SmolLM2 in our modules beside Hugging Face's Llama and llama.cpp's own reader of the file."""

import json
from pathlib import Path

import pytest
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from transformers import LlamaConfig, LlamaForCausalLM

from attn_core.pretrained import smollm2
from attn_core.pretrained.smollm2_135m import published

TEXTS = Path(__file__).parents[1] / "attn_core" / "smollm2_tokens.json"
NAMES = {
    "w_query": "self_attn.q_proj", "w_key": "self_attn.k_proj", "w_value": "self_attn.v_proj",
    "out_proj": "self_attn.o_proj", "gate": "mlp.gate_proj", "up": "mlp.up_proj",
    "down": "mlp.down_proj", "attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
}  # fmt: skip


def as_halves(weight):
    """Neighbours in the order of Hugging Face: all first numbers of the pairs, then all others."""
    return weight.unflatten(0, (-1, 32, 2)).transpose(1, 2).flatten(0, 2)


def theirs():
    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    weights = {}
    for name, weight in smollm2().state_dict().items():
        _, n, *rest = name.split(".") if name.startswith("layers.") else ("", "")
        if name == "unembedding.weight":
            weights["lm_head.weight"] = weight
        elif not rest:
            weights[
                {"embedding.weight": "model.embed_tokens.weight"}.get(name, "model.norm.weight")
            ] = weight
        else:
            part = NAMES[rest[-2]]
            turned = as_halves(weight) if rest[-2] in ("w_query", "w_key") else weight
            weights[f"model.layers.{n}.{part}.weight"] = turned
    model.load_state_dict(weights)
    return model


@torch.no_grad()
def test_logits_are_those_of_hugging_face():
    ours, others = smollm2(), theirs()
    texts = [text for text, ids in json.loads(TEXTS.read_text()) if 3 <= len(ids) <= 40]
    for text in texts[:: len(texts) // 50][:50]:
        ids = ours.ids(text)
        made, wanted = ours(ids)[0, -1], others(ids).logits[0, -1]
        assert (made - wanted).abs().max() < 1e-4, text
        assert made.topk(5).indices.tolist() == wanted.topk(5).indices.tolist(), text


def test_the_file_is_read_as_llama_cpp_reads_it():
    file = published()
    tensors = GGUFReader(file.path).tensors
    assert {tensor.name for tensor in tensors} == set(file.entries)
    for tensor in tensors:
        wanted = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        assert torch.equal(file.weight(tensor.name), wanted.view(file.entries[tensor.name].shape))


@pytest.mark.parametrize("prompt", ["The capital of France is", "Once upon a time"])
@torch.no_grad()
def test_it_writes_as_hugging_face_does(prompt):
    ours = smollm2()
    ids = ours.ids(prompt)
    wanted = theirs().generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=2)
    assert ours.generate(ids, longest=8, ends=(2,)).ids == wanted[0, ids.shape[1] :].tolist()
