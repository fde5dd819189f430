"""All attentions of a model: layers and heads as small maps, each of which opens."""

import html
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from IPython.display import HTML, display
from torch import nn

from attn_core.call import Call
from attn_core.checks import brief, check_is, largest
from attn_core.record import AttentionTrace
from attn_core.views.explorer import explore
from attn_core.views.image import on_image
from attn_core.views.runs import NAMES
from attn_core.views.saved import MOST_MEGABYTES, save_page
from attn_core.views.side_by_side import kind_of, side_by_side
from attn_core.views.token_labels import (
    Text,
    Tokens,
    length,
    of_batch,
    token_texts,
    tokens_for,
)
from attn_core.views.widget import Explorer
from attn_core.watching import Seen, watch

MOST_KINDS = 12  # explorers below one another
ALIKE = 0.8  # two names, one of which is the other misspelt; 1 is the same name
SMALL = 1_000_000  # bytes of q, k and v that are sent as they are
NUMBER = re.compile(r"\d+")


class Attentions(Sequence[Explorer]):
    """What `open_attention` shows: an explorer for each kind of attention of the model.

    `seen` has the records, by the paths of the modules. `save` writes one file. Taught in
    chapter 10.
    """

    def __init__(self, seen: Seen, explorers: Sequence[Explorer], titles: Sequence[str]) -> None:
        self.seen, self.explorers, self.titles = seen, explorers, titles

    def __getitem__(self, number: Any) -> Any:
        return self.explorers[number]

    def __len__(self) -> int:
        return len(self.explorers)

    @property
    def html(self) -> str:
        """All explorers with their data, for a page that has the explorer's script."""
        return "\n".join(self._elements())

    def _elements(self) -> Iterator[str]:
        for title, explorer in zip(self.titles, self.explorers, strict=True):
            yield f"<h2>{html.escape(title)}</h2>"
            yield explorer.markup(is_alone=True)
        for path, why, what_to_do in self.seen.unseen:
            yield f"<p>Not seen: {html.escape(f'{path} ({why}): {what_to_do}')}</p>"

    def save(
        self,
        path: str | PathLike,
        *,
        title: str = "Attention of a model",
        most: float = MOST_MEGABYTES,
    ) -> Path:
        """Writes one HTML file that works without a network, for example from an email or a disk.

        title: the heading of the page. most: how many megabytes the file may have; ValueError if it
        would have more, and nothing is written.
        """
        return save_page(path, [*self._elements()], title=title, lang="en", most=most)

    def _ipython_display_(self) -> None:
        for title, explorer in zip(self.titles, self.explorers, strict=True):
            # The sizes are seen below it, and a path is the same in every language.
            display(HTML(f"<h4><code>{html.escape(title.partition(':')[0])}</code></h4>"))
            display(explorer)
        if self.seen.unseen:
            print("\n".join(f"not seen: {path} ({why})" for path, why, _ in self.seen.unseen))

    def __repr__(self) -> str:
        return "\n".join(self.titles)


