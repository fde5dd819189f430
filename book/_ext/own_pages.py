"""The pages of a site: those of the Chinese one, which lies in the English, are not among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from switch import FOLDER


def own_pages(site: Path) -> Iterator[Path]:
    """Every page below a site's folder, and no page of another language."""
    for path in Path(site).rglob("*.html"):
        if path.relative_to(site).parts[0] != FOLDER:
            yield path
