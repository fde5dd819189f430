"""The page's script: the modules of `page/`, joined into what a browser loads.

They are ES modules that import each other by name. Jupyter wants one module: they are joined, in
the order in which they build on each other, and their imports and exports are dropped. No name is
used at the top of two of them.

Browsers refuse modules from `file://`, so a page gets classic scripts: `explorer.js`, and for each
of PARTS, which few pages need, a script of its own such as `explorer-map.js`, which a page loads
when it needs it. Such a part takes what it imports from `window.attentionExplorer`. A module that
only parts need stands in each of them.

Comments are for people: lines that hold nothing else are left out of what a browser loads.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent / "page"
PARTS = ("map", "heads", "print", "lab", "mistakes", "philox", "beside", "embed", "zh")
NOTEBOOK = ("tiles", "widget")  # what only a live notebook needs
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
MODULE_SYNTAX = re.compile(r"^(import|export)\b.*", re.MULTILINE)


def read(name: str) -> str:
    return (PAGE / f"{name}.js").read_text(encoding="utf-8")


def order(*entries: str) -> list[str]:
    """The modules that the entries need, each after those that it imports.

    >>> order("workings")
    ['digits', 'workings']
    """
    found: list[str] = []

    def add(name: str) -> None:
        for _, wanted in IMPORT.findall(read(name)):
            if wanted not in found:
                add(wanted)
        if name not in found:
            found.append(name)

    for entry in entries:
        add(entry)
    return found


def joined(names: Sequence[str]) -> str:
    bare = (COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", read(name)))) for name in names)
    return "\n".join(text.strip("\n") + "\n" for text in bare)


def module() -> str:
    """One ES module without an import, all parts included; its default export is the widget."""
    return joined(order(*PARTS, *NOTEBOOK, "main"))


def classic(text: str) -> str:
    """The text of a module with one default export and no import, as a classic script.

    >>> classic("const a = 1;\\nexport default { a };\\n")
    '(() => {\\n"use strict";\\nconst a = 1;\\nvoid { a };\\n})();\\n'
    """
    script = DEFAULT.sub("void ", text)
    if left := MODULE_SYNTAX.search(script):
        raise ValueError(f"a page cannot run this line of a module: {left[0]}")
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def files() -> dict[str, str]:
    """The scripts of a page by their names, each a classic one.

    >>> list(files())[:3]
    ['explorer.js', 'explorer-map.js', 'explorer-heads.js']
    """
    core = order("main")
    made, shared = {}, {"parts"}
    for part in PARTS:
        own = [name for name in order(part) if name not in core]
        imports = [pair for name in own for pair in IMPORT.findall(read(name)) if pair[1] in core]
        names = sorted({name.strip() for listed, _ in imports for name in listed.split(",")})
        shared |= set(names)
        text = f"const {{ {', '.join(names)} }} = window.attentionExplorer;\n{joined(own)}"
        made[f"explorer-{part}.js"] = classic(text)
    # A part that changed changes this script too, so that no cache gives one without the other.
    mark = hashlib.sha256("".join(made.values()).encode()).hexdigest()[:12]
    give = f"window.attentionExplorer = {{ {', '.join(sorted(shared))} }}; // {mark}\n"
    return {"explorer.js": classic(joined(core) + give)} | made