def open_attention(
    model: nn.Module | Seen,
    *args: Any,
    tokens: Tokens = None,
    tokenizer: Any = None,
    only: Any = None,
    store: str | None = "auto",
    all_values: bool | None = None,
    stage: str = "weights",
    name: str = "attention",
    run: int | None = None,
    image: Any = None,
    grid: Sequence[int] | None = None,
    other: Seen | None = None,
    run_names: Sequence[str] = NAMES,
    **inputs: Any,
) -> Attentions:
    """Runs a model once and shows its attention in every layer and head; any number opens.

    >>> from torch import nn, ones
    >>> layer = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
    >>> model = nn.TransformerEncoder(layer, num_layers=3, enable_nested_tensor=False)
    >>> open_attention(model, ones(1, 4, 8), tokens=["to", "be", "or", "not"])
    layers.*.self_attn: 3 layers × 2 heads, 4 queries × 4 keys

    model: a torch model, which is run under `watch` and torch.no_grad() as model(*args, **inputs);
        or what `watch` saw, with no further inputs. `watch` says which attention it records.
    tokens: a list of strings; or the output of a tokenizer, if it has tokens(); or a list of
        several of these, such as for a sentence and its translation: the rows and the columns of a
        map then each get the list of matching length. A batch may have one list of strings for each
        of its sequences, all of the same length; otherwise all of its sequences share one list.
    tokenizer: writes the ids among the inputs as strings, unless tokens are given; in a batch,
        those of each sequence.
    only: the modules to show, as for `watch`.
    store: "float16" or "float32" sends the numbers in fewer bits; None sends them unchanged; "auto"
        uses float16 if q, k and v take more than a megabyte and float16 can hold them.
    all_values: True sends the values of every head, so that each head's output can be shown; by
        default, only those of the first head are sent if q, k and v take more than a megabyte.
    stage: the stage that is shown at first. name: the name of this view in a page's address.
    run: which run is shown of a module that ran several times: 0 for the first, -1 for the last;
        None shows all.
    image, grid: the image whose patches are the keys, and their rows and columns, as for `explore`;
        attentions over other keys are shown without the image.
    other: what `watch` saw of another run, or of a model whose modules have the same paths, on as
        many tokens. Each map is shown beside its counterpart and their difference; run_names: the
        names of the two runs. A map without a counterpart of its size is shown alone, with a
        warning.

    Attentions that differ only in their layer share one explorer, with a row of small maps for
    each layer, which can be sorted by what the heads do. "Lines" draws a head's weights between
    two columns of tokens. If something does not fit, TypeError or ValueError says so in one
    sentence; attention that was not seen gives a warning. Taught in chapter 10.
    """
    check_inputs(model, inputs)
    seen = model if isinstance(model, Seen) else watched(model, args, inputs, only)
    if isinstance(model, Seen) and (args or inputs):
        raise TypeError("open_attention must have no inputs beside what watch saw, got some")
    check_is("other", other, Seen)
    others = {} if other is None else calls_of(other)
    if isinstance(model, Seen) and tokenizer is not None and tokens is None:
        raise ValueError(
            "tokenizer must be left out where open_attention gets what watch saw, which has no "
            "ids: give tokens, such as tokenizer.convert_ids_to_tokens(ids[0])"
        )
    labels = token_texts(tokens, tokenizer, (*args, *inputs.values()))
    explorers: list[Explorer] = []
    titles: list[str] = []
    for number, (pattern, named) in enumerate(groups(seen, run).items()):
        paths, calls = zip(*named, strict=True)
        record = side_by_side(calls)
        counterpart = None if other is None else counterpart_of(others, paths, calls, run)
        layers = layer_names(paths)
        queries, keys = tokens_for(pattern[0], of_batch(labels, record.shape[0]), *record.size)
        is_small = sum(t.numel() * t.element_size() for t in (record.q, record.k, record.v)) < SMALL
        sent = [each for each in (record, counterpart) if each is not None]
        shorter = "float16" if all(map(fits_in_half, sent)) else "float32"
        explorer = explore(
            record,
            tokens=queries,
            key_tokens=keys,
            name=f"{name}-{number}" if number else name,
            head_names=[
                f"{layer}, head {head}"
                for layer, call in zip(layers, calls, strict=True)
                for head in range(call.shape[1])
            ],
            stage=stage,
            store=(None if is_small else shorter) if store == "auto" else store,
            show=("heads", "lines") if record.shape[1] > 1 else ("lines",),
            all_values=is_small if all_values is None else all_values,
            **({"image": image, "grid": grid} if on_image(image, grid, record.size[1]) else {}),
            other=counterpart,
            run_names=run_names,
        )
        titles.append(title_of(pattern[0], layers, record))
        explorers.append(explorer)
    if tokens is not None:
        check_used(labels, explorers)
    if other is not None:
        check_compared(titles, explorers)
    if image is not None and not any("image" in each.payload for each in explorers):
        sizes = " or ".join(sorted({str(each.record.shape[3]) for each in explorers}))
        raise ValueError(
            f"grid must be the rows and columns of the patches among the {sizes} keys, such as "
            f"(14, 14), got {brief(grid) if grid is None else tuple(grid)}"
        )
    return Attentions(seen, explorers, titles)


def check_used(texts: Sequence[Text], explorers: Sequence[Explorer]) -> None:
    """Each text labels a side of a map: one that is too short is a mistake."""
    sizes = {size for each in explorers for size in each.record.shape[2:]}
    for text in texts:
        if length(text) not in sizes:
            raise ValueError(
                f"tokens must name all queries or keys of a map, {listed(sizes)}, got a text of "
                f"{length(text)}; those of a batch must be padded to one length"
            )


def listed(sizes: set[int]) -> str:
    return " or ".join(map(str, sorted(sizes)))


