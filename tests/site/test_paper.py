"""The book as PDFs: the site's numbers, a glyph for each sign, nothing cut, links that lead."""

from __future__ import annotations

import base64
import ctypes
import functools
import io
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from bs4 import BeautifulSoup
from pikepdf import Array, Dictionary, Name, OutlineItem, Pdf
from PIL import Image

from publishing import release
from publishing.paper import fonts
from publishing.paper.contents import parts
from publishing.paper.document import INDEX, MARGINS
from publishing.paper.making import THE_BOOK, book_of, make, whole_book
from publishing.paper.printing import lost, pages_of, printer
from publishing.paper.sheet import COLUMNS, SHORT, TABLE, Maker, key, place
from publishing.paper.words import ENGLISH, WORDS
from publishing.translation import catalogues
from tests.conftest import HTML

CHAPTERS = sorted(path.stem for path in (HTML / "chapters").glob("*.html"))
FEW = CHAPTERS[0], "06_masking", CHAPTERS[-1]
EACH = [pytest.param(name, marks=() if name in FEW else pytest.mark.deep) for name in CHAPTERS]
# Digits side by side: a line may break behind the point of a version, 3.11.7.
NUMBER = re.compile(r"\d+")
MILLIMETRE = 72 / 25.4
LEFT, TOP = (margin * MILLIMETRE for margin in MARGINS)
BOTTOM = 22 * MILLIMETRE
FONTS = ("SourceSerif4", "SourceSans3", "SourceCodePro", "DejaVuSans", "STIXTwoMath", "NotoSerifSC")


def of_pdfs(test):
    """Marks a test of printed documents, each of which one process makes once."""
    return pytest.mark.slow(pytest.mark.xdist_group("paper")(test))


@pytest.fixture(scope="session")
def chromium(playwright):
    """The browser as `make pdf` starts it."""
    browser = printer(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def printed(chromium, tmp_path_factory):
    """printed("06") gives a chapter's PDF, printed() that of the whole book, each made once."""
    out = tmp_path_factory.mktemp("pdf")

    @functools.cache
    def printed(name: str = THE_BOOK) -> Path:
        (path,) = make(chromium, HTML, "en", "public", "a4", out, [name.partition("_")[0]])
        return path

    return printed


def numbers(texts) -> Counter:
    """How often each number stands in some pieces of text."""
    return Counter(number for text in texts for number in NUMBER.findall(text))


def pieces(tag) -> list[str]:
    return [str(text) for text in tag.find_all(string=True)]


def runs(document: Path, pages: range | None = None) -> list[str]:
    """The text of pages between the margins, cut where the line or its height changes."""
    texts = []
    with pypdfium2.PdfDocument(document) as pdf:
        for number in pages or range(len(pdf)):
            page = pdf[number]
            height = page.get_height()
            text = page.get_textpage()
            run, before, after = "", None, 0.0
            for place_ in range(text.count_chars()):
                character = chr(pdfium.FPDFText_GetUnicode(text, place_))
                x, y = origin(text, place_)
                # pdfium ends a line behind each letter if it takes a page for one in columns.
                if character in "\r\n" or not BOTTOM - 4 < y < height - TOP + 4:
                    continue
                if before is not None and (abs(y - before) > 0.4 or not -1 < x - after < 4):
                    texts.append(run)
                    run = ""
                before, after = y, text.get_charbox(place_, loose=True)[2]
                run += character
            texts.append(run)
    return texts


def origin(text, place_: int) -> tuple[float, float]:
    """How far from a page's left edge and above its foot a character stands."""
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text, place_, x, y)
    return x.value, y.value


