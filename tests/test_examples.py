"""The example over a long text finds what was planted in a short one."""

from __future__ import annotations

import sys

import pytest
import torch

from examples import long_text


@pytest.fixture
def planted():
    """3,000 tokens that look like noise; 12 of them stand twice."""
    words = torch.Generator().manual_seed(1)
    ids = torch.randint(200, (3000,), generator=words)
    ids[2000:2012] = ids[500:512]
    return ids, torch.randn(200, 30, generator=words)


def test_a_repetition_is_found(planted):
    rows = long_text.last_words(*planted)
    assert rows.shape == (3000, 64)
    assert torch.equal(rows[2011], rows[511])
    (query, key, score), other = long_text.repetitions(long_text.attend(rows), 2)
    assert query - key == 1500
    assert 2007 <= query <= 2011
    assert score == pytest.approx(8, abs=1e-4)
    assert other[2] < 7.5


def test_the_chapters_are_read():
    text = long_text.text_of_chapters()
    assert len(text) > 100_000
    for mark in ("</details>", "](", "**", "| ---"):
        assert mark not in text


@pytest.mark.slow
@pytest.mark.trained_model
def test_it_runs_on_the_books_own_words(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["long_text", "4096"])
    long_text.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert "score 8.0000" in lines[1]
