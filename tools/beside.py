"""Put the site of another language into the English one: a copy, in the place of an older one.

python -m tools.beside _build/zh/_build/html _build/html/zh
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


if __name__ == "__main__":
    main()