def shown(name: str) -> Counter:
    """The numbers of a page of the site, without what only a screen can do."""
    page = BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    article = page.select_one("article")
    on_a_screen = (
        "script, summary, .headerlink, .chapter-links, attention-answer, attention-diagnosis, "
        "details.above-input, "
        ":is(attention-explorer, attention-model, attention-training):has(+ .ax-still)"
    )
    for tag in article.select(on_a_screen):
        tag.decompose()
    counts = numbers(pieces(article))
    for image in article.select("img[src$='.svg']"):
        drawing = (HTML / name).parent / image["src"]
        root = ElementTree.parse(drawing).getroot()
        for tag in root.findall("{http://www.w3.org/2000/svg}metadata"):
            root.remove(tag)  # what made it
        counts += numbers(root.itertext())
    return counts


def added(name: str, pages: dict[str, int], printed: set[str]) -> tuple[Counter, Counter]:
    """The numbers that paper adds to a page: of pages, answers, addresses, lists, hidden code that
    is called; its contents'."""
    sheet = Maker(HTML, name, ENGLISH, printed).sheet()
    for number in sheet.article.select("[data-page-of]"):
        number.string = str(pages[number["data-page-of"]])
    outermost = [
        tag for tag in sheet.article.select(".on-paper") if not tag.find_parent(class_="on-paper")
    ]
    called = sheet.article.select(".called")
    extra = numbers(text for tag in (*outermost, *called) for text in pieces(tag))
    for items in sheet.article.select("ol"):
        first = int(items.get("start", 1))
        count = len(items.find_all("li", recursive=False))
        extra += numbers(map(str, range(first, first + count)))
    listed = [(target, title) for target, title in sheet.sections if target in pages]
    contents = [str(pages[target]) for target, _ in listed]
    titles = [title for _, title in listed]
    return extra, numbers(contents + titles)


def differing(counts: Counter, wanted: Counter, name: str) -> dict[str, tuple]:
    """The numbers that are too many or too few; a table's head stands on each of its pages."""
    heads = numbers(pieces_of(name, "thead"))
    more = {number: count for number, count in (counts - wanted).items() if number not in heads}
    fewer = dict(wanted - counts)
    return {name: (more, fewer)} if more or fewer else {}


def pieces_of(name: str, what: str) -> list[str]:
    page = BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return [text for tag in page.select(what) for text in pieces(tag)]


@of_pdfs
@pytest.mark.parametrize("chapter", EACH)
def test_the_numbers_of_a_chapter_are_the_sites(printed, chapter):
    name = f"chapters/{chapter}"
    pages = pages_of(Pdf.open(printed(chapter)))
    on_paper, contents = added(name, pages, {name})
    wanted = shown(name) + on_paper + contents + numbers([release.version()])
    assert differing(numbers(runs(printed(chapter))), wanted, name) == {}


@pytest.mark.deep  # the test above asks it of three chapters
@of_pdfs
def test_the_numbers_of_the_book_are_the_sites(printed):
    pdf = Pdf.open(printed())
    pages, (_, every) = pages_of(pdf), parts(HTML)
    names = [name for part in every for name in part.pages]
    ends = [pages[name] - 1 for name in (*map(key, names[1:]), INDEX)]
    wrong = {}
    for name, end in zip(names, ends, strict=True):
        on_paper, _ = added(name, pages, set(names))
        counts = numbers(runs(printed(), range(pages[key(name)] - 1, end)))
        wanted = shown(name) + on_paper
        wrong |= differing(counts, wanted, name)
    assert wrong == {}


def drawn_with(resources, by_number: dict) -> dict:
    """The fonts of a page and of what it draws, by their numbers in the file."""
    for font in resources.get("/Font", {}).values():
        by_number[font.objgen] = font
    for form in resources.get("/XObject", {}).values():
        if "/Resources" in form:
            drawn_with(form.Resources, by_number)
    return by_number


def is_embedded(font) -> bool:
    if font.Subtype == "/Type3":  # its signs are drawings in the file
        return True
    descriptor = font.DescendantFonts[0].FontDescriptor
    return any(name in descriptor for name in ("/FontFile", "/FontFile2", "/FontFile3"))


