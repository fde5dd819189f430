"""Chapter 01, level 3: how often two lines of an alignment cross."""

import torch

from attn_core import seq2seq
from exercises import Draws, Exercise, Field, Mistake, whole

ENGLISH = ["Tom", "chases", "Jerry", "in", "the", "garden"]
CHINESE = ["汤姆", "在", "花园", "里", "追逐", "杰瑞"]


def parameters(seed):
    if seed == 0:
        with torch.no_grad():
            return {"weights": seq2seq.stored(True).alignment(ENGLISH, CHINESE).stage("weights")}
    scores = Draws(seed).uniform(5 + seed % 3, 4 + seed % 4, high=4.0)
    return {"weights": torch.softmax(scores, dim=-1)}


def count(weights):
    looks = weights.argmax(dim=1).tolist()
    return sum(a > b for i, a in enumerate(looks) for b in looks[i + 1 :])


def checks(names, parameters):
    weights, answer = parameters["weights"], names["crossings"]
    got = whole(answer(weights))
    straight = torch.tensor([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.0, 0.3, 0.7]])
    turned = torch.eye(4).flip(0)
    tall = torch.tensor([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    return [
        ("`crossings(weights)` is a whole number", got is not None),
        ("two rows that look at the same word do not cross", whole(answer(straight)) == 0),
        (
            "four words in the reverse order: each pair crosses, 6 in all",
            whole(answer(turned)) == 6,
        ),
        ("rows that look at the words 1, 1, 0: two pairs cross", whole(answer(tall)) == 2),
        ("it is right for `weights`", got == count(weights)),
    ]


EXERCISE = Exercise(
    id="01-crossings",
    chapter="01",
    title="Count the crossings",
    level=3,
    points=3,
    text=(
        "Write the two sentences one above the other and join each Chinese word with the English "
        "word that has the largest weight in its row. How many pairs of lines cross? Write "
        "`crossings(weights)`, which counts the pairs of rows, the upper one looking further "
        "right than the lower one. None means: the same order in both languages. Try it with "
        '`garden.stage("weights")`. *Expected: two or three lines in the function, or a few more '
        "with loops.*"
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
        Mistake(
            """\
def crossings(weights):
    looks = weights.argmax(dim=1)
    return int((looks[:-1] > looks[1:]).sum())""",
            "You compared neighbours only. Lines that start far apart can cross, too.",
        ),
        Mistake(
            """\
def crossings(weights):
    looks = weights.argmax(dim=0)
    is_further = looks[:, None] > looks[None, :]
    return int(is_further.triu(diagonal=1).sum())""",
            "You took the largest of each column. A row is a Chinese word: `dim=1`.",
        ),
        Mistake(
            """\
def crossings(weights):
    looks = weights.argmax(dim=1)
    is_further = looks[:, None] >= looks[None, :]
    return int(is_further.triu(diagonal=1).sum())""",
            "You counted rows that look at the same word. Their lines meet and do not cross.",
        ),
        Mistake(
            """\
def crossings(weights):
    looks = weights.argmax(dim=1)
    return int((looks[:, None] != looks[None, :]).triu(diagonal=1).sum())""",
            "You counted every pair that looks at different words. Only pairs in reverse order "
            "cross.",
        ),
    ),
    probes=lambda parameters: [(parameters["weights"][:1],), (parameters["weights"].flip(0),)],
    fields=(Field("crossings(weights)", label='`crossings(garden.stage("weights"))`', places=0),),
)
