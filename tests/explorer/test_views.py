"""explore, show and figure from Python: what they say, what they refuse, what a notebook stores."""

import base64
import io
import json
import re

import matplotlib
import numpy as np
import pytest
import torch
import traitlets
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.image import imread

from attn_core import Dropout, causal, padding, toy, trace, window
from attn_core.checks import STAGES
from attn_core.digits import fixed
from attn_core.views import explore, figure, show
from attn_core.views.fonts import cjk_font
from attn_core.views.heat import mix
from attn_core.views.heatmap import written
from attn_core.views.payload import array, inline_json
from attn_core.views.wide import in_float64
from tests.explorer.cases import decoded, projected_record

X = toy.journey().x


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_payload_holds_the_stored_numbers(dtype):
    x = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(1)).to(dtype)
    payload = explore(trace(x, x * 2, x[..., :2])).payload
    wanted = torch.float32 if dtype == torch.bfloat16 else dtype
    for name, tensor in (("q", x), ("k", x * 2), ("v", x[..., :2])):
        assert decoded(payload[name]).equal(tensor.to(wanted))


def test_a_strided_tensor_is_sent_in_order():
    x = torch.arange(24.0).view(4, 6).mT
    assert decoded(array(x)).equal(x)


def test_the_payload_says_what_is_asked_for(journey):
    record, tokens = journey
    asked = {"select": [1, 0], "places": 2, "hide": ["mask"], "stages": ["scores", "weights"]}
    payload = explore(record, tokens=tokens, name="first-look", **asked).payload
    assert asked.items() <= payload["view"].items()
    assert payload["tokens"] == {"queries": tokens, "keys": tokens}
    assert payload["name"] == "first-look"


def test_the_inline_json_cannot_end_its_script():
    text = inline_json({"tokens": ["</script><!--", "\u2028"]})
    assert "<" not in text
    assert json.loads(text) == {"tokens": ["</script><!--", "\u2028"]}


def test_it_is_the_same_text_each_time(journey):
    record, tokens = journey
    first, second = (explore(record, tokens=tokens) for _ in range(2))
    assert str(first) == repr(first) == "Explorer: weights, 6 queries × 6 keys, 1 head"
    assert first.html == second.html
    assert first.payload == second.payload
    assert first.payload["name"] == "weights-1x1x6x6"


@pytest.mark.parametrize(
    ("record", "stage", "said"),
    [
        (trace(X, X, X[:, :1]), "output", "output, 6 queries × 1 value column, 1 head"),
        (trace(X[:1], X, X), "weights", "weights, 1 query × 6 keys, 1 head"),
        (projected_record(1), "scores", "scores, 5 queries × 5 keys, 2 heads, batch of 2"),
    ],
)
def test_text_plain(record, stage, said):
    assert str(explore(record, stage=stage)) == f"Explorer: {said}"
    assert repr(figure(record, stage)) == f"Figure: {said}"


def test_the_mime_bundle(journey):
    record, tokens = journey
    data, _ = explore(record, tokens=tokens)._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "image/png"}
    assert data["text/html"].startswith('<attention-explorer name="weights-1x1x6x6">')
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    data, _ = show(record)._repr_mimebundle_()
    assert data["text/plain"] == repr(record.stage("weights"))
    assert "image/png" not in data


def test_the_stored_html_has_no_style_no_handler_no_address(journey):
    record, tokens = journey
    html = explore(record, tokens=["<b>", *tokens[1:]]).html
    assert "style=" not in html
    assert "<b>" not in html
    assert "http" not in html
    assert "&lt;b&gt;" in html


def test_blank_tokens_are_seen_in_the_figure_the_still_and_the_table():
    x, tokens = torch.eye(4), ["the", " the", "\n", "\t"]
    view = explore(trace(x, x, x), tokens=tokens, select=(1, 2))
    drawn = figure(trace(x, x, x), tokens=tokens, select=(1, 2))
    labels = ["the", "␣the", "⏎", "⇥"]
    assert re.findall("<bdi>(.*?)</bdi>", view.html) == labels * 2
    assert [label.get_text() for label in drawn.axes[0].get_xticklabels()] == labels
    for alt in (drawn.alt, view.picture.alt):
        assert alt.endswith("Query “␣the” gives 0.2151 to key “⏎”.")
    assert view.payload["tokens"]["keys"] == tokens, "the tokens themselves stay"


def test_the_table_has_at_most_32_rows_and_columns():
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(1))
    html = explore(trace(x, x, x)).html
    assert html.count("<tr>") == 33
    assert html.count(" bgcolor=") == 32 * 32
    assert "the first 32 of each" in html