@of_pdfs
def test_every_font_is_embedded_and_one_of_ours(printed):
    pdf, fonts = Pdf.open(printed()), {}
    for page in pdf.pages:
        drawn_with(page.Resources, fonts)
    assert len(fonts) > 5
    assert [str(font.BaseFont) for font in fonts.values() if not is_embedded(font)] == []
    names = {str(font.BaseFont).partition("+")[2] for font in fonts.values() if "/BaseFont" in font}
    assert {name for name in names if not name.startswith(FONTS)} == set()
    assert all("/ToUnicode" in font for font in fonts.values())
    # Chromium makes bold and slanted Chinese of the upright face, and draws them as shapes.
    assert "NotoSerifSC-Regular" in names


STREAM = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>")


def unmapped(pdf: Pdf) -> tuple[int, list[int]]:
    """How many pieces of text were looked at, and the pages on which a glyph is none: number 0."""
    seen, pages = 0, []
    for number, page in enumerate(pdf.pages, 1):
        page.contents_coalesce()
        streams = [(page.Contents.read_bytes(), page.Resources)]
        for form in page.Resources.get("/XObject", {}).values():
            if form.Subtype == "/Form":
                streams.append((form.read_bytes(), form.Resources))
        for data, resources in streams:
            fonts, wide = resources.get("/Font", {}), False
            for font, codes in STREAM.findall(data):
                if font:
                    wide = fonts["/" + font.decode()].Subtype == "/Type0"
                    continue
                seen += 1
                if wide and any(codes[at : at + 4] == b"0000" for at in range(0, len(codes), 4)):
                    pages.append(number)
    return seen, pages


@of_pdfs
def test_no_sign_lacks_its_glyph(printed):
    seen, pages = unmapped(Pdf.open(printed()))
    assert seen > 10_000
    assert pages == []


def outside(page) -> list[tuple[str, tuple]]:
    """The text and the pictures of a page that lie beyond its margins, or are cut by them.

    Slanted letters reach a little beyond their line.
    """
    width, height = page.get_size()
    beyond = []
    kinds = (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_IMAGE)
    for drawn in page.get_objects(filter=kinds, max_depth=4):
        left, bottom, right, top = drawn.get_bounds()
        if right - left < 0.1 and top - bottom < 0.1:
            continue
        in_head_or_foot = bottom > height - TOP or top < BOTTOM
        low, high = (0, height) if in_head_or_foot else (BOTTOM - 1, height - TOP + 1)
        if left < LEFT - 2.5 or right > width - LEFT + 2.5 or bottom < low or top > high:
            beyond.append((type(drawn).__name__, (left, bottom, right, top)))
    return beyond


@of_pdfs
def test_nothing_is_cut_or_beyond_the_margins(printed):
    by_page = {}
    with pypdfium2.PdfDocument(printed()) as pdf:
        for number in range(len(pdf)):
            if beyond := outside(pdf[number]):
                by_page[number + 1] = beyond[:3]
    assert by_page == {}


def sizes(page) -> Counter:
    """How many pieces of a page's text have each size, in points."""
    counts = Counter()
    for text in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_TEXT,), max_depth=4):
        size = ctypes.c_float()
        pdfium.FPDFTextObj_GetFontSize(text, size)
        counts[round(size.value * abs(text.get_matrix().a), 1)] += 1
    return counts


@of_pdfs
def test_nothing_is_so_wide_that_all_was_made_smaller(printed):
    """Chromium makes a whole document smaller if something of it is wider than its pages."""
    for path in map(printed, (THE_BOOK, *FEW)):
        with pypdfium2.PdfDocument(path) as pdf:
            some = [pdf[number] for number in range(5, len(pdf), 10)]
            assert sum(map(sizes, some), Counter()).most_common(1)[0][0] == 10.5, path.stem


