"""Tables of what an error says: {the sentence: what gets it, or a list of all that do}."""

from pathlib import Path

import pytest


def sentences(*tables):
    """A test for each entry of the tables, which are (kind of error, {sentence: what gets it})."""
    entries = [
        pytest.param(given, kind, sentence, id=sentence)
        for kind, table in tables
        for sentence, asks in table.items()
        for given in (asks if isinstance(asks, list) else [asks])
    ]
    return pytest.mark.parametrize(("given", "kind", "sentence"), entries)


def refused(ask, kind, sentence):
    """`ask` raises exactly this kind and this sentence, and no other error on the way."""
    with pytest.raises(kind) as error:
        ask()
    assert type(error.value) is kind
    assert error.value.args == (sentence,)
    assert "\n" not in sentence
    assert error.value.__cause__ is None
    assert error.value.__context__ is None or error.value.__suppress_context__
    where = Path(str(error.traceback[-1].path))
    assert "attn_core" in where.parts, where
