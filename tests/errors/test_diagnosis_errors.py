"""What diagnose refuses, as a user sees it."""

import pytest

from attn_core import diagnose, toy


@pytest.mark.parametrize("record", [toy.journey().x, None, "weights"])
def test_the_record_must_be_one(record):
    kind = type(record).__name__
    with pytest.raises(TypeError, match=f"^trace must be an AttentionTrace, got {kind}$"):
        diagnose(toy.journey().x, record)