@of_pdfs
@pytest.mark.parametrize(
    "language", [pytest.param("en", marks=pytest.mark.deep), "zh"], ids=["en", "zh"]
)
def test_no_part_of_the_book_is_wider_than_its_paper(chromium, tmp_path, language):
    """The same, asked of the document before it is printed: in Chinese, too."""
    book, every = book_of(HTML, language, "public", "a4")
    document = whole_book(book, every).text
    rules, known = fonts.of_site(book.site, set(document))
    assert fonts.lacking(set(document), known) == ""
    (tmp_path / "book.html").write_text(document.replace("/* fonts */", rules), encoding="utf-8")
    width = round((210 - 2 * MARGINS[0]) / 25.4 * 96)
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media="print")
    page.goto((tmp_path / "book.html").as_uri())
    wide = page.evaluate(
        """(width) => Array.from(document.querySelectorAll("body *"))
      .filter((one) => one.getBoundingClientRect().right > width + 1)
      .map((one) => `${one.tagName} ${one.textContent.trim().slice(0, 60)}`)""",
        width,
    )
    page.close()
    assert wide[:5] == []


@of_pdfs
def test_a_sheet_begins_on_a_right_page_without_a_running_head(printed):
    """The others have their titles and numbers at their outer edge."""
    pages, (_, every) = pages_of(Pdf.open(printed())), parts(HTML)
    openings = {pages[key(name)] for part in every for name in part.pages} | {pages[INDEX]}
    assert [page for page in openings if page % 2 == 0] == []
    wrong = []
    with pypdfium2.PdfDocument(printed()) as pdf:
        for number in range(min(openings), len(pdf) + 1):
            page = pdf[number - 1]
            (width, height), text = page.get_size(), page.get_textpage()
            if not text.count_chars():  # before a sheet
                wrong += [] if number + 1 in openings else [number]
                continue
            left, right = (0, width / 2) if number % 2 else (width / 2, width)  # the inner half
            head = text.get_text_bounded(bottom=height - TOP + 4)
            foot = text.get_text_bounded(top=BOTTOM - 4)
            inside = text.get_text_bounded(left=left, right=right, top=BOTTOM - 4)
            if bool(head) == (number in openings) or foot.strip() != str(number) or inside:
                wrong.append((number, head, foot, inside))
    assert wrong == []


@of_pdfs
@pytest.mark.parametrize("name", [THE_BOOK, FEW[0]])
def test_it_says_who_wrote_it_what_it_is_and_when(printed, name):
    pdf, (book, _) = Pdf.open(printed(name)), book_of(HTML, "en", "public", "a4")
    with pdf.open_metadata() as told:
        assert told["dc:title"] == pdf.docinfo["/Title"]
        assert told["dc:creator"] == [pdf.docinfo["/Author"]]
        assert told["dc:description"] == pdf.docinfo["/Subject"] == ENGLISH.subject
        assert told["xmp:CreateDate"].startswith(book.date)
    assert str(pdf.docinfo["/CreationDate"]).startswith("D:" + book.date.replace("-", ""))


def plain(text: str) -> str:
    """Text without spaces and without what is written as another character of the same look."""
    return re.sub(r"[\s\x00-\x1f\u00ad\ufffe\u200b]", "", text).lower()


def flat(entries: list[OutlineItem]) -> list[OutlineItem]:
    return [heading for entry in entries for heading in (entry, *flat(entry.children))]


def below(pdf: pypdfium2.PdfDocument, page: int, top: float) -> str:
    """The text of the 22 millimetres below a place of a page, which is counted from 1."""
    text = pdf[page - 1].get_textpage()
    return plain(text.get_text_bounded(bottom=top - 22 * MILLIMETRE, top=top + 2))


@of_pdfs
@pytest.mark.parametrize("name", [THE_BOOK, FEW[0], FEW[-1]])
def test_bookmarks_lead_to_their_headings(printed, name):
    pdf, wrong = Pdf.open(printed(name)), []
    numbers_ = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
    with pdf.open_outline() as outline, pypdfium2.PdfDocument(printed(name)) as text:
        entries = flat(outline.root)
        for entry in entries:
            page, _, _, top, *_ = entry.destination
            if plain(entry.title) not in below(text, numbers_[page.objgen], float(top)):
                wrong.append(entry.title)
    assert len(entries) > 10
    assert wrong == []


