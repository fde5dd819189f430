"""Chapter 11, level 1: by hand, what eight heads cost."""

from exercises import Draws, Exercise, Field, Mistake, change, whole


def parameters(seed):
    if seed == 0:
        return {"n_tokens": 1000, "width": 512, "n_heads": 8}
    draw = Draws(seed)
    heads = draw.choice((4, 6, 8, 12))
    return {"n_tokens": draw.integer(50, 3000), "width": heads * 16, "n_heads": heads}


def checks(names, parameters):
    n, width, heads = parameters.values()
    return [
        ("`weights_in_all` is right", whole(names.get("weights_in_all")) == heads * n * n),
        ("`score_products` is right", whole(names.get("score_products")) == n * n * width),
    ]


EXERCISE = Exercise(
    id="11-an-eighth-each",
    chapter="11",
    title="A share for each head?",
    level=1,
    points=1,
    text="""\
Find what is wrong, and show it: "With {{ n_heads }} heads, each has only {% if chapter -%}
1000 · 1000 / 8 = 125,000 weights{% else -%}
one in {{ n_heads }} of the {{ n_tokens }} · {{ n_tokens }} weights{% endif %}, which saves a great
deal." A layer of width `width` has `n_heads` heads and reads `n_tokens` tokens, without a mask. How
many weights are there in all heads together (`weights_in_all`)? How many multiply-adds do all their
scores take (`score_products`)? Compare both with one head of the whole width, on paper: which of
the two has changed? *Expected: two lines. How wide is one head's query?*""",
    starter="weights_in_all = ...\nscore_products = ...",
    solution="""\
weights_in_all = n_heads * n_tokens**2
score_products = n_heads * n_tokens**2 * (width // n_heads)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
weights_in_all = n_tokens**2
score_products = n_tokens**2 * width""",
            (
                "The multiply-adds are right. But the map is not divided among the heads: each "
                "head has a weight for every query and every key."
            ),
        ),
        change(
            "(width // n_heads)",
            "width",
            hint=(
                "The weights are right. But the heads divide the width among them, so each head's "
                "queries and keys are narrower, and each score takes fewer multiply-adds."
            ),
        ),
        Mistake(
            """\
weights_in_all = n_tokens**2 // n_heads
score_products = n_tokens**2 * width // n_heads""",
            "The heads divide the width among them, not the map: each head weighs every pair.",
        ),
    ),
    fields=(Field("weights_in_all", places=0), Field("score_products", places=0)),
)
