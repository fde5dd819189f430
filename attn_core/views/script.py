"""The page's script: the modules of `page/`, joined into what a browser loads.

They are ES modules that import each other by their files. Jupyter wants one module: they are joined
in the order in which they build on each other, each in a scope of its own, which puts its exports
into an object `modules` and takes its imports from there.

Browsers refuse modules from `file://`, so a page gets classic scripts: `explorer.js`, and for each
of PARTS, which few pages need, a script of its own such as `explorer-map.js`, which a page loads
when it needs it. All share one `modules`, `window.attentionExplorer`. A module that several parts
need stands in each of them, and runs once.

Comments are for people: what a browser loads has none.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PAGE = Path(__file__).parent / "page"
# The scripts that few pages need, each with the module that it brings.
PARTS = {
    "map": "features/map",
    "heads": "features/heads",
    "print": "features/print",
    "lab": "features/lab",
    "mistakes": "core/mistakes",
    "philox": "core/philox",
    "blanks": "core/visible",
    "beside": "features/beside",
    "embed": "features/embed",
    "zh": "features/chinese",
    "model": "features/machine",
    "model-zh": "features/machine_chinese",
}
# Those of an attention; a live notebook that shows one has not those of a whole model.
OF_ATTENTION = tuple(entry for part, entry in PARTS.items() if not part.startswith("model"))
CORE = "main"  # what every page needs
NOTEBOOK = ("features/tiles", "widget")  # what only a live notebook needs
BOX = "box"  # the box for pasted numbers: a script that stands alone
BOX_CHINESE = ("features/box_chinese", BOX)  # the same in Chinese

IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?=(?:(?:async )?function|const|class) (\w+))|^export (default) ", re.MULTILINE
)
MODULE_SYNTAX = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
# A string, a template or a regular expression, which may hold what looks like a comment; or one. A
# regular expression begins behind such a sign, or a line.
COMMENT = re.compile(
    r"""( "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*`
        | /(?:(?<=[(,=:\[!&|?{};>]/)|(?<=[(,=:\[!&|?{};>]\ /)|(?<=return\ /)|(?<=\ \ /))
          (?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/ )
      | //[^\n]* | /\*.*?\*/""",
    re.VERBOSE | re.DOTALL,
)
EMPTY = re.compile(r"^[ \t]*\n|[ \t]+$", re.MULTILINE)


def read(name: str) -> str:
    """The text of a module by its place in `page/`, such as "main"."""
    return (PAGE / f"{name}.js").read_text(encoding="utf-8")


@cache
def bare(text: str) -> str:
    """A text without its comments and empty lines.

    >>> bare('const a = "//"; // a comment\\n\\n/** One\\n * more. */\\nconst b = /[/]*/;\\n')
    'const a = "//";\\nconst b = /[/]*/;\\n'
    """
    return EMPTY.sub("", COMMENT.sub(lambda match: match[1] or "", text))


def imports(name: str) -> list[str]:
    """The modules that a module imports, in its order."""
    return [place_of(file, name) for _, file in IMPORT.findall(bare(read(name)))]


def place_of(file: str, name: str) -> str:
    """The place of a file that a module names.

    >>> place_of("../core/data", "ui/grid")
    'core/data'
    """
    return Path(os.path.relpath(PAGE / name / ".." / file, PAGE)).as_posix()


def order(*entries: str) -> list[str]:
    """The modules that the entries need, each after those that it imports.

    >>> order("words/words")
    ['words/phrase', 'words/stages', 'words/words']
    """
    modules: list[str] = []

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
        if name not in modules:
            for wanted in imports(name):
                add(wanted, (*above, name))
            modules.append(name)

    for entry in entries:
        add(entry, ())
    return modules


def scoped(name: str) -> str:
    """A module as a statement that puts its exports into `modules`."""
    exported: list[str] = []

    def taken(match: re.Match) -> str:
        names, file = match.groups()
        if not names:
            return ""
        listed = " ".join(names.replace(" as ", ": ").split()).removesuffix(",")
        return f'const {{ {listed} }} = modules["{place_of(file, name)}"];\n'

    def given(match: re.Match) -> str:
        exported.append("default: ours" if match[2] else match[1])
        return "const ours = " if match[2] else ""

    text = EXPORT.sub(given, IMPORT.sub(taken, bare(read(name))))
    if left := MODULE_SYNTAX.search(text):
        raise ValueError(f"{name}.js has a line that cannot be joined: {left[0]}")
    back = f"return {{ {', '.join(exported)} }};\n" if exported else "return {};\n"
    return f'modules["{name}"] ??= (() => {{\n{text}{back}}})();\n'


def joined(names: Iterable[str]) -> str:
    return "".join(map(scoped, names))


def module() -> str:
    """One ES module without an import, all parts included; its default export is the widget."""
    return widget_module(*OF_ATTENTION, *NOTEBOOK)


def model_module() -> str:
    """The same of a model, whose attentions are explorers."""
    return widget_module(*PARTS.values(), *NOTEBOOK, "model_widget")


def widget_module(*entries: str) -> str:
    text = joined(order(*entries, CORE))
    return f'const modules = {{}};\n{text}export default modules["{entries[-1]}"].default;\n'


def classic(text: str, modules: str = "{}") -> str:
    """Joined modules as a classic script, their exports in an object.

    >>> classic("const a = 1;\\n")
    '(() => {\\n"use strict";\\nconst modules = {};\\nconst a = 1;\\n})();\\n'
    """
    return f'(() => {{\n"use strict";\nconst modules = {modules};\n{text}}})();\n'


def alone(*entries: str) -> str:
    """Modules with all that they need as one classic script."""
    return classic(joined(order(*entries)))


def files() -> dict[str, str]:
    """The scripts of a page by their names, each a classic one.

    >>> list(files())[:3]
    ['explorer.js', 'explorer-map.js', 'explorer-heads.js']
    """
    core = order(CORE)
    shared = "window.attentionExplorer"
    parts = {
        f"explorer-{part}.js": classic(joined(n for n in order(entry) if n not in core), shared)
        for part, entry in PARTS.items()
    }
    # A part that changed changes this script too, so that no cache gives one without the other.
    mark = hashlib.sha256("".join(parts.values()).encode()).hexdigest()[:12]
    return {"explorer.js": classic(f"{shared} = modules; // {mark}\n{joined(core)}")} | parts
