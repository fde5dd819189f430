"""Put the files of a release into _build/release: the site, the notebooks, the library, the PDFs.

    make release

The site's zip opens from a folder, without a server. Of each language there is one PDF of the whole
book, and a zip of those of the chapters.
With `TAG=v1.2.3` it refuses a version that is not pyproject's or was released before, and an
exercise that released.json does not list.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import exercises
from machine import promised
from publishing import ROOT
from publishing.paper.contents import NAME, folder_of, languages
from publishing.paper.words import WORDS

HTML = ROOT / "_build" / "html"
PDFS = ROOT / "_build" / "pdf"
RELEASE = ROOT / "_build" / "release"
RELEASED = ROOT / "released.json"
COMPILED = shutil.ignore_patterns("__pycache__")
STORED = {".bin"}  # weights of the language model, which do not compress
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of zip's calendar: the same files give the same zip


def version() -> str:
    """pyproject's version, "0.1.0"."""
    return promised.project()["version"]


def unfit(tag: str, released: dict, ids: Iterable[str]) -> str | None:
    """Why this tag may not be released, in a sentence, or None.

    Links, courses and installations hold on to versions and to the ids of exercises, so neither is
    used twice.
    """
    if tag != f"v{version()}":
        return f"the tag must be pyproject.toml's version, v{version()}, got {tag}"
    if version() in released["versions"]:
        return f"version {version()} was released before, and no version is used twice"
    if new := sorted(set(ids) - set(released["exercises"])):
        return f"released.json must list every exercise, and lacks {', '.join(new)}"
    return None


def pack(archive: Path, folder: str, files: Iterable[Path], root: Path) -> Path:
    """A zip of files, each under `folder` at its path below root."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{path.relative_to(root).as_posix()}", EARLIEST)
            is_stored = path.suffix in STORED
            entry.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            zipped.writestr(entry, path.read_bytes())
    return archive


def site_zip(name: str) -> Path:
    """The built site, the notebooks to download included; no language that is not whole."""
    if not (HTML / "index.html").is_file():
        sys.exit("the site is not built: run `make book`")
    parts = {HTML / language for language in WORDS if language not in {"en", *languages(HTML)}}
    files = (
        path
        for path in HTML.rglob("*")
        if path.is_file() and path.name != ".buildinfo" and not parts & set(path.parents)
    )
    return pack(RELEASE / f"{name}-site.zip", f"{name}-site", files, HTML)


def notebooks_zip(name: str) -> Path:
    """The chapters in each language with their outputs, and the licence."""
    chapters = [path for folder in ("", "zh/") for path in ROOT.glob(f"chapters/{folder}*.ipynb")]
    files = [*chapters, ROOT / "LICENSE"]
    return pack(RELEASE / f"{name}-notebooks.zip", f"{name}-notebooks", files, ROOT)


def pdfs(name: str) -> list[Path]:
    """The book on paper, as `make pdf` has printed it on A4."""
    made = []
    for language in languages(HTML):
        folder = folder_of(PDFS, language, "public")
        chapters = [
            path for path in folder.glob("chapters/*.pdf") if not path.stem.endswith("-letter")
        ]
        if not (folder / f"{NAME}.pdf").is_file() or not chapters:
            sys.exit("the book is not printed: run `make pdf`")
        called = name if language == "en" else f"{name}-{language}"
        made.append(Path(shutil.copy(folder / f"{NAME}.pdf", RELEASE / f"{called}.pdf")))
        archive = RELEASE / f"{called}-chapters.zip"
        made.append(pack(archive, f"{called}-chapters", chapters, folder / "chapters"))
    return made


def wheel() -> Path:
    """attn_core as a wheel, built in a copy: setuptools leaves old files where it builds."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("attn_core", "exercises"):
            shutil.copytree(ROOT / name, Path(copy, name), ignore=COMPILED)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        subprocess.run([*command, "--wheel-dir", str(RELEASE), copy], check=True)
    return RELEASE / f"attn_core-{version()}-py3-none-any.whl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="", help="the tag of the release, v and the version")
    tag = parser.parse_args().tag
    if tag and (why := unfit(tag, json.loads(RELEASED.read_text("utf-8")), exercises.load())):
        sys.exit(why)
    RELEASE.mkdir(parents=True, exist_ok=True)
    for old in RELEASE.iterdir():
        old.unlink()
    name = f"{NAME}-{version()}"
    for path in (site_zip(name), notebooks_zip(name), wheel(), *pdfs(name)):
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
