"""Texts that a language model reads: what comes next with a head and without it, and the head."""

import re
from contextlib import nullcontext

import pytest
import torch
from bs4 import BeautifulSoup
from playwright.sync_api import expect
from torch import nn

from attn_core import causal, watch
from attn_core.language import LanguageModel
from attn_core.rotary import Rotary
from attn_core.views import open_prompts
from attn_core.views.next_tokens import likeliest, percent
from tests.attn_core.reference import drawn
from tests.explorer.conftest import faults

WORDS = ["the", "cat", "dog", "bird", "sees", "hears", "and", "runs", "away"]
TEXTS = ("the cat sees the dog", "the bird sees the dog", "the dog sees the dog")
HEAD = (1, 2)


class Reader(LanguageModel):
    """A model of nine words whose weights are the same everywhere."""

    def __init__(self):
        super().__init__(
            len(WORDS), width=16, num_heads=4, num_kv_heads=2, hidden=24, num_layers=3,
            rotary=Rotary(4),
        )  # fmt: skip
        with torch.no_grad():
            for n, weight in enumerate(self.parameters()):
                weight.copy_(0.8 * drawn(n, *weight.shape))

    def ids(self, text):
        return torch.tensor([[WORDS.index(word) for word in text.split()]])

    def tokens(self, text):
        return [f" {word}" for word in text.split()]

    def text(self, ids):
        return " ".join(f" {WORDS[n]}" for n in ids)


@pytest.fixture(scope="module")
def model():
    return Reader()


@pytest.fixture(scope="module")
def shown(model):
    return open_prompts(model, TEXTS, head=HEAD, name="texts", count=3)


def chances_of(model, text, off):
    """By word, the probability that it comes next."""
    ids = model.ids(text)
    with watch(model) as seen, torch.no_grad():
        model(ids)
    with seen.ablate(off) if off else nullcontext(), torch.no_grad():
        row = torch.softmax(model(ids)[0, -1], dim=-1)
    return dict(zip(WORDS, row.tolist(), strict=True))


@pytest.mark.parametrize("at", range(len(TEXTS)))
def test_the_chances_are_the_models_with_the_head_and_without(model, shown, at):
    text = shown.payload["prompts"]["texts"][at]
    wide = Reader().double()
    for side, off in (("on", {}), ("off", {f"layers.{HEAD[0]}.attention": [HEAD[1]]})):
        wanted = chances_of(wide, TEXTS[at], off)
        best = sorted(wanted, key=wanted.get, reverse=True)[:3]
        listed = likeliest(text, side, 3)
        assert [word.strip() for word, _ in listed] == best
        assert [chance for _, chance in listed] == pytest.approx(
            [wanted[word] for word in best], abs=1e-5
        )
        of = text[side]
        for word, score in zip(text["next"], of["scores"], strict=True):
            chance = torch.tensor(score - of["most"]).exp().item() / of["sum"]
            assert chance == pytest.approx(wanted[word.strip()], abs=1e-4)


def test_the_record_is_the_heads(model, shown):
    with watch(model) as seen, torch.no_grad():
        model(torch.cat([model.ids(text) for text in TEXTS]))
    wanted = seen[f"layers.{HEAD[0]}.attention"].stage("weights")[:, HEAD[1]]
    assert shown.record.shape == (3, 1, 5, 5)
    torch.testing.assert_close(shown.record.stage("weights")[:, 0], wanted, atol=1e-5, rtol=0)
    assert shown.record.keep == causal()
    weights = {name: weight.clone() for name, weight in model.named_parameters()}
    assert all(torch.equal(weights[name], weight) for name, weight in Reader().named_parameters())


def test_without_scripts_there_are_chances_and_the_weights(shown):
    page = BeautifulSoup(shown.html, "html.parser")
    first, second = (p.text for p in page.select("p"))
    best, chance = likeliest(shown.payload["prompts"]["texts"][0], "on", 1)[0]
    assert first.startswith(f"{TEXTS[0]} …: {best.strip()} {percent(chance)}, ")
    assert second.startswith("without head 2 of layer 1: ")
    assert [cell.text for cell in page.select("tr")[0].select("th")] == TEXTS[0].split()
    assert repr(shown).startswith(f"{TEXTS[0]}{best} {percent(chance)}, without head 2 of layer 1")
    assert repr(shown).endswith("; 2 more")


