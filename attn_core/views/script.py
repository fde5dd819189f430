"""The page's script: the modules of `page/`, joined into the one that a browser loads.

They are ES modules that import each other by name. Jupyter wants one module, and a page opened
from `file://` one classic script; so they are joined, in the order in which they build on each
other, and their imports and exports are dropped. No name is used at the top of two of them.
"""

import re
from pathlib import Path

PAGE = Path(__file__).parent / "page"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def read(name: str) -> str:
    return (PAGE / f"{name}.js").read_text(encoding="utf-8")


def order(entry: str = "main") -> list[str]:
    """The modules that an entry needs, each after those that it imports.

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

    add(entry)
    return found


def module(entry: str = "main") -> str:
    """One ES module without an import; its exports are those of the entry's default."""
    return "\n".join(
        EXPORT.sub("", IMPORT.sub("", read(name))).strip("\n") + "\n" for name in order(entry)
    )