def counterpart_of(
    others: Mapping[str, list[Call]], paths: Sequence[str], calls: Sequence[Call], run: int | None
) -> AttentionTrace | None:
    """The same modules of the other run side by side, if each map has its counterpart."""
    found: list[Call] = []
    for path in dict.fromkeys(paths):
        runs = others.get(path, [])
        found += runs if run is None else runs[run : run + 1 or None]
    alike = [(*call.shape, call.v.shape[-1]) for call in calls]
    if [(*call.shape, call.v.shape[-1]) for call in found] != alike:
        return None
    return side_by_side(found) if len({kind_of(call) for call in found}) == 1 else None


def check_compared(titles: Sequence[str], explorers: Sequence[Explorer]) -> None:
    """A warning for what has no counterpart, an error if nothing has one."""
    alone = [
        title for title, one in zip(titles, explorers, strict=True) if "runs" not in one.payload
    ]
    if len(alone) == len(titles):
        raise ValueError(f"other must have an attention of the same size, got none for {alone[0]}")
    if alone:
        warnings.warn(f"shown alone, as other has none of its size: {'; '.join(alone)}",
                      stacklevel=3)  # fmt: skip


def fits_in_half(call: Call) -> bool:
    most = torch.finfo(torch.float16).max
    return all(largest(x) <= most for x in (call.q, call.k, call.v, *call.added().values()))


def title_of(pattern: str, names: Sequence[str], record: AttentionTrace) -> str:
    (_, H, L, S), layers = record.shape, len(names)
    word = names[0].split()[0]
    counts = (layers, word), (H // layers, "head"), (L, "query"), (S, "key")
    plural = {"query": "queries"}
    words = [f"{n} {name if n == 1 else plural.get(name, name + 's')}" for n, name in counts]
    shared = "" if record.group == 1 else f" ({record.k.shape[1] // layers} of keys)"
    sizes = f"{words[0]} × {words[1]}{shared}, {words[2]} × {words[3]}"
    return f"{pattern or 'the model'}: {sizes}"


def check_inputs(model: object, inputs: Mapping[str, Any]) -> None:
    """Refuses a misspelt argument of open_attention, which a model would refuse or overlook."""
    own = [
        name
        for name, one in signature(open_attention).parameters.items()
        if one.kind == one.KEYWORD_ONLY
    ]
    named = signature(model.forward).parameters if isinstance(model, nn.Module) else {}
    for name in inputs:
        if name not in named and (close := get_close_matches(name, own, 1, ALIKE)):
            raise TypeError(
                f"{name} must be an argument of open_attention or an input of the model, got "
                f"neither: write {close[0]}"
            )


def watched(model: nn.Module, args: tuple, inputs: Mapping[str, Any], only: Any) -> Seen:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module or what watch saw, got {brief(model)}")
    with torch.no_grad(), watch(model, only=only) as seen:
        model(*args, **inputs)
    return seen


def calls_of(seen: Seen) -> dict[str, list[Call]]:
    """The calls of each module, in the order in which they ran."""
    runs: dict[str, list[Call]] = {}
    for one in seen.captured:
        # Not its record, which would compute here what is computed side by side.
        runs.setdefault(one.path, []).append(one.call)
    return runs


def groups(seen: Seen, run: int | None) -> dict[tuple, list[tuple[str, Call]]]:
    """Calls by paths that differ only in a number, and by what they must have in common."""
    found: dict[tuple, list[tuple[str, Call]]] = {}
    for path, calls in calls_of(seen).items():
        if run is not None and not -len(calls) <= run < len(calls):
            raise ValueError(f"run must be one of the {len(calls)} of {path!r}, got {run}")
        for call in calls if run is None else [calls[run]]:
            found.setdefault((NUMBER.sub("*", path), *kind_of(call)), []).append((path, call))
    if len(found) > MOST_KINDS:
        raise ValueError(
            f"model must give at most {MOST_KINDS} maps of different size or kind, "
            f"got {len(found)}: choose modules with only=, or one run of each with run="
        )
    return found


def layer_names(paths: Sequence[str]) -> list[str]:
    """The layer's number in each path; where that does not tell them apart, their order.

    >>> layer_names(["h.0.attn", "h.1.attn"]), layer_names(["shared.attn", "shared.attn"])
    (['layer 0', 'layer 1'], ['run 0', 'run 1'])
    """
    numbers = [next(iter(NUMBER.findall(path)), "") for path in paths]
    if all(numbers) and len(set(numbers)) == len(numbers):
        return [f"layer {number}" for number in numbers]
    word = "layer" if len(set(paths)) == len(paths) else "run"
    return [f"{word} {place}" for place in range(len(paths))]
