"""Put the ways to run a chapter under its title: Colab, the notebook itself, its source.

Under the title of the landing page stands where the book is to be had as a PDF: on the page of the
newest release, which is there before any release is, and where no PDF was printed.

All addresses come from `repository` in `_config.yml`.
"""

from __future__ import annotations

from html import escape

from sphinx.application import Sphinx

from publishing.translation.language import ENGLISH, _, language


def links(name: str, options: dict, notebook: str) -> str:
    """The line under the title of the chapter whose file is `name`; `notebook` is its own copy."""
    url = options["repository_url"].rstrip("/")
    folder, _slash, file = name.rpartition("/")
    own = name if language() == ENGLISH else f"{folder}/{language()}/{file}"
    place = f"blob/{options['repository_branch']}/{own}"
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


def on_paper(options: dict) -> str:
    """The line under the landing page's title; "" for a repository that is not on GitHub.

    >>> on_paper({"repository_url": "https://github.com/one/book/"}).split('"')[3]
    'https://github.com/one/book/releases/latest'
    >>> on_paper({"repository_url": "https://example.org/book"})
    ''
    """
    url = options["repository_url"].rstrip("/")
    if not url.startswith("https://github.com/"):
        return ""
    to = escape(f"{url}/releases/latest")
    words = _("The book as a PDF")
    return f'<p class="chapter-links"><a href="{to}">{words}</a></p>'


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    options = app.config.html_theme_options
    if pagename == app.config.root_doc:
        line = on_paper(options)
    elif pagename.startswith("chapters/") and context.get("sourcename"):
        notebook = context["pathto"](f"_sources/{context['sourcename']}", 1)
        line = links(f"{pagename}.ipynb", options, notebook)
    else:
        return
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{line}", 1)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
