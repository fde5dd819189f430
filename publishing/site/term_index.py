"""Entries of the general index: each term of the glossary, and each chapter that links to it."""

from __future__ import annotations

import re
from bisect import bisect
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from publishing.translation.language import ENGLISH, in_chinese, language

GLOSSARY = "book/notation"
# GB 2312 has its common characters by their sound: the first one of each letter that begins any.
LETTERS = "ABCDEFGHJKLMNOPQRSTWXYZ"
FIRST = [sign.encode("gb2312") for sign in "啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝"]


def entry(text: str, place: str) -> addnodes.index:
    return addnodes.index(entries=[("single", text, place, "", letter_of(text))])


def letter_of(text: str) -> str | None:
    """Under which letter a Chinese entry stands; None for one that begins with a letter.

    >>> [letter_of(text) for text in ("softmax", "注意力", "残差", "得分")]
    [None, 'Z', 'C', 'D']
    """
    if text[0].isascii():
        return None
    return LETTERS[bisect(FIRST, text[0].encode("gb2312")) - 1]


def names(text: str) -> dict[str, str]:
    """The glossary's headings, in the language that is made, by the anchors that links use.

    >>> names("## Glossary\\n\\n### dead row\\n\\n### self-attention\\n")
    {'dead-row': 'dead row', 'self-attention': 'self-attention'}
    """
    headings = re.findall(r"^### (.+)$", text.partition("## Glossary\n")[2], re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in headings]
    if language() != ENGLISH:
        headings = [in_chinese(name, GLOSSARY) for name in headings]
    return dict(zip(anchors, headings, strict=True))


def terms(doctree: nodes.document) -> list[nodes.section]:
    """The sections of the glossary, one a term."""
    for section in doctree.findall(nodes.section):
        # Its id is English in each language.
        if "glossary" in section["ids"]:
            return [part for part in section.children if isinstance(part, nodes.section)]
    return []


class TermIndex(SphinxTransform):
    # Before Sphinx's own transform that collects the entries.
    default_priority = 800

    def apply(self) -> None:
        docname = self.env.docname
        if docname == GLOSSARY:
            for section in terms(self.document):
                section.insert(1, entry(section[0].astext(), section["ids"][0]))
        elif docname.startswith("chapters/"):
            self.index_links()

    def index_links(self) -> None:
        title = next(self.document.findall(nodes.title)).astext()
        glossary = Path(self.env.doc2path(GLOSSARY))
        self.env.note_dependency(str(glossary))
        known = names(glossary.read_text(encoding="utf-8"))
        done = set()
        for link in list(self.document.findall(addnodes.pending_xref)):
            page = str(link.get("reftarget", "")).rpartition("/")[2]
            anchor = link.get("reftargetid") or page.partition("#")[2]
            if page.partition("#")[0] not in {"notation.md", "notation"}:
                continue
            if anchor in done or anchor not in known:
                continue
            done.add(anchor)
            place = f"term-{anchor}"
            # Around the link: the search shows the text of a place, and trips where there is none.
            marked = nodes.inline("", "", link.deepcopy(), ids=[place])
            link.replace_self([entry(f"{known[anchor]}; {title}", place), marked])


def setup(app: Sphinx) -> dict:
    app.add_transform(TermIndex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
