"""`explore` and `show`: what is asked of them, checked and handed to the widget."""

import re
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attn_core.checks import STAGES, check_index, check_stage
from attn_core.record import AttentionTrace
from attn_core.views import backward
from attn_core.views.backward import grad_output_of
from attn_core.views.compact import check_store
from attn_core.views.given import (
    HIDDEN,
    GivenWeights,
    Numbers,
    check_alone,
    given_weights,
    is_of_weights,
)
from attn_core.views.image import image_payload, patch_names
from attn_core.views.labels import (
    Names,
    check_head_names,
    check_places,
    check_record,
    check_select,
    token_lists,
)
from attn_core.views.mistaken import mistakes_of
from attn_core.views.payload import payload_of
from attn_core.views.runs import NAMES, runs_payload
from attn_core.views.widget import Explorer

CONTROLS = ("strip", "formula", "scale", "mask", "head", "batch", "legend", "vectors", "all")
FURTHER = ("heads", "lines", "draw", "dropout", "compare", "table", "link", "inputs")


def explore(
    record: AttentionTrace | Tensor | Sequence[Tensor],
    *,
    tokens: Names | None = None,
    key_tokens: Names | None = None,
    name: str | None = None,
    stage: str = "weights",
    select: Sequence[int] | None = None,
    head: int = 0,
    batch: int = 0,
    head_names: Sequence[str] | None = None,
    stages: Sequence[str] | None = None,
    hide: Sequence[str] = (),
    show: Sequence[str] = (),
    places: int = 4,
    store: str | None = None,
    mistakes: Sequence[str | tuple[str, AttentionTrace]] = (),
    all_values: bool = False,
    image: Any = None,
    grid: Sequence[int] | None = None,
    other: AttentionTrace | Tensor | Sequence[Tensor] | None = None,
    grad_output: Tensor | None = None,
    run_names: Sequence[str] = NAMES,
) -> Explorer:
    """A record to play with, in a notebook and on a page without a server.

    >>> from attn_core import toy, trace
    >>> words = toy.journey()
    >>> explore(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
    Explorer: weights, 6 queries × 6 keys, 1 head

    record: a record from `trace` or `watch`, or weights alone: a tensor [L, S], [H, L, S] or [B, H,
        L, S], or what a model returns with output_attentions, a tuple with one [B, H, L, S] for
        each layer. With weights alone, the arithmetic of each number ends at the number, and the
        explorer says so. It also says where rows add up to less than 1; a row that adds up to more
        is a ValueError, unless dropout has changed the weights: stage="dropped".
    tokens: one string a query; key_tokens: one a key, by default the same as tokens. A batch may
        have a list of them for each sequence; otherwise all its sequences have the same ones.
    name: the explorer's name in the page's address, made of letters, digits and hyphens; it must be
        unique on the page.
    select: (row, column) of the number whose arithmetic is open at first.
    head: the head that is shown at first; head_names: one name a head, by default "head 0" and so
    on; names such as "layer 3, head 5" put the small maps in a row for each layer.
    With more than 12 heads, or long ones, only this head's values are sent to a page, unless
    all_values is True.
    stages: which of the six stages are shown. hide: the controls to leave out, from strip, formula,
    scale, mask, head, batch, legend, vectors. The button "All controls" opens the rest, unless it
    is hidden, too, as "all". show: further controls to show from the start, from heads, lines,
    draw, dropout, compare, table, link, inputs. places: the number of decimals.
    store: "float16" or "float32" sends the numbers in fewer bits, and says below the figure by how
    much a weight is off at most; the arithmetic then ends at q, k and v.
    mistakes: names of attn_core.mistakes that the reader can put in place of the right formula;
    a mistake in a module is given as a pair: the name of the mistake and the record traced from
    the wrong module.
    image: the image whose patches are the keys, after a class token if there is one: a PIL image,
        or an array or a tensor [h, w], [h, w, 3] or [3, h, w], as the model got it. The weights are
        drawn over it. grid: rows and columns of the patches; not needed if they form a square, or
        if the patches are about as wide as high.
    other: a second run, of this model or another, with the same shape: a record, or weights if
        `record` is weights. The page shows both maps, the first minus the second, with a colour for
        each sign, and the arithmetic of each. run_names: the names of the two runs.
    grad_output: the gradient of a loss with respect to the record's output, in the shape of that
        output. The page then shows the way back as well as the six stages: those of
        `record.gradients`, and grad_q, grad_k and grad_v, with the arithmetic of each number. They
        follow what the reader changes, while grad_output stays the same. The values of all heads
        are sent. `stage`, the stage shown first, must be one of the six.
    When a program such as nbconvert runs the notebook, the notebook also stores a picture of the
    first state, for paper and LaTeX; `explore(…).picture` is that picture.
    Taught in chapter 03, gradients in chapter 13, mistakes in chapter 14.
    """
    check_stage(stage)
    shown = numbers_in(record, stage, "record")
    second = None if other is None else numbers_in(other, stage, "other")
    if isinstance(shown, GivenWeights):
        check_alone(stages, mistakes)
        stages, hide = [stage], (*hide, *HIDDEN)
        show = show or (("heads", "lines") if shown.shape[1] > 1 else ("lines",))
        head_names = head_names or shown.names
    if second is not None:
        hide = (*hide, "inputs", "compare")
    if image is None and grid is not None:
        raise ValueError("grid must be left out where there is no image, got one")
    laid = None if image is None else image_payload(image, grid, shown.shape[3], batch)
    if laid is not None and tokens is None and key_tokens is None:
        key_tokens = patch_names((*laid["grid"], laid["first"]))
        tokens = key_tokens if shown.shape[2] == shown.shape[3] else None
    labels = token_lists(shown, tokens, key_tokens)
    names = check_head_names(shown, head_names)
    view = first_view(shown, stage, select, head, batch, places)
    known = STAGES if grad_output is None else (*STAGES, *backward.STAGES)
    for stage in stages or ():
        check_stage(stage, known)
    check_controls("hide", hide, (*CONTROLS, *FURTHER))
    check_controls("show", show, FURTHER)
    if show:
        view["show"] = list(show)
    view |= {"hide": list(hide), "stages": None if stages is None else list(stages)}
    name = check_name(name) or default_name(shown, stage)
    way_back = {}
    if grad_output is not None:
        others = bool(mistakes) or second is not None
        way_back["grad_output"] = grad_output_of(shown, grad_output, store, others)
        all_values = True
    if isinstance(shown, GivenWeights):  # of which there are no mistakes
        check_store(store)
        payload = shown.payload(name, labels, view, store)
    else:
        payload = payload_of(shown, name, "explorer", labels, view, store, all_values) | way_back
        if mistakes:
            payload["mistakes"] = mistakes_of(shown, mistakes, store, view["head"])
    if names is not None:
        payload["heads"] = names
    if laid is not None:
        payload["image"] = laid
    if second is not None:
        runs, error = runs_payload(shown, second, run_names, store, view["head"], all_values)
        payload["runs"] = runs
        if store is not None:
            payload["error"] = max(payload["error"], error)
    return Explorer(shown, payload)


