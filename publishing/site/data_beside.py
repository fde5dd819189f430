"""Move the data of large explorers out of a page, into files beside it.

A page is read before they are there: the explorer asks for them when the reader comes near. The
stored notebook keeps them, and works alone; `payload_files` makes those that are too large for it.
A page that begins with a model asks for all that it needs at once.
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


def parts_of(kind: str, language: str) -> list[str]:
    """The scripts without which the first of a page can't start, as the page's script names them.

    >>> parts_of("model", "en"), parts_of("prompts", "zh_CN")
    (['explorer-model.js'], ['explorer-prompts.js', 'explorer-zh.js'])
    """
    chinese = {"model": ["zh", "model-zh"], "prompts": ["zh"]}[kind]
    parts = [kind, *(chinese if language.startswith("zh") else [])]
    return [f"explorer-{part}.js" for part in parts]


def move(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    folder = Path(app.outdir) / "_static" / "payloads"

    def named(explorer: re.Match) -> str:
        kind, name, table, data = explorer.groups()
        shown = "model" if kind == "model" else "prompts" if '"prompts":' in data else None
        is_first = shown and "<h2" not in explorer.string[: explorer.start()]
        asked = parts_of(shown, app.config.language) if is_first else []
        inside, where = f'<script type="application/json">{data}</script>', ""
        if len(data) > MOST:
            payload = f"{Path(pagename).name}-{name}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{payload}.js").write_text(beside(payload, data), encoding="utf-8")
            asked = asked and ["explorer-beside.js", f"payloads/{payload}.js", *asked]
            inside, where = "", f' payload="{payload}"'
        for file in asked:
            app.add_js_file(file, loading_method="defer")
        first = " first" if is_first else ""
        return f'<attention-{kind} name="{name}"{where}{first}>{table}{inside}'

    if "body" in context:
        context["body"] = EXPLORER.sub(named, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", move)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
