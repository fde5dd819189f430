"""Say where each number in prose comes from: `make numbers`.

python -m publishing.prose            # all pages
python -m publishing.prose 03 README  # those whose file name starts so
"""

from __future__ import annotations

import sys

from publishing.prose import origins
from publishing.prose.checking import problems
from publishing.prose.pages import Page, pages, read
from publishing.prose.updating import updated


def store(page: Page) -> tuple[list[str], list[str]]:
    """Bring the origins of a page up to date. Returns those taken away, and what is wrong."""
    new, gone = updated(page, origins.load(page))
    origins.path_of(page).write_text(origins.text(page, new), encoding="utf-8")
    return gone, problems(page, new)


def main() -> None:
    wanted = tuple(sys.argv[1:]) or ("",)
    paths = [path for path in pages() if path.name.startswith(wanted)]
    if not paths:
        sys.exit(f"no page's file name starts with {' or '.join(wanted)}")
    gone, faults = [], []
    for path in paths:
        left, wrong = store(read(path))
        gone += left
        faults += wrong
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
