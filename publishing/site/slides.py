"""What a deck of slides takes from a chapter: its predictions with their answers, and its figures.

A prediction is a paragraph with the word "Predict" or "Before you look"; its answer is folded under
it, or is what follows. A figure stands under the question in bold type that it answers.

What becomes a slide is decided by the English text; `say` gives it in the language of the deck.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from publishing.translation.outputs import PNG, SVG

ASKS = re.compile(r"\bPredict\b|\bBefore you look\b")
HEADING = re.compile(r"^#{1,6} +(.*)", re.MULTILINE)
FOLD = re.compile(r"<details><summary>(?:Answer|Answers)</summary>\s*(.*?)\s*</details>", re.DOTALL)
BOLD = re.compile(r"\*\*((?:(?!\*\*).)+[?？])\*\*", re.DOTALL)
Say = Callable[[str], str]
EXPLORER = re.compile(r'<attention-(?:explorer|model|training) name="([\w-]+)"')
LEADS_ON = re.compile(r"[^.!?。！？]*[:：]$")  # a last sentence that speaks of the next cell
CAPTION = re.compile(r"\*[^*]")  # of the figure above: that has a slide of its own
BEFORE = 2  # paragraphs that lead to a question
MOST_ASKED = 600  # letters of a question with what leads to it: more would not fit
MOST = 14  # lines of a printed output


@dataclass
class Slide:
    """A question, and what answers it: words, then a figure or printed numbers."""

    question: str  # Markdown; "" where a figure stands for itself
    answer: str = ""  # Markdown
    heading: int = 0  # under which heading of the chapter, counted from 0
    given: str = ""  # printed numbers that the question speaks of
    printed: str = ""
    picture: bytes = b""
    alt: str = ""
    explorer: str = ""  # the name of the explorer whose picture it is
    cells: list[int] = field(default_factory=list)  # where it comes from


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n{2,}", text) if part.strip()]


def is_exercise(cell) -> bool:
    return any(tag.startswith("exercise:") for tag in cell.metadata.get("tags", []))


def printed(cell) -> str:
    """What a code cell has printed or shown as text, if it is short enough for a slide."""
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.get("outputs", [])
        if not {PNG, SVG} & output.get("data", {}).keys()
    ]
    text = "\n".join(text.rstrip() for text in texts if text.strip())
    return text if text and text.count("\n") < MOST else ""


def picture(cell) -> dict:
    """The picture of a code cell with its words, and the explorer that it is of."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if PNG in data and SVG not in data:  # a drawing is on the page
            named = EXPLORER.search(data.get("text/html", ""))
            alt = output.metadata.get(PNG, {}).get("alt") or data.get("text/plain", "")
            name = named[1] if named else ""
            return {"picture": base64.b64decode(data[PNG]), "alt": alt, "explorer": name}
    return {}


def asked(text: str) -> tuple[str, str]:
    """A prediction's question, with what leads to it, and its folded answer."""
    fold = FOLD.search(text)
    before = text[: fold.start()] if fold else text
    heads = list(HEADING.finditer(before))
    title = heads[-1][1] if heads else ""
    parts = paragraphs(before[heads[-1].end() :] if heads else before)
    place = next((n for n, part in enumerate(parts) if ASKS.search(part)), 0)
    lead = [part for part in parts[:place] if not CAPTION.match(part)]
    lead = lead[max(0, len(lead) - BEFORE) :]
    while lead and len("".join([*lead, *parts[place:]])) > MOST_ASKED:
        lead = lead[1:]
    question = [*lead, *parts[place:]]
    if title and not ASKS.search(title):
        question.insert(0, f"### {title}")
    return "\n\n".join(question), fold[1] if fold else ""


def following(cells, place: int) -> Iterator[int]:
    """The cells after one, up to the next heading or the next prediction."""
    for n in range(place + 1, len(cells)):
        source = cells[n].source
        if cells[n].cell_type == "markdown" and (HEADING.match(source) or ASKS.search(source)):
            return
        yield n


def answers_with(cells, n: int, place: int) -> bool:
    """Whether a cell's picture answers the prediction at `place`, and no question of its own."""
    shown = picture(cells[n])
    return bool(shown) and not question_of(cells, n) and (not shown["explorer"] or n == place + 1)


def prediction(cells, place: int, say: Say) -> Slide:
    question, answer = asked(cells[place].source)
    slide = Slide(say(question), say(answer), cells=[place])
    after = [n for n in following(cells, place) if cells[n].cell_type == "code"]
    figure = next((n for n in after if answers_with(cells, n, place)), None)
    # What is printed further down belongs to another thought, unless nothing is folded.
    near = [n for n in after if n == place + 1 or not answer]
    numbers = next((n for n in near if printed(cells[n])), None)
    chosen = figure if figure is not None else numbers
    if figure is not None:
        vars(slide).update(picture(cells[figure]))
    elif numbers is not None:
        slide.printed = printed(cells[numbers])
    if chosen is not None:
        slide.cells.append(chosen)
        if not answer:
            slide.answer = said_after(cells, chosen, say)
    if " above" in question:
        earlier = (printed(cell) for cell in reversed(cells[:place]) if cell.cell_type == "code")
        slide.given = next((text for text in earlier if text), "")
    return slide


def said_after(cells, place: int, say: Say = str) -> str:
    """The first paragraph after a cell: a figure's caption, or what its numbers say."""
    if place + 1 == len(cells) or cells[place + 1].cell_type != "markdown":
        return ""
    source = cells[place + 1].source
    first = "" if HEADING.match(source) else paragraphs(source)[0]
    if ASKS.search(first) or BOLD.search(first):
        return ""
    return LEADS_ON.sub("", say(first)).strip()


def question_of(cells, place: int, say: Say = str) -> tuple[str, str] | None:
    """The question in bold type above a figure, and what else its paragraph says."""
    before = cells[place - 1].source if cells[place - 1].cell_type == "markdown" else ""
    for part in reversed(paragraphs(before)):
        if BOLD.search(part) and not ASKS.search(part):
            told = say(part)
            if match := BOLD.search(told):
                return f"**{match[1]}**", told[match.end() :].strip()
            return told, ""
    return None


def of_figure(cells, place: int, say: Say) -> Slide | None:
    """A figure with its question, or with its caption alone; one that has neither is left out."""
    caption = said_after(cells, place, say)
    question, answer = question_of(cells, place, say) or ("", "")
    if not question and not caption:
        return None
    answer = "\n\n".join(part for part in (answer, caption) if part)
    return Slide(question, answer, cells=[place], **picture(cells[place]))


def slides(notebook, say: Say = str) -> list[Slide]:
    """The slides of a chapter, in its order."""
    cells = [cell for cell in notebook.cells if not is_exercise(cell)]
    deck: list[Slide] = []
    used: set[int] = set()
    heading = -1
    for place, cell in enumerate(cells):
        slide = None
        if cell.cell_type == "markdown":
            heading += len(HEADING.findall(re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)))
            if ASKS.search(cell.source):
                slide = prediction(cells, place, say)
        elif place not in used and picture(cell):
            slide = of_figure(cells, place, say)
        if slide:
            slide.heading = max(heading, 0)
            used |= set(slide.cells)
            deck.append(slide)
    return deck
