"""The colours of numbers: more ink is more. heat.js draws with the same."""

import math
import statistics

from attn_core.digits import fixed

QUERY, KEY, VALUE = "#0072B2", "#C24E00", "#00795A"
# Paper, middle, ink for positive and for negative numbers.
MORE = ("#ffffff", "#a98fd8", "#3b1f6b")
LESS = ("#ffffff", "#dcbc55", "#8a6d00")
INK, MASKED = "#1b1b22", "#ececf0"

Color = tuple[float, float, float]


def legend_ends(cells: list[list[float]]) -> tuple[float, float, float]:
    """The ends of the colours, low ≤ 0 ≤ high, and the larger of their sizes."""
    finite = [x for row in cells for x in row if math.isfinite(x)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    return low, high or (1.0 if low == 0 else 0.0), max(high, -low) or 1.0


def long_ends(cells: list[list[float]]) -> tuple[float, float, float]:
    """The same for a long map, as map.js has it: the colours end at what half of the rows reach."""
    low, high, end = legend_ends(cells)
    reach = [max((abs(x) for x in row if math.isfinite(x)), default=0.0) for row in cells]
    end = statistics.median_high(reach) or end
    return max(low, -end), min(high, end), end


def cell_text(x: float, is_whole: bool, places: int) -> str:
    """As the explorer writes it: whole numbers if the whole stage is whole."""
    return fixed(x, 0 if is_whole and abs(x) < 1e6 else places)


def rgb_of(color: str) -> Color:
    """
    >>> rgb_of("#ff0033")
    (1.0, 0.0, 0.2)
    """
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red / 255, green / 255, blue / 255


def mix(share: float) -> Color:
    """The colour of a number: its share of the legend's end, −1 to 1."""
    stops = [rgb_of(stop) for stop in (LESS if share < 0 else MORE)]
    t = 2 * min(abs(share), 1.0)
    start, stop, part = (0, 1, t) if t < 1 else (1, 2, t - 1)
    pairs = zip(stops[start], stops[stop], strict=True)
    red, green, blue = (round((a + (b - a) * part) * 255) / 255 for a, b in pairs)
    return red, green, blue


def luminance(color: Color) -> float:
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def ink_on(color: Color) -> str:
    """Ink that reads well (4.5:1) on a cell: soft black if it does, else white or black."""
    light = luminance(color) + 0.05
    if light / (luminance(rgb_of(INK)) + 0.05) >= 4.5:
        return INK
    return "#ffffff" if 1.05 / light >= light / 0.05 else "#000000"


def hex_of(color: Color) -> str:
    return "#" + "".join(f"{round(c * 255):02x}" for c in color)
