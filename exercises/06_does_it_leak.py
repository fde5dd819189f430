"""Chapter 06, level 3: a test that finds out whether an attention looks ahead."""

import torch

from exercises import Clue, Draws, Exercise, Handed, Mistake, change, truth

ATTEND = """\
import torch


def attend(diagonal, seen=(), alone=False):
    def attend(x):
        T = len(x)
        hidden = ~torch.eye(T).bool() if alone else torch.ones(T, T).triu(diagonal).bool()
        for i, j in seen:
            if T > max(i, j):
                hidden[i, j] = False
        return torch.softmax((x @ x.mT).masked_fill(hidden, -torch.inf), dim=-1) @ x

    return attend
"""


def attend(diagonal, seen=(), alone=False):
    """An attention that hides what lies above a diagonal, or all but the word itself."""
    return Handed(ATTEND, "attend", diagonal, seen, alone)


def parameters(seed):
    T = 6 if seed == 0 else 4 + seed % 4
    x = Draws(seed).uniform(T, 3)
    if seed == 0:
        x = torch.tensor(
            [
                [0.43, 0.15, 0.89],
                [0.55, 0.87, 0.66],
                [0.57, 0.85, 0.64],
                [0.22, 0.58, 0.33],
                [0.77, 0.25, 0.10],
                [0.05, 0.80, 0.55],
            ]
        )
    return {"x": x}


def checks(names, parameters):
    x, answer = parameters["x"], names["leaks"]
    last = len(x) - 1

    def says(*hidden):
        return truth(answer(attend(*hidden), x))

    causal, alone = says(1) is False, says(1, (), True) is False
    sound = causal and alone

    def finds(*hidden):
        return sound and says(*hidden) is True

    return [
        Clue("a causal attention does not leak", causal),
        Clue("an attention in which each word sees only itself does not leak", alone),
        (
            "it finds the leak where there is no mask, and none in the two above",
            finds(last + 1),
        ),
        (
            "it finds the leak where each word sees the next, and none in the two above",
            finds(2),
        ),
        (
            "it finds the leak where the first word sees the second, and none in the two above",
            finds(1, [(0, 1)]),
        ),
        (
            "it finds the leak where the first word sees the last, and none in the two above",
            finds(1, [(0, last)]),
        ),
        (
            "it finds the leak where the second word sees the third, and none in the two above",
            finds(1, [(1, 2)]),
        ),
        (
            "it finds the leak where the second last word sees the last, and none in the two above",
            finds(1, [(last - 1, last)]),
        ),
    ]


EXERCISE = Exercise(
    id="06-does-it-leak",
    chapter="06",
    title="A test that can fail",
    level=3,
    points=3,
    text="""\
Someone gives you `attend`, a function from [T, 3] to [T, 3], and says that it is causal. Write
`leaks(attend, x)`, which returns True if the output of any word depends on a later word, and False
otherwise. You cannot look inside `attend`; you can only call it. *Expected: four to six lines in
the function, one loop. Try it with{% if chapter %}* `lambda x: attention(x, x, x, keep=causal())`
*(from attn_core) {%- else %} a causal attention of your own{% endif %}, then with a mask that leaks
in only one cell.*""",
    starter="""\
def leaks(attend, x):
    return ...""",
    solution="""\
import torch


def leaks(attend, x):
    output = attend(x)
    for t in range(1, len(x)):
        other = x.clone()
        other[t:] += 1
        if not torch.allclose(attend(other)[:t], output[:t]):
            return True
    return False""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def leaks(attend, x):
    other = x.clone()
    other[-1] += 1
    return not torch.allclose(attend(other)[:-1], attend(x)[:-1])""",
            "You changed only the last word, so you miss a leak from the second word to the first.",
        ),
        change(
            "attend(other)[:t], output[:t]",
            "attend(other), output",
            hint=(
                "A changed word may change its own row and "
                "those after it. Compare the rows before it."
            ),
        ),
        Mistake(
            """\
import torch


def leaks(attend, x):
    other = x.clone()
    other[1:] += 1
    return not torch.allclose(attend(other)[0], attend(x)[0])""",
            "You watched only the first word. A later word can look ahead, too.",
        ),
        change(
            ("range(1, len(x))", "range(len(x) - 1)"),
            ("other[t:]", "other[t + 1]"),
            ("attend(other)[:t], output[:t]", "attend(other)[t], output[t]"),
            hint="You checked only neighbouring words. A word can look further ahead.",
        ),
        change(
            ("        other = x.clone()\n        other[t:] += 1\n", ""),
            ("attend(other)[:t], output[:t]", "attend(x[:t]), output[:t], atol=1.0"),
            hint=(
                "Cutting the sentence instead of changing it is a good idea, but compare "
                "precisely: a leak can be small."
            ),
        ),
    ),
    probes=lambda parameters: [
        (attend(0, [(0, 0)]), parameters["x"][:2]),
        (attend(2), parameters["x"][:2]),
    ],
)
