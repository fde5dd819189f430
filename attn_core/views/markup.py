"""An explorer in a stored output: its element, its data or their place, and what stands there
without its script."""

import html
import json
import os
from pathlib import Path

from attn_core.digits import fixed
from attn_core.views.given import Numbers
from attn_core.views.labels import of_sequence
from attn_core.views.payload import inline_json
from attn_core.views.table import table

MOST_INLINE = 300_000
FOLDER = "ATTN_CORE_PAYLOADS"  # where the build of a site wants the data that are too large


def markup(
    record: Numbers,
    payload: dict,
    text: str | None,
    widget_id: str = "",
    is_alone: bool = False,
) -> str:
    """The first state for a page."""
    if text is None:
        view = payload["view"]
        inside = table(record, view, of_sequence(payload["tokens"], view["batch"]))
    else:
        inside = f"<pre>{html.escape(text)}</pre>\n"
    shown = element("attention-explorer", payload, inside, widget_id, is_alone)
    return shown + error_line(payload)


def element(
    tag: str, payload: dict, inside: str, widget_id: str = "", is_alone: bool = False
) -> str:
    """What a script makes alive. Data that are too large are named: the build puts them beside.

    widget_id: of the widget in a live notebook that makes it alive. is_alone: no build follows, so
    that all data belong inside.
    """
    name, data, where = html.escape(payload["name"]), inline_json(payload), ""
    if len(data) > MOST_INLINE and not is_alone:
        where = f' payload="{name}"'
    else:
        inside += f'<script type="application/json">{data}</script>'
    if widget_id:
        where += f' widget="{widget_id}"'
    return f'<{tag} name="{name}"{where}>\n{inside}\n</{tag}>'


def write_beside(payload: dict) -> None:
    """Data too large for a page, as a classic script: also a page from `file://` can load it."""
    folder, data = os.environ.get(FOLDER), inline_json(payload)
    if folder and len(data) > MOST_INLINE:
        name = payload["name"]
        (Path(folder) / f"{name}.js").write_text(beside(name, data), encoding="utf-8")


def beside(name: str, data: str) -> str:
    """A script that hands an explorer's data over, by the name with which its element asks."""
    return f"(window.AttentionExplorerPayloads ??= {{}})[{json.dumps(name)}] = {data};\n"


def error_line(payload: dict) -> str:
    """What storing the numbers in fewer bits costs, for the line below the figure."""
    if "error" not in payload:
        return ""
    sent = payload.get("q") or payload["weights"]
    kind, error = sent["dtype"], fixed(payload["error"], 6)
    return f"\n<p>Numbers stored in {kind}: no weight is off by more than {error}.</p>"
