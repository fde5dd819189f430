"""SmolLM2 on a few texts, as a page gets them without the model: near the model's own numbers."""

import base64
import gzip
import json
import re
from copy import deepcopy

import numpy as np
import pytest
import torch

from attn_core import causal, trace
from attn_core.pretrained import smollm2
from attn_core.pretrained.gguf import q8_0
from attn_core.pretrained.smollm2_135m import HEADS, KV_HEADS, LAYERS, WIDTH
from attn_core.views.light import MOST
from publishing.site import language_light
from publishing.site.language_light import TEXTS

pytestmark = pytest.mark.gate

HEAD_DIM = WIDTH // HEADS
# How far a weight of the page may be from the model's; 2.6e-4 was the largest of all four texts.
OF_A_WEIGHT = 3e-4
OF_A_ROW = 2.0**-16
# The model's own scores are float32: processors differ by 1e-4, a chance by half of that at most.
OF_A_CHANCE = 6e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    language_light.write_light(folder)
    return folder


@pytest.fixture(scope="module")
def content(folder):
    """A file's bytes, by its name."""

    def read(name):
        written = (folder / f"{name}.js").read_text(encoding="ascii")
        said = re.fullmatch(r'languageShard\("([\w.-]+)","([\w+/=]+)"\);\n', written)
        assert said[1] == name
        return base64.b64decode(said[2])

    return read


@pytest.fixture(scope="module", params=TEXTS)
def name(request):
    return request.param


@pytest.fixture
def index(content, name):
    return json.loads(content(f"{name}.json"))


@pytest.fixture(scope="module")
def computed(name):
    """What each layer computes of a text, by the modules in float64: records, and rows twice."""
    model = smollm2()
    x, layers = model.embedding(model.ids(TEXTS[name])).double(), []
    with torch.no_grad():
        for layer in model.layers:
            wide = deepcopy(layer).double()
            normed = wide.attention_norm(x)
            attended = x + wide.attention(normed)
            x = wide(x)
            layers.append((wide.attention.trace(normed), attended[0], x[0]))
    return layers


def heads_in(content, name, layer, count):
    """q, k and v, [heads, T, D] in float64, as a page makes them of a file."""
    sent, parts = content(f"{name}-heads-{layer:02}.bin"), []
    for heads in (HEADS, KV_HEADS, KV_HEADS):
        scales = np.frombuffer(sent, "<f4", count * heads).reshape(count, heads, 1)
        sent = sent[scales.nbytes :]
        numbers = np.frombuffer(sent, "<i2", count * heads * HEAD_DIM)
        sent = sent[numbers.nbytes :]
        rows = scales * numbers.reshape(count, heads, HEAD_DIM).astype("f4")
        parts.append(torch.from_numpy(rows).double().transpose(0, 1))
    assert sent == b""
    return parts


def rows_in(content, name, layer):
    """The rows behind the attention, and behind the layer."""
    three = np.frombuffer(content(f"{name}-rows-{layer:02}.bin"), np.uint8).reshape(-1, 3)
    four = np.ascontiguousarray(np.pad(three, ((0, 0), (1, 0))))
    return torch.from_numpy(four.view("<f4").reshape(2, -1, WIDTH).astype("f8"))


@pytest.mark.trained_model
def test_each_weight_is_the_models_within_what_is_said(content, name, index, computed):
    count, worst = len(index["ids"]), 0.0
    maps = np.frombuffer(content(f"{name}-maps.bin"), np.uint8).reshape(LAYERS, HEADS, -1)
    lower = np.tril_indices(count)
    for n, (record, _, _) in enumerate(computed):
        q, k, v = heads_in(content, name, n, count)
        shown = trace(q[None], k[None], v[None], keep=causal()).stage("weights")[0]
        worst = max(worst, float((shown - record.stage("weights")[0]).abs().max()))
        assert abs(255 * shown.numpy()[:, *lower] - maps[n]).max() < 0.5001
        first = index["measures"]["first"][n * HEADS : (n + 1) * HEADS]
        assert abs(shown[:, :, 0].mean(-1).numpy() - first).max() < 0.51e-4
    assert worst < OF_A_WEIGHT


