"""How a widget is displayed: alive where there is a kernel, as HTML in a notebook that is stored.

JupyterLab prefers the widget's view to the HTML beside it, and shows an error in a notebook that is
opened again, where the view has no model. So no view is stored where one can be done without: the
widget's script (`page/features/live.js`) makes an element in the HTML alive. That takes a page that
all outputs share, as in JupyterLab and Notebook 7; in Colab each output has its own. Python can't
see where it is shown, so the first output has a view, and is replaced when the script says that its
page is shared.
"""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import anywidget
import traitlets
from IPython.display import display, update_display

from attn_core.views.live import is_live
from attn_core.views.markup import write_beside
from attn_core.views.saved import MOST_MEGABYTES, save_page

if TYPE_CHECKING:
    from attn_core.views.drawings.drawing import Drawing
    from attn_core.views.picture import Picture


class Shown(anywidget.AnyWidget):
    """A widget whose output can be stored.

    payload: what its script gets. widget_id: by which an element of the page finds it.
    """

    payload = traitlets.Dict().tag(sync=True)
    widget_id = traitlets.Unicode().tag(sync=True)

    # Whether the page that shows this kernel's outputs makes elements alive.
    has_live_elements: ClassVar[bool] = False
    # Whether all data are inside, however large: no build follows that would put them beside.
    is_alone: ClassVar[bool] = False

    def __init__(self, **traits: object) -> None:
        self.is_view_shown = False
        super().__init__(widget_id=uuid4().hex, **traits)
        self.on_msg(self._hear_page)

    def _hear_page(self, _: object, message: dict, buffers: list) -> None:
        if message.get("kind") == "live" and self.is_view_shown:
            Shown.has_live_elements, self.is_view_shown = True, False
            update_display(self._stored(), raw=True, display_id=self.widget_id)

    def markup(self, widget_id: str = "", is_alone: bool = False) -> str:
        """The first state for a page; with its id, an element that the widget makes alive.

        is_alone: with all data inside, however large.
        """
        raise NotImplementedError

    def save(
        self, path: str | PathLike, *, title: str | None = None, most: float = MOST_MEGABYTES
    ) -> Path:
        """Writes one HTML file that works without a network, for example from an email or a disk.

        >>> import tempfile
        >>> from attn_core import toy, trace
        >>> from attn_core.views import explore
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explore(trace(*[toy.journey().x] * 3)).save(f"{folder}/heads.html").name
        'heads.html'

        title: the heading of the page. most: how many megabytes the file may have; ValueError if it
        would have more, and nothing is written.
        """
        lang = self.payload.get("lang", "en")
        elements = [self.markup(is_alone=True)]
        return save_page(path, elements, title=title or self.payload["name"], lang=lang, most=most)

    def still(self) -> "Picture | Drawing | None":
        """The first state for paper, if it has a picture."""
        raise NotImplementedError

    @property
    def html(self) -> str:
        """The first state for a page: the element, its data, and what stands there unscripted."""
        return self.markup(is_alone=self.is_alone)

    def _stored(self) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.markup(self.widget_id, self.is_alone)}

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        write_beside(self.payload)
        if is_live() and Shown.has_live_elements:
            return self._stored(), {}
        if is_live():
            data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
            return {**data, **self._stored()}, metadata
        data, metadata = {"text/plain": repr(self), "text/html": self.html}, {}
        if picture := self.still():
            data["image/png"], metadata["image/png"] = picture._repr_png_()
        return data, metadata

    def _ipython_display_(self, **kwargs) -> None:
        """A view is displayed under an id, so that HTML can replace it; all else is a bundle.

        ipywidgets 7 displays a view alone by this method, and asks for no bundle."""
        if not is_live() or Shown.has_live_elements:
            raise NotImplementedError  # which IPython understands: it asks for the bundle
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True, display_id=self.widget_id)
        self.is_view_shown = True
