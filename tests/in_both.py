"""The HTML of a view without what is said in it: in both editions the same to the byte."""

from __future__ import annotations

import json
import re

from bs4 import BeautifulSoup

SAID = ("caption", "summary", "h2", "h3", "p")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# What the data of a view have for the reader.
WORDS_OF_DATA = ("names", "titles")


def without_words(html: str) -> str:
    """The numbers of its captions and sentences, and all else as it is; a model's sentence is what
    it reads and writes.

    >>> without_words("<table><caption>the first 32</caption><tr><th>cat</th></tr></table>")
    '<table><caption>32</caption><tr><th>cat</th></tr></table>'
    """
    page = BeautifulSoup(html, "html.parser")
    for tag in page.find_all(SAID):
        if tag.name != "p" or not tag.find_parent("attention-model"):
            tag.string = " ".join(NUMBER.findall(tag.get_text()))
    for script in page.find_all("script", type="application/json"):
        script.string = json.dumps(without_words_of_data(json.loads(script.string)))
    return str(page)


def without_words_of_data(payload: dict) -> dict:
    bare = {key: value for key, value in payload.items() if key not in WORDS_OF_DATA}
    if "mistakes" in bare:
        bare["mistakes"] = [mistake | {"title": "", "says": ""} for mistake in bare["mistakes"]]
    if "sizes" in bare:
        bare["sizes"] = NUMBER.findall(bare["sizes"])
    return bare
