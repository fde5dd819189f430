"""Chapter 01, level 3: how often two lines of an alignment cross."""

import torch

from attn_core.translators import recurrent
from exercises import Clue, Draws, Exercise, Field, change, whole

ENGLISH = ["Tom", "chases", "Jerry", "in", "the", "garden"]
CHINESE = ["汤姆", "在", "花园", "里", "追逐", "杰瑞"]


def parameters(seed):
    if seed == 0:
        with torch.no_grad():
            return {"weights": recurrent.stored(True).alignment(ENGLISH, CHINESE).stage("weights")}
    scores = Draws(seed).uniform(5 + seed % 3, 4 + seed % 4, high=4.0)
    return {"weights": torch.softmax(scores.double(), dim=-1).float()}


def count(weights):
    looks = weights.argmax(dim=1).tolist()
    return sum(a > b for i, a in enumerate(looks) for b in looks[i + 1 :])


def checks(names, parameters):
    weights, answer = parameters["weights"], names["crossings"]

    def crossings(rows):
        return whole(answer(rows))

    got, even = crossings(weights), torch.eye(4)
    meeting = torch.tensor([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.0, 0.3, 0.7]])
    tall = torch.tensor([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    return [
        Clue("`crossings(weights)` is a whole number", got is not None),
        (
            "four words in the same order have no crossing; in reverse order every pair "
            "crosses, 6 in all",
            (crossings(even), crossings(even.flip(0))) == (0, 6),
        ),
        (
            "rows that look at the same word do not cross: 0, 0, 2, 2 has no crossing, 1, 1, "
            "0 has two",
            (crossings(meeting), crossings(tall)) == (0, 2),
        ),
        ("it is right for `weights`", got == count(weights)),
    ]


EXERCISE = Exercise(
    id="01-crossings",
    chapter="01",
    title="Count the crossings",
    level=3,
    points=3,
    text=(
        "Write the two sentences one above the other and join each Chinese word with the "
        "English word that has the largest weight in its row{% if not chapter %} of "
        "`weights`{% endif %}. How many pairs of lines cross? Write `crossings(weights)`, "
        "which counts the pairs of rows in which the upper row looks further right than the "
        "lower row. If there are none, both sentences have the same word order. Try it with {% if "
        'chapter %}`garden.stage("weights")`{% else %}`crossings(weights)`{% endif %}. '
        "*Expected: two or three lines in the function, or a few more with loops.*"
    ),
    starter="""\
def crossings(weights):
    return ...""",
    solution="""\
def crossings(weights):
    looks = weights.argmax(dim=1)
    is_further = looks[:, None] > looks[None, :]
    return int(is_further.triu(diagonal=1).sum())""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ("looks[:, None] > looks[None, :]", "looks[:-1] > looks[1:]"),
            (".triu(diagonal=1)", ""),
            hint="You compared only neighbours. Lines that start far apart can cross, too.",
        ),
        change(
            "dim=1",
            "dim=0",
            hint=(
                "You took the largest weight of each column. Each Chinese word is a row: use "
                "`dim=1`."
            ),
        ),
        change(
            "looks[:, None] > looks",
            "looks[:, None] >= looks",
            hint="You counted rows that look at the same word. Their lines meet but do not cross.",
        ),
        change(
            "looks[:, None] > looks",
            "looks[:, None] != looks",
            hint=(
                "You counted every pair that looks at different "
                "words. Only pairs in reverse order cross."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["weights"][:1],), (parameters["weights"].flip(0),)],
    fields=(Field("crossings(weights)", label='`crossings(garden.stage("weights"))`', places=0),),
)
