"""All attentions of a model in one view, and one file of what is shown."""

from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from attn_core import alibi, causal, padding, toy, trace, watch
from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.digits import fixed
from attn_core.views import explore, open_attention, show
from attn_core.views.side_by_side import kind_of, side_by_side
from attn_core.views.token_labels import token_texts
from tests.attn_core.reference import drawn
from tests.errors.sentences import refused
from tests.explorer import models

READ, WRITTEN = ["the", "cat", "sat", "on", "it"], ["die", "Katze", "saß"]
WORDS = [READ, WRITTEN]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return nn.Transformer(8, 2, 2, 3, 16, dropout=0.0, batch_first=True)


def inputs(L=3):
    mask = nn.Transformer.generate_square_subsequent_mask(L)
    return (drawn(1, 1, 5, 8).float(), drawn(2, 1, L, 8).float()), {"tgt_mask": mask}


@pytest.fixture(scope="module")
def opened(model):
    args, kwargs = inputs()
    return open_attention(model, *args, **kwargs, tokens=WORDS)


def test_each_kind_of_attention_has_an_explorer_of_all_its_layers(opened):
    assert repr(opened).splitlines() == [
        "encoder.layers.*.self_attn: 2 layers × 2 heads, 5 queries × 5 keys",
        "decoder.layers.*.self_attn: 3 layers × 2 heads, 3 queries × 3 keys",
        "decoder.layers.*.multihead_attn: 3 layers × 2 heads, 3 queries × 5 keys",
    ]
    assert opened[2].payload["heads"][-2:] == ["layer 2, head 0", "layer 2, head 1"]
    assert opened[2].payload["tokens"] == {"queries": WRITTEN, "keys": READ}
    assert opened[1].payload["keep"] == {"kind": "causal"}


def test_its_numbers_are_those_of_the_records(opened):
    weights = opened[2].record.stage("weights")
    for layer in range(3):
        wanted = opened.seen[f"decoder.layers.{layer}.multihead_attn"].stage("weights")
        torch.testing.assert_close(weights[:, 2 * layer : 2 * layer + 2], wanted)


def test_of_two_texts_of_one_length_the_encoder_reads_the_first(model):
    args, kwargs = inputs(5)
    written = ["die", "Katze", "saß", "auf", "ihm"]
    opened = open_attention(model, *args, **kwargs, tokens=[READ, written])
    sides = [(e.payload["tokens"]["queries"], e.payload["tokens"]["keys"]) for e in opened]
    assert sides == [(READ, READ), (written, written), (written, READ)]


class Tokenizer:
    """As those of transformers: its output has tokens(), and it decodes ids."""

    def tokens(self):
        return READ

    def decode(self, ids):
        return READ[ids[0] - 1]


def test_tokens_are_strings_or_a_tokenizers_output_or_ids_with_a_tokenizer():
    ids, mask = torch.tensor([[1, 2, 3, 4, 5]]), torch.ones(1, 5, dtype=torch.int64)
    assert token_texts(Tokenizer(), None, ()) == [READ]
    assert token_texts(tuple(READ), None, ()) == [READ]
    assert token_texts([Tokenizer(), WRITTEN], None, ()) == WORDS
    assert token_texts(None, Tokenizer(), (ids, mask, drawn(1, 1, 5))) == [READ]


class Two:
    """What a tokenizer gives of a batch."""

    encodings = (SimpleNamespace(tokens=READ), SimpleNamespace(tokens=[*WRITTEN, "", ""]))

    def tokens(self):
        return READ


def test_each_sequence_of_a_batch_has_its_own_tokens():
    ids = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    assert token_texts(None, Tokenizer(), (ids,)) == [[READ, READ[::-1]]]
    assert token_texts(None, Tokenizer(), (ids[:1].expand(2, -1),)) == [READ]
    assert token_texts(Two(), None, ()) == [[READ, [*WRITTEN, "", ""]]]
    layer, x = nn.MultiheadAttention(8, 2, batch_first=True), drawn(1, 2, 5, 8).float()
    [view] = open_attention(layer, x, x, x, tokens=[READ, READ[::-1]])
    assert view.payload["tokens"] == {side: [READ, READ[::-1]] for side in ("queries", "keys")}
    assert view.html.count("<bdi>the</bdi>") == 2, "a row and a column of the first"


