"""Chapter 12, level 3: a sink's share taken from outputs that were computed without it."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    draw, heads = Draws(seed), 3 + seed % 2
    # As many words as heads: a sink that is given to a word instead of a head raises no error.
    q, k, v = (draw.uniform(heads, heads, 2, low=-2.0, high=2.0).double() for _ in range(3))
    scaled = (q @ k.mT) * q.shape[-1] ** -0.5
    return {
        "output": (torch.softmax(scaled, dim=-1) @ v).float(),
        "lse": scaled.logsumexp(dim=-1).float(),
        "sink": draw.uniform(heads, low=-1.0, high=1.0, places=1) + torch.arange(heads) / 2,
    }


def right(output, lse, sink):
    gate = torch.sigmoid(lse.double() - sink.double()[:, None])
    return output * gate[..., None]


def checks(names, parameters):
    output, lse, sink = parameters.values()
    answer = names["with_sink"]

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    return [
        Clue(
            "`with_sink(output, lse, sink)` has the shape of `output`",
            has_shape(answer(output, lse, sink), output.shape),
        ),
        (
            "one head and one word: a sink as large as `lse` takes half",
            is_right(
                (output[:1, :1], lse[:1, :1], lse[0, :1]),
                (output[1:2, :1], lse[1:2, :1], lse[1, :1] + 1),
            ),
        ),
        (
            "each word of each head keeps a different share, and each head has a different sink",
            is_right((output, lse, sink), (output, lse, sink.flip(0))),
        ),
        (
            "scores in the thousands cause no overflow",
            is_right((output, lse + 1000, sink + 1000), (output, lse - 1000, sink - 1000)),
        ),
    ]


EXERCISE = Exercise(
    id="12-sink-gate",
    chapter="12",
    title="A sink, afterwards",
    level=3,
    points=3,
    text="""\
A head with a sink has one more score in the softmax of each of its rows. The sink has no value: its
weight is lost, and the others add up to less than 1. But a fast kernel, which shows no weights, has
computed these heads without their sinks. It returns `output` [H, T, D] and, for each row, `lse` [H,
T]: the log of the sum of exp(scaled score) over all keys. Write `with_sink(output, lse, sink)`,
which returns the output of the same heads with the learned scores `sink` [H], one for each head. It
must also work if `lse` is in the thousands. {% if chapter %}Compare with attn_core: for q, k and v
[B, H, T, D], `trace(q, k, v)` has `output` and `lse` without the sinks, and
`attention(q, k, v, sinks=sink)` is the output with them.{% else %}Try it with
`with_sink(output, lse, sink)`.{% endif %} *Expected: two lines in the function. Write one weight
with the sink and one without it as fractions, and divide.*""",
    starter="""\
def with_sink(output, lse, sink):
    return ...""",
    solution="""\
import torch


def with_sink(output, lse, sink):
    gate = torch.sigmoid(lse - sink[:, None])
    return output * gate[..., None]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "lse - sink[:, None]",
            "sink[:, None] - lse",
            hint="That is the share of the sink. The output keeps the rest.",
        ),
        change(
            "torch.sigmoid(lse - sink[:, None])",
            "lse.exp() / (lse.exp() + sink[:, None].exp())",
            hint=(
                "This is right on paper, but exp(1000) is `inf`. Subtract the two before you "
                "take exp."
            ),
        ),
        change(
            "torch.sigmoid(lse - sink[:, None])",
            "lse.exp() / (lse.exp() + sink[:, None])",
            hint="The sink is a score. Take exp of it, as of every score in a softmax.",
        ),
        change(
            "torch.sigmoid(lse - sink[:, None])",
            "lse / torch.logaddexp(lse, sink[:, None])",
            hint="A weight is a ratio of two sums, not of their logs.",
        ),
        change(
            "sink[:, None]",
            "sink",
            hint="You gave each word a sink. The sinks belong to the heads: H is the first axis.",
        ),
        change(
            "output * gate[..., None]",
            "output * gate[..., None] + (1 - gate[..., None]) * sink[:, None, None]",
            hint="You added the sink to the output. A sink has no value, so its share is lost.",
        ),
    ),
    probes=lambda parameters: [
        (torch.ones(2, 5, 3), torch.arange(10.0).view(2, 5) / 4, torch.tensor([0.5, -2.0])),
        (parameters["output"][:2], parameters["lse"][:2], parameters["sink"][:2]),
    ],
    fields=(
        Field(
            "with_sink(torch.tensor([[[10.0, 20.0]]]), torch.tensor([[4.0]]).log(), "
            "torch.zeros(1))[0]",
            label=(
                "the output of a row whose head has a sink of 0; its scores are 0 and ln 3, and "
                "without a sink its output is (10, 20)"
            ),
        ),
    ),
)