@of_pdfs
def test_links_say_the_page_that_they_lead_to(printed):
    """Each that leads to a place: "page 57", or a line of the contents that ends in a number."""
    pdf = Pdf.open(printed())
    pages, said = pages_of(pdf), {}
    with pypdfium2.PdfDocument(printed()) as drawn:
        for number, page in enumerate(pdf.pages):
            text = drawn[number].get_textpage()
            for link in page.get("/Annots", []):
                left, bottom, right, top = map(float, link.Rect)
                if "/Dest" in link and top - bottom > 5:  # not the edge of a line that moved on
                    place_ = number, str(link.Dest).removeprefix("/")
                    words = text.get_text_bounded(left - 1, bottom, right + 1, top)
                    # At the head of a page its box can lie a line too low.
                    if str(pages[place_[1]]) not in NUMBER.findall(words):
                        words = text.get_text_bounded(bottom=bottom, top=top + (top - bottom))
                    said[place_] = f"{said.get(place_, '')} {words}"
    wrong = []
    for (number, name), words in said.items():
        on_next_page = said.get((number + 1, name), "")
        if str(pages[name]) not in NUMBER.findall(f"{words} {on_next_page}"):
            wrong.append((number + 1, name, pages[name], words))
    assert len(said) > 1000
    assert wrong == []


@of_pdfs
def test_a_place_is_where_its_heading_stands(printed):
    """Of the sections of the chapters: a link to one shows its heading at the top."""
    pdf, (_, every) = Pdf.open(printed()), parts(HTML)
    pages, names = pages_of(pdf), {name for part in every for name in part.pages}
    wrong = []
    with pypdfium2.PdfDocument(printed()) as text:
        for chapter in CHAPTERS:
            sheet = Maker(HTML, f"chapters/{chapter}", ENGLISH, names).sheet()
            for target, title in sheet.sections:
                top = float(pdf.Root.Dests["/" + target][3])
                if plain(title) not in below(text, pages[target], top):
                    wrong.append((target, top))
    assert wrong == []


def roles(pdf: Pdf) -> Counter:
    """How often each role stands in the tree for screen readers, and pictures without words."""
    counts, rest = Counter(), [pdf.Root.StructTreeRoot]
    while rest:
        node = rest.pop()
        if isinstance(node, Array):
            rest += list(node)
        elif isinstance(node, Dictionary):
            role = str(node.get(Name.S, ""))
            counts[role] += 1
            if role == "/Figure" and not str(node.get(Name.Alt, "")):
                counts["a figure without words"] += 1
            if Name.K in node:
                rest.append(node.K)
    return counts


@of_pdfs
def test_it_is_tagged_for_screen_readers(printed):
    pdf = Pdf.open(printed())
    assert pdf.Root.MarkInfo.Marked
    assert pdf.Root.Lang == "en"
    assert pdf.docinfo["/Title"] == "Attention, Number by Number"
    counts = roles(pdf)
    assert counts["/H1"] > 30
    assert counts["/H2"] > 300
    assert min(counts["/Table"], counts["/Link"], counts["/Figure"], counts["/L"]) > 50
    assert counts["a figure without words"] == 0


@of_pdfs
@pytest.mark.parametrize("chapter", EACH)
def test_answers_stand_after_all_questions(printed, chapter):
    """No answer stands under its question: all are behind the last exercise."""
    pages = pages_of(Pdf.open(printed(chapter)))
    asked = {name: page for name, page in pages.items() if name.endswith("-asked")}
    assert len(asked) > 3
    last = max(asked.values())
    assert min(pages[name.removesuffix("-asked")] for name in asked) >= last
    text = "".join(runs(printed(chapter)))
    for name in ("Answer 1", "Solution 1"):
        first, *_, behind = [at.start() for at in re.finditer(rf"{name}\b", text)]
        assert first < behind


