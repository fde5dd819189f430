"""Put the ways to run a chapter under its title: Colab, the notebook itself, its source.

All addresses come from `repository` in `_config.yml`.
"""

from __future__ import annotations

from html import escape

from sphinx.application import Sphinx

from translation.language import _


def links(name: str, options: dict, notebook: str) -> str:
    """The line under the title of the chapter whose file is `name`; `notebook` is its own copy."""
    url = options["repository_url"].rstrip("/")
    place = f"blob/{options['repository_branch']}/{name}"
    owner = url.removeprefix("https://github.com/")
    ways = [(_("Download the notebook"), notebook, " download")]
    if owner != url:  # Colab opens what lies on GitHub
        colab = f"https://colab.research.google.com/github/{owner}/{place}"
        ways = [
            (_("Open in Colab"), colab, ""),
            *ways,
            (_("See it on GitHub"), f"{url}/{place}", ""),
        ]
    items = (f'<a href="{escape(to)}"{more}>{text}</a>' for text, to, more in ways)
    return f'<p class="chapter-links">{" ".join(items)}</p>'


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if not pagename.startswith("chapters/") or not context.get("sourcename"):
        return
    notebook = context["pathto"](f"_sources/{context['sourcename']}", 1)
    line = links(f"{pagename}.ipynb", app.config.html_theme_options, notebook)
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{line}", 1)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
