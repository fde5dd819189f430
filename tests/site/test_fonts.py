"""The fonts that the build cuts down: every sign of the pages is in them and drawn with them."""

from __future__ import annotations

import io
import re

from fontTools.ttLib import TTFont

from publishing.site.icons import FONT, named_in
from publishing.site.math_font import signs
from tests.conftest import HTML

STATIC = HTML / "_static"
ICONS_OF_BRANDS = {"\uf09b", "\uf296"}  # GitHub and GitLab, of a font that no page uses
CHINESE = "[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
FORMULAS, WORDS = '[data-asked="formula"]', '[data-asked="words"]'
MATH, HAN = {"STIX Two Math": True}, "Noto Serif SC"
# Marks elements of formulas and of Chinese words, those alone whose text has a sign that none
# before has in this font: to ask a browser for the font of each takes long.
MARK = """(chinese) => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const seen = {};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { data, parentElement: element } = walk.currentNode;
    const formula = element.closest("math"), isChinese = new RegExp(chinese).test(data);
    // As where the machine has no other; Latin letters of a formula are those of all formulas.
    if (isChinese) element.style.fontFamily = `${formula ? '"Book Math", ' : ""}"Book Han"`;
    if (!(formula || isChinese) || !element.checkVisibility()) continue;
    const { fontFamily, fontStyle, fontWeight } = getComputedStyle(element);
    const signs = (seen[[formula, fontFamily, fontStyle, fontWeight]] ??= new Set());
    const isNew = [...data].filter((sign) => !signs.has(sign) && signs.add(sign)).length > 0;
    if (isNew) element.dataset.asked = formula ? "formula" : "words";
  }
}"""
LOADED = "document.fonts.ready.then(() => document.fonts.status === 'loaded')"


def letters(path) -> set[str]:
    return set(map(chr, TTFont(io.BytesIO(path.read_bytes())).getBestCmap()))


def fonts_of(page, selector: str) -> dict[str, bool]:
    """The fonts that draw what the selector finds, and whether they are the site's."""
    browser = page.context.new_cdp_session(page)
    browser.send("DOM.enable")
    browser.send("CSS.enable")
    root = browser.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    answer = browser.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})
    fonts = {}
    for node in answer["nodeIds"]:
        for font in browser.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            fonts[font["familyName"]] = font["isCustomFont"]
    return fonts


def test_a_sign_that_the_font_lacks_is_seen(open_page, site):
    """What test_visits.py asks can fail: browsers say of each sign with which font they draw it.

    The sign is one that every machine has some font for.
    """
    page = open_page(f"{site}/book/warmup.html")
    page.wait_for_function(LOADED)
    page.evaluate("document.querySelector('math').innerHTML = '<mtext>@</mtext>'")
    page.evaluate(MARK, CHINESE)
    fonts = fonts_of(page, FORMULAS)
    assert fonts.pop("STIX Two Math")
    assert set(fonts.values()) == {False}


def test_the_font_of_the_formulas_has_the_signs_of_every_page(all_pages):
    wanted = {sign for name in all_pages for sign in signs((HTML / name).read_text("utf-8"))}
    assert len(wanted) > 40
    assert wanted <= letters(STATIC / "stix-two-math.woff2")


def test_the_font_of_the_formulas_can_stretch_and_shrink():
    """What browsers ask of it besides letters: tall brackets, roots, small forms in scripts."""
    font = TTFont(io.BytesIO((STATIC / "stix-two-math.woff2").read_bytes()))
    glyphs = font.getBestCmap()
    tall = set(font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs)
    assert {glyphs[ord(sign)] for sign in "()√"} <= tall
    features = {record.FeatureTag for record in font["GSUB"].table.FeatureList.FeatureRecord}
    assert "ssty" in features


def test_no_blank_is_left_behind_a_root(open_page, site):
    page = open_page(f"{site}/chapters/05_trainable_weights.html")
    page.wait_for_function(LOADED)
    blanks = page.evaluate(
        """() => [...document.querySelectorAll("msqrt")].filter((root) => root.checkVisibility())
          .map((root) => root.getBoundingClientRect().right
            - root.lastElementChild.getBoundingClientRect().right)"""
    )
    assert len(blanks) > 5
    assert max(blanks) < 2


def test_an_english_page_has_a_font_of_its_own_chinese_characters(all_pages):
    book, lacking = letters(STATIC / "noto-serif-sc.woff2"), {}
    english = [name for name in all_pages if not name.startswith("zh/")]
    every = {name: (HTML / name).read_text(encoding="utf-8") for name in english}
    assert set(re.findall(CHINESE, "".join(every.values()))) <= book
    pages = {name: text for name, text in every.items() if 'class="bd-article"' in text}
    assert len(pages) > 20  # slides have none
    for name, page in pages.items():
        urls = re.findall(r'url\("([./]*_static/han/\w+\.woff2)"\)', page)
        own = {sign for url in urls for sign in letters((HTML / name).parent / url)}
        if missing := set(re.findall(CHINESE, page)) - own:
            lacking[name] = missing
        assert own < book
    assert lacking == {}


def test_the_chinese_pages_and_their_explorers_have_one_font(all_pages):
    known, lacking = letters(HTML / "zh" / "_static" / "noto-serif-sc.woff2"), {}
    pages = [HTML / name for name in all_pages if name.startswith("zh/")]
    scripts = list((HTML / "zh" / "_static").glob("*.js"))
    for path in (*pages, *scripts):
        if missing := set(re.findall(CHINESE, path.read_text(encoding="utf-8"))) - known:
            lacking[path.name] = missing
    assert lacking == {}


def test_the_font_of_the_icons_has_those_that_the_style_sheets_name():
    sheets = "".join(path.read_text(encoding="utf-8") for path in STATIC.rglob("*.css"))
    assert len(named_in(sheets)) > 10
    assert named_in(sheets) - letters(STATIC / FONT) <= ICONS_OF_BRANDS


def test_the_fonts_name_their_licence():
    for path in (*STATIC.glob("*.woff2"), STATIC / FONT, *STATIC.glob("han/*.woff2")):
        names = TTFont(io.BytesIO(path.read_bytes()))["name"]
        said = " ".join(str(record) for record in names.names)
        assert "Open Font License" in said or "fontawesome.com" in said.lower(), path.name
