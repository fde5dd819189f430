"""An SVG that shows itself, for one idea: on the page, in a notebook, on paper, light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import drawsvg

from attn_core.digits import fixed, plain
from attn_core.views.pixels import drawn

# Letters of a drawing of this width are 11 px high on a phone of 390 px.
WIDEST = 520
LETTERS = 16
SMALL = 14.5  # of a drawing that is narrower than 470
GAP = 6  # between an arrow's end and what it points at

# Of each class what it sets, in the light and in the dark. Ink reads well on every cell.
INKS = {
    "ink": ("#1b1b22", "#eceaf3"),
    "soft": ("#5d5b69", "#a9a6b8"),
    "accent": ("#4f2f8f", "#c9b3ff"),
    "query": ("#0072b2", "#56b4e9"),
    "key": ("#c24e00", "#ff9e5e"),
    "value": ("#00795a", "#3ddbb0"),
}
FILLS = {
    "paper": ("#ffffff", "#1b1b22"),
    "wash": ("#f1eff6", "#2a2934"),
    "masked": ("#d5d3de", "#3f3d4b"),
    "more": ("#a98fd8", "#5d4a8a"),
    "less": ("#dcbc55", "#6b5a1e"),
    "query-wash": ("#e3f1fa", "#17344a"),
    "key-wash": ("#fff7f2", "#4a2a14"),
    "value-wash": ("#def3ec", "#10392e"),
}
LETTER_STYLE = "font-family:system-ui,'Noto Sans','Liberation Sans',sans-serif;"


def rules(mode: int, before: str = ".drawing") -> str:
    """The style of all classes, 0 in the light and 1 in the dark."""
    fills = {**INKS, **FILLS}
    styles = [f"{before} .{name}{{fill:{colors[mode]}}}" for name, colors in fills.items()]
    styles += [
        f"{before} .{name}-line{{stroke:{colors[mode]};fill:none}}" for name, colors in INKS.items()
    ]
    return "".join(styles)


def style_sheet() -> str:
    """Of a drawing that stands alone: it follows the system's light and dark, paper has light."""
    dark = f"@media screen and (prefers-color-scheme:dark){{{rules(1)}}}"
    return f".drawing{{{LETTER_STYLE}}}{rules(0)}{dark}"


def minus(number: str) -> str:
    """A number with a minus sign where it has a hyphen.

    >>> minus("-0.5")
    '−0.5'
    """
    return number.replace("-", "−")


def short(n: float) -> str:
    """
    >>> short(0.5), short(-3.0), short(0.98679)
    ('0.5', '−3', '0.99')
    """
    return minus(plain(round(n, 4), 2))


