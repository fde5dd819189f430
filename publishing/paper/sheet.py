"""One page of the site as a sheet: what only a screen can do goes, or is said in another way."""

from __future__ import annotations

import base64
import io
import posixpath
import re
import unicodedata
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup, NavigableString, Tag
from PIL import Image

from publishing.paper.words import Words

# What is there for a screen alone.
ON_SCREEN = (
    ".headerlink, .chapter-links, script, attention-answer, attention-diagnosis, "
    ".toctree-wrapper, .genindex-jumpbox"
)
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
UNKNOWN = "000"  # stands where a page's number will stand: as wide as most of them
COLUMNS = 91  # of code that fit at its usual size
SMALLEST = 0.84  # of that size: 7 points
SHORT = 12  # lines of code, up to which it stays with its output
LONG = 14  # lines of code, above which it may be parted
HANG = 4  # letters by which the rest of a line that wraps stands further in
TABLE = 24  # lines of an output, above which it may be parted
BOX = 600  # letters of a box, up to which it is not parted
CELL = 18  # letters of a table's cell, up to which it is one line
HEAD = 8  # of a column's head
LABEL = 8  # of a bold word that is not parted
LINE = 90  # letters of a line of text, about
ITEM = 480  # letters of a list's item, up to which it is not parted
NO_BREAK = "\N{NO-BREAK SPACE}"
POINT = 0.2  # millimetres of paper for a point of a picture: its letters get those of a caption
MANY = 6  # columns of a table
BLANK = "☐"  # where a reader writes a number
BLOCKS = ["p", "li", "td", "th", "dd", "dt"]
QUOTED = ("“", "《", "「", "‘")
NO_PROSE = ["pre", "code", "svg", "math", "script", "style"]
CAPTION = (
    "div.cell:has(img, svg.drawing) + p:has(> em:first-child), "
    "div.cell:has(img, svg.drawing) > p:has(> em:first-child)"
)
REFERENCE = re.compile(r"url\(#([^)]+)\)")
SHAPE = re.compile(r"[(\[][^()\[\]\s]{1,7}(?:, [^()\[\]\s]{1,7}){1,4}[)\]]")  # (2, 3, 4)
DOTS = re.compile(r"^ (?=[●○])")  # how difficult a chapter is, behind its label
EQUATION = re.compile(r"\b[A-Za-z]{1,2} = (?=[−\d])")
LEADS_ON = re.compile(r"(?:→|\bchapter|\bquestion) $")  # to a link or its number
LOOSE = re.compile(r"^ (?=[\u3400-\u9fff])")  # a space before Chinese
CLOSED = re.compile(r"\s*[.,;:!?]*[)）]")
PART_OF_ADDRESS = re.compile(r"[^/_.?&=-]+[/_.?&=-]*|[/_.?&=-]+")


def key(name: str) -> str:
    """
    >>> key("chapters/06_masking")
    '06_masking'
    """
    return name.rpartition("/")[2]


def place(name: str, fragment: str = "") -> str:
    """The id of a place of the site in a document that has many pages.

    >>> place("chapters/06_masking", "two-rules"), place("chapters/06_masking", "x-causal?head=1")
    ('06_masking.two-rules', '06_masking.x-causal')
    """
    fragment = fragment.partition("?")[0] if fragment.startswith("x-") else fragment
    return f"{key(name)}.{fragment}" if fragment else key(name)


@dataclass(eq=False)
class Sheet:
    """A page of the book on paper."""

    name: str
    title: str
    article: Tag
    # Places and titles of the sections, for the contents.
    sections: list[tuple[str, str]] = field(default_factory=list)


