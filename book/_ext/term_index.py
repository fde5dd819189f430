"""Entries of the general index: each term of the glossary, and each place that links to it."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "book/notation"


def entry(text: str, place: str) -> addnodes.index:
    return addnodes.index(entries=[("single", text, place, "", None)])


def terms(doctree: nodes.document) -> dict[str, nodes.section]:
    """The glossary's sections by the anchor that links use: "dead row" is dead-row."""
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Glossary":
            inner = [part for part in section.children if isinstance(part, nodes.section)]
            return {part[0].astext().lower().replace(" ", "-"): part for part in inner}
    return {}


def index(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    if docname == GLOSSARY:
        for section in terms(doctree).values():
            section.insert(1, entry(section[0].astext(), section["ids"][0]))
        return
    titles = list(doctree.findall(nodes.title))
    if not docname.startswith("chapters/") or not titles:
        return
    done = set()
    for link in list(doctree.findall(addnodes.pending_xref)):
        page, _, anchor = link.get("reftarget", "").partition("#")
        anchor = anchor or link.get("reftargetid") or ""
        if not page.rpartition("/")[2].startswith("notation") or not anchor or anchor in done:
            continue
        done.add(anchor)
        place = f"term-{anchor}"
        link.insert(0, nodes.target("", "", ids=[place]))
        term = anchor.replace("-", " ")
        link.insert(0, entry(f"{term}; in {titles[0].astext()}", place))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
