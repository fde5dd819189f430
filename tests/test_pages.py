"""The pages around the chapters: what their examples print is what Python prints."""

import doctest
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[1] / "book"
WITH_EXAMPLES = ["notation.md", "warmup.md"]


def examples(page: str) -> str:
    """The text of a page outside its ```pycon blocks blanked, so that line numbers stay true."""
    lines, inside = [], False
    for line in page.splitlines():
        fence = re.match(r"```(\w*)", line)
        lines.append(line if inside and not fence else "")
        inside = fence[1] == "pycon" if fence else inside
    return "\n".join(lines) + "\n"


def run(text: str, name: str) -> doctest.TestResults:
    test = doctest.DocTestParser().get_doctest(examples(text), {}, name, name, 0)
    return doctest.DocTestRunner(verbose=False).run(test)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    result = run((BOOK / name).read_text(encoding="utf-8"), name)
    assert result.failed == 0
    assert result.attempted > 0


def test_every_page_with_examples_is_listed():
    pages = {path.name for path in BOOK.glob("*.md") if "```pycon" in path.read_text("utf-8")}
    assert pages == set(WITH_EXAMPLES)


def test_a_wrong_digit_is_seen(capsys):
    text = (BOOK / "warmup.md").read_text(encoding="utf-8")
    assert run(text.replace("0.7500, 1.0000", "0.7501, 1.0000"), "planted").failed == 1
    assert "0.7501" in capsys.readouterr().out
