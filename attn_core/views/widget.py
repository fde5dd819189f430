"""The widget: a record in a live notebook, with its state in traits, and as HTML for a page."""

import math
import re
from pathlib import Path

import anywidget
import traitlets

from attn_core.checks import STAGES
from attn_core.record import AttentionTrace
from attn_core.views import script
from attn_core.views.labels import check_select, count_text
from attn_core.views.markup import markup, write_beside
from attn_core.views.picture import Picture
from attn_core.views.still import still
from attn_core.views.tiles import answer

HERE = Path(__file__).parent


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
        self.on_msg(self._hear)

    def _hear(self, _: object, message: dict, buffers: list) -> None:
        """A long map in a live notebook asks for its tiles."""
        if message.get("kind") == "tile":
            reply, numbers = answer(self.record, message)
            self.send(reply, numbers)

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
        """The first state as a picture, for paper and where no script runs."""
        tokens, names = self.payload["tokens"], self.payload.get("heads")
        return still(self.record, self.payload["view"], tokens, names)

    @property
    def html(self) -> str:
        """The first state for a page: the element, its data, and what stands there unscripted."""
        return markup(self.record, self.payload, self.text)

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        write_beside(self.payload)
        data |= {"text/plain": repr(self), "text/html": self.html}
        if self.text is None:
            picture = self.picture
            data["image/png"] = picture.png()
            metadata = {**metadata, "image/png": {"alt": picture.alt}}
        return data, metadata

    def __repr__(self) -> str:
        if self.text is not None:
            return self.text
        return f"Explorer: {count_text(self.record, self.payload['view']['stage'])}"

    __str__ = __repr__