def test_on_paper_there_is_a_picture(shown):
    data, metadata = shown._repr_mimebundle_()
    assert "image/png" in data
    best, _ = likeliest(shown.payload["prompts"]["texts"][0], "on", 1)[0]
    assert f"The likeliest next word is “{best.strip()}”: " in metadata["image/png"]["alt"]


class NoTokenizer(LanguageModel):
    def __init__(self):
        super().__init__(9, width=8, num_heads=2, num_kv_heads=1, hidden=8, num_layers=1)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"model": nn.Linear(2, 2)}, "model must be a LanguageModel with the methods ids, tokens"),
        ({"model": NoTokenizer()}, "model must be a LanguageModel with the methods ids, tokens"),
        ({"texts": "the cat"}, "texts must be a list of strings, got 'the cat'"),
        ({"texts": []}, "texts must be a list of strings, got"),
        (
            {"texts": ["the cat", "the"]},
            "texts must have 2 tokens each, as the first has, got 2, 1",
        ),
        ({"texts": [""]}, "texts must have at least one token, got 0"),
        ({"head": 3}, "head must be a pair (layer, head), got 3"),
        ({"head": (3, 0)}, "the layer of head must be at least 0 and below 3, got 3"),
        ({"head": (0, 4)}, "head must be at least 0 and below 4, got 4"),
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": 10}, "count must be at most 9, the tokens that there are, got 10"),
        ({"stages": ["dropped"]}, "stage must be one of scores, scaled, masked, weights, output"),
        ({"select": (5, 0)}, "select's row must be at least 0 and below 5, got 5"),
        ({"name": "a b"}, "name must be of letters, digits"),
    ],
)
def test_what_it_cannot_show_is_said(model, how, why):
    given = {"model": model, "texts": TEXTS, "head": HEAD} | how
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(why)}"):
        open_prompts(given.pop("model"), given.pop("texts"), **given)


@pytest.fixture
def page(bare, shown):
    page = bare.open(shown)
    expect(page.locator(".ax-prompts")).to_be_visible()
    return page


def written(text, side, n=0):
    """The word and the chance of a row of the list, as Python has them."""
    word, chance = likeliest(text, side, 3)[n]
    return word.strip(), chance


def of_row(page, n=0):
    row = page.locator(".ax-likely").nth(n)
    return row.locator("bdi").inner_text(), row.locator("b").inner_text()


def test_the_switch_exchanges_the_chances_and_says_what_it_did(page, shown):
    text = shown.payload["prompts"]["texts"][0]
    word, chance = written(text, "on")
    assert of_row(page)[0] == page.locator(".ax-comes").inner_text() == word
    expect(page.locator(".ax-was")).to_have_count(0)
    page.get_by_label("head 2 of layer 1, one of 12 heads").uncheck()
    expect(page.locator(".ax-was")).to_have_count(3)
    now, _ = written(text, "off")
    assert of_row(page)[0] == page.locator(".ax-comes").inner_text() == now
    off = dict(zip(text["next"], text["off"]["chances"], strict=True))[f" {word}"]
    verb = "falls" if off < chance else "rises"
    expect(page.locator(".ax-heard")).to_contain_text(f"the chance of “{word}” {verb} from ")
    page.get_by_role("button", name="reset").click()
    expect(page.get_by_label("head 2 of layer 1, one of 12 heads")).to_be_checked()


def test_a_number_below_a_word_opens_and_arcs_follow_the_row(page, shown):
    weights = shown.record.stage("weights")[0, 0]
    below = page.locator(".ax-of-word")
    assert below.all_inner_texts() == [f"{weight:.2f}" for weight in weights[-1].tolist()]
    below.nth(1).click()
    expect(page.locator(".ax-sentence")).to_contain_text(f"{weights[4, 1].item():.4f}")
    page.locator(".ax-word").nth(2).click()
    expect(page.locator(".ax-sentence")).to_contain_text(f"{weights[2].max().item():.4f}")
    page.mouse.move(0, 0)
    lit = page.locator(".ax-arc-lit")
    expect(lit).to_have_count(int((weights[2] >= 0.02).sum()))
    page.locator(".ax-word").nth(3).hover()
    expect(lit).to_have_count(int((weights[3] >= 0.02).sum()))


