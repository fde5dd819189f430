"""What the views say about a record: its tokens, its sizes, and what they refuse."""

from collections.abc import Sequence
from typing import cast

from attn_core.checks import brief, check_index, check_made_by_trace, check_whole
from attn_core.digits import fixed
from attn_core.record import AttentionTrace
from attn_core.views.backward import sizes_of
from attn_core.views.given import GivenWeights, Numbers
from attn_core.watching import Seen

Names = Sequence[str] | Sequence[Sequence[str]]  # of all sequences, or of each its own
# What a map shows, where the name of its stage alone is not a noun.
NOUNS = {"scaled": "scaled scores", "masked": "masked scores", "dropped": "weights after dropout"}


def token_lists(
    record: Numbers, tokens: Names | None, key_tokens: Names | None
) -> tuple[list, list]:
    """A label for each query and each key, or a list for each sequence; places from 0 without."""
    B, _, L, S = record.shape
    queries = check_names("tokens", tokens, B, L, "queries")
    if key_tokens is None and L == S:
        key_tokens = tokens
    return queries, check_names("key_tokens", key_tokens, B, S, "keys")


def check_names(name: str, tokens: Names | None, batch: int, count: int, kind: str) -> list:
    """One list of labels, or one for each sequence of the batch."""
    if tokens is None or not has_lists(tokens):
        return check_tokens(name, cast("Sequence[str] | None", tokens), count, kind)
    if len(tokens) != batch:
        raise ValueError(
            f"{name} must be a list of strings, or one for each of the {batch} sequences, got "
            f"{len(tokens)} lists"
        )
    return [check_tokens(name, each, count, kind) for each in tokens]


def has_lists(tokens: Names) -> bool:
    """Whether each sequence has its own labels."""
    return bool(tokens) and all(isinstance(each, (list, tuple)) for each in tokens)


def of_sequence(tokens: dict, batch: int) -> dict[str, list[str]]:
    """The labels of both sides of one sequence."""
    return {side: names[batch] if has_lists(names) else names for side, names in tokens.items()}


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


def check_record(record: object, name: str = "record") -> AttentionTrace:
    if isinstance(record, Seen):
        raise TypeError(
            f"{name} must be one AttentionTrace, got all that watch saw: open_attention(…) shows "
            "all, and seen[path] is one"
        )
    return check_made_by_trace(name, record, AttentionTrace)


def check_places(places: int) -> int:
    if check_whole("places", places) > 12:
        raise ValueError(f"places must be at most 12, got {places}")
    return int(places)


def count_text(record: Numbers, stage: str) -> str:
    """weights, 6 queries × 6 keys, 1 head"""
    return f"{stage}, {sizes_text(record, stage)}"


def count_in_words(record: Numbers, stage: str) -> str:
    """masked scores, 6 queries × 6 keys, 1 head"""
    return f"{NOUNS.get(stage, stage)}, {sizes_text(record, stage)}"


def sizes_text(record: Numbers, stage: str) -> str:
    """6 queries × 6 keys, 1 head"""
    B, H, L, _ = record.shape
    output = stage == "output"
    counts = [(L, "query", "queries")]
    columns = ("value column", "value columns") if output else ("key", "keys")
    counts.append((record.columns(stage), *columns))
    size = " × ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)
    heads = f"{H} head{'' if H == 1 else 's'}"
    return f"{size}, {heads}" + (f", batch of {B}" if B > 1 else "")


def in_quotes(label: str) -> str:
    """A word so marked that it is not read as part of a sentence; a number as it is.

    >>> in_quotes("with"), in_quotes("7")
    ('“with”', '7')
    """
    return label if label.isdecimal() else f"“{label}”"


def head_in_words(name: str) -> str:
    """
    >>> head_in_words("layer 0, head 3"), head_in_words("one ahead")
    ('layer 0, head 3', 'the head “one ahead”')
    """
    return name if "head" in name.split() else f"the head “{name}”"


def check_select(record: Numbers, stage: str, select: Sequence[int] | None) -> list[int] | None:
    if select is None:
        return None
    try:
        place = list(select)
    except TypeError:
        place = []
    if len(place) != 2:
        raise ValueError(f"select must be a row and a column, got {place or brief(select)}")
    rows, columns = sizes_of(record, stage)
    row = check_index("select's row", place[0], rows)
    return [row, check_index("select's column", place[1], columns)]


def check_head_names(record: Numbers, names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else check_tokens("head_names", names, record.shape[1], "heads")


def selection_text(
    record: Numbers,
    stage: str,
    select: list[int] | None,
    rows: list[str],
    cols: list[str],
    batch: int,
    head: int,
) -> str:
    """One sentence about the selected number, as the page says it."""
    if select is None:
        return ""
    i, j = select
    parts = slice(i, i + 1), slice(j, j + 1)
    number = record.tile(stage, *parts, batch=batch, head=head).item()
    query, key, text = rows[i], cols[j], fixed(number)
    match stage:
        case "output":
            return f"For query {query}, column {key} of the values averages to {text}."
        case "masked" if text == "-inf":
            return f"The mask keeps query {query} from seeing key {key}."
        case "weights" | "dropped" if keeps_nothing(record, i, batch, head):
            return f"The mask keeps nothing for query {query}: its weights are 0."
        case "dropped" if not survives(record, i, j, batch, head):
            return f"Dropout takes away what query {query} gives to key {key}."
        case "weights":
            return f"Query {query} gives {text} to key {key}."
        case "dropped":
            return f"After dropout query {query} gives {text} to key {key}."
    kind = "score" if stage == "scores" else "scaled score"
    return f"Query {query} and key {key} have the {kind} {text}."


def keeps_nothing(record: Numbers, row: int, batch: int, head: int) -> bool:
    if isinstance(record, GivenWeights):
        return False
    part = slice(row, row + 1), slice(None)
    return bool(record.tile("masked", *part, batch=batch, head=head).isneginf().all())


def survives(record: Numbers, row: int, col: int, batch: int, head: int) -> bool:
    if record.dropout is None:
        return True
    batches, heads, rows, cols = (range(n, n + 1) for n in (batch, head, row, col))
    return bool(record.dropout.survives(batches, heads, rows, cols).item())
