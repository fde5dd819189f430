"""What stands on a page before and without its script: a coloured table of the first state."""

import html
import math

from attn_core.views.given import Numbers
from attn_core.views.heat import INK, MASKED, cell_text, hex_of, ink_on, legend_ends, mix
from attn_core.views.visible import visible
from attn_core.views.wide import in_float64

MOST_IN_TABLE = 32


def table(record: Numbers, view: dict, tokens: dict) -> str:
    """The first state in attributes that an untrusted notebook keeps too."""
    stage = view["stage"]
    is_output = stage == "output"
    rows = tokens["queries"][:MOST_IN_TABLE]
    width = record.columns(stage)
    cols = [str(d) for d in range(width)] if is_output else tokens["keys"]
    cols = cols[:MOST_IN_TABLE]
    part = slice(0, MOST_IN_TABLE)
    place = {"batch": view["batch"], "head": view["head"]}
    cells = in_float64(record).tile(stage, part, part, **place).tolist()
    _, _, end = legend_ends(cells)
    is_whole = all(x.is_integer() for row in cells for x in row if math.isfinite(x))

    def head(text: str, scope: str) -> str:
        return f'<th scope="{scope}"><bdi>{html.escape(visible(text))}</bdi></th>'

    def cell(x: float) -> str:
        back, ink = (
            (hex_of(mix(x / end)), ink_on(mix(x / end))) if math.isfinite(x) else (MASKED, INK)
        )
        text = cell_text(x, is_whole, view["places"])
        return f'<td align="center" bgcolor="{back}"><font color="{ink}">{text}</font></td>'

    kind = "value columns" if is_output else "keys"
    caption = f"{stage}: queries in rows, {kind} in columns"
    if record.shape[2] > MOST_IN_TABLE or width > MOST_IN_TABLE:
        caption += f"; the first {MOST_IN_TABLE} of each"
    lines = [f"<caption>{caption}</caption>"]
    lines.append("<tr><td></td>" + "".join(head(text, "col") for text in cols) + "</tr>")
    for text, row in zip(rows, cells, strict=True):
        lines.append(f"<tr>{head(text, 'row')}" + "".join(cell(x) for x in row) + "</tr>")
    return '<table cellpadding="5">\n' + "\n".join(lines) + "\n</table>\n"
