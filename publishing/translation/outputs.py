"""What stored outputs say in words: drawings, pictures, and the HTML of the book's own views."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from html import escape, unescape

from attn_core.views.payload import inline_json
from publishing.translation.language import in_chinese
from publishing.translation.markdown import has_words

CATALOGUE = "drawings"
# Where the titles of mistakes are messages, and where what they do is told.
TITLES, MISTAKES = "exercises", "chapters/14_mistakes"
SVG, PNG, HTML = "image/svg+xml", "image/png", "text/html"
WORDS = "words"  # what a plot says, beside its pixels
WRITTEN = re.compile(r"(<(text|tspan|title|desc)\b[^>]*>)([^<]+)(?=<)")
SPOKEN = re.compile(r'(\b(?:aria-label|alt|data-(?:agree|right|oppose))=")([^"]+)(?=")')
# What the script says of a step: the lines that are written below it.
STEP = re.compile(r'(\bdata-says=")([^"]+)(?=")')
WORDED = re.compile(r"(<(caption|summary|h2|h3|p)\b[^>]*>)([^<]+)(?=</\2>)")
DATA = re.compile(r'(<script type="application/json">)(.*?)(?=</script>)', re.DOTALL)
# A model's paragraphs are a sentence of its and the words that it knows.
MODEL = "<attention-model"
EXP = re.compile(r"\bexp\(")
SIGN = re.compile(r"[\u2018-\u201d\u3000-\u303f\uff00-\uffef]")
WIDE = re.compile(rf"{SIGN.pattern}|[\u3400-\u9fff]")


def words_of(svg: str) -> list[str]:
    """The words of a drawing, written and spoken, in its order.

    >>> words_of('<svg aria-label="a row"><text x="1">one &amp; two</text><text>0.25</text></svg>')
    ['a row', 'one & two']
    """
    placed = [(match.start(), match[3]) for match in WRITTEN.finditer(svg)]
    placed += [(match.start(), match[2]) for match in SPOKEN.finditer(svg)]
    return [unescape(text.strip()) for _, text in sorted(placed) if has_words(unescape(text))]


def words_of_html(html: str) -> list[str]:
    """The words of a view: captions, headings, sentences; no tokens, no numbers, no data.

    >>> words_of_html("<table><caption>weights</caption><tr><th>cat</th><td>0.5</td></tr></table>")
    ['weights']
    """
    return [unescape(match[3].strip()) for match in WORDED.finditer(html) if is_worded(html, match)]


def is_worded(html: str, match: re.Match) -> bool:
    is_own = match[2] == "p" and html.startswith(MODEL)
    return not is_own and has_words(EXP.sub("(", unescape(match[3])))


def drawing(svg: str) -> str:
    """A drawing with its words in Chinese."""
    said = STEP.sub(lambda match: match[1] + escape(step_in_words(svg, match)), svg)
    said = WRITTEN.sub(lambda match: match[1] + word(match[3]), said)
    return SPOKEN.sub(lambda match: match[1] + word(match[2]), said)


def step_in_words(svg: str, step: re.Match) -> str:
    """What is said of a step, of the lines in which it is written.

    >>> svg = '<g data-says="one row"><text>two</text><text>one</text><text>row</text></g>'
    >>> step_in_words(svg, STEP.search(svg))
    'one row'
    """
    after = STEP.search(svg, step.end())
    written = WRITTEN.finditer(svg, step.end(), after.start() if after else len(svg))
    lines = [unescape(match[3]) for match in written]
    counts = range(1, len(lines) + 1)
    says = unescape(step[2])
    count = next((n for n in counts if " ".join(lines[-n:]) == says), None)
    if count is None:
        raise ValueError(f"what is said of a step must be written in it, got {says!r}")
    return joined(in_chinese(line, CATALOGUE) for line in lines[-count:])


def joined(lines: Iterable[str]) -> str:
    """Lines as one: no space stands beside a Chinese sign, or between two Chinese characters.

    >>> joined(["每格一枚", "硬币，", "p ="]), joined(["合起来是", "c = 1"]), joined(["p =", "1。"])
    ('每格一枚硬币，p =', '合起来是 c = 1', 'p = 1。')
    """
    first, *others = lines
    for line in others:
        ends = first[-1], line[0]
        is_close = all(map(WIDE.match, ends)) or any(map(SIGN.match, ends))
        first += line if is_close else f" {line}"
    return first


def word(text: str) -> str:
    bare = text.strip()
    said = in_chinese(unescape(bare), CATALOGUE)
    return text if said == unescape(bare) else text.replace(bare, escape(said))


def view(html: str) -> str:
    """The HTML of a view with its words in Chinese, and those that its data have for its script."""
    said = WORDED.sub(
        lambda match: match[1] + word(match[3]) if is_worded(html, match) else match[0], html
    )
    return DATA.sub(lambda match: match[1] + data(match[2]), said)


def data(text: str) -> str:
    """The data of a view with its words in Chinese; those without any are the same to the byte."""
    payload = json.loads(text)
    for name, exchange in WORDS_OF_DATA.items():
        if name in payload:
            payload[name] = exchange(payload[name])
    return inline_json(payload) if WORDS_OF_DATA.keys() & payload.keys() else text


def of_mistakes(mistakes: list[dict]) -> list[dict]:
    return [
        mistake | {"title": title(mistake["title"]), "says": in_chinese(mistake["says"], MISTAKES)}
        if "says" in mistake
        else mistake
        for mistake in mistakes
    ]


def title(text: str) -> str:
    return in_chinese(text, TITLES)


def alt(text: str) -> str:
    return in_chinese(text, CATALOGUE)


WORDS_OF_DATA: dict[str, Callable] = {
    "mistakes": of_mistakes,
    "titles": lambda titles: {name: title(text) for name, text in titles.items()},
    "names": lambda names: {name: alt(text) for name, text in names.items()},
    "sizes": alt,
}


def words_of_data(html: str) -> Iterator[str]:
    """What the data of a view say that is no message elsewhere."""
    for match in DATA.finditer(html):
        payload = json.loads(match[2])
        yield from payload.get("names", {}).values()
        yield from [payload["sizes"]] if "sizes" in payload else []


def in_output(output) -> None:
    """Exchange the words of one stored output."""
    data = output.get("data", {})
    for kind, exchange in ((SVG, drawing), (HTML, view)):
        if kind in data:
            data[kind] = exchange(data[kind])
    for metadata in output.get("metadata", {}).values():
        if isinstance(metadata, dict) and "alt" in metadata:
            metadata["alt"] = alt(metadata["alt"])
