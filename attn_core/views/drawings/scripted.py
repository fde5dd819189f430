"""A drawing that a reader can ask for more: its script comes with it where somebody is there."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from attn_core.views.drawings.drawing import Drawing
from attn_core.views.live import is_live

# A notebook that is not trusted leaves out the drawing, the script and the style: the image stays.
LIVE = """<div>{svg}</div><style>.drawing-pixels {{ display: none }}</style>
<img class="drawing-pixels" src="data:image/png;base64,{png}" width="{width}" alt="{alt}">
<script>{script}</script>"""


class Scripted(Drawing):
    """A drawing with a script. Without it, and on paper, it is a picture as every other."""

    script: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_()
        if is_live():
            said = metadata["image/png"]
            data["text/html"] = LIVE.format(
                svg=data["image/svg+xml"],
                png=data["image/png"],
                width=said["width"],
                alt=escape(said["alt"]),
                script=read_script(self.script),
            )
        return data, metadata


@cache
def read_script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
