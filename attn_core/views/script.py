"""The page's script as a browser loads it: `built/`, which `make script` bundles from `page/`.

A page has explorer.js, which loads the other classic scripts where it needs them. A live notebook
has one ES module, whose default export is the widget.
"""

from pathlib import Path

BUILT = Path(__file__).parent / "built"


def files() -> dict[str, str]:
    """The scripts of a page by their names.

    >>> list(files())[:2]
    ['explorer.js', 'explorer-beside.js']
    """
    paths = sorted(BUILT.glob("explorer*.js"), key=lambda path: (path.stem != "explorer", path))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}
