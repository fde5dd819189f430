"""Catalogues as files beside the code that says them: for the wheel and for the environment of
grading, where nothing is that reads a catalogue."""

from __future__ import annotations

import json
from pathlib import Path

from translation.catalogues import finished
from translation.markdown import ROOT

SHIPPED = {"exercises": ROOT / "exercises" / "zh.json", "grading": ROOT / "grading" / "zh.json"}


def made(name: str) -> str:
    """A catalogue as JSON: each message with its translation, if that is finished."""
    return json.dumps(finished(name), ensure_ascii=False, indent=0) + "\n"


def all_made() -> dict[Path, str]:
    """Each file as it should be."""
    return {path: made(name) for name, path in SHIPPED.items()}
