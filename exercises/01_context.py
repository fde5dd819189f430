"""Chapter 01, level 1: the context of one output word, from its weights and the states."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    if seed == 0:
        states = [[4.0, 0.0], [2.0, 2.0], [3.0, 5.0]]
        return {"weights": torch.tensor([0.8, 0.1, 0.1]), "states": torch.tensor(states)}
    draw = Draws(seed)
    shares = draw.uniform(3 + seed % 3, low=0.1, high=1.1).double()
    states = draw.uniform(len(shares), draw.integer(2, 5), high=8.0)
    return {"weights": (shares / shares.sum()).float(), "states": states}


def checks(names, parameters):
    weights, states = parameters["weights"], parameters["states"]
    answer = names["context"]
    got = answer(weights, states)
    each = torch.eye(len(weights))
    return [
        Clue(
            "`context(weights, states)` has as many numbers as a state",
            has_shape(got, states.shape[1:]),
        ),
        (
            "if one state has all the weight, the result is that state",
            all(same(answer(row, states), state) for row, state in zip(each, states, strict=True)),
        ),
        (
            "it is the sum of the states, each times its weight",
            same(got, (weights[:, None] * states).sum(dim=0)),
        ),
    ]


EXERCISE = Exercise(
    id="01-context",
    chapter="01",
    title="A context of one's own",
    level=1,
    points=1,
    text=(
        "Write `context(weights, states)`, which computes the $c_i$ of one word from its "
        "weights and the states, one state in each row. Try it with {% if chapter "
        "%}`context(torch.tensor([0.0, 0.1, 0.9]), states)`, the third context above{% else "
        "%}`context(weights, states)`{% endif %}. *Expected: one line in the function, or "
        "three with a loop.*"
    ),
    starter="""\
def context(weights, states):
    return ...""",
    solution="""\
def context(weights, states):
    return weights @ states""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "weights @ states",
            "states.mean(dim=0)",
            hint="This is the plain average: every state counts the same, for every word.",
        ),
        change(
            "weights @ states",
            "states[weights.argmax()]",
            hint=(
                "You took only the state with the largest weight. The others contribute their "
                "shares, too."
            ),
        ),
        change(
            "weights @ states",
            "weights[:, None] * states",
            hint="You have multiplied each state by its weight. One step is left: add them up.",
        ),
        change(
            "weights @ states",
            "(weights[:, None] * states).mean(dim=0)",
            hint="Do not divide after adding up: the weights already add up to 1.",
        ),
    ),
    probes=lambda parameters: [
        (torch.tensor([1.0]), parameters["states"][:1]),
        (torch.tensor([0.25, 0.75]), parameters["states"][:2]),
    ],
    fields=(Field("context(torch.tensor([0.0, 0.1, 0.9]), states)"),),
)
