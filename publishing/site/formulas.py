"""Turn formulas into MathML when the book is built, so that a page needs no script to show them.

The letters of queries, keys and values carry the book's colours: `q`, `Q`, `k`, `K`, `v`, `V`
get the class `query`, `key` or `value`, except in a subscript or superscript, where they are
indices or names (the k of d_k is not a key).
"""

from __future__ import annotations

import html
import re
import unicodedata
from xml.etree.ElementTree import Element, tostring

from docutils import nodes
from latex2mathml.converter import convert_to_element
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

ROLES = {"q": "query", "k": "key", "v": "value"}
# The children that each element must have; all but the first are scripts.
SCRIPTS = {"msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}
FIXED = {**SCRIPTS, "mfrac": 2, "mroot": 2}
PRIMES = {"′", "&#x02032;"}
BARS = {"‖", "∥", "|"}
ROOTS = {"msqrt", "mroot"}
TALL = ROOTS | {"mfrac", "mtable", "munder", "mover", "munderover"}
RELATIONS = {"=", "≈", "≠", "<", ">", "≤", "≥", "→", "⇒", "∝"}
LONG = 30  # characters; a formula of more may not fit into the line of a phone
SIGNS, ENDS = {"−", "-", "+", "±"}, {")", "]", "}", "⟩", "!", "′", "…", "⋯", *BARS}


def complaints(tree: Element) -> list[str]:
    r"""What the converter did not understand: it never raises, it leaves traces. And what the
    font of the formulas has no sign for.

    >>> mathml(r"\frac{1}{\sqrt{a/b}}", "inline")[1], mathml(r"\sqrt{\frac{a}{b}}", "inline")[1]
    ([], ["the font's root is one line high: write a fraction in it with a slash"])
    """
    messages = []
    for element in tree.iter():
        text = element.text or ""
        if "\\" in text:
            messages.append(f"unknown command {text.strip()}")
        if text.strip() in {"&", "$"}:
            messages.append(f"stray {text.strip()!r}: this environment is not supported")
        if element.tag in FIXED and len(element) != FIXED[element.tag]:
            messages.append(f"{element.tag} needs {FIXED[element.tag]} parts, has {len(element)}")
        inside = (part.tag for part in element.iter() if part is not element)
        if element.tag in ROOTS and not TALL.isdisjoint(inside):
            messages.append("the font's root is one line high: write a fraction in it with a slash")
        if element.get("mathvariant", "normal") != "normal":
            messages.append(f"browsers do not draw mathvariant={element.get('mathvariant')!r}")
    return messages


def tidy(parent: Element) -> None:
    r"""Make one word of the letters of \mathrm{softmax}, a word, not a sign, of \operatorname,
    and signs of fixed height of the bars of \lVert."""
    for element in parent:
        tidy(element)
        if sign(element) in BARS:
            element.tag = "mo"
            element.attrib = {"stretchy": "false"}
        if element.tag == "mo" and len(element.text or "") > 1 and element.text.isalpha():
            element.tag = "mi"
    upright = [e.tag == "mi" and e.get("mathvariant") == "normal" and e.text for e in parent]
    if parent.tag == "mrow" and len(upright) > 1 and all(upright):
        word = parent[0]
        word.text = "".join(upright)
        word.attrib.clear()
        parent[:] = [word]


def space(parent: Element, in_script: bool = False) -> None:
    """Spaces as TeX has them: none around bars or within scripts, a sign close to its number.

    >>> mathml("a = -1", "inline")[0].split("display=")[1].replace("&#x0", "")
    '"inline"><mrow><mi>a</mi><mo>003D;</mo><mo form="prefix">2212;</mo><mn>1</mn></mrow></math>'
    """
    before = None
    for place, element in enumerate(parent):
        if element.tag == "mo":
            if in_script or sign(element) in BARS:
                element.attrib |= {"lspace": "0", "rspace": "0"}
            elif sign(element) in SIGNS and before is not None and leads_on(before):
                element.set("form", "prefix")
        space(element, in_script or (parent.tag in SCRIPTS and place > 0))
        if element.tag != "mspace":
            before = element


def leads_on(element: Element) -> bool:
    """Whether it is an operator that something has to follow."""
    return element.tag == "mo" and sign(element) not in ENDS


def sign(element: Element) -> str:
    """What an element says, which the converter writes as an entity."""
    return html.unescape(element.text or "")


def lower(parent: Element) -> None:
    """A prime is raised and small in its font: as a script it would be so twice.

    >>> mathml("h'", "inline")[0].split("display=")[1]
    '"inline"><mrow><mrow><mi>h</mi><mo lspace="0" rspace="0">&#x02032;</mo></mrow></mrow></math>'
    """
    for element in parent:
        lower(element)
        if element.tag == "msup" and element[-1].text in PRIMES:
            element.tag = "mrow"
            element[-1].tag = "mo"
            element[-1].attrib = {"lspace": "0", "rspace": "0"}


def colour(element: Element) -> None:
    """Mark the identifiers of queries, keys and values."""
    if element.tag == "mi":
        letter = unicodedata.normalize("NFKC", element.text or "").lower()
        if letter in ROLES:
            element.set("class", ROLES[letter])
    for position, child in enumerate(element):
        if not (element.tag in SCRIPTS and position > 0):
            colour(child)


def converted(latex: str, display: str) -> tuple[Element | None, list[str]]:
    """A formula as MathML, and what is wrong with it."""
    try:
        tree = convert_to_element(latex, display=display)
    except Exception as error:  # the converter has a dozen kinds
        return None, [f"{type(error).__name__} {error}".strip()]
    tidy(tree)
    lower(tree)
    space(tree)
    colour(tree)
    return tree, complaints(tree)


def written(tree: Element | None) -> str:
    """The text of a formula. Entities like &#x0003D; arrive as text that is already escaped."""
    return "" if tree is None else tostring(tree, encoding="unicode").replace("&amp;#", "&#")


def mathml(latex: str, display: str) -> tuple[str, list[str]]:
    """The MathML of a formula as text, and what is wrong with it.

    >>> mathml("q_k", "inline")[0].split("display=")[1]
    '"inline"><mrow><msub><mi class="query">q</mi><mi>k</mi></msub></mrow></math>'
    """
    tree, wrong = converted(latex, display)
    return written(tree), wrong


def inline(latex: str) -> tuple[str, list[str]]:
    """A formula within a line, and what is wrong with it. A long one may wrap after a relation.

    >>> inline("a = b = c")[0].count("<math")
    1
    >>> inline("a + b + c + d + e + f + g + h + i + j = k + l + m + n + o = p")[0].count("<math")
    3
    """
    tree, wrong = converted(latex, "inline")
    if tree is None or len("".join(map(sign, tree.iter()))) <= LONG:
        return written(tree), wrong
    (row,) = tree
    parts: list[list[Element]] = [[]]
    for element in row:
        parts[-1].append(element)
        if element.tag == "mo" and sign(element) in RELATIONS:
            element.set("form", "infix")
            parts.append([])
    markup = ""
    for part in filter(None, parts):
        row[:] = part
        markup += written(tree)
    return markup, wrong


def displayed(latex: str) -> tuple[str, list[str]]:
    r"""A formula on its own lines, and what is wrong with it. Where \qquad parts it, it may wrap.

    >>> displayed(r"a = b \qquad \sqrt{c \qquad d}")[0].count("<math")
    2
    """
    parts, depth = [""], 0
    for piece in re.split(r"(\\qquad|\\begin|\\end|\\?[{}])", latex):
        depth += {"{": 1, "}": -1, "\\begin": 1, "\\end": -1}.get(piece, 0)
        if piece == r"\qquad" and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    made = [mathml(part.strip(), "block") for part in parts]
    markup = "".join(markup for markup, _ in made)
    return f'<div class="formula">{markup}</div>', [
        complaint for _, wrong in made for complaint in wrong
    ]


CLOSING = re.compile(r"[.,;:!?)”’，。；：！？、）》」]+")
OPENING = re.compile(r"[(“‘（《「]+$")


class Attached(SphinxPostTransform):
    """No line begins with the comma or the full stop after a formula, or ends with the bracket
    before it.

    A browser may break a line before and after MathML, so all are written as one piece.
    """

    default_priority = 900

    def run(self, **kwargs) -> None:
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(descend=False, siblings=True)
            if isinstance(after, nodes.Text) and (closing := CLOSING.match(after)):
                formula["closing"] = closing[0]
                after.parent.replace(after, nodes.Text(after[closing.end() :]))
            place = formula.parent.index(formula)
            before = formula.parent[place - 1] if place else None
            if isinstance(before, nodes.Text) and (opening := OPENING.search(before)):
                formula["opening"] = opening[0]
                before.parent.replace(before, nodes.Text(before[: opening.start()]))


def _visit(convert):
    def visit(translator, node):
        latex = node.astext()
        markup, wrong = convert(latex)
        for complaint in wrong:
            logger.warning("formula $%s$: %s", latex, complaint, location=node)
        opening, closing = node.get("opening", ""), node.get("closing", "")
        if opening or closing:
            markup = f'<span class="closed">{opening}{markup}{closing}</span>'
        translator.body.append(markup)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict:
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(_visit(inline), None),
        block_renderers=(_visit(displayed), None),
    )
    app.add_post_transform(Attached)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
