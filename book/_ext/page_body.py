"""What an extension needs that changes the text of each page, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from sphinx.application import Sphinx


def rewriting(change: Callable[[str], str]) -> Callable[[Sphinx], dict]:
    """The `setup` of an extension that puts change(body) in the place of a page's body."""

    def rewrite(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
        if "body" in context:
            context["body"] = change(context["body"])

    def setup(app: Sphinx) -> dict:
        app.connect("html-page-context", rewrite)
        return {"parallel_read_safe": True, "parallel_write_safe": True}

    return setup
