"""A second run beside the one that an explorer shows: the same tokens, two sets of weights."""

from collections.abc import Sequence

from attn_core.checks import brief
from attn_core.views.compact import weight_error
from attn_core.views.given import GivenWeights, Numbers
from attn_core.views.payload import numbers_of

NAMES = ("first", "second")


def runs_payload(
    record: Numbers,
    other: Numbers,
    names: Sequence[str],
    store: str | None,
    head: int,
    all_values: bool,
) -> tuple[dict, float]:
    """What the page gets of the other run, and what storing it in fewer bits costs."""
    check_alike(record, other)
    payload = {"names": check_names(names)}
    if isinstance(other, GivenWeights):
        sent = other.payload("", ([], []), {}, store)
        return payload | {"other": {"weights": sent["weights"]}}, sent.get("error", 0.0)
    error = 0.0 if store is None else weight_error(other, store)
    return payload | {"other": numbers_of(other, store, head, all_values)}, error


def check_alike(record: Numbers, other: Numbers) -> None:
    kinds = [isinstance(each, GivenWeights) for each in (record, other)]
    if kinds[0] != kinds[1]:
        words = ["weights" if alone else "a record" for alone in kinds]
        raise TypeError(f"other must be {words[0]}, as what it is compared with, got {words[1]}")
    sizes = [(*each.shape, each.columns("output")) for each in (record, other)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"other must have the shape (B, H, L, S, Dv) = {sizes[0]} of what it is compared with, "
            f"got {sizes[1]}"
        )


def check_names(names: Sequence[str]) -> list[str]:
    if not isinstance(names, (list, tuple)) or len(names) != 2:
        raise TypeError(f"run_names must be two strings, got {brief(names)}")
    if not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"run_names must be two strings, got {names[0]!r} and {names[1]!r}")
    if names[0] == names[1]:
        raise ValueError(f"run_names must differ, got {names[0]!r} twice")
    return list(names)