@of_pdfs
def test_letter_is_another_size_with_the_same_words(chromium, tmp_path):
    (letter,) = make(chromium, HTML, "en", "public", "letter", tmp_path, ["02"])
    assert letter.name == "02_three_stages-letter.pdf"
    with pypdfium2.PdfDocument(letter) as pdf:
        assert [round(edge) for edge in pdf[0].get_size()] == [612, 792]
        assert [outside(page) for page in pdf if outside(page)] == []


def test_a_fold_that_is_no_answer_stands_open_where_it_is():
    maker = Maker(HTML, "chapters/02_three_stages", ENGLISH, set())
    maker.article.select_one("details:not(.above-input) summary").string = "Aha"
    maker.sheet()
    (fold,) = [tag for tag in maker.article.select(".unfolded") if "Aha" in tag.get_text()]
    assert fold.select_one(".fold-title").get_text() == "Aha"
    assert not fold.find_parent(class_="gathered")


def test_chinese_answers_go_to_the_end_of_their_chapter_too():
    """Their titles are the ones that the catalogues give them."""
    named = {
        message.string
        for path in catalogues.files()
        for message in catalogues.load(path)
        if message.id in ENGLISH.gathered
    }
    assert named == set(WORDS["zh"].gathered)


def article(folder: Path, text: str, language: str = "en"):
    """A page of this text as a sheet; it stands in a document with the page `b`."""
    page = f'<article class="bd-article"><h1>A</h1>{text}</article>'
    (folder / "a.html").write_text(page, encoding="utf-8")
    heading = "<h2>两条规则<a class='headerlink'>#</a></h2>"
    other = f"<article><section id='two'>{heading}</section></article>"
    (folder / "b.html").write_text(other, encoding="utf-8")
    return Maker(folder, "a", WORDS[language], {"a", "b"}).sheet().article


def said(made, selector: str = "p") -> list[str]:
    """The texts of what a selector finds, with a ~ for each space at which no line breaks."""
    return [tag.get_text().replace("\N{NO-BREAK SPACE}", "~") for tag in made.select(selector)]


WHY = '<a href="b.html">why</a>'
TITLE = '<a href="b.html#two">两条规则</a>'
# A paragraph of a page, and what stands in its place on paper.
PARAGRAPHS = [
    # No brackets stand in brackets.
    ("en", f"({WHY}).", "(why, page~000)."),
    ("en", f"(see {WHY}, which", "(see why~(page~000), which"),
    ("en", f"See {WHY}.", "See why~(page~000)."),
    ("en", f"(a) and {WHY})", "(a) and why~(page~000))"),
    ("zh", f"（{WHY}）。", "（why，第~000~页）。"),
    # What belongs together stays on a line.
    ("en", f"→ {WHY}, so p = 0.5, a == 1.", "→~why~(page~000), so p~=~0.5, a == 1."),
    ("en", "<code>p = 0.5</code>", "p = 0.5"),
    ("en", "In chapter <em>03</em>, or <em>04</em>.", "In chapter~03, or 04."),
    ("en", "<strong>Difficulty</strong> ●●○ of (2, 3, 4)", "Difficulty~●●○ of (2,~3,~4)"),
    ("en", "a, b (no, not a single word of these)", "a, b (no, not a single word of these)"),
    # A title that a Chinese sentence names is quoted; a chapter has its page behind its name.
    ("zh", f"见{TITLE}。", "见“两条规则”（第~000~页）。"),
    ("zh", TITLE, "两条规则（第~000~页）"),
    ("zh", f"《{TITLE}》里", "《两条规则（第~000~页）》里"),
    ("zh", '见<a href="b.html#two">规则</a>。', "见规则（第~000~页）。"),
    ("zh", '见第 <a href="b.html">03</a> 章。', "见第 03 章（第~000~页）。"),
    # What is done at an explorer is done elsewhere.
    ("en", "On paper: from 4. Here: read row 1.", "On paper: from 4. On the site: read row 1."),
    ("en", "Here: read row 1.", "Here: read row 1."),
    ("en", "On paper it is 4. Here is why.", "On paper it is 4. Here is why."),
    ("zh", "纸上：第 4 行。这里：读。", "纸上：第 4 行。网页上：读。"),
]


