"""The glossary of the Chinese edition holds together, and what is Chinese already keeps to it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from publishing.translation.glossary import GLOSSARY, names, said, terms, wrong

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "attn_core" / "views" / "page"
PHRASE = re.compile(r'(\w+):\s*"((?:[^"\\]|\\.)*)"')
BLOCK = re.compile(r"(\w*WORDS|\w*CHINESE|addWords)(?: = |\()\{\n(.*?)\n\}", re.DOTALL)
PLACE = re.compile(r"\{\w+\}")
# Their English names values of settings, which stay English.
SETTINGS = {"maskForm", "names", "editForm", "noOff", "lossForm"}


TITLE = "“Attention Is All You Need”"


@pytest.mark.parametrize(
    ("english", "chinese", "faults"),
    [
        ("The query meets each key.", "查询与每个键相遇。", []),
        ("A row's score.", "一行的分数。", ["score: 得分 is missing", "score: 分数 stands for it"]),
        ("A score of 0 is no weight of 0.", "得分为 0，权重不为 0。", []),
        # The longest form counts alone.
        ("The causal mask.", "因果掩码。", []),
        ("The causal mask.", "掩码。", ["causal mask: 因果掩码 is missing"]),
        # A form with a capital is another word without it.
        ("Or *Deeper*.", "或者看下一节。", ["Deeper: 深入 is missing"]),
        ("Stacks can be deeper.", "还可以堆得更高。", []),
        # What no translation changes has no terms.
        ("`scores` of $key$, [here](notation.md#mask)", "$key$ 的 `scores`，[此处](x.md)", []),
        (f"A. Vaswani, {TITLE}.", f"A. Vaswani，{TITLE}。", []),
        (f"A. Vaswani, {TITLE}.", "A. Vaswani 的论文。", ["Attention: 注意力 is missing"]),
        # A term of the English is there, too, if a quotation has it.
        ("The input is one.", "「第二个输入序列」 序列只有一个。", []),
        # Forbidden words may be quoted from the notes, and stand where the English has them.
        ("A dot product, called 「点乘」.", "点积，笔记叫作「点乘」。", []),
        ("A dot product.", "点积，也叫点乘。", ["dot product: 点乘 stands for it"]),
        ("**Scores** (分数) come first.", "先有**得分**（score，也写作“分数”）。", []),
        ("Drawn to scale.", "按比例画。", []),
    ],
)
def test_what_the_check_says(english, chinese, faults):
    assert wrong(english, chinese) == faults


def test_no_form_belongs_to_two_terms():
    forms = Counter(form for term in terms().values() for form in {*term.en, *term.unless})
    assert [form for form, count in forms.items() if count > 1] == []


def test_no_term_contradicts_itself():
    english = re.compile(r"[\w .-]+", re.ASCII)
    for term in terms().values():
        own = (term.zh, *term.also)
        assert not [word for word in term.never if any(word in mine for mine in own)], term.name
        assert term.note or not english.fullmatch(term.zh), (
            f"{term.name} stays English without reason"
        )
        forms = {form for form in term.en if term in said(form)}
        assert forms == (set(term.en) if term.checked else set()), term.name


def test_every_page_has_a_title():
    pages = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = re.findall(r"caption: (.+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert set(names()) == {*pages, *(f"part/{part}" for part in parts)}


def kind_of(path: Path) -> str:
    return next((kind for kind in ("machine", "box") if kind in path.stem), "")


def test_the_words_of_the_page_keep_to_the_glossary():
    english, chinese = {}, {}
    for path in set(PAGE.rglob("*.js")) - set((PAGE / "test").iterdir()):
        for name, block in BLOCK.findall(path.read_text(encoding="utf-8")):
            said_here = {
                # An explorer, a machine and a box may say three things by one name.
                (kind_of(path), key): PLACE.sub("·", phrase)
                for key, phrase in PHRASE.findall(block)
            }
            (chinese if "CHINESE" in name else english).update(said_here)
    assert set(english) == set(chinese)
    faults = {key: wrong(text, chinese[key]) for key, text in english.items()}
    assert {key for (_, key), fault in faults.items() if fault} == SETTINGS


def test_the_notation_page_has_the_words_of_the_glossary():
    text = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    table = text.partition("## English and Chinese")[2].partition("###")[0]
    rows = re.findall(r"^\| (\[.+?) \| (.+?) \|", table, re.MULTILINE)
    assert len(rows) > 20
    faults = [fault for english, chinese in rows for fault in wrong(english, chinese)]
    # What softmax does has a Chinese word there, softmax has none; and scores have two.
    assert faults == ["scores: 分数 stands for it", "softmax: softmax is missing"]


def test_the_examples_of_the_style_sheet_keep_to_the_glossary():
    text = (GLOSSARY.parent / "STYLE.md").read_text(encoding="utf-8")
    pairs = re.findall(r"^> (.+)\n\n- before: .+\n- after: (.+)$", text, re.MULTILINE)
    assert len(pairs) == 10
    assert [fault for english, chinese in pairs for fault in wrong(english, chinese)] == []