@dataclass(frozen=True)
class Box:
    """Where something lies in a drawing, in its units."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> tuple[float, float]:
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> tuple[float, float]:
        return self.x + self.width, self.y + self.height / 2

    @property
    def top(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


class Drawing:
    """A drawing of its own numbers; `alt` says in words what it shows.

    >>> sketch = Drawing(200, 60, "Two shares of a row, 0.25 and 0.75.")
    >>> row = sketch.cells([[0.25, 0.75]], 10, 10, 40, places=2)
    >>> row.width, sketch
    (80, Drawing: Two shares of a row, 0.25 and 0.75.)

    A unit is a pixel where there is room; no drawing is wider than 520, and its letters are so
    large that a phone shows them 11 px high.
    """

    kind = "drawing"

    def __init__(self, width: float, height: float, alt: str) -> None:
        if width > WIDEST:
            raise ValueError(f"width must be at most {WIDEST}, got {width}")
        self.width, self.height, self.alt = width, height, alt
        self.letters = LETTERS if width > 470 else SMALL
        self.parts: list = []

    def add(self, part) -> None:
        self.parts.append(part)

    def text(
        self, words: str, x: float, y: float, ink: str = "ink", *,
        align: str = "middle", size: float = 1, bold: bool = False,
    ) -> None:  # fmt: skip
        """Words whose middle is at y; align is start, middle or end."""
        size *= self.letters
        weight = {"font_weight": 600} if bold else {}
        # `dominant-baseline` is not known to every program that shows a drawing.
        self.add(
            drawsvg.Text(
                words, neat(size), neat(x), neat(y + 0.35 * size),
                text_anchor=align, class_=ink, **weight,
            )
        )  # fmt: skip

    def line(self, *points: tuple[float, float], ink: str = "soft", width: float = 1.5, **how):
        path = drawsvg.Path(class_=f"{ink}-line", stroke_width=neat(width, 2), **how)
        path.M(*map(neat, points[0]))
        for point in points[1:]:
            path.L(*map(neat, point))
        self.add(path)

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], ink: str = "soft", *,
        width: float = 1.8, bend: float = 0, gap: float = GAP, **how,
    ) -> None:  # fmt: skip
        """From near one point to near another; bend moves its middle to the left of its way."""
        (x0, y0), (x1, y1) = start, end
        length = math.dist(start, end) or 1
        across = (y1 - y0) / length * bend, (x0 - x1) / length * bend
        middle = (x0 + x1) / 2 + across[0], (y0 + y1) / 2 + across[1]
        first, last = toward(start, middle, gap), toward(end, middle, gap)
        head = 3.2 * width + 2
        neck = toward(last, middle, head)
        path = drawsvg.Path(class_=f"{ink}-line", stroke_width=neat(width, 2), **how)
        path.M(*map(neat, first)).Q(*map(neat, (*middle, *neck)))
        self.add(path)
        dx, dy = (last[0] - neck[0]) / head, (last[1] - neck[1]) / head
        half = 0.42 * head
        wings = (
            (neck[0] - dy * half, neck[1] + dx * half),
            (neck[0] + dy * half, neck[1] - dx * half),
        )
        corners = [neat(n) for point in (last, *wings) for n in point]
        self.add(drawsvg.Lines(*corners, close=True, class_=ink, **how))

    def box(
        self, x: float, y: float, width: float, height: float, words: str = "", *,
        fill: str = "wash", ink: str = "ink", line: str | None = None, round: float = 5,
        dashed: bool = False, opacity: float | None = None, bold: bool = False,
    ) -> Box:  # fmt: skip
        """A rectangle, with words in its middle."""
        shown = {} if opacity is None else {"fill_opacity": neat(opacity, 3)}
        frame = tuple(map(neat, (x, y, width, height)))
        corners = {"rx": round} if round else {}
        if fill != "none":
            self.add(drawsvg.Rectangle(*frame, class_=fill, **corners, **shown))
        if line:
            dash = {"stroke_dasharray": "4 3"} if dashed else {}
            kind = {"class_": f"{line}-line", "stroke_width": 1.5}
            self.add(drawsvg.Rectangle(*frame, **corners, **kind, **dash))
        if words:
            self.text(words, x + width / 2, y + height / 2, ink, bold=bold)
        return Box(x, y, width, height)

    def cells(
        self, values: Sequence[Sequence[float]], x: float, y: float, size: float, *,
        height: float | None = None, end: float | None = None, places: int | None = None,
        line: str | None = None, faint: bool = False,
    ) -> Box:  # fmt: skip
        """A matrix: more ink is more. −inf is masked. With places, its numbers stand in it."""
        high = height or size
        finite = [abs(n) for row in values for n in row if math.isfinite(n)]
        end = end or max(finite, default=0) or 1
        for i, row in enumerate(values):
            for j, n in enumerate(row):
                share = min(abs(n) / end, 1) if math.isfinite(n) else 1
                fill = "less" if n < 0 else "more"
                fill = fill if math.isfinite(n) else "masked"
                opacity = share * (0.3 if faint else 1)
                if opacity >= 0.005:
                    self.box(
                        x + j * size, y + i * high, size, high,
                        fill=fill, opacity=opacity, round=0,
                    )  # fmt: skip
                if places is not None:
                    words = minus(fixed(n, places)) if math.isfinite(n) else "−∞"
                    self.text(words, x + (j + 0.5) * size, y + (i + 0.5) * high)
        whole = Box(x, y, len(values[0]) * size, len(values) * high)
        ink = line or "soft"
        self.grid(whole, len(values), len(values[0]), ink, 0.35 if faint else 0.8)
        return whole

    def grid(self, box: Box, down: int, across: int, ink: str, width: float) -> None:
        """The lines between cells, as one path."""
        path = drawsvg.Path(class_=f"{ink}-line", stroke_width=neat(width, 2))
        for i in range(down + 1):
            path.M(neat(box.x), neat(box.y + box.height * i / down)).h(neat(box.width))
        for j in range(across + 1):
            path.M(neat(box.x + box.width * j / across), neat(box.y)).v(neat(box.height))
        self.add(path)

    def frame(self, box: Box, ink: str, width: float = 2.2, room: float = 0) -> None:
        """A line around something: what is chosen."""
        sides = (box.x - room, box.y - room, box.width + 2 * room, box.height + 2 * room)
        self.add(
            drawsvg.Rectangle(*map(neat, sides), rx=2, class_=f"{ink}-line", stroke_width=width)
        )

    def svg(self) -> str:
        """The drawing as a document of its own."""
        sheet = drawsvg.Drawing(
            self.width, self.height, class_=self.kind, role="img", aria_label=escape(self.alt)
        )
        sheet.append_css(style_sheet())
        sheet.append(drawsvg.Rectangle(0, 0, self.width, self.height, class_="paper", rx=6))
        for part in self.parts:
            sheet.append(part)
        return sheet.as_svg(header="")

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        """The drawing, and as pixels for a notebook that shows no SVG: one that is not trusted."""
        png, known = self._repr_png_()
        data = {"image/svg+xml": self.svg(), "image/png": png, "text/plain": repr(self)}
        return data, {"image/png": known}

    def _repr_png_(self) -> tuple[str, dict]:
        """As pixels, in base64, what it says, and the size at which it is shown."""
        size = {"width": math.ceil(self.width), "height": math.ceil(self.height)}
        return drawn(self.svg()), {"alt": self.alt, **size}

    def __repr__(self) -> str:
        return f"Drawing: {self.alt}"


def neat(n: float, places: int = 1) -> float:
    """As few digits as a drawing needs: the same on every machine, and fewer bytes."""
    short = round(float(n), places)
    return int(short) if short == int(short) else short


def toward(start: tuple[float, float], end: tuple[float, float], far: float) -> tuple[float, float]:
    """The point that lies so far from the start, on the way to the end."""
    part = far / (math.dist(start, end) or 1)
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