@pytest.mark.parametrize(("language", "text", "wanted"), PARAGRAPHS)
def test_a_paragraph_on_paper(tmp_path, language, text, wanted):
    assert said(article(tmp_path, f"<p>{text}</p>", language)) == [wanted]


def cell(lines: int) -> str:
    """A cell of so many lines, and its output."""
    code = "<div class='highlight-ipython3'><pre>" + "x = 1\n" * lines + "</pre></div>"
    output = "<div class='cell_output'><pre>1</pre></div>"
    return f"<div class='cell'><div class='cell_input'>{code}</div>{output}</div>"


def tensor(lines: int) -> str:
    return "<div class='cell_output'><pre>" + "\n".join(["[0.5]"] * lines) + "</pre></div>"


@pytest.mark.parametrize(
    ("text", "what", "kept"),
    [
        ("<p><strong>Mask</strong></p><table></table>", "p.keep", True),
        ("<p><strong>Mask</strong> and more.</p>", "p.keep", False),
        ("<p>These are:</p><ul></ul>", "p.keep", True),
        ("<div><h2>Heads</h2><p>One line.</p><ul></ul></div>", "p.keep", True),
        ("<div><h2>Heads</h2><p>One line.</p></div>", "p.keep", False),
        (f"<h2>Heads</h2><p>{'Many lines. ' * 20}</p>", "p.keep", False),
        ("<p>First.</p><p>One line.</p>", "p.keep", False),
        (cell(SHORT), ".cell_input.keep", True),
        (cell(SHORT + 1), ".cell_input.keep", False),
        (tensor(TABLE), "pre.whole", True),
        (tensor(TABLE + 1), "pre.whole", False),
    ],
)
def test_what_stays_with_what_follows(tmp_path, text, what, kept):
    """A line that leads on, short code with its output, the lines of a printed tensor."""
    assert (article(tmp_path, text).select_one(what) is not None) is kept


@pytest.mark.parametrize(("wide", "smaller"), [(0, False), (1, True), (16, True), (20, False)])
def test_wide_code_gets_smaller_letters_or_wraps(tmp_path, wide, smaller):
    code = article(tmp_path, f"<pre>{'x' * (COLUMNS + wide)}</pre>").select_one("pre")
    assert code.has_attr("style") is smaller
    assert not smaller or 7 <= 8.3 * float(re.search(r"[\d.]+", code["style"])[0]) < 8.3


def test_an_address_breaks_behind_its_signs(tmp_path):
    made = article(tmp_path, '<a href="https://a.example/b_c-d.ipynb">it</a>')
    address = made.select_one(".addresses a").decode_contents()
    assert address == "a.<wbr/>example/<wbr/>b_<wbr/>c-<wbr/>d.<wbr/>ipynb<wbr/>"


def test_hidden_code_is_printed_where_other_code_calls_it(tmp_path):
    fold = '<details class="above-input"><summary>Show</summary>{}</details>'
    hidden = '<div class="cell_input"><pre>def {}(x):\n    return 7</pre></div>'
    cells = [fold.format(hidden.format(name)) for name in ("called", "drawn")]
    cells.append('<div class="cell_input"><pre>called(3)</pre></div>')
    made = article(tmp_path, "".join(f'<div class="cell">{cell}</div>' for cell in cells))
    assert made.select_one("a.pointer").get_text().startswith("Code 1: page")
    assert made.select_one(".gathered").get_text().count("def called") == 1
    assert "drawn" not in made.get_text()


DATA = '<script type="application/json">{"mistakes":[]}</script>'


