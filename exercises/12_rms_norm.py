"""Chapter 12, level 1: RMSNorm."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    if seed == 0:
        return {
            "x": torch.tensor([[1.0, 3.0, 3.0, 9.0], [14.0, 2.0, 10.0, 10.0]]),
            "gain": torch.tensor([1.0, 2.0, 1.0, 0.5]),
        }
    draw, width = Draws(seed), 4 + seed % 3
    scales = torch.tensor([[1.0], [3.0], [0.5]])  # rows of one size hide a mistake
    return {
        "x": draw.uniform(3, width, low=0.2, high=2.0) * scales,
        "gain": draw.uniform(width, low=0.3, high=2.0, places=1),
    }


def right(x, gain, eps):
    x = x.double()
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * gain


def checks(names, parameters):
    x, gain, answer = parameters["x"], parameters["gain"], names["rms_norm"]

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    ones = torch.ones_like(gain)
    return [
        Clue(
            "`rms_norm(x, gain, eps)` has the shape of `x`",
            has_shape(answer(x, gain, 1e-5), x.shape),
        ),
        (
            "each row is divided by the root of its own mean square",
            is_right((x, ones, 1e-5), (x.flip(1), ones, 1e-5)),
        ),
        ("each column is multiplied by its gain", is_right((x, gain, 1e-5), (x, 2 * gain, 1e-5))),
        ("eps is added under the root", is_right((x, ones, 0.5), (x / 100, gain, 0.01))),
    ]


EXERCISE = Exercise(
    id="12-rms-norm",
    chapter="12",
    title="RMSNorm",
    level=1,
    points=1,
    text="""\
Write `rms_norm(x, gain, eps)`, which divides each row of the table `x` by the square root of its
mean square, with `eps` added under the root, and then multiplies each column by its number in
`gain`. Try it with
{% if chapter %}`x = torch.tensor([[1.0, 3.0, 3.0, 9.0], [14.0, 2.0, 10.0, 10.0]])`,
`gain = torch.tensor([1.0, 2.0, 1.0, 0.5])` and a small eps{% else %}`rms_norm(x, gain, 1e-5)`
{%- endif %}. *Expected: two lines in the function.*""",
    starter="""\
def rms_norm(x, gain, eps):
    return ...""",
    solution="""\
def rms_norm(x, gain, eps):
    mean_square = (x**2).mean(dim=-1, keepdim=True)
    return x / (mean_square + eps) ** 0.5 * gain""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ("(x**2).mean", "((x - x.mean(dim=-1, keepdim=True)) ** 2).mean"),
            ("return x /", "return (x - x.mean(dim=-1, keepdim=True)) /"),
            hint="You subtracted the mean first, as layer norm does. RMSNorm leaves it in.",
        ),
        change(
            "(dim=-1, keepdim=True)",
            "()",
            hint="You took one mean square for the whole sentence. Take one for each row.",
        ),
        change(
            "(mean_square + eps) ** 0.5",
            "(mean_square**0.5 + eps)",
            hint="You added eps to the root. Add it to the mean square, under the root.",
        ),
        change(" * gain", "", hint="The rows are right. Now multiply each column by its gain."),
        change(
            " ** 0.5",
            "",
            hint="You divided by the mean square. Divide by its square root.",
        ),
        change(
            ".mean(",
            ".sum(",
            hint="You divided by the length of the row. Take the mean of the squares, not the sum.",
        ),
    ),
    probes=lambda parameters: [
        (-parameters["x"][:1], parameters["gain"], 0.25),
        (torch.zeros(2, 3), torch.ones(3), 1e-5),
    ],
    fields=(Field("rms_norm(x, gain, 1e-5)"),),
)
