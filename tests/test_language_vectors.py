"""The numbers of the page's small language model are those of the book's own modules."""

import numpy as np
import torch

from attn_core.language import LanguageModel
from generate import language_vectors as small
from generate import light_vectors
from publishing.notebooks.outputs import vectors_differ

# Our names of what a layer's bytes hold.
OURS = {
    "attention_norm": "attention_norm.gain",
    "feed_forward_norm": "feed_forward_norm.gain",
    **{name: f"attention.{name}.weight" for name in ("w_query", "w_key", "w_value", "out_proj")},
    **{name: f"feed_forward.{name}.weight" for name in ("gate", "up", "down")},
}


def test_the_vectors_are_those_of_the_generator():
    wrong = vectors_differ(small.STORED, small.text())
    assert not wrong, f"python -m generate.language_vectors writes these again: {wrong}"


def test_the_light_files_are_those_of_the_generator():
    wrong = vectors_differ(light_vectors.STORED, light_vectors.text())
    assert not wrong, f"python -m generate.light_vectors writes these again: {wrong}"


def test_they_are_those_of_a_language_model():
    model = LanguageModel(
        small.VOCABULARY, width=small.WIDTH, num_heads=small.HEADS, num_kv_heads=small.KV_HEADS,
        hidden=small.HIDDEN, num_layers=small.LAYERS, rotary=small.ROTARY, eps=small.EPS,
    ).double()  # fmt: skip
    numbers = {name: torch.from_numpy(array) for name, array in small.model().numbers.items()}
    weights = {"embedding.weight": numbers["rows"], "unembedding.weight": numbers["rows"]}
    weights["norm.gain"] = numbers["norm"]
    for n in range(small.LAYERS):
        weights |= {f"layers.{n}.{ours}": numbers[f"{n}.{part}"] for part, ours in OURS.items()}
    model.load_state_dict(weights)
    with torch.no_grad():
        wanted = model(torch.tensor([small.IDS]))[0, -1].numpy()
    made = small.run(small.model(), small.IDS, {})["scores"]
    assert np.allclose(made.value[0], wanted, rtol=0, atol=1e-10)
    assert 0 < made.error.max() < 1e-4
