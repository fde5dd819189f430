"""Give the pages that have a box for pasted numbers its script and its looks, and no other page.

The script stands alone: it needs nothing of the explorer's.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx

from attn_core.views.script import BUILT
from publishing import ROOT
from publishing.translation.language import ENGLISH, language

CSS = ROOT / "attn_core" / "views" / "diagnosis.css"


def write(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "paste_box"
    folder.mkdir(parents=True, exist_ok=True)
    name = "diagnosis.js" if language() == ENGLISH else "diagnosis-zh.js"
    shutil.copyfile(BUILT / name, folder / "diagnosis.js")
    (folder / CSS.name).write_text(CSS.read_text(encoding="utf-8"), encoding="utf-8")
    config.html_static_path.append(str(folder))


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if "<attention-diagnosis" in context.get("body", ""):
        app.add_js_file("diagnosis.js", loading_method="defer")
        app.add_css_file("diagnosis.css")


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", write)
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
