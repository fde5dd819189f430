"""SmolLM2 in the page: its files, its tokens and its scores, as Python has them."""

import base64
import hashlib
import json

import pytest
import torch

from attn_core.pretrained import smollm2
from attn_core.pretrained.smollm2_135m import vocabulary
from attn_core.views.vocabulary import vocabulary_payload
from machine import node
from publishing.site import language_shards
from publishing.site.language_shards import Shard
from tests.smollm2_numbers import NEAR, OF_LAYER, check, wanted

SCRIPT = "attn_core/views/page/test/smollm2.js"
TOKENS = node.ROOT / "tests" / "attn_core" / "smollm2_tokens.json"
SENTENCE = "The capital of France is"
NUMBERS = [
    [f"layers.{layer}.{name}", [row, column], None]
    for layer in (0, 11, 18, 29)
    for name in OF_LAYER
    for row, column in ((0, 3), (3, 100), (4, 191))
]
WEIGHTS = [["layers.23.attention", [4, 4, column], "weights"] for column in range(5)]
ENDS = [["norm", [4, 7], None], ["unembedding", [4, 7042], None], ["chances", [4, 7042], None]]


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    language_shards.write(language_shards.published(), folder)
    return folder


@pytest.fixture(scope="module")
def page(shards):
    """What the page says of all texts, and of one sentence."""
    texts = [text for text, _ in json.loads(TOKENS.read_text(encoding="utf-8"))]
    asked = shards / "asked.json"
    asked.write_text(
        json.dumps({"texts": texts, "sentence": SENTENCE, "numbers": NUMBERS + WEIGHTS + ENDS}),
        encoding="utf-8",
    )
    done = node.run("node", SCRIPT, str(shards), str(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.gate
@pytest.mark.trained_model
def test_its_tokens_are_llama_cpps(page):
    wanted = json.loads(TOKENS.read_text(encoding="utf-8"))
    pairs = zip(wanted, page["ids"], strict=True)
    assert [text for (text, ids), made in pairs if ids != made] == []
    assert len(wanted) == 1000


@pytest.mark.trained_model
def test_tokens_become_the_text_again(page):
    tokenizer = smollm2().tokenizer
    decoded = [tokenizer.decode(ids, skip_special_tokens=False) for ids in page["ids"]]
    assert page["decoded"] == decoded
    assert page["pieces"] == vocabulary(tokenizer)


@pytest.mark.trained_model
@pytest.mark.parametrize("kernels", ["simd", "plain"])
def test_its_scores_are_those_of_torch(page, kernels):
    model = smollm2()
    with torch.no_grad():
        wanted = model(model.ids(SENTENCE))[0, -1]
    scores = torch.tensor(page[kernels])
    assert (scores - wanted).abs().max() < NEAR
    assert model.text([int(scores.argmax())]) == " Paris"
    assert scores.topk(5).indices.tolist() == wanted.topk(5).indices.tolist()


@pytest.mark.trained_model
def test_its_numbers_are_pythons_and_their_arithmetic_is_within_the_bound(page):
    steps = smollm2().recorded(SENTENCE)
    pairs = zip(NUMBERS + WEIGHTS + ENDS, page["explained"], strict=True)
    kept = sum(check(number, made, wanted(steps, number)) for number, made in pairs)
    assert kept == 4 * 4 * 3 + 1  # of each layer keys, values and two sums; and the score


@pytest.mark.trained_model
def test_the_files_are_the_weights(shards):
    index = json.loads((shards / "index.json").read_text(encoding="utf-8"))
    contents = {of["name"]: (shards / of["name"]).read_bytes() for of in index["shards"]}
    for of in index["shards"]:
        content = contents[of["name"]]
        assert len(content) == of["bytes"]
        assert hashlib.sha256(content).hexdigest() == of["sha256"]
    file = language_shards.published()
    rows = [of for of in index["shards"] if "rows" in of]
    assert [of["rows"] for of in rows] == list(range(0, 49152, 4096))
    joined = b"".join(contents[of["name"]] for of in rows)
    assert joined == file.blocks("token_embd.weight").numpy().tobytes()
    layers = [of["layer"] for of in index["shards"] if "layer" in of]
    assert layers == list(range(30))
    down = file.blocks("blk.29.ffn_down.weight").numpy().tobytes()
    assert contents["layer-29.bin"].endswith(down)
    assert [of["name"] for of in index["shards"][:2]] == ["rows-00000.bin", "layer-00.bin"]
    assert sum(map(len, contents.values())) < 98e6


def test_a_script_hands_over_the_bytes(tmp_path, monkeypatch):
    content = bytes(range(256))
    parts = [Shard("norm.bin", {"norm": True}, content)]
    monkeypatch.setattr(language_shards, "shards", lambda file: iter(parts))
    monkeypatch.setattr(language_shards, "vocabulary_of", lambda file: {})
    language_shards.write(None, tmp_path, as_scripts=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "index.json", "norm.bin.js", "vocabulary.json",
    ]  # fmt: skip
    receive = "globalThis.languageShard = (...got) => console.log(JSON.stringify(got)); "
    read = f"eval(require('fs').readFileSync({str(tmp_path / 'norm.bin.js')!r}, 'utf8'))"
    done = node.run("node", "-e", receive + read, capture_output=True, text=True)
    name, text = json.loads(done.stdout)
    assert (name, base64.b64decode(text)) == ("norm.bin", content)


def test_a_vocabulary_in_another_order_is_refused():
    wanted = "tokens must be the marks, then single signs, then what each merge makes, in order"
    for tokens in (["a", "b", "ab", "<|end|>"], ["<|end|>", "ab", "a", "b"], ["cc", "a", "ab"]):
        with pytest.raises(ValueError, match=wanted):
            vocabulary_payload(tokens, [("a", "b")], marks=1)
    with pytest.raises(ValueError, match="tokens must be at most 65536, got 65537"):
        vocabulary_payload(["a"] * (2**16 + 1), [], marks=0)
