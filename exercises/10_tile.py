"""Chapter 10, level 3: a tile of the weights from q, k and two numbers a row."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from exercises import Draws, Exercise, Handed, Mistake, has_shape, numbers, same

RECORD = """\
from types import SimpleNamespace

import torch


def record(q, k, rows=None, cols=None):
    # The row statistics are those of the whole map; then what lies outside a tile becomes nan.
    scale = q.shape[-1] ** -0.5
    masked = (q @ k.T * scale).masked_fill(torch.ones(len(q), len(k)).triu(1).bool(), -torch.inf)
    row_max = masked.amax(dim=-1)
    row_sum = torch.exp(masked - row_max[:, None]).sum(dim=-1)
    q, k = q.clone(), k.clone()
    if rows is not None:
        q[[i for i in range(len(q)) if i not in rows]] = torch.nan
        k[[j for j in range(len(k)) if j not in cols]] = torch.nan
    four = {"q": q, "k": k, "row_max": row_max, "row_sum": row_sum}
    return SimpleNamespace(scale=scale, **{name: one[None, None] for name, one in four.items()})
"""


def parameters(seed):
    n, width = (64, 4) if seed == 0 else (40 + 7 * (seed % 5), 3 + seed % 3)
    draw = Draws(seed)
    q, k = (draw.uniform(n, width, low=-1.0) for _ in range(2))
    return {"record": Handed(RECORD, "record", 3 * q, k)}


def tile(record, rows, cols):
    q, k = record.q[0, 0], record.k[0, 0]
    hidden = torch.ones(len(q), len(k)).triu(1).bool()
    masked = (q @ k.T * record.scale).masked_fill(hidden, -torch.inf)
    return torch.softmax(masked, dim=-1)[rows][:, cols]


def checks(names, parameters):
    record = parameters["record"]
    whole = record.q[0, 0], record.k[0, 0]

    def try_it(record, rows, cols):
        with FlopCounterMode(display=False) as counter:
            found = names["weights_tile"](record, rows, cols)
        return numbers(found), counter.get_total_flops() // 2

    def agrees(tried, rows, cols):
        return same(tried[0], tile(record, rows, cols))

    places = {
        "below the diagonal": (range(30, 36), range(4, 12)),
        "on the diagonal": (range(20, 30), range(18, 30)),
        "above the diagonal, all zeros": (range(2, 8), range(25, 30)),
    }
    tried = {where: try_it(record, *place) for where, place in places.items()}
    width = record.q.shape[-1]
    cheap = all(
        has_shape(tried[where][0], (len(rows), len(cols)))
        and tried[where][1] <= len(rows) * len(cols) * width
        for where, (rows, cols) in places.items()
    )
    place = places["on the diagonal"]
    alone = agrees(try_it(Handed(RECORD, "record", *whole, *place), *place), *place)
    found = [(f"a tile {where}", agrees(tried[where], *place)) for where, place in places.items()]
    return [
        *found,
        ("no product for a cell outside the tile", cheap),
        ("it holds where all of q and k that the tile does not need is `nan`", alone),
    ]


EXERCISE = Exercise(
    id="10-tile",
    chapter="10",
    title="A tile of your own",
    level=3,
    points=3,
    text=(
        "Write `weights_tile(record, rows, cols)`: the weights of these rows and columns (two "
        "`range`s) of a record with one head and a causal mask, without its `tile` and `stage`, "
        "and without computing any other cell. You have `record.q[0, 0]` and `record.k[0, 0]`, "
        "[n, D], `record.row_max[0, 0]` and `record.row_sum[0, 0]`, [n], and `record.scale`. Try "
        "`weights_tile(record, range(1899, 1902), range(775, 780))`. *Expected: six lines in the "
        "function or so. `torch.tensor(rows)[:, None] >= torch.tensor(cols)` says who may see "
        "whom.*"
    ),
    starter="""\
def weights_tile(record, rows, cols):
    return ...""",
    solution="""\
import torch


def weights_tile(record, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    scaled = record.q[0, 0][i] @ record.k[0, 0][j].T * record.scale
    masked = scaled.masked_fill(i[:, None] < j, -torch.inf)
    row_max, row_sum = record.row_max[0, 0][i], record.row_sum[0, 0][i]
    return torch.exp(masked - row_max[:, None]) / row_sum[:, None]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def weights_tile(record, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    scaled = record.q[0, 0][i] @ record.k[0, 0][j].T * record.scale
    masked = scaled.masked_fill(i[:, None] < j, -torch.inf)
    return torch.softmax(masked, dim=-1)""",
            "The softmax of a tile knows nothing of the rest of the row. The row's own maximum and "
            "sum are in the record.",
        ),
        Mistake(
            """\
import torch


def weights_tile(record, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    scaled = record.q[0, 0][i] @ record.k[0, 0][j].T * record.scale
    keep = torch.ones(len(i), len(j)).tril().bool()
    masked = scaled.masked_fill(~keep, -torch.inf)
    row_max, row_sum = record.row_max[0, 0][i], record.row_sum[0, 0][i]
    return torch.exp(masked - row_max[:, None]) / row_sum[:, None]""",
            "Your mask is a triangle in the tile. The mask belongs to the whole map: compare the "
            "places in the text, not in the tile.",
        ),
        Mistake(
            """\
import torch


def weights_tile(record, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    scaled = record.q[0, 0] @ record.k[0, 0].T * record.scale
    n = len(scaled)
    masked = scaled.masked_fill(~torch.ones(n, n).tril().bool(), -torch.inf)
    return torch.softmax(masked, dim=-1)[i][:, j]""",
            "Right numbers, but you made the whole map to look at a corner of it. Take the rows of "
            "q and of k first.",
        ),
        Mistake(
            """\
import torch


def weights_tile(record, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    masked = (record.q[0, 0][i] @ record.k[0, 0][j].T).masked_fill(i[:, None] < j, -torch.inf)
    row_max, row_sum = record.row_max[0, 0][i], record.row_sum[0, 0][i]
    return torch.exp(masked - row_max[:, None]) / row_sum[:, None]""",
            "`row_max` is the maximum of *scaled* scores: multiply by `record.scale` first.",
        ),
    ),
    probes=lambda parameters: [(parameters["record"], range(3, 4), range(4))],
)
