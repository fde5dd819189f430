"""Give a page the style sheets and scripts that something on it needs, and no other.

Extensions add theirs to every page. Here stands by what each is known to be needed.
"""

from __future__ import annotations

from sphinx.application import Sphinx

# The beginning of a file's name: parts of the page that need it.
NEEDED_BY = {
    "answer.": ("<attention-answer",),
    "explorer.": (
        "<attention-explorer",
        "<attention-model",
        "<attention-training",
        "<language-model",
    ),
    "machine.": ("<attention-model", "<attention-training", "<language-model"),
    "language.": ("<language-model",),
    "training.": ("<attention-training",),
    "mystnb.": ('class="cell',),
    "clipboard.": ('class="highlight',),
    "copybutton.": ('class="highlight',),
    "sphinx-design.": ('class="sd-',),
    "design-tabs.": ('class="sd-tab',),
    "worksheet.": ('class="worksheet',),
}


def is_needed(name: str, body: str) -> bool:
    """
    >>> is_needed("_static/answer.js", "<p>"), is_needed("answer.js", "<attention-answer>")
    (False, True)
    >>> is_needed("site.css", "<p>")
    True
    """
    name = name.rpartition("/")[2]
    needs = (parts for start, parts in NEEDED_BY.items() if name.startswith(start))
    return all(any(part in body for part in parts) for parts in needs)


def keep_needed(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    body = context.get("body", "")
    for files in (context["css_files"], context["script_files"]):
        files[:] = [file for file in files if is_needed(str(file.filename), body)]


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", keep_needed, priority=900)  # after all have added theirs
    return {"parallel_read_safe": True, "parallel_write_safe": True}