class Maker:
    """Makes the sheet of one page; `printed` are the pages that stand in the same document."""

    def __init__(self, site: Path, name: str, words: Words, printed: set[str]):
        self.site, self.name, self.words, self.printed = site, name, words, printed
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        self.soup = BeautifulSoup(page, "html.parser")
        self.article = self.soup.select_one("article.bd-article")
        meta = self.soup.select_one('meta[property="og:url"]')
        self.address = meta["content"] if meta else ""
        self.gathered: dict[str, list[Tag]] = {}
        self.urls: list[str] = []

    def sheet(self) -> Sheet:
        self.article.attrs = {"class": "bd-article", "id": place(self.name)}
        for data in self.article.select("attention-explorer > script"):
            if '"mistakes":' in data.get_text():
                mark(data.parent, "of-mistakes")
        for element in self.article.select(ON_SCREEN):
            element.decompose()
        self.leave_out_code()
        self.rename_places()
        for drawing in self.article.select("svg.steps"):
            self.part(drawing)
        self.put_stills()
        self.number_figures()
        for fold in self.article.select("details"):
            self.unfold(fold)
        self.append_gathered()
        for link in self.article.select("a[href]"):
            self.say_where(link)
        self.append_urls()
        self.set_pictures()
        self.set_tables()
        self.set_blanks()
        self.set_code()
        self.bind_words()
        self.say_here()
        self.keep_together()
        title, *_ = self.article.select("h1")
        sections = [
            (heading["id"], " ".join(heading.get_text().split()))
            for heading in self.article.select("h2")
            if heading.has_attr("id") and not heading.find_parent(class_="worksheet")
        ]
        return Sheet(self.name, " ".join(title.get_text().split()), self.article, sections)

    def new(self, tag: str, text: str = "", **attributes: str) -> Tag:
        """An element that the site does not have: its class says so."""
        made = self.soup.new_tag(tag, attrs=attributes)
        made["class"] = ["on-paper", *attributes.get("class", "").split()]
        if text:
            made.string = text
        return made

    def leave_out_code(self) -> None:
        """Code that the site hides, as that of a drawing, goes, but for what other code calls."""
        hidden = self.article.select("details.above-input")
        seen = [
            code for code in self.article.select(".cell_input") if not code.find_parent("details")
        ]
        called = set(re.findall(r"\w+", " ".join(code.get_text() for code in seen)))
        for fold in hidden:
            code = fold.select_one(".cell_input")
            if called.isdisjoint(DEFINED.findall(code.get_text())):
                fold.decompose()
            else:
                mark(code, "called")

    def rename_places(self) -> None:
        for element in self.article.find_all(id=True):
            if element is not self.article:
                element["id"] = place(self.name, element["id"])
        for section in self.article.select("section[id]"):
            heading = section.find(re.compile("^h[1-6]$"), recursive=False)
            if heading and not heading.has_attr("id"):
                heading["id"] = section["id"]
                del section["id"]
        for drawing in self.article.select("svg"):
            for element in drawing.find_all(True):
                for attribute, value in element.attrs.items():
                    if attribute in ("href", "xlink:href") and value.startswith("#"):
                        element[attribute] = "#" + place(self.name, value[1:])
                    elif isinstance(value, str) and "url(#" in value:
                        element[attribute] = REFERENCE.sub(
                            lambda at: f"url(#{place(self.name, at[1])})", value
                        )

    def part(self, drawing: Tag) -> None:
        """A drawing that has steps becomes one a step: together they are higher than a page."""
        steps = self.soup.new_tag("div", attrs={"class": "steps-of-drawing"})
        for step in drawing.select("g.step"):
            top, height, width = step["data-top"], step["data-height"], drawing["width"]
            picture = self.soup.new_tag(
                "svg",
                attrs={
                    "class": "drawing",
                    "viewbox": f"0 {top} {width} {height}",
                    "width": width,
                    "height": height,
                    "role": "img",
                    "aria-label": step["data-says"],
                },
            )
            picture.append(step.extract())
            steps.append(picture)
        if definitions := drawing.find("defs", recursive=False):
            steps.svg.insert(0, definitions.extract())
        drawing.replace_with(steps)

    def put_stills(self) -> None:
        """An explorer is its still, or what it has for a page without scripts."""
        elements = "attention-explorer, attention-model, attention-training, language-model"
        for explorer in self.article.select(elements):
            still = explorer.find_next_sibling("img", class_="ax-still")
            target = place(self.name, f"x-{explorer['name']}")
            if still is None:
                explorer.name = "div"
                explorer.attrs = {"id": target}
                continue
            live = {"attention-model": self.words.live, "attention-training": self.words.trains}
            elsewhere = live.get(explorer.name, "")
            if "of-mistakes" in explorer.get("class", []):
                elsewhere = self.words.switched
            if elsewhere:
                still.insert_after(self.new("p", elsewhere, **{"class": "live"}))
            explorer.decompose()
            still["id"] = target
            cell = still.find_parent("div", class_="cell") or still
            before = cell.find_previous_sibling()
            if before is not None:
                keep(before)

    def number_figures(self) -> None:
        """The captions of a chapter begin with "Figure 6.1"."""
        chapter, _, _ = key(self.name).partition("_")
        if not chapter.isdecimal():
            return
        for number, caption in enumerate(self.article.select(CAPTION), 1):
            label = self.words.figure.format(chapter=int(chapter), n=number)
            caption.insert(0, self.new("strong", label, **{"class": "figure-number"}))

    def unfold(self, fold: Tag) -> None:
        summary = fold.find("summary", recursive=False)
        title = " ".join(summary.get_text().split())
        summary.extract()
        if "below-input" in fold.get("class", []):
            self.gather(fold, *self.words.output)
        elif "above-input" in fold.get("class", []):
            self.gather(fold, *self.words.code)
        elif title in self.words.gathered:
            self.gather(fold, *self.words.gathered[title])
        else:
            fold.name = "div"
            fold.attrs = {"class": ["unfolded"]}
            summary.name = "p"
            summary.attrs = {"class": "fold-title"}
            fold.insert(0, summary)
            if len(fold.get_text()) <= BOX:
                mark(fold, "whole")

    def gather(self, fold: Tag, title: str, heading: str) -> None:
        """Put a fold's content away for the end of the chapter, and a pointer in its place."""
        answers = self.gathered.setdefault(heading, [])
        label = self.words.numbered.format(title=title, n=len(answers) + 1)
        target = place(self.name, f"paper-{len(self.gathered)}-{len(answers) + 1}")
        leads_on = f"{label}{self.words.colon}"
        pointer = self.new("a", leads_on, **{"href": f"#{target}", "class": "pointer"})
        pointer["id"] = f"{target}-asked"
        self.add_page(pointer, target)
        before = fold.find_previous_sibling()
        if before is not None and before.name == "p" and not fold.find_parent(class_="cell"):
            before.extend([NavigableString(" "), pointer])
        else:
            line = self.new("p", **{"class": "pointer-line"})
            line.append(pointer)
            fold.insert_before(line)
        answer = self.soup.new_tag("div", attrs={"class": "gathered", "id": target})
        head = self.new("p", **{"class": "gathered-head"})
        head.append(self.new("strong", label))
        back = self.new("a", " · ", href=f"#{pointer['id']}")
        self.add_page(back, pointer["id"], self.words.asked_on)
        head.append(back)
        answer.append(head)
        answer.extend(list(fold.contents))
        answers.append(answer)
        fold.decompose()

    def append_gathered(self) -> None:
        *_, (_, solutions) = self.words.gathered.values()
        in_order = sorted(self.gathered.items(), key=lambda pair: pair[0] == solutions)
        for number, (heading, answers) in enumerate(in_order):
            section = self.soup.new_tag("section", attrs={"class": "end"})
            title = self.new("h2", heading, id=place(self.name, f"paper-{number + 1}"))
            section.extend([title, *answers])
            self.article.append(section)

    def add_page(self, link: Tag, target: str, pattern: str = "") -> None:
        """Write "page 57" into a link, to be filled in when its page is known."""
        before, _, after = (pattern or self.words.on_page).partition("{page}")
        said = self.new("span", before)
        number = self.new("span", UNKNOWN)
        number["data-page-of"] = target
        said.extend([number, NavigableString(after)])
        link.append(said)

    def say_where(self, link: Tag) -> None:
        """An internal link gets its page, an external one the number of its address."""
        href = link["href"]
        if "on-paper" in link.get("class", []):
            return
        url = urlsplit(href)
        if url.scheme in ("http", "https"):
            self.note(link, href)
            return
        if url.fragment.startswith("x-") and "?" in url.fragment and self.address:
            # A state of an explorer is on the site alone.
            self.note(link, urljoin(self.address, href))
            return
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), url.path))
        name = path.removesuffix(".html") if url.path else self.name
        if url.scheme or name not in self.printed or link.has_attr("download"):
            link.unwrap()
            return
        target = place(name, unquote(url.fragment))
        self.quote(link, name, unquote(url.fragment))
        link.attrs = {"href": f"#{target}"}
        after, word = link.next_sibling, self.words.chapter
        if word and isinstance(after, NavigableString) and after.lstrip().startswith(word):
            link.append(NavigableString(f" {word}"))
            after.replace_with(NavigableString(after.partition(word)[2]))
        if link.find_parent(re.compile("^h[1-6]$")) is None:
            if in_brackets(link):
                link.append(self.new("span", self.words.comma))
                self.add_page(link, target)
            else:
                opening, closing = self.words.brackets
                link.append(self.new("span", opening))
                self.add_page(link, target)
                link.append(self.new("span", closing))
                if closing == "）" and isinstance(link.next_sibling, NavigableString):
                    link.next_sibling.replace_with(
                        NavigableString(LOOSE.sub("", link.next_sibling))
                    )

    def quote(self, link: Tag, name: str, fragment: str) -> None:
        """A section's title within a sentence gets quotation marks: no colour tells it from it."""
        opening, closing = self.words.quotes
        said, block = link.get_text(), link.find_parent(BLOCKS)
        if not opening or block is None or block.get_text().strip() == said:
            return
        before = link.previous_sibling
        if isinstance(before, NavigableString) and before.endswith(QUOTED):
            return
        if said == titles(self.site, name).get(fragment):
            link.insert(0, NavigableString(opening))
            link.append(NavigableString(closing))

    def note(self, link: Tag, url: str) -> None:
        link.attrs = {"href": url}
        if short(url) == short(link.get_text()):
            return
        if url not in self.urls:
            self.urls.append(url)
        link.append(self.new("sup", str(self.urls.index(url) + 1)))

    def append_urls(self) -> None:
        if not self.urls:
            return
        section = self.new("section", **{"class": "end addresses"})
        section.append(self.new("h2", self.words.links, id=place(self.name, "paper-links")))
        entries = self.new("ol")
        for url in self.urls:
            entry = self.new("li")
            address = self.new("a", href=url)
            for part in PART_OF_ADDRESS.findall(short(url)):
                address.extend([NavigableString(part), self.soup.new_tag("wbr")])
            entry.append(address)
            entries.append(entry)
        section.append(entries)
        self.article.append(section)

    def set_pictures(self) -> None:
        folder = (self.site / self.name).parent
        for image in self.article.select("img"):
            file = (folder / unquote(image["src"])).resolve()
            image["src"] = file.as_uri()
            del image["loading"]
            if image.find_parent(class_="cell_output") and image.has_attr("width"):
                wide = int(image["width"])
                image["style"] = f"width: {wide * POINT:.0f}mm"
                del image["width"], image["height"]
                heights = [int(n) for n in image.get("data-parts", "").split()]
                self.part_still(image, file, wide, heights)

    def part_still(self, still: Tag, file: Path, wide: int, heights: list[int]) -> None:
        """A still of several pictures becomes one a picture: together they may be too high."""
        if not heights:
            return
        whole, top, parts = Image.open(file), 0, []
        sharp = whole.width // wide  # pixels for one of its size
        for height in heights:
            box = 0, top * sharp, whole.width, (top + height) * sharp
            parts.append(copy(still))
            parts[-1]["src"] = data_uri(whole.crop(box))
            top += height
        for part in parts[1:]:
            part["alt"] = ""
            part.attrs.pop("id", None)
        still.replace_with(*parts)

    def set_code(self) -> None:
        """Code whose longest line is too wide gets smaller letters; if they would be too small,
        the line wraps. Long code may go on overleaf."""
        for code in self.article.select("pre"):
            nested = code.find_parent(class_="exercise") or code.find_parent(["li", "dd"])
            fitting = COLUMNS - (8 if nested else 0)
            lines = code.get_text().split("\n")
            if len(lines) <= (TABLE if code.find_parent(class_="cell_output") else LONG):
                mark(code, "whole")
            wide = max(map(columns, lines))
            if SMALLEST <= fitting / wide < 1:
                code["style"] = f"font-size: {fitting / wide:.3f}em"
            elif wide > fitting and code.find(True, recursive=False) is None:
                self.hang(code, lines, fitting)

    def hang(self, code: Tag, lines: list[str], fitting: float) -> None:
        """A line of plain text that wraps goes on behind its own indentation."""
        code.clear()
        for number, line in enumerate(lines):
            end = "\n" if number + 1 < len(lines) else ""
            if columns(line) <= fitting:
                code.append(NavigableString(line + end))
                continue
            behind = len(line) - len(line.lstrip()) + HANG
            style = f"padding-left: {behind}ch; text-indent: -{behind}ch"
            wrapped = self.soup.new_tag("span", attrs={"class": "hanging", "style": style})
            wrapped.string = line
            code.append(wrapped)

    def set_tables(self) -> None:
        """So that wide tables fit, they have smaller letters; a number stays with its unit."""
        for table in self.article.select("table.table"):
            if len(table.find("tr").find_all(["th", "td"])) >= MANY:
                mark(table, "many")
            for cell in table.select("td, th"):
                most = CELL if cell.name == "td" else HEAD
                said = cell.get_text().strip()
                if columns(said) <= most:
                    mark(cell, "one-line")
                if said == BLANK:
                    mark(cell, "blank")
                    cell.string = ""

    def prose(self, pattern: str) -> list[NavigableString]:
        """The pieces of running text that hold a pattern."""
        texts = self.article.find_all(string=re.compile(pattern))
        return [text for text in texts if not text.find_parent(NO_PROSE)]

    def set_blanks(self) -> None:
        """A sign for a missing number becomes a box that a pencil can write in."""
        for text in self.prose(BLANK):
            first, *others = text.split(BLANK)
            made = [NavigableString(first)]
            for other in others:
                made += [self.new("span", **{"class": "blank"}), NavigableString(other)]
            text.replace_with(*made)

    def bind_words(self) -> None:
        """No line ends within `p = 0.5`, `(2, 3)` or `chapter 03`, or behind an arrow to a link."""
        for text in self.prose(f"=|, |{LEADS_ON.pattern}|{DOTS.pattern}"):
            bound = EQUATION.sub(lambda at: at[0].replace(" = ", f"{NO_BREAK}={NO_BREAK}"), text)
            bound = SHAPE.sub(lambda at: at[0].replace(" ", NO_BREAK), bound)
            bound = DOTS.sub(NO_BREAK, bound)
            if LEADS_ON.search(text) and text.next_sibling is not None:
                bound = bound[:-1] + NO_BREAK
            if bound != text:
                text.replace_with(NavigableString(bound))
        for bold in self.article.select("p > strong"):
            if columns(bold.get_text()) <= LABEL:
                mark(bold, "one-line")

    def say_here(self) -> None:
        """What a question asks to be done at its explorer, after paper, is done elsewhere."""
        here, elsewhere = self.words.here
        pattern = re.compile(rf"(?<!\w){here}")
        for line in self.article.select("p"):
            if self.words.by_hand in line.get_text():
                for text in line.find_all(string=pattern):
                    text.replace_with(NavigableString(pattern.sub(elsewhere, text)))

    def keep_together(self) -> None:
        """A line that leads on to something stays with it, and so do a bold line, which is a
        heading, a single line under one, and short code with its output.

        Short items of lists stay whole.
        """
        for line in self.article.select("p"):
            inside = [node for node in line.contents if str(node).strip()]
            bold = len(inside) == 1 and inside[0].name == "strong"
            before = line.find_previous_sibling()
            under_heading = (
                before is not None
                and re.fullmatch("h[2-6]", before.name)
                and line.find_next_sibling() is not None
            )
            text = line.get_text().strip()
            if bold or text.endswith((":", "：")) or (under_heading and columns(text) <= LINE):
                keep(line)
        for code in self.article.select(
            "div.cell > .cell_input:has(+ .cell_output:not(:has(.ax-still)))"
        ):
            if len(code.get_text().strip().split("\n")) <= SHORT:
                keep(code)
        for item in self.article.select("li:not(:has(li, pre, table, img, svg))"):
            if len(item.get_text()) <= ITEM:
                mark(item, "whole")


