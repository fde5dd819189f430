"""Chapter 12, level 2: rotary positions."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:
        x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 1.0, 1.0]])
        positions, rates = torch.tensor([1, 2, 3]), torch.tensor([0.9273, 0.2838])
    else:
        draw, pairs = Draws(seed), 2 + seed % 2
        x = draw.uniform(2 + seed % 4, 2 * pairs, low=-2.0, high=2.0, places=1)
        positions = torch.arange(len(x)) + draw.integer(1, 6)
        rates = torch.tensor([1.1, 0.3, 0.05][:pairs]) + draw.uniform(pairs, high=0.1, places=2)
    return {"x": x, "positions": positions, "rates": rates}


def right(x, positions, rates):
    angle = positions.double()[:, None] * rates.double()
    first, second = x.double()[:, 0::2], x.double()[:, 1::2]
    pair = (
        first * angle.cos() - second * angle.sin(),
        first * angle.sin() + second * angle.cos(),
    )
    return torch.stack(pair, dim=-1).flatten(1)


def checks(names, parameters):
    (x, positions, rates), answer = parameters.values(), names["rotate"]
    got = in_shape(answer(x, positions, rates), x.shape)
    shaped = got is not None

    def is_right(*cases):
        return all(same(answer(*case), right(*case), atol=1e-4) for case in cases)

    return [
        Clue("`rotate(x, positions, rates)` has the shape of `x`", shaped),
        Clue(
            "no row becomes longer or shorter",
            shaped and same(got.square().sum(dim=-1), x.double().square().sum(dim=-1), atol=1e-3),
        ),
        (
            "one pair is rotated by its position times its rate, from (1, 0) towards (0, 1)",
            is_right((x[:, :2], positions, rates[:1]), (x[:, 2:4], positions, rates[1:2])),
        ),
        (
            "pair i is columns 2i and 2i + 1, and has rate i",
            is_right((x, positions, rates), (x.flip(1), positions, rates)),
        ),
        (
            "each row is rotated by its position",
            is_right((x, positions.flip(0), rates), (x, 2 * positions, rates)),
        ),
    ]


EXERCISE = Exercise(
    id="12-rotate",
    chapter="12",
    title="Rotate by position",
    level=2,
    points=2,
    text="""\
Write `rotate(x, positions, rates)`, which applies rotary positions to `x` [T, D], the queries or
the keys of one head. The pairs are interleaved: pair i of a row is columns 2i and 2i + 1. In row t
it is rotated by the angle `positions[t] * rates[i]`, in radians, so that a pair (1, 0) moves
towards (0, 1). {% if chapter %}Compare with attn_core: `Rotary(4, pairing="interleaved")` has a
list `rates`, which `torch.tensor` turns into a tensor, and its `rotate(x)` uses the positions
`torch.arange(len(x))`. {%- else %}Try it with `rotate(x, positions, rates)`.{% endif %} *Expected:
six lines in the function. `x[:, 0::2]` has the first number of every pair.*""",
    starter="""\
def rotate(x, positions, rates):
    return ...""",
    solution="""\
import torch


def rotate(x, positions, rates):
    angle = positions[:, None] * rates
    first, second = x[:, 0::2], x[:, 1::2]
    rotated = torch.empty_like(x)
    rotated[:, 0::2] = first * angle.cos() - second * angle.sin()
    rotated[:, 1::2] = first * angle.sin() + second * angle.cos()
    return rotated""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def rotate(x, positions, rates):
    angle = positions[:, None] * rates
    first, second = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)""",
            "You paired column i with column i + D/2. Some models do so; here neighbouring columns "
            "form a pair.",
        ),
        change(
            ("angle.cos() - second", "angle.cos() + second"),
            ("first * angle.sin() + second", "-first * angle.sin() + second"),
            hint="You rotated in the opposite direction, as if the positions were negative.",
        ),
        change(
            "positions[:, None]",
            "torch.arange(len(x))[:, None]",
            hint=(
                "You counted the rows from 0. Rows that come after a cache have later positions: "
                "use `positions`."
            ),
        ),
        Mistake(
            """\
import torch


def rotate(x, positions, rates):
    angle = positions[:, None] * rates
    angle = torch.cat((angle, angle), dim=-1)
    swapped = torch.stack((-x[:, 1::2], x[:, 0::2]), dim=-1).flatten(1)
    return x * angle.cos() + swapped * angle.sin()""",
            "The pairs are right, but their angles are in the order of the other pairing: the two "
            "numbers of a pair must share one angle.",
        ),
        change(
            (
                "first, second = x[:, 0::2], x[:, 1::2]\n    rotated = torch.empty_like(x)",
                "rotated = x.clone()\n    first, second = rotated[:, 0::2], rotated[:, 1::2]",
            ),
            hint=(
                "You computed the second number of each pair from a first number that is already "
                "rotated: `first` is a view of the table that you write into."
            ),
        ),
    ),
    probes=lambda parameters: [
        (torch.eye(4), torch.tensor([0, 1, 10, 3]), torch.tensor([0.5, 0.125])),
        (torch.ones(1, 2), torch.tensor([3]), torch.tensor([0.25])),
    ],
    fields=(
        Field(
            "rotate(x, positions, rates)[0]",
            label=(
                "(1, 2, 3, 4) at position 1, where the first pair's angle has cosine 0.6 and sine "
                "0.8, and the second pair's 0.96 and 0.28"
            ),
        ),
    ),
)
