"""Give the pages the explorer, as classic deferred scripts that open from `file://`.

`make script` makes them; the custom element that the first of them defines is all that a page
needs, and it loads the others where they are needed.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from attn_core.views.script import files
from publishing import ROOT

VIEWS = ROOT / "attn_core" / "views"
SHEETS = ("explorer.css", "machine.css", "language.css", "training.css")


def write(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "page_script"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
    for sheet in SHEETS:
        (folder / sheet).write_text((VIEWS / sheet).read_text(encoding="utf-8"), encoding="utf-8")
    config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", write)
    app.add_js_file("explorer.js", loading_method="defer")
    for sheet in SHEETS:
        app.add_css_file(sheet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
