"""The pages of a site: where they are, and an extension that changes the text of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from sphinx.application import Sphinx

from publishing.site.switch import FOLDER


def own_pages(site: Path) -> Iterator[Path]:
    """Every page below a site's folder, except those of the Chinese site within it."""
    for path in Path(site).rglob("*.html"):
        if path.relative_to(site).parts[0] != FOLDER:
            yield path


def rewriting(change: Callable[[str], str]) -> Callable[[Sphinx], dict]:
    """The `setup` of an extension that puts change(body) in the place of a page's body."""

    def rewrite(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
        if "body" in context:
            context["body"] = change(context["body"])

    def setup(app: Sphinx) -> dict:
        app.connect("html-page-context", rewrite)
        return {"parallel_read_safe": True, "parallel_write_safe": True}

    return setup