@cache
def titles(site: Path, name: str) -> dict[str, str]:
    """The headings of a page of the site by the ids of their sections; without one, its title."""
    page = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    headings = {}
    for heading in page.select("article section > :is(h1, h2, h3, h4)"):
        for link in heading.select(".headerlink"):
            link.decompose()
        title = " ".join(heading.get_text().split())
        headings[heading.parent.get("id", "")] = title
        if heading.name == "h1":
            headings[""] = title
    return headings


def data_uri(image: Image.Image) -> str:
    """A picture as the address of itself."""
    stream = io.BytesIO()
    image.save(stream, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def mark(element: Tag, name: str) -> None:
    """Give an element a class more."""
    element["class"] = [*element.get("class", []), name]


def keep(element: Tag) -> None:
    """It is not parted, and what follows stands on its page."""
    mark(element, "keep")


def in_brackets(link: Tag) -> bool:
    """Whether a link is the last that stands in brackets: its page needs none of its own."""
    block = link.find_parent(BLOCKS)
    if block is None:
        return False
    inside = list(link.strings)
    texts = list(block.strings)
    first = next((at for at, text in enumerate(texts) if inside and text is inside[0]), None)
    if first is None:
        return False
    before, after = "".join(texts[:first]), "".join(texts[first + len(inside) :])
    opened = sum(map(before.count, "(（")) > sum(map(before.count, ")）"))
    return opened and CLOSED.match(after) is not None


def columns(line: str) -> float:
    """How wide a line of code is; a Chinese character is as wide as 5/3 letters.

    >>> columns("q · k"), columns("查询")
    (5, 3.33)
    """
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in line)
    return len(line) + round(wide * 2 / 3, 2) if wide else len(line)


def short(url: str) -> str:
    """An address as paper shows it.

    >>> short("https://arxiv.org/abs/1706.03762"), short("https://jupyter.org/")
    ('arxiv.org/abs/1706.03762', 'jupyter.org')
    """
    return unquote(re.sub(r"^https?://", "", url.strip())).rstrip("/")
