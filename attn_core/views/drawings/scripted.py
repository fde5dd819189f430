"""A drawing that a reader can ask for more: its script comes with it where somebody is there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attn_core.views.drawings.drawing import Drawing
from attn_core.views.live import is_live


class Scripted(Drawing):
    """A drawing with a script. Without it, and on paper, it is a picture as every other."""

    script: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        bundle = super()._repr_mimebundle_()
        if is_live():
            text = read_script(self.script)
            bundle["text/html"] = f"<div>{self.svg()}</div><script>{text}</script>"
        return bundle


@cache
def read_script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