@pytest.mark.parametrize(
    ("explorer", "wanted"),
    [
        ('<attention-model name="one"></attention-model>', [ENGLISH.live]),
        ('<attention-training name="one"></attention-training>', [ENGLISH.trains]),
        (f'<attention-explorer name="two">{DATA}</attention-explorer>', [ENGLISH.switched]),
        ('<attention-explorer name="three"></attention-explorer>', []),
    ],
)
def test_paper_says_what_only_the_site_can_do(tmp_path, explorer, wanted):
    still = '<img class="ax-still" src="a.png" alt="" width="40"/>'
    assert said(article(tmp_path, f'<div class="cell">{explorer}{still}</div>'), "p.live") == wanted


def test_a_state_of_an_explorer_has_its_address_on_the_site(tmp_path):
    head = '<meta property="og:url" content="https://a.org/book/a.html">'
    text = '<h1>A</h1><p><a href="b.html#x-one?head=1">One</a></p>'
    page = f'{head}<article class="bd-article">{text}</article>'
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    made = Maker(tmp_path, "a", ENGLISH, {"a", "b"}).sheet().article
    assert made.p.get_text() == "One1"
    assert made.select_one(".addresses a")["href"] == "https://a.org/book/b.html#x-one?head=1"


def test_a_long_line_of_an_output_wraps_behind_its_indentation(tmp_path):
    long = "    " + "scores " * 20
    made = article(tmp_path, f"<pre>first\n{long}\nlast</pre><pre>short</pre>")
    (hanging,) = made.select(".hanging")
    assert hanging.get_text() == long
    assert hanging["style"] == "padding-left: 8ch; text-indent: -8ch"
    assert list(made.pre.strings) == ["first\n", long, "last"]


def test_a_still_of_several_pictures_is_one_for_each(tmp_path):
    Image.new("RGB", (80, 50), "red").save(tmp_path / "a.png")
    still = '<img class="ax-still" src="a.png" alt="A map." width="40" data-parts="10 15"/>'
    made = article(tmp_path, f'<div class="cell_output">{still}</div>').select("img")
    contents = [base64.b64decode(image["src"].partition(",")[2]) for image in made]
    assert [Image.open(io.BytesIO(part)).size for part in contents] == [(80, 20), (80, 30)]
    wide = "width: 8mm"
    assert [(image["alt"], image["style"]) for image in made] == [("A map.", wide), ("", wide)]


def test_a_picture_of_a_notebook_has_letters_of_one_size(tmp_path):
    shown = "<img src='a.png' width='500'/><img src='b.png' width='250' height='90'/>"
    made = article(tmp_path, f"<div class='cell_output'>{shown}</div><img src='c.png'/>")
    styles = [image.get("style") for image in made.select("img")]
    assert styles == ["width: 100mm", "width: 50mm", None]


def test_only_short_cells_are_one_line(tmp_path):
    rows = "<tr><td>61.7 ms</td><td>forward and backward, causal</td></tr>"
    made = article(tmp_path, f'<table class="table">{rows}</table>')
    assert said(made, ".one-line") == ["61.7 ms"]


def test_what_is_to_be_filled_in_is_a_box(tmp_path):
    row = "<tr><td>☐</td><td>0.5 · ☐ + ☐</td></tr>"
    made = article(tmp_path, f'<table class="table">{row}</table><pre>☐</pre>')
    assert said(made, "td.blank") == [""]
    assert len(made.select("td:not(.blank) span.blank")) == 2
    assert made.get_text().count("☐") == 1


def test_a_link_to_a_place_that_is_not_there_is_seen():
    assert lost('<a href="#a">b</a> <a href="#c">d</a> <p id="c">') == ["a"]


@pytest.mark.parametrize(
    ("fragment", "wanted"),
    [("", "06_masking"), ("two", "06_masking.two"), ("x-causal?head=1", "06_masking.x-causal")],
)
def test_a_place_of_the_site_has_one_name_in_the_book(fragment, wanted):
    assert place("chapters/06_masking", fragment) == wanted


def test_each_language_has_all_words():
    for words in WORDS.values():
        assert "{page}" in words.on_page
        assert "{page}" in words.asked_on
        assert {"student", "instructor"} == set(words.edition)