@pytest.mark.trained_model
def test_q_k_v_and_rows_are_the_models_as_far_as_their_bits_go(content, name, index, computed):
    for n, (record, *rows) in enumerate(computed):
        for shown, side in zip(heads_in(content, name, n, len(index["ids"])), "qkv", strict=True):
            wanted = getattr(record, side)[0]
            scale = wanted.abs().amax(-1, keepdim=True) / MOST
            assert ((shown - wanted).abs() <= 0.51 * scale).all()
        for shown, wanted in zip(rows_in(content, name, n), rows, strict=True):
            assert ((shown - wanted).abs() <= 1.01 * OF_A_ROW * wanted.abs() + 1e-12).all()


@pytest.mark.trained_model
def test_the_index_says_what_the_model_says(content, name, index):
    model, text = smollm2(), TEXTS[name]
    assert index["pieces"] == model.tokens(text)
    assert index["ids"] == model.ids(text)[0].tolist()
    wanted = model.next_tokens(text, 10)
    assert [of["piece"] for of in index["likeliest"]] == [of.token for of in wanted]
    for said, of in zip(index["likeliest"], wanted, strict=True):
        assert said["chance"] == pytest.approx(of.probability, abs=OF_A_CHANCE)
        assert model.text([said["id"]]) == said["piece"]
    assert len(index["lens"]) == LAYERS + 1
    assert index["lens"][-1] == {"place": 1, "likeliest": index["likeliest"][:5]}
    assert all(len(numbers) == LAYERS * HEADS for numbers in index["measures"].values())
    assert ("induction" in index["measures"]) == (len({*index["ids"]}) < len(index["ids"]))
    rows = torch.frombuffer(bytearray(content(f"{name}-embedding.bin")), dtype=torch.uint8)
    assert torch.equal(q8_0(rows).view(-1, WIDTH), model.embedding.weight[index["ids"]])


@pytest.mark.trained_model
def test_the_lens_follows_the_rows(content, name, index):
    """The likeliest tokens behind a layer are those of its last row."""
    model = smollm2()
    for n in (5, 20, 28):
        last = rows_in(content, name, n)[1, -1:].float()
        with torch.no_grad():
            shares = torch.softmax(model.unembedding(model.norm(last))[0], dim=-1)
        said = index["lens"][n + 1]
        for of in said["likeliest"]:
            assert float(shares[of["id"]]) == pytest.approx(of["chance"], abs=1e-4)
        before = int((shares > shares[index["likeliest"][0]["id"]]).sum())
        assert abs(before + 1 - said["place"]) <= 0.02 * said["place"] + 1


@pytest.mark.trained_model
def test_it_is_small(folder, content, name):
    def sent(file):
        return len(gzip.compress((folder / f"{file}.js").read_bytes()))

    first = sum(map(sent, ("index.json", f"{name}.json", f"{name}-maps.bin")))
    assert first < 40_000
    assert max(sent(f"{name}-heads-{n:02}.bin") for n in range(LAYERS)) < 30_000
    assert max(sent(f"{name}-rows-{n:02}.bin") for n in range(LAYERS)) < 50_000


@pytest.mark.trained_model
def test_the_index_is_written_last(folder, content):
    """So where it is, all files are."""
    listed = json.loads(content("index.json"))["texts"]
    assert {of["name"]: of["text"] for of in listed} == TEXTS
    names = {path.name for path in folder.iterdir()}
    assert len(names) == len(TEXTS) * (2 * LAYERS + 3) + 1
    times = [path.stat().st_mtime_ns for path in folder.iterdir()]
    assert (folder / "index.json.js").stat().st_mtime_ns == max(times)
