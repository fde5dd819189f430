"""What came of the trained translators with one thing after the other switched off."""

import json
from functools import cache
from pathlib import Path

MEASURED = Path(__file__).parents[1] / "measured" / "switched.json"
NAMES = ("transformer", "attends", "one vector")


@cache
def switched(name: str) -> dict:
    """How many of 300 translations change when one thing alone is switched off, and how.

    >>> counts = switched("transformer")["counts"]
    >>> counts["heads_off:decoder.1.cross_attention.2"]
    {'words': 52, 'order': 0, 'endless': 0, 'example': 'Tyke follows Tom in the garden'}

    name: "transformer" (chapter 09), "attends" or "one vector" (chapter 01); ValueError for others.
    words: how many translations get other words; order: how many get the same words in another
    order; endless: how many reach 60 words without an end mark; example: the shortest sentence
    whose translation changes. `python -m benchmarks.switched` does the counting. Taught in chapter
    10.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    return json.loads(MEASURED.read_text(encoding="utf-8"))[name]
