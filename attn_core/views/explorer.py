"""The explorer and the living printed tensor: one widget, one custom element, one table."""

import html
import math
import re
from collections.abc import Sequence
from pathlib import Path

import anywidget
import traitlets

from attn_core.checks import STAGES, check_index, check_stage
from attn_core.record import AttentionTrace
from attn_core.views import script
from attn_core.views.figure import (
    INK,
    MASKED,
    Picture,
    cell_text,
    figure,
    ink_on,
    legend_ends,
    mix,
)
from attn_core.views.labels import check_places, check_record, count_text, token_lists
from attn_core.views.payload import inline_json, payload_of

HERE = Path(__file__).parent
CONTROLS = ("strip", "formula", "scale", "mask", "head", "batch", "legend", "vectors", "all")
MOST_INLINE = 300_000
MOST_IN_TABLE = 32


class Explorer(anywidget.AnyWidget):
    """A record to play with. In a live notebook Python reads and sets its state.

    stage: which stage is shown. batch, head: of which sequence and head.
    scale: what the scores are multiplied by. mask: "given", "none", "causal" or "window:2,0".
    select: [row, column] of the number whose arithmetic is open, or None.
    """

    _esm = script.module()
    _css = HERE / "explorer.css"

    payload = traitlets.Dict().tag(sync=True)
    stage = traitlets.Enum(STAGES, "weights").tag(sync=True)
    batch = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    scale = traitlets.Float(1.0).tag(sync=True)
    mask = traitlets.Unicode("given").tag(sync=True)
    select = traitlets.List(traitlets.Int(), default_value=None, allow_none=True).tag(sync=True)

    def __init__(self, record: AttentionTrace, payload: dict, text: str | None = None) -> None:
        view = payload["view"]
        self.record, self.text = record, text
        super().__init__(
            payload=payload,
            stage=view["stage"],
            batch=view["batch"],
            head=view["head"],
            scale=record.scale,
            select=view["select"],
        )

    @traitlets.validate("batch", "head")
    def _check_place(self, proposal) -> int:
        name = proposal["trait"].name
        size = self.record.shape[0 if name == "batch" else 1]
        if proposal["value"] >= size:
            raise traitlets.TraitError(f"{name} must be below {size}, got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate("scale")
    def _check_scale(self, proposal) -> float:
        if not math.isfinite(proposal["value"]):
            raise traitlets.TraitError(f"scale must be finite, got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate("mask")
    def _check_mask(self, proposal) -> str:
        if not re.fullmatch(r"given|none|causal|window:\d{1,6},\d{1,6}", proposal["value"]):
            raise traitlets.TraitError(
                "mask must be 'given', 'none', 'causal' or such as 'window:2,0', "
                f"got {proposal['value']!r}"
            )
        return proposal["value"]

    @traitlets.validate("select")
    def _check_select(self, proposal) -> list[int] | None:
        value = proposal["value"]
        try:
            return check_select(self.record, self.stage, value)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    @property
    def picture(self) -> Picture:
        """The first state as a matplotlib figure."""
        view, tokens = self.payload["view"], self.payload["tokens"]
        return figure(
            self.record,
            view["stage"],
            tokens=tokens["queries"],
            key_tokens=tokens["keys"],
            head=view["head"],
            batch=view["batch"],
        )

    @property
    def html(self) -> str:
        """The first state for a page: the element, its data, and what stands there unscripted."""
        name = html.escape(self.payload["name"])
        data = inline_json(self.payload)
        inside = table(self) if self.text is None else f"<pre>{html.escape(self.text)}</pre>\n"
        if len(data) > MOST_INLINE:
            size = f"{len(data) / 1000:.0f} KB"
            return f"{inside}<p>Its data ({size}) are too large to stand in a page.</p>"
        script = f'<script type="application/json">{data}</script>'
        return f'<attention-explorer name="{name}">\n{inside}{script}\n</attention-explorer>'

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data |= {"text/plain": repr(self), "text/html": self.html}
        if self.text is None:
            data["image/png"] = self.picture.png()
        return data, metadata

    def __repr__(self) -> str:
        if self.text is not None:
            return self.text
        return f"Explorer: {count_text(self.record, self.payload['view']['stage'])}"

    __str__ = __repr__


def explore(
    record: AttentionTrace,
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    name: str | None = None,
    stage: str = "weights",
    select: Sequence[int] | None = None,
    head: int = 0,
    batch: int = 0,
    stages: Sequence[str] | None = None,
    hide: Sequence[str] = (),
    places: int = 4,
) -> Explorer:
    """A record to play with, in a notebook and on a page without a server.

    >>> from attn_core import toy, trace
    >>> words = toy.journey()
    >>> explore(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
    Explorer: weights, 6 queries × 6 keys, 1 head

    tokens: one string a query; key_tokens: one a key, the same as tokens unless given.
    name: what the address calls it, letters, digits and hyphens; give each of a page its own.
    select: (row, column) of the number whose arithmetic is open at first.
    stages: which of the six are shown; hide: which controls are left out, of strip, formula,
    scale, mask, head, batch, legend, vectors. "All controls" opens the rest, unless hidden too
    as "all". places: decimals. Taught in chapter 03.
    """
    check_record(record)
    labels = token_lists(record, tokens, key_tokens)
    view = first_view(record, stage, select, head, batch, places)
    for given in stages or ():
        check_stage(given)
    for control in hide:
        if control not in CONTROLS:
            raise ValueError(f"hide must name some of {', '.join(CONTROLS)}, got {control!r}")
    view |= {"hide": list(hide), "stages": None if stages is None else list(stages)}
    name = check_name(name) or default_name(record, stage)
    return Explorer(record, payload_of(record, name, "explorer", labels, view))


def show(
    record: AttentionTrace,
    stage: str = "weights",
    *,
    tokens: Sequence[str] | None = None,
    name: str | None = None,
    places: int = 4,
) -> Explorer:
    """A stage as torch prints it, each number of which opens to its arithmetic.

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
    record: AttentionTrace,
    stage: str,
    select: Sequence[int] | None,
    head: int,
    batch: int,
    places: int,
) -> dict:
    check_stage(stage)
    check_places(places)
    B, H = record.shape[:2]
    check_index("batch", batch, B)
    check_index("head", head, H)
    select = check_select(record, stage, select)
    return {"stage": stage, "batch": batch, "head": head, "select": select, "places": places}


def check_select(
    record: AttentionTrace, stage: str, select: Sequence[int] | None
) -> list[int] | None:
    if select is None:
        return None
    if len(select) != 2:
        raise ValueError(f"select must be a row and a column, got {list(select)}")
    check_index("select's row", select[0], record.shape[2])
    check_index("select's column", select[1], record.columns(stage))
    return list(select)


def check_name(name: str | None) -> str | None:
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"name must be of letters, digits, hyphens and underscores, got {name!r}")
    return name


def default_name(record: AttentionTrace, stage: str) -> str:
    return f"{stage}-{'x'.join(str(size) for size in record.shape)}"


def table(explorer: Explorer) -> str:
    """The first state as a coloured table, in attributes that an untrusted notebook keeps."""
    view, tokens = explorer.payload["view"], explorer.payload["tokens"]
    record, stage = explorer.record, view["stage"]
    is_output = stage == "output"
    rows = tokens["queries"][:MOST_IN_TABLE]
    width = record.columns(stage)
    cols = [str(d) for d in range(width)] if is_output else tokens["keys"]
    cols = cols[:MOST_IN_TABLE]
    part = slice(0, MOST_IN_TABLE)
    place = {"batch": view["batch"], "head": view["head"]}
    cells = record.tile(stage, part, part, **place).detach().double().tolist()
    _, _, end = legend_ends(cells)
    is_whole = all(x.is_integer() for row in cells for x in row if math.isfinite(x))

    def head(text: str, scope: str) -> str:
        return f'<th scope="{scope}"><bdi>{html.escape(text)}</bdi></th>'

    def cell(x: float) -> str:
        back, ink = (
            (hex_of(mix(x / end)), ink_on(mix(x / end))) if math.isfinite(x) else (MASKED, INK)
        )
        text = cell_text(x, is_whole, view["places"])
        return f'<td align="center" bgcolor="{back}"><font color="{ink}">{text}</font></td>'

    kind = "value columns" if is_output else "keys"
    caption = f"{stage}: queries in rows, {kind} in columns"
    if record.shape[2] > MOST_IN_TABLE or width > MOST_IN_TABLE:
        caption += f"; the first {MOST_IN_TABLE} of each"
    lines = [f"<caption>{caption}</caption>"]
    lines.append("<tr><td></td>" + "".join(head(text, "col") for text in cols) + "</tr>")
    for text, row in zip(rows, cells, strict=True):
        lines.append(f"<tr>{head(text, 'row')}" + "".join(cell(x) for x in row) + "</tr>")
    return '<table cellpadding="5">\n' + "\n".join(lines) + "\n</table>\n"


def hex_of(color: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(c * 255):02x}" for c in color)
