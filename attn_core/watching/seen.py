"""What `watch` saw: records by the paths of modules, and what was not seen."""

import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch

from attn_core.record import AttentionTrace
from attn_core.watching.captured import Captured


class Unseen(NamedTuple):
    """An attention without a record."""

    path: str
    why: str
    what_to_do: str


class Seen(Mapping[str, AttentionTrace]):
    """What `watch` gives: a mapping from the paths of modules to records, printed as a table.

    `seen["layers.0.self_attn"]` is the record of a module that attended once. A module that
    attended more often has a list of records, `seen.all("layers.0.self_attn")`. If a model
    generates with a cache that only grows, all steps of a module become one record, a row for each
    token. `seen[0]` is the first attention of the model, `seen[-1]` the last. A record is computed
    when it is first asked for, and refuses to answer if the model has written into its tensors
    since.

    unseen: what was not recorded, as tuples (path, why, what_to_do).
    """

    def __init__(self) -> None:
        self.captured: list[Captured] = []
        self.unseen: list[Unseen] = []

    def add(self, one: Captured) -> None:
        """One attention more, or one step more of another one of its module."""
        others = (other for other in self.captured[::-1] if other.path == one.path)
        if not any(map(one.continues, others)):
            self.captured.append(one)

    def __getitem__(self, path: str | int) -> AttentionTrace:
        if isinstance(path, int):
            if not -len(self.captured) <= path < len(self.captured):
                raise IndexError(
                    f"number must be that of one of {len(self.captured)} attentions, got {path}"
                )
            return self.captured[path].record
        records = self._of(path)
        if len(records) > 1:
            raise ValueError(
                f"path must be of a module that attended once, got {path!r}, which attended "
                f"{len(records)} times: take one of seen.all({path!r})"
            )
        return records[0].record

    def all(self, path: str | None = None) -> list[AttentionTrace]:
        """All records of a module, or of the whole model, in the order in which they ran."""
        return [one.record for one in (self.captured if path is None else self._of(path))]

    def _of(self, path: str) -> list[Captured]:
        found = [one for one in self.captured if one.path == path]
        if found:
            return found
        for unseen in self.unseen:
            if unseen.path == path:
                raise KeyError(f"{path!r} was not recorded: {unseen.why}")
        some = ", ".join(map(repr, list(self)[:3]))
        raise KeyError(f"{path!r} is not among the {len(self)} paths, such as {some}")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(one.path for one in self.captured))

    def __len__(self) -> int:
        return len({one.path for one in self.captured})

    def __contains__(self, path: object) -> bool:
        return any(one.path == path for one in self.captured)

    def __repr__(self) -> str:
        """A table: what of a column is said nowhere is left out."""
        head = ("path", "seen as", "heads", "queries × keys", "mask", "bias", "softcap", "sinks")
        rows = [(*head, "dropout"), *map(row, self.captured)]
        columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in zip(*columns, strict=True)
        ]
        lines += [f"not seen: {path} ({why}): {todo}" for path, why, todo in self.unseen]
        return "\n".join(lines)


def row(one: Captured) -> tuple[str, ...]:
    with torch.no_grad():
        call = one.call
    heads, of_keys = call.q.shape[1], call.k.shape[1]
    return (
        one.path or "(the model)",
        one.kind,
        str(heads) if heads == of_keys else f"{heads}, of keys {of_keys}",
        f"{call.size[0]} × {call.size[1]}",
        "" if call.keep is None else repr(call.keep),
        "" if call.bias is None else repr(call.bias),
        "" if call.softcap is None else f"{call.softcap:g}",
        "" if call.sinks is None else "yes",
        f"{one.p:g}" if one.p else "",
    )


def check_seen(seen: Seen, model: str, strict: bool) -> None:
    """An error if there is nothing, and an error or a warning if something is missing."""
    count, missing = len(seen.captured), len(seen.unseen)
    if not count and not missing:
        raise RuntimeError(
            f"watch must see an attention, got none in {model}: either the model was not called "
            "inside the block, by model(…) and not by its forward(), or it attends in no way that "
            "is followed"
        )
    if not missing:
        return
    said = "; ".join(f"{path or 'the model'} ({why}): {todo}" for path, why, todo in seen.unseen)
    if not count:
        raise RuntimeError(f"watch must see an attention, got none in {model}; not seen: {said}")
    sentence = f"{count} of {count + missing} attentions recorded; not seen: {said}"
    if strict:
        raise RuntimeError(sentence)
    warnings.warn(sentence, stacklevel=5)
