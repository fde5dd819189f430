"""The still of an explorer: its first state as one picture, for paper and where no script runs."""

import textwrap

from PIL import Image

from attn_core.arithmetic import workings
from attn_core.views.fonts import font_families
from attn_core.views.given import GivenWeights, Numbers
from attn_core.views.heat import INK
from attn_core.views.heatmap import all_heads, draw, figure
from attn_core.views.labels import selection_text
from attn_core.views.picture import Picture
from attn_core.views.visible import visible
from attn_core.views.wide import in_float64

MOST_SHOWN = 32  # the page draws longer axes as a map, which opens near the selected number
NEAR, SPAN = 3, 10  # how many cells before the selected one, and how many in all


def still(record: Numbers, view: dict, tokens: dict, names: list[str] | None) -> Picture:
    """A picture whose `png()` has all parts of the first state, and whose `alt` tells them."""
    stage, place = view["stage"], {"batch": view["batch"], "head": view["head"]}
    select, hidden = view["select"], view.get("hide", [])
    is_long = max(record.shape[2], record.columns(stage)) > MOST_SHOWN
    how = "max" if is_long else "mean"
    whole = figure(
        record,
        stage,
        tokens=tokens["queries"],
        key_tokens=tokens["keys"],
        select=select,
        how=how,
        head_names=names,
        places=min(4, view["places"]),
        **place,
    )
    tokens = {side: [*map(visible, labels)] for side, labels in tokens.items()}
    below = []
    if select is not None:
        if is_long:
            whole.supxlabel("")
            below.append(near(record, stage, tokens, select, place))
        explain(whole if not below else below[-1], record, stage, tokens, select, place)
    above = []
    if record.shape[1] > 1 and "head" not in hidden:
        above.append(all_heads(record, stage, view["batch"], how, names, chosen=view["head"]))
    if not above and not below:
        return whole
    return Sheet(whole, [*above, whole, *below])


class Sheet(Picture):
    """Several pictures, one under the other."""

    def __init__(self, first: Picture, parts: list[Picture]) -> None:
        super().__init__()
        self.parts = parts
        self.summary, self.alt = first.summary, " ".join(part.alt for part in parts if part.alt)

    def part_images(self) -> list[Image.Image]:
        return [image for part in self.parts for image in part.part_images()]


def near(record: Numbers, stage: str, tokens: dict, select: list[int], place: dict) -> Picture:
    """The cells around the selected one, with their numbers."""
    sizes = record.shape[2], record.columns(stage)
    starts = [max(0, min(n - NEAR, size - SPAN)) for n, size in zip(select, sizes, strict=True)]
    rows, cols = (range(a, min(a + SPAN, n)) for a, n in zip(starts, sizes, strict=True))
    cells = in_float64(record).tile(stage, rows, cols, **place).tolist()
    keys = [str(d) for d in cols] if stage == "output" else tokens["keys"][cols.start : cols.stop]
    inside = [n - start for n, start in zip(select, starts, strict=True)]
    queries = tokens["queries"][rows.start : rows.stop]
    return draw(cells, stage, queries, keys, 4, inside)


def explain(
    picture: Picture,
    record: Numbers,
    stage: str,
    tokens: dict,
    select: list[int],
    place: dict,
) -> None:
    """Under a picture a sentence about the selected number, and the first line of its workings."""
    keys = tokens["keys"]
    if stage == "output":
        keys = [str(d) for d in range(record.columns(stage))]
    said = selection_text(record, stage, select, tokens["queries"], keys, *place.values())
    lines = [said]
    if not isinstance(record, GivenWeights):  # of which nothing is known but the number
        lines += textwrap.wrap(workings(record, stage, *select, **place).text, 96)
    text = "\n".join(lines)
    style = {"fontsize": 9.5, "color": INK, "family": font_families(text)}
    picture.supxlabel(text.replace("$", r"\$"), **style)
