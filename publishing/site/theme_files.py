"""Leave out of the site what the theme brings and no page loads.

Source maps are for who works on the theme, its translations for the build. fontawesome.js has 1,500
KB for icons that icons.py draws; `book/_templates/static/webpack-macros.html` leaves it out.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

UNLOADED = ("**/*.map", "scripts/fontawesome.js*", "*webpack-macros.html", "images/logo_*")
MAP = re.compile(r"\n?(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ ?\*/)\s*$")


def leave_out(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir) / "_static"
    shutil.rmtree(static / "locales", ignore_errors=True)
    for path in {path for pattern in UNLOADED for path in static.glob(pattern)}:
        path.unlink()
    for path in [*static.glob("scripts/*.js"), *static.glob("styles/*.css")]:
        text = path.read_text(encoding="utf-8")
        path.write_text(MAP.sub("", text), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", leave_out, priority=650)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
