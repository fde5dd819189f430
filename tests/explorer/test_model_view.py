"""open_model in Python: its state, its HTML, its still, and the sentences of its errors."""

import base64
import io
import json
import os
import re
from dataclasses import replace

import pytest
import torch
import traitlets
from PIL import Image
from torch import nn

from attn_core.layers import LayerNorm
from attn_core.steps import Changes, recording
from attn_core.steps.operations import OPERATIONS
from attn_core.translators import recurrent
from attn_core.translators.grammar import CHINESE, ENGLISH
from attn_core.translators.switched import MEASURED, switched
from attn_core.views.arcs_still import LEAST_SEEN, THICKEST, arcs_still
from attn_core.views.markup import FOLDER
from attn_core.views.model import CHOSEN, MARKS, open_model
from attn_core.views.model_pass import read_and_written
from attn_core.views.model_payload import model_payload
from benchmarks import switched as counting
from generate import model_vectors
from tests.explorer.models import CROSS, SAY, WORDS, opened, stored


class Words(nn.Module):
    """Gives back what it reads."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(32, 4)

    def forward(self, source, target):
        self.words(target)
        return source


def test_the_page_gets_weights_words_and_steps_and_no_activation():
    payload = opened().payload
    assert payload["words"] == {"source": ENGLISH, "target": CHINESE}
    assert sum(len(base64.b64decode(w["data"])) // 2 for w in payload["weights"].values()) == 45_824
    assert {"steps", "weights", "words", "marks", "longest", "view", "name", "form", "version"} == (
        set(payload)
    )
    assert all("values" not in step for step in payload["steps"])
    assert json.loads(json.dumps(payload)) == payload


def test_a_view_is_what_was_asked_for():
    view = opened(at=CROSS, stage="weights", select=(3, 1, 2), off=f"heads_off:{CROSS}.1")
    assert [getattr(view, name) for name in CHOSEN] == [
        SAY, "", 0, f"heads_off:{CROSS}.1", 1.0, "", CROSS, "weights", 3, [3, 1, 2]
    ]  # fmt: skip
    assert opened(loss=("words_out", (1, 17))).loss == "words_out:1,17"
    assert opened().at == CROSS, "the last attention, unless another is asked for"
    assert opened(examples=["Tom sees Jerry"]).payload["view"]["examples"] == ["Tom sees Jerry"]


@pytest.mark.parametrize("attends", [True, False])
def test_the_recurrent_translators_open_too(attends):
    view = open_model(recurrent.stored(attends=attends), WORDS, SAY)
    assert ("attention" in view.steps) == attends
    assert "杰瑞" in view.html


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: opened("Tom barks"), "say must be of the 28 words that the model knows"),
        (lambda: opened("Tom <pad>"), "say must be of the 28 words that the model knows"),
        (lambda: opened(" ., "), "say must be a sentence of one word or more, got none"),
        (lambda: opened(longest=2), "say must have at most 2 words, got 3"),
        (lambda: opened(longest=513), "longest must be at most 512, got 513"),
        (
            lambda: open_model(stored(), WORDS | {"source": [*ENGLISH, "Tom"]}, SAY),
            "words must be different, got 'Tom' twice in the source",
        ),
        (
            lambda: open_model(stored(), WORDS | {"source": [*ENGLISH, "Rex"]}, SAY),
            "words must have 31 of the source, as source_words.weight has rows, got 32",
        ),
        (
            lambda: open_model(stored(), WORDS | {"target": CHINESE[:-1]}, SAY),
            "words must have 32 of the target, as target_words.weight has rows, got 31",
        ),
        (
            lambda: open_model(Words(), WORDS, SAY),
            "steps must end with a score for each of the 32 words of the target, got 'source'",
        ),
        (
            lambda: open_model(nn.Transformer(8, 2, batch_first=True), WORDS, SAY),
            "model must take ids of words, [1, 3] of the source and [1, 1] of the target, got a "
            "Transformer, which ends in RuntimeError: ",
        ),
        (
            lambda: opened(marks={"start": "<start>", "end": "<end>"}),
            "marks must name words of the target, got pad: None",
        ),
        (lambda: opened(at="nowhere"), "at must name a step of the model, got 'nowhere'"),
        (lambda: opened(name="a b"), "name must"),
        (
            lambda: opened(loss=("nowhere", (0, 0))),
            "loss must name a step that makes numbers, got 'nowhere'",
        ),
        (
            lambda: opened(loss=("source", (0, 0))),
            "loss must name a step that makes numbers, got 'source'",
        ),
        (
            lambda: opened(loss=("words_out", (0, 32))),
            "index[1] must be at least 0 and below 32, got 32",
        ),
        (lambda: opened(loss=("words_out", (0,))), "index of words_out must have 2 numbers"),
        (lambda: opened(show=["sound"]), "show must be of sentence, translation"),
        (lambda: opened(examples=["Tom barks"]), "got 'barks'"),
        (
            lambda: open_model(stored(), {"source": ENGLISH}, SAY),
            "words must have a source and a target, got source",
        ),
        (
            lambda: opened(marks={"start": "<go>", "end": "<end>", "pad": "<pad>"}),
            "marks must name words of the target, got start: '<go>'",
        ),
        (lambda: switched("gpt"), "name must be one of transformer, attends, one vector"),
    ],
)
def test_errors_say_what_must_be(ask, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        ask()


@pytest.mark.parametrize("say", ["tom chases jerry", "Tom chases Jerry.", "Tom，chases JERRY！"])
def test_a_sentence_is_read_as_the_page_reads_it(say):
    assert f"<p>{say} → 汤姆 追逐 杰瑞 &lt;end&gt;</p>" in opened(say, examples=[say]).html


@pytest.mark.parametrize("name", model_vectors.PARTS)
def test_a_model_made_of_a_chapters_class_opens(name):
    model = model_vectors.filled(model_vectors.PARTS[name]())
    view = open_model(model, model_vectors.WORDS, "Tom chases Jerry", longest=8)
    assert "Tom chases Jerry →" in view.html


def test_what_the_page_cannot_compute_is_said(monkeypatch):
    monkeypatch.setitem(OPERATIONS, "gelu", replace(OPERATIONS["gelu"], is_on_page=False))
    model = model_vectors.PARTS["EncoderLayer, norm first, with GELU"]()
    said = (
        "the page has no formula for the operation gelu, which makes 'part.feed_forward.activation'"
        ": run and workings compute it in Python"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        open_model(model_vectors.filled(model), model_vectors.WORDS, SAY, longest=8)
    said = "longest must be at most 8, the rows of model.positions.weight, got 9"
    with pytest.raises(ValueError, match=re.escape(said)):
        open_model(
            model_vectors.filled(model_vectors.Reader()), model_vectors.WORDS, SAY, longest=9
        )
    off = Changes(norms_off=["encoder.0.residuals.0.norm"]).applied(opened().steps)
    said = "steps must have everything switched on, got 'encoder.0.residuals.0.norm' with off: "
    with pytest.raises(ValueError, match=re.escape(said)):
        model_payload(off, MARKS)


def test_weights_that_float16_does_not_hold_are_refused():
    model = recurrent.stored(attends=True)
    with torch.no_grad():
        next(model.parameters()).add_(1e-5)
    with pytest.raises(ValueError, match=r"held exactly by float16, got .* off by"):
        open_model(model, WORDS, SAY)


def test_rows_that_were_handed_in_are_refused():
    norm = LayerNorm(4)
    with recording(norm) as steps:
        norm(torch.ones(1, 2, 4))
    with pytest.raises(ValueError, match="steps must begin with words, got rows that were given"):
        model_payload(steps, {"start": "a", "end": "b", "pad": "c"})


@pytest.mark.parametrize(
    ("trait", "value", "said"),
    [
        ("say", "Tom barks", "got 'barks'"),
        ("at", "nowhere", "at must name a step"),
        ("temperature", 0, "temperature must be above 0 and at most 10, got 0"),
        ("written", 65, "written"),
        ("head", -1, "head"),
    ],
)
def test_a_trait_that_cannot_be_is_refused(trait, value, said):
    view = opened()
    with pytest.raises(traitlets.TraitError, match=re.escape(said)):
        setattr(view, trait, value)


def test_html_without_scripts_has_translation_words_and_table():
    text = opened(at="decoder.0.cross_attention").html
    assert text.startswith('<attention-model name="translator">')
    assert "Tom chases Jerry → 汤姆 追逐 杰瑞 &lt;end&gt;" in text
    assert "<summary>The words that it knows</summary>" in text
    assert text.count("<tr>") == 1 + 4, "a head, and a row for each word that was read"
    assert text.count("bgcolor=") == 4 * 3, "a column for each key"
    assert all(word in text for word in CHINESE[3:]), "so that the site's font has them"
    assert "<start>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_large_data_stand_beside_the_page(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, FOLDER, str(tmp_path))
    view = opened()
    view.payload = {**view.payload, "more": "0" * 300_000}
    view._repr_mimebundle_()
    assert 'payload="translator"' in view.html
    assert "<script" not in view.html
    assert (tmp_path / "translator.js").read_text(encoding="utf-8").endswith("};\n")


def test_the_still_is_the_drawing():
    data, metadata = opened()._repr_mimebundle_()
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert picture.width > picture.height > 400
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 100
    assert metadata["image/png"]["alt"] == (
        "A model of 45,824 weights reads “Tom chases Jerry” and goes on after “<start> 汤姆 追逐 "
        "杰瑞”. The numbers of its 70 steps are drawn as strips of ink, with a row for each word."
    )
    assert data["text/plain"] == "Model: 45,824 weights, 70 steps, Tom chases Jerry"


def test_the_still_of_arcs_has_a_curve_for_each_weight_that_the_page_draws():
    encoder = "encoder.1.attention"
    view = opened(at=encoder, select=(2, 1, 2), arcs=((encoder, 2), (CROSS, 3)))
    still = arcs_still(view.steps, view.payload)
    sentence, numbers = still.axes
    done, _ = read_and_written(view.steps, view.payload)
    within, across = (
        done.value(step, "weights")[0, head] for step, head in ((encoder, 2), (CROSS, 3))
    )
    drawn = [curve.get_linewidth() / THICKEST for curve in sentence.patches]
    # The row that ends the translation writes no word.
    wanted = [*within.flatten(), *across[:3].flatten()]
    assert drawn == pytest.approx([float(w) for w in wanted if w >= LEAST_SEEN])
    words = [text.get_text() for text in sentence.texts]
    assert words == ["Tom", "chases", "Jerry", "汤姆", "追逐", "杰瑞"]
    assert numbers.texts[5].get_text() == f"{within[1, 2]:.2f}"
    assert "“chases” from “Jerry”" in still.alt


def test_a_still_without_a_font_for_its_words_is_no_warning(monkeypatch):
    """As where no package and no font of the machine has Chinese characters: Colab, say."""
    monkeypatch.setattr("attn_core.views.fonts.cjk_font", lambda: "")
    view = opened(show=("sentence",), arcs=(("encoder.1.attention", 2), (CROSS, 3)))
    arcs_still(view.steps, view.payload).png()


def test_what_was_counted_is_of_what_can_be_switched():
    for name, steps in counting.recorded().items():
        assert list(switched(name)["counts"]) == counting.switches(steps), name


@pytest.mark.deep
def test_what_was_counted_is_what_is_counted_anew():
    assert json.loads(MEASURED.read_text(encoding="utf-8")) == counting.measured()
