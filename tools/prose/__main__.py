"""Say where each number in prose comes from: `make numbers`.

python -m tools.prose            # all pages
python -m tools.prose 03 README  # those whose file name starts so
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.prose import origins
from tools.prose.checking import problems
from tools.prose.pages import pages, read
from tools.prose.updating import updated


def store(paths: list[Path]) -> tuple[list[str], list[str]]:
    """Bring the origins of these pages up to date. Returns those taken away, and what is wrong."""
    gone, faults = [], []
    for path in paths:
        page = read(path)
        new, left = updated(page, origins.load(page))
        origins.path_of(page).write_text(origins.text(page, new), encoding="utf-8")
        faults += problems(page, new)
        gone += left
    return gone, faults


def main() -> None:
    wanted = tuple(sys.argv[1:]) or ("",)
    paths = [path for path in pages() if path.name.startswith(wanted)]
    if not paths:
        sys.exit(f"no page's file name starts with {' or '.join(wanted)}")
    gone, faults = store(paths)
    if gone:
        print(*gone, sep="\n")
        print(f"{len(gone)} origins were taken away: is it right that their numbers are gone?\n")
    if faults:
        print(*faults, sep="\n")
        sys.exit(
            f"{len(faults)} numbers need you. In tests/sources/origins, in the file of the page:"
            " where the origin behind a ? is right, remove the ?; else write the right one, or"
            " `because` and a reason. Where a number and its origin differ, mend the wrong one."
        )


if __name__ == "__main__":
    main()
