"""Entries of the general index: each term of the glossary, and each chapter that links to it."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

GLOSSARY = "book/notation"


def entry(text: str, place: str) -> addnodes.index:
    return addnodes.index(entries=[("single", text, place, "", None)])


def names(text: str) -> dict[str, str]:
    """The glossary's headings by the anchors that links use.

    >>> names("## Glossary\\n\\n### dead row\\n\\n### self-attention\\n")
    {'dead-row': 'dead row', 'self-attention': 'self-attention'}
    """
    found = re.findall(r"^### (.+)$", text.partition("## Glossary\n")[2], re.MULTILINE)
    return {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-"): name for name in found}


def terms(doctree: nodes.document) -> list[nodes.section]:
    """The sections of the glossary, one a term."""
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Glossary":
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
