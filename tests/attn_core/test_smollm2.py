"""SmolLM2: its file, its tokens against llama.cpp's, and what it says of Paris."""

import json
import struct
from pathlib import Path

import pytest
import torch

from attn_core.pretrained import smollm2
from attn_core.pretrained.gguf import GGUF
from attn_core.pretrained.smollm2_135m import byte_signs, piece
from attn_core.steps import workings
from attn_core.steps.passes import exact

# [text, ids] of 1,000 odd strings, from llama.cpp of node-llama-cpp 3.22.1 with the published file:
# model.tokenize(text, true).
TOKENS = Path(__file__).with_name("smollm2_tokens.json")
CAPITAL = "The capital of France is"


def half(*numbers):
    return struct.pack(f"<{len(numbers)}e", *numbers)


def text(of):
    return struct.pack("<Q", len(of.encode())) + of.encode()


def a_file(folder, kind=3, version=3):
    """Two weights as llama.cpp writes them: 2×32 in Q4_1 or another kind, and 2 in float32."""
    block = bytes(range(16))  # low bits 0 to 15, high bits 0
    q4 = half(0.5, -1.0) + block + half(2.0, 0.25) + bytes([0xF0] * 16)
    q8 = half(0.5) + bytes(range(240, 256)) + bytes(range(16)) + half(-1.0) + bytes([3] * 32)
    data = {3: q4, 8: q8}.get(kind, q4)
    settings = [
        text("general.alignment") + struct.pack("<II", 4, 64),
        text("a.name") + struct.pack("<I", 8) + text("猫"),
        text("a.list") + struct.pack("<IIQ", 9, 8, 2) + text("one") + text("two"),
        text("a.numbers") + struct.pack("<IIQ3f", 9, 6, 3, 0.5, 1.5, -2.0),
        text("a.flag") + struct.pack("<I?", 7, True),
    ]
    entries = [
        text("w") + struct.pack("<IQQIQ", 2, 32, 2, kind, 0),
        text("gain") + struct.pack("<IQIQ", 1, 2, 0, 128),
    ]
    head = b"GGUF" + struct.pack("<IQQ", version, len(entries), len(settings))
    head += b"".join(settings + entries)
    head += bytes(-len(head) % 64)
    path = folder / "small.gguf"
    path.write_bytes(head + data + bytes(128 - len(data)) + struct.pack("<2f", 1.5, -2.0))
    return path


def test_weights_of_four_bits(tmp_path):
    file = GGUF(a_file(tmp_path))
    low = [0.5 * n - 1 for n in range(16)] + [-1.0] * 16
    high = [0.25] * 16 + [2.0 * 15 + 0.25] * 16
    assert torch.equal(file.weight("w"), torch.tensor([low, high]))
    assert torch.equal(file.weight("gain"), torch.tensor([1.5, -2.0]))
    assert bytes(file.blocks("w")[4:20].tolist()) == bytes(range(16))


def test_weights_of_eight_bits(tmp_path):
    first = [0.5 * n for n in [*range(-16, 0), *range(16)]]
    wanted = torch.tensor([first, [-3.0] * 32])
    assert torch.equal(GGUF(a_file(tmp_path, kind=8)).weight("w"), wanted)


def test_settings_of_a_file(tmp_path):
    settings = GGUF(a_file(tmp_path)).settings
    assert settings["a.name"] == "猫"
    assert settings["a.list"] == ["one", "two"]
    assert settings["a.numbers"] == [0.5, 1.5, -2.0]
    assert settings["a.flag"] is True


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be a GGUF file of version 3, got small\.gguf"):
        GGUF(a_file(tmp_path, version=2))
    wanted = r"must be stored as F32, Q4_1, Q8_0, got the kind 12 for w in small\.gguf"
    with pytest.raises(ValueError, match=wanted):
        GGUF(a_file(tmp_path, kind=12))


@pytest.mark.trained_model
def test_its_tokens_are_llama_cpps():
    tokenizer = smollm2().tokenizer
    wanted = json.loads(TOKENS.read_text(encoding="utf-8"))
    assert len(wanted) == 1000
    differ = [of for of, ids in wanted if tokenizer.encode(of).ids != ids]
    assert differ == []


@pytest.mark.trained_model
def test_pieces_are_the_text():
    model = smollm2()
    assert model.tokens("Tom 42 汤") == ["Tom", " ", "4", "2", r" \xe6", r"\xb1", r"\xa4"]
    assert model.text(model.ids("Tom 42 汤")[0].tolist()) == "Tom 42 汤"
    assert piece(model.tokenizer, 0) == "<|endoftext|>"
    assert len(set(byte_signs())) == 256
    assert byte_signs()[ord(" ")] == "Ġ"


@pytest.mark.trained_model
def test_paris_comes_next():
    first, second = smollm2().next_tokens(CAPITAL, 2)
    assert (first.token, second.token) == (" Paris", " the")
    assert first.probability == pytest.approx(0.7725, abs=2e-4)


@pytest.mark.trained_model
def test_it_answers_a_question():
    model = smollm2()
    assert model.write(model.asked("What is the capital of France?")) == (
        "The capital of France is Paris."
    )


@pytest.mark.trained_model
def test_each_number_opens_down_to_the_token():
    model = smollm2()
    steps = model.recorded(CAPITAL)
    assert len(steps) == 2 + 30 * 16 + 2
    record = steps.record("layers.23.attention")
    assert (record.shape, record.group) == ((1, 9, 5, 5), 3)
    weights = record.stage("weights")
    assert weights[0, 4, 4].argmax() == 3, "a head that reads the country"
    done = exact(steps)
    paris = model.ids(" Paris")[0, 0].item()
    made = model(model.ids(CAPITAL))[0, -1, paris].item()
    assert done.value("unembedding")[0, -1, paris].item() == pytest.approx(made, abs=1e-4)
    term = workings(done, "layers.23.attention.rotated_query", (4, 0))
    assert [part.name for part in term.parts][1:] == [
        "layers.23.attention.w_query", "layers.23.attention.rotated_query.angle"
    ]  # fmt: skip
    embedding = workings(done, "embedding", (3, 0))
    assert embedding.parts[0].value == 4649, "the id of ' France'"
