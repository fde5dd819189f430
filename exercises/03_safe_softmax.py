"""Chapter 03, level 2: the softmax of each row, safe for scores of any size."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, in_shape, same


def parameters(seed):
    if seed == 0:
        rows = [[1000.0, 999.0, 998.0], [-1000.0, -999.0, -998.0], [0.5, 0.0, -0.5]]
        return {"table": torch.tensor(rows)}
    shape = (2 + seed % 3, 3 + seed % 2)
    table = Draws(seed).uniform(*shape)
    table[0] += 1000.0 + seed % 100
    table[1] -= 1000.0 + seed % 100
    return {"table": table}


def checks(names, parameters):
    table, answer = parameters["table"], names["safe_softmax"]
    got = in_shape(answer(table), table.shape)
    shaped = got is not None
    small = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.5, 0.5]])
    wide = torch.tensor([[0.0, 1000.0, -1000.0]])
    finite = shaped and bool(torch.isfinite(got).all())

    def is_softmax(*tables):
        return all(same(answer(table), torch.softmax(table, dim=-1)) for table in tables)

    return [
        Clue("`safe_softmax(table)` has the shape of `table`", shaped),
        ("for small scores it is the softmax of each row", is_softmax(small, -small)),
        Clue("it contains no `nan` and no `inf`", finite),
        Clue("each row adds up to 1", finite and same(got.sum(dim=-1), torch.ones(len(got)))),
        (
            "for `table`, too, it is the softmax of each row",
            same(got, torch.softmax(table, dim=-1)),
        ),
        ("it is also right for a row that contains 1000 and −1000", is_softmax(wide, wide.roll(1))),
    ]


EXERCISE = Exercise(
    id="03-safe-softmax",
    chapter="03",
    title="A softmax that holds",
    level=2,
    points=2,
    text=(
        "Write `safe_softmax(table)`, which computes the softmax of each row of a table of "
        "scores with exp and sums, without overflow. (You can compare it with `torch.softmax`.) "
        "It must work for scores near 1000, for scores near −1000, for both in one table, and "
        "for both in one row, as in `[0.0, 1000.0, -1000.0]`. Try it with {% if chapter "
        "%}`table = torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -999.0, -998.0], [0.5, "
        "0.0, -0.5]])`{% else %}`safe_softmax(table)`{% endif %}. *Expected: three lines in "
        "the function. `keepdim=True` keeps a column that can be subtracted from a table.*"
    ),
    starter="""\
def safe_softmax(table):
    return ...""",
    solution="""\
import torch


def safe_softmax(table):
    row_max = table.amax(dim=-1, keepdim=True)
    exps = torch.exp(table - row_max)
    return exps / exps.sum(dim=-1, keepdim=True)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "torch.exp(table - row_max)",
            "torch.exp(table)",
            hint=(
                "This is right for small scores, but exp(1000) is `inf`. Subtract the largest "
                "score first."
            ),
            name="naive-softmax",
        ),
        change(
            "table.amax(dim=-1, keepdim=True)",
            "table.max()",
            hint=(
                "You subtracted the largest score of the whole table. In a row far below it, "
                "every exp becomes 0, and 0/0 is `nan`. Subtract the maximum of each row."
            ),
        ),
        change(
            ("amax(dim=-1", "amax(dim=0"),
            ("sum(dim=-1", "sum(dim=0"),
            hint="Your columns add up to 1. Each query is a row, so use the last axis.",
            name="softmax-over-queries",
        ),
        change(
            ("table.amax", "table.abs().amax"),
            ("table - row_max", "table / row_max"),
            hint=(
                "Nothing overflows, but dividing changes the differences between scores, "
                "and with them the weights. Subtracting leaves the differences alone."
            ),
        ),
        change(
            "table.amax",
            "table.mean",
            hint=(
                "The number that you subtracted from each row is not its largest score. If the "
                "largest score is far above it, the exp of the difference is still `inf`."
            ),
        ),
        change(
            "table.amax",
            "table.amin",
            hint=(
                "You subtracted the smallest score of each row. Then every exponent "
                "is 0 or more, and in a row with both 1000 and −1000 the larger ones overflow."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["table"][:1],), (-parameters["table"],)],
    fields=(Field("safe_softmax(table)", places=3),),
)
