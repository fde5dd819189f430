"""What a link to a page looks like where it is shared: title, text and picture (Open Graph).

Who reads these has the address of one page and no place to start from, so the picture needs an
address of its own. It is that of the site: `html_baseurl`, or GitHub Pages of the repository.
"""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

from publishing.translation.language import ENGLISH, _, in_chinese, language

PICTURE = "readme.png"
GOALS = "After this chapter you can"
# A paragraph of so few letters says nothing of what the page is about.
SHORT = {ENGLISH: 60, "zh": 30}


def site_of(repository: str) -> str:
    """The address at which GitHub Pages puts a repository's site.

    >>> site_of("https://github.com/someone/book")
    'https://someone.github.io/book/'
    """
    owner, name = urlsplit(repository).path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/"


def plain(node: nodes.Node) -> str:
    """The words of a part of a page, formulas as they are read.

    >>> dividing = nodes.paragraph("", "dividing by ", nodes.math("", r"\\sqrt{d_k}"))
    >>> plain(dividing) == "dividing by \\u221ad_k"
    True
    """
    text = node.astext().replace(r"\sqrt", "√")
    return " ".join(re.sub(r"[\\{}]", "", text).split())


def summary(page: nodes.document, docname: str) -> str:
    """A chapter's goals, or else the first paragraph of a page that is more than a line.

    >>> goals = nodes.list_item("", nodes.paragraph("", "say who asks,"))
    >>> page = nodes.section("", nodes.paragraph("", GOALS), nodes.bullet_list("", goals))
    >>> summary(page, "chapters/03_self_attention")
    'After this chapter you can say who asks.'
    """
    paragraphs = list(page.findall(nodes.paragraph))
    in_english = language() == ENGLISH
    head = GOALS if in_english else in_chinese(GOALS, docname)
    for paragraph in paragraphs:
        if paragraph.astext() == head:
            goals = paragraph.next_node(nodes.bullet_list, siblings=True, descend=False)
            said = [plain(goal).rstrip(",.，。；") for goal in goals]
            return f"{head} {'; '.join(said)}." if in_english else f"{head}{'；'.join(said)}。"
    texts = (
        plain(paragraph) for paragraph in paragraphs if isinstance(paragraph.parent, nodes.section)
    )
    heads = (head, _("Time "))  # of a paragraph that says nothing of what the page is about
    long = (text for text in texts if len(text) > SHORT[language()])
    return next((text for text in long if not text.startswith(heads)), "")


def add_card(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if doctree is None:
        return
    title = next(doctree.findall(nodes.title), None)
    repository = app.config.html_theme_options["repository_url"]
    site = (app.config.html_baseurl or site_of(repository)).rstrip("/")
    edition = "" if language() == ENGLISH else f"{language()}/"
    card = {
        "og:type": "website",
        "og:site_name": app.config.html_title,
        "og:title": plain(title) if title else app.config.html_title,
        "og:description": summary(doctree, pagename),
        "og:image": f"{site}/_static/{PICTURE}",
        "og:url": f"{site}/{edition}{pagename}.html",
    }
    context["metatags"] += "".join(
        f'\n<meta property="{name}" content="{html.escape(text)}" />'
        for name, text in card.items()
        if text
    )


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_card)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
