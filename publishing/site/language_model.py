"""Fill the element of a language model: its sizes, where its files are, and a sentence without it.

A page names it, `<language-model name="smollm2"></language-model>`. Both languages read the same
files, which `make book` puts beside the English site.
"""

from __future__ import annotations

import re
from html import escape

from sphinx.application import Sphinx

from attn_core.pretrained.smollm2_135m import HEADS, LAYERS
from attn_core.views.payload import inline_json
from publishing.site.language_light import TEXTS
from publishing.translation.language import ENGLISH, _, language, tag

ELEMENT = re.compile(r'<language-model name="([\w-]+)">\s*</language-model>')
# As seen from the script's own folder, _static.
FOLDER, FROM_CHINESE = "language/", "../../_static/language/"
VIEW = {"text": TEXTS["capital"], "layer": 23, "head": 4}


def filled(name: str) -> str:
    """
    >>> filled("smollm2").splitlines()[1]
    '<p>The model runs live on the site, in a browser with JavaScript.</p>'
    """
    payload = {
        "lang": tag(),
        "folder": FOLDER if language() == ENGLISH else FROM_CHINESE,
        "sizes": {"layers": LAYERS, "heads": HEADS},
        "view": VIEW,
    }
    data = f'<script type="application/json">{inline_json(payload)}</script>'
    without = escape(_("The model runs live on the site, in a browser with JavaScript."))
    return f'<language-model name="{name}">\n<p>{without}</p>\n{data}\n</language-model>'


def put(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if "body" in context:
        context["body"] = ELEMENT.sub(lambda element: filled(element[1]), context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", put)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
