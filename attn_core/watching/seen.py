"""What `watch` saw: records by the paths of modules, and what was not seen."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple
from weakref import ref

import torch
from torch import Tensor, nn

from attn_core.checks import brief
from attn_core.record import AttentionTrace
from attn_core.watching.attributing import attributions
from attn_core.watching.captured import Captured
from attn_core.watching.editing import Edit, HeadsByPath, editing, outputs_of, zeros

THE_MODEL = "(the model)"  # its path in a table


def nothing() -> None:
    return


class Unseen(NamedTuple):
    """An attention without a record."""

    path: str
    why: str
    what_to_do: str


class Seen:
    """What `watch` gives: records by the paths of modules, printed as a table.

    `seen["layers.0.self_attn"]` is the record of a module that attended once. A module that
    attended more often has a list of records, `seen.all("layers.0.self_attn")`. If a model
    generates with a cache that only grows, all steps of a module become one record, with a row for
    each token. `seen[0]` is the first attention of the model, `seen[-1]` the last. A record is
    computed when it is first requested, and raises RuntimeError if the model has written into its
    tensors since.

    unseen: what was not recorded, as tuples (path, why, what_to_do).
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = ref(model)
        self._captured: list[Captured] = []
        self._unseen: list[Unseen] = []
        self.settle: Callable[[], None] = nothing  # compares what was not yet compared

    @property
    def captured(self) -> list[Captured]:
        self.settle()
        return self._captured

    @property
    def unseen(self) -> list[Unseen]:
        self.settle()
        return self._unseen

    def add(self, one: Captured) -> None:
        """One attention more, or one step more of another one of its module."""
        others = (other for other in self._captured[::-1] if other.path == one.path)
        if not any(map(one.continues, others)):
            self._captured.append(one)

    def miss(self, path: str, why: str, what_to_do: str) -> None:
        unseen = Unseen(path, why, what_to_do)
        if unseen not in self._unseen:
            self._unseen.append(unseen)

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

    def ablate(self, heads: HeadsByPath) -> AbstractContextManager[None]:
        """Inside the block, the watched model runs without the outputs of these heads.

        >>> import torch
        >>> from torch import nn
        >>> from attn_core import watch
        >>> model = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
        >>> x = torch.linspace(-1, 1, 40).sin().view(1, 5, 8)
        >>> with watch(model) as seen, torch.no_grad():
        ...     before = model(x)
        >>> with seen.ablate({"self_attn": [1]}), torch.no_grad():
        ...     after = model(x)
        >>> torch.equal(before, after)
        False

        heads: a dict from the path of a module to the list of its head numbers, or to True for all
            of its heads. The outputs of these heads, [L, Dv], become 0 before the output
            projection, wherever the module attends inside the block. No gradient passes through
            these zeros.

        KeyError if a path was not seen, ValueError if a head is not there. RuntimeError after the
        block if one of the modules did not attend in it. A `watch` that is open at the same time
        records what each head computed, before its output is changed. Michel, Levy and Neubig, "Are
        Sixteen Heads Really Better than One?" (2019). Taught in chapter 10.
        """
        return self._editing({named(path): zeros(path, some, self._of(path))
                              for path, some in checked(heads)})  # fmt: skip

    def patch(self, other: "Seen", heads: HeadsByPath) -> AbstractContextManager[None]:
        """Inside the block, the outputs of these heads are those of another run.

        >>> import torch
        >>> from torch import nn
        >>> from attn_core import watch
        >>> model = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
        >>> x, y = torch.linspace(-1, 1, 80).sin().view(2, 1, 5, 8)
        >>> with watch(model) as seen, torch.no_grad():
        ...     before = model(x)
        >>> with watch(model) as other, torch.no_grad():
        ...     output = model(y)
        >>> with seen.patch(other, {"self_attn": [0]}), torch.no_grad():
        ...     after = model(x)
        >>> torch.equal(before, after)
        False

        other: what `watch` saw of the model, or of one with the same paths, on inputs of the same
            size. The outputs come from its records: they equal the model's own except for rounding,
            and count as constants for gradients. A module that attends several times gets them in
            turn.
        heads: as in `ablate`, and so are the errors. ValueError if the shapes of the two runs
            differ. Vig et al., "Investigating Gender Bias in Language Models Using Causal Mediation
            Analysis" (2020). Taught in chapter 10.
        """
        if not isinstance(other, Seen):
            raise TypeError(f"other must be what watch gave, got {type(other).__name__}")
        return self._editing({named(path): outputs_of(path, some, self._of(path), other._of(path))
                              for path, some in checked(heads)})  # fmt: skip

    def attribution(self, number: Tensor) -> dict[str, Tensor | list[Tensor]]:
        """How much each weight adds to a number, to first order: weights times their gradient.

        >>> import torch
        >>> from torch import nn
        >>> from attn_core import watch
        >>> model = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
        >>> with watch(model) as seen:
        ...     output = model(torch.linspace(-1, 1, 40).sin().view(1, 5, 8))
        >>> seen.attribution(output[0, 4, 0])["self_attn"].shape
        torch.Size([1, 2, 5, 5])

        number: one number that was computed from the model's output, such as a logit, with
            gradients. Its graph is kept, so that you can ask about another number.

        Returns a dict from the path of each module to a tensor [*lead, L, S], or to a list of
        tensors if the module attended several times. A tensor is 0 where the number does not depend
        on its attention. Each tensor is
        `record.attribution` with the gradient that reached the output of the attention.
        RuntimeError if the model ran without gradients or with dropout. Chefer, Gur and Wolf,
        "Generic Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder
        Transformers" (2021). Taught in chapter 10.
        """
        by_path: dict[str, list[Tensor]] = {}
        for one, found in zip(self.captured, attributions(self.captured, number), strict=True):
            by_path.setdefault(one.path, []).append(found)
        return {path: all_[0] if len(all_) == 1 else all_ for path, all_ in by_path.items()}

    def _editing(self, edits: Mapping[str, Edit]) -> AbstractContextManager[None]:
        model = self._model()
        if model is None:
            raise RuntimeError("the model that was watched must still exist, got none: keep it")
        return editing(model, edits)

    def _of(self, path: str) -> list[Captured]:
        path = named(path)
        found = [one for one in self.captured if one.path == path]
        if found:
            return found
        for unseen in self.unseen:
            if unseen.path == path:
                raise KeyError(f"{path!r} was not recorded: {unseen.why}")
        some = ", ".join(repr(known or THE_MODEL) for known in list(self)[:3])
        raise KeyError(f"{path!r} is not among the {len(self)} paths, such as {some}")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(one.path for one in self.captured))

    def __len__(self) -> int:
        return len({one.path for one in self.captured})

    def __contains__(self, path: object) -> bool:
        return any(one.path == path for one in self.captured)

    def __repr__(self) -> str:
        """A table; a column without entries is left out."""
        head = ("path", "seen as", "heads", "queries × keys", "mask", "bias", "softcap", "sinks")
        rows = [(*head, "dropout"), *map(row, self.captured)]
        lines = in_columns(rows)
        lines += [f"not seen: {path} ({why}): {todo}" for path, why, todo in self.unseen]
        return "\n".join(lines)


def in_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The lines of a table, of which the first is its head; without columns that are empty."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]


def checked(heads: HeadsByPath) -> Iterable[tuple[str, object]]:
    """The heads by path, if they are written like this."""
    if not isinstance(heads, Mapping) or not heads:
        raise TypeError(
            f"heads must be a dict of at least one path with its heads, got {brief(heads)}"
        )
    return heads.items()


def named(path: str) -> str:
    """A path as torch names it; of the model itself it is empty, which a table can't show."""
    return "" if path == THE_MODEL else path


def row(one: Captured) -> tuple[str, ...]:
    with torch.no_grad():
        call = one.call
    heads, of_keys = call.q.shape[1], call.k.shape[1]
    return (
        one.path or THE_MODEL,
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
