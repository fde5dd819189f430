"""A matplotlib figure that shows itself, and the axes of a map in it."""

import io
import math
from functools import partial

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from attn_core.views.fonts import boxes_for_what_is_missing, font_families, has_bold
from attn_core.views.heat import INK, KEY, QUERY, VALUE, mix
from attn_core.views.pixels import SHARP, needs_cjk, packed

MOST_WRITTEN = 12


class Picture(Figure):
    """A matplotlib figure that shows itself in a notebook; `alt` says in words what it shows."""

    alt = ""
    summary = "Figure"

    def draw(self, renderer) -> None:
        for text in self.findobj(Text):
            if needs_cjk(text.get_text()):
                families = font_families(text.get_text())
                text.set_fontfamily(families)
                if not has_bold(families):  # matplotlib would say so on stderr
                    text.set_fontweight("normal")
        with boxes_for_what_is_missing():
            super().draw(renderer)

    def part_images(self) -> list[Image.Image]:
        """Its parts as pixels, from above."""
        stream = io.BytesIO()
        self.savefig(
            stream, format="png", dpi=SHARP * self.dpi, bbox_inches="tight", transparent=False
        )
        return [Image.open(stream).convert("RGB")]

    def image(self) -> Image.Image:
        """All of it as pixels."""
        return joined(self.part_images())

    def png(self) -> str:
        """The picture as PNG, in base64."""
        return packed(self.image())

    def _repr_png_(self) -> tuple[str, dict[str, object]]:
        """The picture as PNG, what it says, the size at which it is shown, its parts' heights."""
        images = self.part_images()
        image = joined(images)
        size = {"width": image.width // SHARP, "height": image.height // SHARP}
        parts = {"parts": [part.height // SHARP for part in images]} if len(images) > 1 else {}
        return packed(image), {"alt": self.alt, **size, **parts}

    def __repr__(self) -> str:
        return self.summary


def joined(images: list[Image.Image]) -> Image.Image:
    """Pictures under one another as one."""
    size = max(image.width for image in images), sum(image.height for image in images)
    sheet, top = Image.new("RGB", size, "white"), 0
    for image in images:
        sheet.paste(image, (0, top))
        top += image.height
    return sheet


def colors_of(low: float, high: float, end: float) -> ListedColormap:
    share = [low / end + (high - low) / end * step / 255 for step in range(256)]
    return ListedColormap([mix(s) for s in share])


def light(axes, stage: str, n: int, m: int, i: int, j: int) -> None:
    """The row and the column of a cell between lines of their colours, the cell in a ring."""
    side = VALUE if stage == "output" else KEY
    lines = partial(Rectangle, fill=False, clip_on=False)
    axes.add_patch(lines((-0.5, i - 0.5), m, 1, edgecolor=QUERY, lw=1.6))
    axes.add_patch(lines((j - 0.5, -0.5), 1, n, edgecolor=side, lw=1.6))
    axes.add_patch(lines((j - 0.5, i - 0.5), 1, 1, edgecolor="#ffffff", lw=4))
    axes.add_patch(lines((j - 0.5, i - 0.5), 1, 1, edgecolor=INK, lw=2.2))
    for axis, place in ((axes.yaxis, i), (axes.xaxis, j)):
        for label, at in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True):
            if at == place:
                label.set_fontweight("bold")


def label_axes(axes, stage: str, rows: list[str], cols: list[str], fonts: list[str]) -> None:
    side = VALUE if stage == "output" else KEY
    name = "value column" if stage == "output" else "key"
    for axis, labels, color in ((axes.yaxis, rows, QUERY), (axes.xaxis, cols, side)):
        step = 1 if len(labels) <= 48 else math.ceil(len(labels) / 16)
        places = range(0, len(labels), step)
        axis.set_ticks(places, [labels[i].replace("$", r"\$") for i in places])
        for label in axis.get_ticklabels():
            label.set(color=color, fontsize=9 if len(labels) <= 24 else 8)
            label.set_fontfamily(font_families(label.get_text()))
    if max(len(text) for text in cols) > 6 or len(cols) > MOST_WRITTEN:
        axes.tick_params(axis="x", rotation=90 if len(cols) > MOST_WRITTEN else 40)
    axes.tick_params(length=0)
    axes.set_xlabel(f"{name} →", color=side, fontsize=9, family=fonts)
    axes.set_ylabel("← query", color=QUERY, fontsize=9, family=fonts)
    axes.spines[:].set_visible(False)
