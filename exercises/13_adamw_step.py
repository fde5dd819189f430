"""Chapter 13, level 2: AdamW, from its running means to the weight."""

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    if seed == 0:
        return {"start": 2.0, "slopes": [0.5, -0.5, 0.5], "lr": 0.1, "decay": 0.1}
    draw = Draws(seed)
    slopes = draw.uniform(4, low=0.2, high=2.0, places=1).tolist()
    turned = draw.integer(1, 4)
    slopes = [-n if place == turned else n for place, n in enumerate(slopes)]
    start = float(draw.uniform(1, low=1.0, high=3.0, places=1))
    return {"start": start, "slopes": slopes, "lr": 0.1, "decay": draw.choice((0.1, 0.2, 0.3))}


def right(w, gradients, lr, decay):
    m = v = 0.0
    after = []
    for step, gradient in enumerate(gradients, start=1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        ratio = m / (1 - 0.9**step) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
        w = w - lr * decay * w - lr * ratio
        after.append(w)
    return after


def checks(names, parameters):
    start, slopes, lr, decay = parameters.values()
    answer = names["adamw"]

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    return [
        Clue(
            "`adamw(w, gradients, lr, decay)` has a weight for each gradient",
            has_shape(answer(start, slopes, lr, decay), (len(slopes),)),
        ),
        (
            "the first step moves by `lr`, for a small gradient and for a large one",
            is_right((start, [0.001], lr, 0.0), (start, [-1000.0], lr, 0.0)),
        ),
        (
            "later steps are right without decay",
            is_right((start, slopes, lr, 0.0), (start, slopes[::-1], lr / 2, 0.0)),
        ),
        (
            "later steps are right with decay, too",
            is_right((start, slopes, lr, decay), (-start, slopes, lr, 2 * decay)),
        ),
    ]


EXERCISE = Exercise(
    id="13-adamw-step",
    chapter="13",
    title="AdamW, written out",
    level=2,
    points=2,
    text="""\
Write `adamw(w, gradients, lr, decay)`, which returns a list of the values that AdamW gives the
weight `w`, one after each of the `gradients`, with 0.9 and 0.999 for the running means and
`eps = 1e-8`. {% if chapter %}`adamw(2.0, [0.5, -0.5, 0.5], 0.1, 0.1)` gives the weights from above
{%- else %}Try it with `adamw(start, slopes, lr, decay)`{% endif %}. *Expected: nine lines in the
function.*""",
    starter="""\
def adamw(w, gradients, lr, decay):
    return ...""",
    solution="""\
def adamw(w, gradients, lr, decay):
    m = v = 0.0
    after = []
    for step, gradient in enumerate(gradients, start=1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
        w = w - lr * decay * w - lr * m_hat / (v_hat**0.5 + 1e-8)
        after.append(w)
    return after""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "m / (1 - 0.9**step), v / (1 - 0.999**step)",
            "m, v",
            hint=(
                "Both means begin at 0 and are too close to 0 at first: divide m by 1 − 0.9ᵗ and v "
                "by 1 − 0.999ᵗ."
            ),
        ),
        change(
            "m / (1 - 0.9**step), v / (1 - 0.999**step)",
            "m / (1 - 0.9), v / (1 - 0.999)",
            hint=(
                "Only the first step is right: the correction of the means changes with each step."
            ),
        ),
        change(
            (
                "    for step, gradient in enumerate(gradients, start=1):\n",
                "    for step, gradient in enumerate(gradients, start=1):\n"
                "        gradient = gradient + decay * w\n",
            ),
            ("lr * decay * w - ", ""),
            hint="You added the decay to the gradient. That is Adam with an L2 penalty, not AdamW.",
        ),
        change(
            "lr * decay * w",
            "decay * w",
            hint="Multiply the decay by the learning rate, too.",
        ),
        change(
            "v_hat**0.5",
            "v_hat",
            hint="Divide m̂ by the *square root* of v̂: the first step must be as large as `lr`.",
        ),
        change(
            "0.001 * gradient**2",
            "0.001 * abs(gradient)",
            hint="v is the running mean of the squares.",
        ),
    ),
    probes=lambda parameters: [
        (1.0, [1.0, 1.0], 0.01, 0.0),
        (parameters["start"], parameters["slopes"], 0.05, 0.5),
    ],
    fields=(
        Field("adamw(start, slopes, lr, decay)[1]", label="the weight after two steps", places=3),
        Field(
            "adamw(1.0, [0.2, 0.2], 0.1, 0.0)[1]",
            label="the weight 1 after the gradients 0.2 and 0.2, without decay",
            places=3,
        ),
    ),
)