def numbers_in(value: object, stage: str, name: str) -> Numbers:
    """A record, or weights that came alone."""
    return given_weights(value, stage) if is_of_weights(value) else check_record(value, name)


def show(
    record: AttentionTrace,
    stage: str = "weights",
    *,
    tokens: Sequence[str] | None = None,
    name: str | None = None,
    places: int = 4,
) -> Explorer:
    """A stage as torch prints it; each number opens to show its arithmetic.

    >>> from attn_core import toy, trace
    >>> x = toy.notebook().x
    >>> show(trace(x, x, x), "scores")
    tensor([[11.,  9., 11.],
            [ 9.,  8.,  9.],
            [11.,  9., 16.]])

    places: decimals of the sentences and the arithmetic. Taught in chapter 03.
    """
    check_record(record)
    check_stage(stage)
    text = repr(record.stage(stage).detach())
    keys = tokens if tokens is None or len(tokens) == record.shape[3] else None
    labels = token_lists(record, tokens, keys)
    view = first_view(record, stage, None, 0, 0, places)
    name = check_name(name) or default_name(record, f"printed-{stage}")
    payload = payload_of(record, name, "tensor", labels, view)
    return Explorer(record, payload | {"text": text, "lead": list(record.lead)}, text)


def first_view(
    record: Numbers,
    stage: str,
    select: Sequence[int] | None,
    head: int,
    batch: int,
    places: int,
) -> dict:
    check_stage(stage)
    places = check_places(places)
    B, H = record.shape[:2]
    batch, head = check_index("batch", batch, B), check_index("head", head, H)
    select = check_select(record, stage, select)
    return {"stage": stage, "batch": batch, "head": head, "select": select, "places": places}


def check_controls(argument: str, controls: Sequence[str], known: Sequence[str]) -> None:
    for control in controls:
        if control not in known:
            raise ValueError(f"{argument} must name some of {', '.join(known)}, got {control!r}")


def check_name(name: str | None) -> str | None:
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"name must be of letters, digits, hyphens and underscores, got {name!r}")
    return name


def default_name(record: Numbers, stage: str) -> str:
    return f"{stage}-{'x'.join(str(size) for size in record.shape)}"