def test_large_data_stay_out_of_the_html_but_not_of_the_widget():
    x = torch.randn(1, 4, 700, 32, generator=torch.Generator().manual_seed(1))
    view = explore(trace(x, x, x), name="large")
    assert "<script" not in view.html
    assert view.html.startswith('<attention-explorer name="large" payload="large">')
    assert view.html.count("<tr>") == 33
    assert decoded(view.payload["q"]).equal(x)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("keep", [None, causal(), window(1)])
def test_show_prints_what_torch_prints(stage, keep):
    for shape in ((6, 3), (2, 6, 3), (2, 2, 6, 3)):
        x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
        record = trace(x, x, x, keep=keep)
        assert str(show(record, stage)) == str(record.stage(stage))


def test_show_needs_no_gradient():
    x = torch.randn(4, 3, requires_grad=True)
    assert "grad_fn" not in str(show(trace(x, x, x)))


# Of each trait: what is refused, and what is taken.
TRAITS = {
    "stage": (["attention"], ["scores"]),
    "head": ([1], [0]),
    "batch": ([-1], [0]),
    "mask": (
        ["window:x", "causal+padding:4,4", "padding:３", "window:1,２"],
        ["window:2,0", "causal+padding:4"],
    ),
    "drawn": (["０.1", "1,2", "0.6"], ["1.0,5.5"]),
    "dropout": (["0.5,７", "0.5,1_0", "1,3", "0.5"], ["0.5,7", ".5,1e3"]),
    "scale": ([1e308, float("nan")], [2.0]),
    "mistake": (["no-mask"], [""]),
    "compare": (["yes"], [True]),
    "hide": (["<b>"], ["mask,scale"]),
    "select": ([[0, 6], [1], ["a", 0]], [[1, 2], None]),
    "edits": ([], ["x.0.1.2:0.5,tokens.1:cat"]),
}


@pytest.mark.parametrize("name", TRAITS)
def test_traits_refuse_what_cannot_be(explorer, name):
    refused, taken = TRAITS[name]
    for value in refused:
        with pytest.raises(traitlets.TraitError):
            setattr(explorer, name, value)
    for value in taken:
        setattr(explorer, name, value)
        assert getattr(explorer, name) == value


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "mask",
            "padding:３",
            "mask must be given, none, causal, window:2,0, padding:3 (one a sequence), "
            "or some joined by +, got padding:３",
        ),
        ("scale", 1e308, "scale must be finite in torch.float32, got 1e+308"),
    ],
)
def test_traits_refuse_in_the_pages_sentence(explorer, name, value, said):
    with pytest.raises(traitlets.TraitError) as caught:
        setattr(explorer, name, value)
    assert str(caught.value) == said


def test_a_float64_record_takes_a_scale_beyond_float32():
    x = torch.eye(3, dtype=torch.float64)
    view = explore(trace(x, x, x))
    view.scale = 1e100
    assert view.scale == 1e100


def test_a_head_name_is_no_mathematics():
    x = torch.randn(1, 2, 4, 2, generator=torch.Generator().manual_seed(1))
    record = trace(x, x, x)
    names = ["$a_$", "b"]
    picture = figure(record, head_names=names)
    assert pixels(picture).ndim == 3
    assert picture.axes[0].get_title(loc="left") == r"weights, \$a_\$"
    assert explore(record, head_names=names)._repr_mimebundle_()[0]["image/png"]


def test_traits_begin_as_the_payload_does(journey):
    record = trace(X, X, X, dropout=Dropout(0.25, 9))
    view = explore(record, hide=["mask", "link"], show=["dropout"], mistakes=["no-scale"])
    assert (view.dropout, view.hide) == ("0.25,9", "mask,link")
    assert (view.edits, view.drawn, view.mistake, view.compare) == ("", "", "", False)
    assert view.payload["view"]["show"] == ["dropout"]
    view.mistake = "no-scale"
    assert "show" not in explore(journey[0]).payload["view"]


def pixels(picture):
    return imread(io.BytesIO(base64.b64decode(picture.png())))


@pytest.mark.parametrize("stage", STAGES)
def test_a_figure_writes_the_numbers_of_the_stage(stage):
    x = toy.three_tokens().x
    record = trace(x, x, x, keep=causal())
    picture = figure(record, stage, places=3)
    assert isinstance(picture, Figure)
    cells = record.stage(stage).tolist()
    whole = all(x.is_integer() for row in cells for x in row if x != -float("inf"))
    texts = [text.get_text() for text in picture.axes[0].texts]
    assert texts == [written(x, whole, 3) for row in cells for x in row]
    assert not any("e-" in text for text in texts)


def test_a_figure_is_the_same_whatever_the_settings(journey):
    record, tokens = journey
    first = pixels(figure(record, tokens=tokens))
    assert np.array_equal(first, pixels(figure(record, tokens=tokens)))
    other = {"font.size": 20, "axes.facecolor": "red", "figure.dpi": 30, "image.cmap": "jet"}
    with matplotlib.rc_context(other | {"savefig.transparent": True}):
        assert np.array_equal(first, pixels(figure(record, tokens=tokens)))


