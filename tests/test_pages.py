"""The pages around the chapters, and README: what their examples print is what Python prints."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest
import torch

from attn_core import toy, trace, workings

BOOK = Path(__file__).parents[1] / "book"
README = (BOOK.parent / "README.md").read_text(encoding="utf-8")
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


def blocks(text: str, language: str) -> list[str]:
    """What stands between the fences of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def arithmetic() -> str:
    x = toy.journey().x
    return str(workings(trace(x, x, x, scale=1.0), "weights", 1, 0))


def test_the_arithmetic_in_readme_is_that_of_the_number_in_its_picture():
    assert blocks(README, "text") == [arithmetic() + "\n"]


def test_a_wrong_digit_in_readme_is_seen():
    planted = README.replace("0.15 + 0.66", "0.16 + 0.66")
    assert planted != README
    assert blocks(planted, "text") != [arithmetic() + "\n"]


def test_the_code_in_readme_runs(tmp_path, monkeypatch):
    opening, weight, code = blocks(README, "python")
    monkeypatch.chdir(tmp_path)
    layer = torch.nn.TransformerEncoderLayer(8, 4, 8, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    names = {"model": model, "inputs": {"src": torch.ones(1, 4, 8)}, "tokenizer": None}
    exec(opening, names)
    assert (tmp_path / "heads.html").exists()
    for lines, place in ((weight, "[3, 1]"), (code, "[2, 1]")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(lines, names)
        assert printed.getvalue().startswith(f"weights{place} = exp(")
