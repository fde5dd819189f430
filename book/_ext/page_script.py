"""Give the pages the explorer, as a classic deferred script.

`attn_core.views.script` gives one ES module, which Jupyter loads. Browsers refuse modules from
`file://`, and the site must open from there: so the build wraps the same text in a function. The
custom element that it defines is all that a page needs; its export is dropped.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from attn_core.views.script import module

VIEWS = Path(__file__).parents[2] / "attn_core" / "views"
EXPORT = re.compile(r"^export default ", re.MULTILINE)
MODULE_SYNTAX = re.compile(r"^(import|export)\b.*", re.MULTILINE)


def classic(text: str) -> str:
    """The text of a module with one default export and no import, as a classic script.

    >>> classic("const a = 1;\\nexport default { a };\\n")
    '(() => {\\n"use strict";\\nconst a = 1;\\nvoid { a };\\n})();\\n'
    """
    script = EXPORT.sub("void ", text)
    if left := MODULE_SYNTAX.search(script):
        raise ExtensionError(f"a page cannot run this line of a module: {left[0]}")
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def write(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "page_script"
    folder.mkdir(parents=True, exist_ok=True)
    script = classic(module())
    (folder / "explorer.js").write_text(script, encoding="utf-8")
    (folder / "explorer.css").write_text(
        (VIEWS / "explorer.css").read_text(encoding="utf-8"), encoding="utf-8"
    )
    config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", write)
    app.add_js_file("explorer.js", loading_method="defer")
    app.add_css_file("explorer.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