def test_chinese_labels_come_from_a_package_not_from_the_machine():
    words = toy.notebook()
    picture = figure(trace(words.x, words.x, words.x), tokens=words.tokens)
    picture.png()
    font = font_manager.findfont(font_manager.FontProperties(family=cjk_font()))
    assert "pylopdf_fonts_zh_cn" in font
    assert {text.get_text() for text in picture.axes[0].get_yticklabels()} == set(words.tokens)


def test_odd_tokens_in_a_figure_are_no_mathematics_and_no_warning():
    x = torch.eye(4)
    picture = figure(trace(x, x, x), tokens=["$x$", "👩", "שלום", "a\nb"])
    assert pixels(picture).ndim == 3


def test_a_long_map_is_drawn_by_blocks():
    x = torch.randn(600, 4, generator=torch.Generator().manual_seed(1))
    picture = figure(trace(x, x, x))
    assert picture.axes[0].images[0].get_array().shape == (256, 256)
    assert not picture.axes[0].texts


def test_a_picture_is_told_in_words(journey):
    record, tokens = journey
    assert figure(record, tokens=tokens).alt == (
        "Heatmap of weights, 6 queries × 6 keys, 1 head. "
        "The largest number is 0.2070, for query “journey” and key “journey”."
    )
    x = record.q.expand(2, 2, 6, 3)
    assert figure(trace(x, x, x), tokens=tokens, head=1).alt == (
        "Heatmap of weights, 6 queries × 6 keys, 2 heads, batch of 2. "
        "The largest number in head 1 of sequence 0 is 0.2070, for query “journey” and key "
        "“journey”."
    )


def test_a_selected_number_is_framed_and_told(journey):
    record, tokens = journey
    plain, lit = (figure(record, tokens=tokens, select=s) for s in (None, (1, 0)))
    weight = fixed(record.stage("weights")[1, 0].item())
    assert lit.alt == f"{plain.alt} Query “journey” gives {weight} to key “Your”."
    assert len(lit.axes[0].patches) == len(plain.axes[0].patches) + 4
    bold = [t.get_text() for t in lit.axes[0].get_yticklabels() if t.get_fontweight() == "bold"]
    assert bold == ["journey"]
    with pytest.raises((IndexError, ValueError), match="select's row must be"):
        figure(record, select=(6, 0))


def test_all_heads_are_drawn_small_in_the_same_colours():
    x = torch.randn(1, 12, 9, 4, generator=torch.Generator().manual_seed(6))
    record = trace(x, x * torch.arange(1, 13).view(12, 1, 1), x)
    picture = figure(record, head=None, head_names=[f"layer 0, head {h}" for h in range(12)])
    assert [axes.get_title() for axes in picture.axes] == [f"layer 0, head {h}" for h in range(12)]
    weights = in_float64(record).stage("weights")[0]
    for axes, cells in zip(picture.axes, weights, strict=True):
        colours = torch.from_numpy(axes.images[0].get_array()).double()
        share = cells / weights.max()
        wanted = torch.tensor([[mix(s) for s in row] for row in share.tolist()]).double()
        assert torch.allclose(colours, wanted)
    largest = weights.amax((1, 2)).argmax()
    assert picture.alt.endswith(f"The largest number is in layer 0, head {largest}.")
    with pytest.raises(ValueError, match="head_names must name each of the 12 heads, got 1"):
        figure(record, head=None, head_names=["one"])


@pytest.mark.parametrize("keep", [None, causal(), padding([5])])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_float16_is_measured_over_all_heads(keep, seed):
    made = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(1, 3, 7, 4, generator=made) for _ in range(3))
    q[:, 2] *= 8  # the last head is off by most
    view = explore(trace(q, k, v, keep=keep), store="float16")
    rounded = [t.half().double() for t in (q, k, v)]
    given = trace(q.double(), k.double(), v.double(), keep=keep).stage("weights")
    wanted = (trace(*rounded, keep=keep).stage("weights") - given).abs().max().item()
    assert wanted > 0
    assert view.payload["error"] == pytest.approx(wanted, rel=1e-9)
    assert decoded(view.payload["q"]).equal(q.half())
    assert f"no weight is off by more than {fixed(view.payload['error'], 6)}." in view.html


def test_what_float16_cannot_hold_is_said():
    x = torch.full((3, 2), 70000.0)
    with pytest.raises(ValueError, match="q must be at most 65504 to be stored as float16"):
        explore(trace(x, x, x, scale=1e-9), store="float16")
    with pytest.raises(ValueError, match="store must be 'float16', 'float32' or None"):
        explore(trace(x, x, x, scale=1e-9), store="int8")


def test_shorter_numbers_leave_the_source_out():
    record = projected_record(1)
    assert explore(record).payload["source"] is not None
    assert explore(record, store="float16").payload["source"] is None
