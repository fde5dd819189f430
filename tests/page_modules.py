"""The modules of the page's script, and what each imports."""

import json
import posixpath
import re
from functools import cache

from attn_core.views import script

PAGE = script.BUILT.parent / "page"
# The scripts that few pages need, each with the module that it brings.
PARTS = json.loads((PAGE / "parts.json").read_text(encoding="utf-8"))
# Those of an attention; a live notebook that shows one has not those of a whole model.
OF_MODELS = ("model", "language", "training")
OF_ATTENTION = [module for part, module in PARTS.items() if not part.startswith(OF_MODELS)]
IMPORT = re.compile(r'^(?:import|\}).*"(\.[^"]+)\.js";$', re.MULTILINE)


def read(name: str) -> str:
    """The text of a module by its place in `page/`, such as "main"."""
    return (PAGE / f"{name}.js").read_text(encoding="utf-8")


@cache
def imports(name: str) -> list[str]:
    """
    >>> imports("ui/tip")
    ['ui/dom']
    """
    folder = posixpath.dirname(name)
    return [posixpath.normpath(posixpath.join(folder, file)) for file in IMPORT.findall(read(name))]


@cache
def order(*entries: str) -> list[str]:
    """The modules that the entries need, each after those that it imports.

    >>> order("words/words")
    ['words/phrase', 'words/stages', 'words/words']
    """
    modules: dict[str, None] = {}
    for entry in entries:
        below = [] if entry in modules else order(*imports(entry))
        modules |= dict.fromkeys([*below, entry])
    return list(modules)
