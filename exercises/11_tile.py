"""Chapter 11, level 3: a tile of the weights, from no more than what the tile needs."""

import torch

from exercises import Clue, Draws, Exercise, Handed, Mistake, change, same

READER = """\
import torch


def reader(q, k):
    # A record with one head and a causal mask, of which each row is fetched on its own. What was
    # asked for is kept here, out of an answer's reach.
    masked = (q @ k.T * q.shape[-1] ** -0.5).masked_fill(
        torch.ones(len(q), len(k)).triu(1).bool(), -torch.inf
    )
    row_max = masked.amax(dim=-1)
    row_sum = torch.exp(masked - row_max[:, None]).sum(dim=-1)
    held = {"q": q, "k": k, "row_max": row_max, "row_sum": row_sum}
    asked = {name: set() for name in held}

    def read(name, places):
        places = [int(place) for place in places]
        asked[name].update(places)
        return held[name][places]

    read.asked = asked
    return read
"""


def parameters(seed):
    n, width = (64, 4) if seed == 0 else (40 + 7 * (seed % 5), 3 + seed % 3)
    draw = Draws(seed)
    q, k = (draw.uniform(n, width, low=-1.0) for _ in range(2))
    return {"read": Handed(READER, "reader", 3 * q, k)}


def tile(read, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    q, k, row_max, row_sum = (
        read(name, at) for name, at in zip(read.asked, (i, j, i, i), strict=True)
    )
    masked = (q @ k.T * q.shape[-1] ** -0.5).masked_fill(i[:, None] < j, -torch.inf)
    return torch.exp(masked - row_max[:, None]) / row_sum[:, None]


def checks(names, parameters):
    source = parameters["read"]

    def try_it(rows, cols):
        """Whether the numbers are right, and whether no row too much was read for them."""
        read = Handed(source._code, source._make, *source._arguments)
        is_right = same(names["weights_tile"](read, rows, cols), tile(source, rows, cols))
        needed = {"q": {*rows}, "k": {*cols}, "row_max": {*rows}, "row_sum": {*rows}}
        return is_right, all(read.asked[name] <= needed[name] for name in needed)

    below, below_is_bare = try_it(range(30, 36), range(4, 12))
    on, on_is_bare = try_it(range(20, 30), range(18, 30))
    above, _ = try_it(range(2, 8), range(25, 30))
    return [
        ("a tile below the diagonal", below),
        ("a tile on the diagonal", on),
        Clue("a tile above the diagonal, all zeros", above),
        (
            "right numbers, without reading a row of q or k that the tile does not need",
            below and on and below_is_bare and on_is_bare,
        ),
    ]


EXERCISE = Exercise(
    id="11-tile",
    chapter="11",
    title="A tile of your own",
    level=3,
    points=3,
    text="""\
A record with one head and a causal mask is too long to fit in memory. `read(name, places)` fetches
a few rows of it: `read("q", [7, 8])` returns rows 7 and 8 of q, [2, D], and `"k"` those of k;
`"row_max"` and `"row_sum"` give two numbers, [2]. Write `weights_tile(read, rows, cols)`, which
returns the weights of these rows and columns (two `range`s), with the scale 1/√D. Read only the
rows that the tile needs. {% if chapter -%} Try it with the record from above:
`read = lambda name, places: getattr(record, name)[0, 0][places]`, then
`weights_tile(read, range(1899, 1902), range(775, 780))`; the cells must be those of `record.tile`.
{% endif %}*Expected: about six lines in the function.
`torch.tensor(rows)[:, None] >= torch.tensor(cols)` says which query may see which key.*""",
    starter="""\
def weights_tile(read, rows, cols):
    return ...""",
    solution="""\
import torch


def weights_tile(read, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    q, k = read("q", i), read("k", j)
    scaled = q @ k.T / q.shape[-1] ** 0.5
    masked = scaled.masked_fill(i[:, None] < j, -torch.inf)
    row_max, row_sum = read("row_max", i), read("row_sum", i)
    return torch.exp(masked - row_max[:, None]) / row_sum[:, None]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "torch.exp(masked - row_max[:, None]) / row_sum[:, None]",
            "torch.softmax(masked, dim=-1)",
            hint=(
                "A softmax over the tile knows nothing about the rest of the row. The maximum "
                "and the sum of the whole row are in the record."
            ),
        ),
        change(
            "i[:, None] < j",
            "~torch.ones(len(i), len(j)).tril().bool()",
            hint=(
                "Your mask is a triangle in the tile. The mask belongs to the "
                "whole map: compare the places in the text, not in the tile."
            ),
        ),
        Mistake(
            """\
import torch


def weights_tile(read, rows, cols):
    i, j = torch.tensor(rows), torch.tensor(cols)
    every = range(max(rows.stop, cols.stop))
    q, k = read("q", every), read("k", every)
    scaled = q @ k.T / q.shape[-1] ** 0.5
    hidden = torch.ones_like(scaled).triu(1).bool()
    return torch.softmax(scaled.masked_fill(hidden, -torch.inf), dim=-1)[i][:, j]""",
            (
                "The numbers are right, but you computed the map of all words so far to get a "
                "corner of it. Read only the rows of q and k that the tile needs."
            ),
        ),
        change(
            " / q.shape[-1] ** 0.5",
            "",
            hint="`row_max` is the maximum of *scaled* scores: divide by √D first.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["read"], range(3, 4), range(4)),
        (parameters["read"], range(9, 12), range(5, 11)),
    ],
)