def test_the_page_names_the_tokens_of_the_sequence_that_is_shown(bare):
    x = drawn(1, 2, 5, 4)
    page = bare.open(explore(trace(x, x, x), tokens=[READ, READ[::-1]], show=["inputs"]))

    def names():
        return page.locator(".ax-side").all_text_contents()

    page.wait_for_selector(".ax-side")
    assert names() == READ
    page.locator("select[aria-label=batch]").select_option("1")
    assert names() == READ[::-1]
    page.locator('.ax-grid [data-row="1"][data-col="2"]').first.click()
    expect(page.locator(".ax-sentence").first).to_contain_text("Query on gives")
    page.locator("select[aria-label=batch]").select_option("0")
    assert names() == READ
    expect(page.locator(".ax-sentence").first).to_contain_text("Query cat gives")


# What the heads of two calls become, side by side: keep, bias and sinks of each.
SETTINGS = {
    "one rule": ({"keep": causal()}, {"keep": causal()}),
    "two masks": ({"keep": causal()}, {"keep": padding([4])}),
    "a mask and none": ({}, {"keep": drawn(3, 5, 5) < 0.5}),
    "slopes": ({"bias": alibi([1.0, 0.5])}, {"bias": alibi([0.25, 2.0])}),
    "by distance": tuple({"bias": Bias(relative=drawn(n, 2, 5))} for n in (3, 4)),
    "slopes and a table": ({"bias": alibi([1.0, 0.5])}, {"bias": drawn(5, 5, 5)}),
    "a bias and none": ({"bias": drawn(5, 5, 5)}, {}),
    "sinks": ({"sinks": drawn(6, 2)}, {"sinks": drawn(7, 2)}),
    "sinks and none": ({"sinks": drawn(6, 2)}, {}),
}  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("of_keys", [2, 1])
def test_heads_side_by_side_are_what_they_were(settings, of_keys):
    calls = [
        Call.of(drawn(n, 1, 2, 5, 3), *drawn(n + 9, 2, 1, of_keys, 5, 3), **each)
        for n, each in enumerate(settings)
    ]
    assert len({kind_of(call) for call in calls}) == 1
    joined = side_by_side(calls)
    for n, each in enumerate(settings):
        call = calls[n]
        record = trace(call.q, call.k, call.v, **each)
        for stage in ("weights", "output"):
            part = joined.stage(stage)[:, 2 * n : 2 * n + 2]
            torch.testing.assert_close(part, record.stage(stage))


@pytest.mark.gate
def test_numbers_of_long_maps_are_sent_in_half_precision_unless_told(model):
    long = drawn(1, 1, 6000, 8).float()
    for store, values, kind, heads in ((None, True, "float32", 4), ("auto", None, "float16", 1)):
        opened = open_attention(model.encoder, long, store=store, all_values=values, only="layers")
        assert opened[0].payload["q"]["dtype"] == kind
        assert opened[0].payload["v"]["shape"][1] == heads


def test_numbers_too_large_for_half_precision_are_sent_in_single():
    layer = nn.MultiheadAttention(64, 2, batch_first=True)
    x, mask = drawn(1, 1, 1400, 64).float(), torch.zeros(1400, 1400)
    mask[2] = torch.finfo(torch.float32).min  # a whole row, so that it stays a table of numbers
    with torch.no_grad(), watch(layer) as seen:
        layer(x, x, x, attn_mask=mask)
    assert seen[0].bias is not None
    opened = open_attention(seen)
    assert opened[0].payload["q"]["dtype"] == "float32"


def test_what_watch_saw_is_opened_as_well(model):
    args, kwargs = inputs()
    with torch.no_grad(), watch(model, only="decoder") as seen:
        model(*args, **kwargs)
    assert len(open_attention(seen)) == 2
    assert [e.payload["tokens"]["keys"] for e in open_attention(seen)] == [
        ["0", "1", "2"],
        list("01234"),
    ]


