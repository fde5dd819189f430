"""Move the data of large explorers out of a page, into files beside it.

A page is read before they are there: the explorer asks for them when the reader comes near. The
stored notebook keeps them, and works alone; `payload_files` makes those that are too large for it.
A page that begins with a whole model asks for all that it needs at once.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

from attn_core.views.markup import beside

MOST = 60_000  # bytes
EXPLORER = re.compile(
    r'<attention-(explorer|model) name="([\w-]+)">((?:(?!</attention-\1>).)*?)'
    r'<script type="application/json">([^<]*)</script>',
    re.DOTALL,
)


def parts_of_a_model(language: str) -> list[str]:
    """The scripts without which a model can't start, as the page's script names them.

    >>> parts_of_a_model("en")
    ['explorer-beside.js', 'explorer-model.js']
    """
    parts = ["beside", "model", *(["zh", "model-zh"] if language.startswith("zh") else [])]
    return [f"explorer-{part}.js" for part in parts]


def move(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    folder = Path(app.outdir) / "_static" / "payloads"

    def named(explorer: re.Match) -> str:
        kind, name, table, data = explorer.groups()
        is_first = kind == "model" and "<h2" not in explorer.string[: explorer.start()]
        if len(data) <= MOST:
            return explorer[0]
        payload = f"{Path(pagename).name}-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{payload}.js").write_text(beside(payload, data), encoding="utf-8")
        if is_first:
            for file in (f"payloads/{payload}.js", *parts_of_a_model(app.config.language)):
                app.add_js_file(file, loading_method="defer")
        return f'<attention-{kind} name="{name}" payload="{payload}">{table}'

    if "body" in context:
        context["body"] = EXPLORER.sub(named, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", move)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
