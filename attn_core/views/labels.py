"""What the views say about a record: its tokens, its sizes, and what they refuse."""

from collections.abc import Sequence

from attn_core.checks import check_whole
from attn_core.record import AttentionTrace


def token_lists(
    record: AttentionTrace, tokens: Sequence[str] | None, key_tokens: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """A label for each query and each key; places from 0 where no tokens are given."""
    L, S = record.shape[2:]
    queries = check_tokens("tokens", tokens, L, "queries")
    if key_tokens is None and L == S:
        key_tokens = tokens
    return queries, check_tokens("key_tokens", key_tokens, S, "keys")


def check_tokens(name: str, tokens: Sequence[str] | None, count: int, kind: str) -> list[str]:
    if tokens is None:
        return [str(i) for i in range(count)]
    tokens = list(tokens)
    if not all(isinstance(token, str) for token in tokens):
        odd = next(token for token in tokens if not isinstance(token, str))
        raise TypeError(f"{name} must be strings, got {odd!r}")
    if len(tokens) != count:
        raise ValueError(f"{name} must name each of the {count} {kind}, got {len(tokens)}")
    return tokens


def check_record(record: object) -> None:
    if not isinstance(record, AttentionTrace):
        raise TypeError(f"record must be an AttentionTrace, got {type(record).__name__}")


def check_places(places: int) -> None:
    if check_whole("places", places) > 12:
        raise ValueError(f"places must be at most 12, got {places}")


def count_text(record: AttentionTrace, stage: str) -> str:
    """weights, 6 queries × 6 keys, 1 head"""
    B, H, L, S = record.shape
    output = stage == "output"
    counts = [(L, "query", "queries")]
    width = record.v.shape[-1]
    counts.append((width, "value column", "value columns") if output else (S, "key", "keys"))
    size = " × ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)
    heads = f"{H} head{'' if H == 1 else 's'}"
    return f"{stage}, {size}, {heads}" + (f", batch of {B}" if B > 1 else "")