def test_what_does_not_fit_is_said(model, opened, tmp_path):
    args, kwargs = inputs()
    record = opened[0].record
    for kind, sentence, ask in [
        (TypeError, "model must be a torch module or what watch saw, got 'gpt2'",
         lambda: open_attention("gpt2")),
        (TypeError, "open_attention must have no inputs beside what watch saw, got some",
         lambda: open_attention(opened.seen, args[0])),
        (ValueError, "tokens must name the 3 queries of decoder.layers.*.self_attn, got 5: give a "
         "list of texts, one for each length, or leave tokens out",
         lambda: open_attention(model, *args, **kwargs, tokens=READ)),
        (TypeError, "tokens must be strings, or what a tokenizer with tokens() gave, got 3",
         lambda: open_attention(opened.seen, tokens=3)),
        (TypeError, "tokenizer must have a method decode, got 'bert'; give words as tokens",
         lambda: open_attention(model, *args, **kwargs, tokenizer="bert")),
        (ValueError, "tokenizer must be left out where open_attention gets what watch saw, which "
         "has no ids: give tokens, such as tokenizer.convert_ids_to_tokens(ids[0])",
         lambda: open_attention(opened.seen, tokenizer=Tokenizer())),
        (ValueError, "tokenizer must come with ids of tokens among the inputs, got none: give "
         "tokens", lambda: open_attention(model, *args, **kwargs, tokenizer=Tokenizer())),
        (ValueError, "tokens must name all queries or keys of a map, 3 or 5, got a text of 4; "
         "those of a batch must be padded to one length",
         lambda: open_attention(model, *args, **kwargs, tokens=[*WORDS, list("abcd")])),
        (ValueError, "tokens must be a list of strings, or one for each of the 1 sequences, got 2 "
         "lists", lambda: explore(record, tokens=[READ, READ])),
        (TypeError, "record must be one AttentionTrace, got all that watch saw: open_attention(…) "
         "shows all, and seen[path] is one", lambda: explore(opened.seen)),
        (ValueError, "run must be one of the 1 of 'encoder.layers.0.self_attn', got 1",
         lambda: open_attention(opened.seen, run=1)),
        (ValueError, "model must give at most 12 maps of different size or kind, got 13: choose "
         "modules with only=, or one run of each with run=",
         lambda: open_attention(grown())),
        (TypeError, "path must be the name of a file, got 3", lambda: opened.save(3)),
        (ValueError, "path must end in .html, got 'heads.txt'",
         lambda: explore(record).save(tmp_path / "heads.txt")),
    ]:  # fmt: skip
        refused(ask, kind, sentence)
    with pytest.raises(ValueError, match=r"^heads\.html must have at most 0\.1 MB, got 0\.\d MB: "):
        opened.save(tmp_path / "heads.html", most=0.1)
    assert not list(tmp_path.iterdir())


def grown():
    """What watch saw of a module that ran on a longer text each time."""
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad(), watch(layer) as seen:
        for T in range(1, 14):
            layer(*[drawn(T, 1, T, 8).float()] * 3)
    return seen


def test_a_module_that_ran_twice_is_shown_twice_and_one_run_if_asked():
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad(), watch(layer) as seen:
        for n in range(2):
            layer(*[drawn(n, 1, 4, 8).float()] * 3)
    assert repr(open_attention(seen)) == "the model: 2 runs × 2 heads, 4 queries × 4 keys"
    last = open_attention(seen, run=-1)[0].record
    torch.testing.assert_close(last.stage("weights"), seen.all()[1].stage("weights"))


def shown(opened):
    x = toy.journey().x
    record = trace(x, x, x)
    return {
        "explorer": (explore(record, tokens=toy.journey().tokens), "attention-explorer"),
        "printed": (show(record), "attention-explorer"),
        "attentions": (opened, "attention-explorer"),
        "model": (models.opened(), "attention-model"),
    }


@pytest.mark.parametrize("kind", ["explorer", "printed", "attentions", "model"])
def test_one_file_is_alive_without_a_network(kind, opened, browser, tmp_path):
    made, tag = shown(opened)[kind]
    page, heard = browser.new_context(offline=True).new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(made.save(tmp_path / "shown & sent.html", title="<Heads>").as_uri())
    assert page.title() == "<Heads>"
    page.locator(f"{tag} .ax-root").first.wait_for()
    if kind == "attentions":
        page.get_by_role("gridcell", name="layer 1, head 1").first.click()
        page.locator('.ax-cell[data-row="4"][data-col="0"]').first.click()
        weight = fixed(opened[0].record.stage("weights")[0, 3, 4, 0].item())
        assert (
            f"Query it gives {weight} to key the" in page.locator(".ax-sentence").first.inner_text()
        )
        page.get_by_role("button", name="lines", exact=True).first.click()
        page.get_by_role("img", name="Lines from queries on the left (5)").wait_for()
    assert heard == []
    page.context.close()
