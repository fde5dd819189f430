"""The widget: a record in a live notebook, with its state in traits, and as HTML for a page."""

from pathlib import Path
from typing import TYPE_CHECKING

from attn_core.views import script
from attn_core.views.given import Numbers
from attn_core.views.labels import count_text, of_sequence
from attn_core.views.markup import markup
from attn_core.views.shown import Shown
from attn_core.views.state import State, dropout_text
from attn_core.views.tiles import answer

if TYPE_CHECKING:
    import attn_core.views.picture

HERE = Path(__file__).parent


class Explorer(State, Shown):
    """What `explore` and `show` give: a record to play with, in a notebook and on a page.

    Taught in chapter 03.
    """

    _esm = script.BUILT / "widget.js"
    _css = HERE / "explorer.css"

    def __init__(self, record: Numbers, payload: dict, text: str | None = None) -> None:
        view = payload["view"]
        self.record, self.text = record, text
        super().__init__(
            payload=payload,
            stage=view["stage"],
            batch=view["batch"],
            head=view["head"],
            scale=record.scale,
            select=view["select"],
            dropout=dropout_text(payload.get("dropout")),
            hide=",".join(view.get("hide", [])),
        )
        self.on_msg(self._hear)

    def _hear(self, _: object, message: dict, buffers: list) -> None:
        """A long map in a live notebook asks for its tiles."""
        if message.get("kind") == "tile":
            reply, numbers = answer(self.record, message)
            self.send(reply, numbers)

    @property
    def picture(self) -> "attn_core.views.picture.Picture":
        """The first state as a picture, for paper and where no script runs."""
        # It brings matplotlib: half a second, which a live explorer does without.
        from attn_core.views.still import still

        view, names = self.payload["view"], self.payload.get("heads")
        tokens = of_sequence(self.payload["tokens"], view["batch"])
        return still(self.record, view, tokens, names)

    def still(self) -> "attn_core.views.picture.Picture | None":
        """The picture; a printed tensor is text, which needs none."""
        return self.picture if self.text is None else None

    def markup(self, widget_id: str = "", is_alone: bool = False) -> str:
        """The first state for a page."""
        return markup(self.record, self.payload, self.text, widget_id, is_alone)

    def __repr__(self) -> str:
        if self.text is not None:
            return self.text
        return f"Explorer: {count_text(self.record, self.payload['view']['stage'])}"

    __str__ = __repr__