def test_a_pressed_word_stays_and_a_pressed_number_leads_to_its_arithmetic(bare, shown):
    page = bare.open(shown, viewport={"width": 390, "height": 500})
    words = page.locator(".ax-word")
    words.nth(2).scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    words.nth(2).click()
    expect(page.locator(".ax-sentence")).to_contain_text("Query")
    assert page.evaluate("scrollY") == before
    page.locator(".ax-of-word").nth(1).click()
    expect(page.locator(".ax-sentence")).to_be_in_viewport()


def test_another_text_has_its_words_and_its_numbers(page, shown):
    assert page.locator(".ax-texts button").all_inner_texts() == ["cat", "bird", "dog"]
    page.get_by_role("button", name="bird").click()
    weights = shown.record.stage("weights")[1, 0]
    expect(page.locator(".ax-word").nth(1)).to_have_text("bird")
    cell = page.locator("[data-row='4'][data-col='1']")
    expect(cell).to_have_text(f"{weights[4, 1].item():.4f}")
    cell.click()
    expect(page.locator(".ax-sentence")).to_contain_text("to key bird")
    assert of_row(page)[0] == written(shown.payload["prompts"]["texts"][1], "on")[0]
    expect(page).to_have_url(re.compile("batch=1"))  # written a moment later


def test_a_chance_opens_to_its_score_and_the_sum(page, shown):
    of = shown.payload["prompts"]["texts"][0]["on"]
    page.locator(".ax-likely").first.click()
    line = page.locator(".ax-chance")
    expect(line).to_contain_text(f"exp({of['most']:.4f} − {of['most']:.4f}) / {of['sum']:.4f} = ")
    expect(line).to_contain_text("Each of the 9 tokens has a score.")
    page.locator(".ax-likely").first.click()
    expect(line).to_be_hidden()


def test_an_address_brings_all_of_it_back(bare, shown):
    page = bare.open(shown, fragment="#x-texts?batch=2&off=1&select=4,0&chance=0")
    expect(page.locator(".ax-word").nth(1)).to_have_text("dog")
    expect(page.locator(".ax-of-head input")).not_to_be_checked()
    expect(page.locator(".ax-sentence")).to_contain_text("to key the")
    expect(page.locator(".ax-chance")).to_be_visible()


def test_words_are_reached_by_keys_and_keep_the_focus(page):
    page.locator(".ax-likely").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ax-likely").first).to_be_focused()
    page.locator(".ax-word").nth(4).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ax-sentence")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".ax-sentence")).to_be_hidden()
    expect(page.locator(".ax-word").nth(4)).to_be_focused()


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_and_width(bare, shown, theme, width):
    page = bare.open(
        shown,
        viewport={"width": width, "height": 800},
        theme=theme,
        color_scheme=theme,
        fragment="#x-texts?off=1&select=4,0&chance=0",
    )
    expect(page.locator(".ax-chance")).to_be_visible()
    assert faults(page, ".ax-root") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_saved_file_is_alive(shown, browser, tmp_path):
    path = shown.save(tmp_path / "texts.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator(".ax-of-head input").uncheck()
    expect(page.locator(".ax-was")).to_have_count(3)
    page.close()


def test_it_speaks_chinese(bare, shown):
    shown.payload["lang"] = "zh-CN"
    page = bare.open(shown.html, html='lang="zh-CN"')
    del shown.payload["lang"]
    expect(page.locator(".ax-prompts .ax-hint")).to_contain_text("，dog 取来的有 ")
    page.get_by_label("层 1 的头 2，共 12 个头").uncheck()
    expect(page.locator(".ax-heard")).to_contain_text("没有这个头")
