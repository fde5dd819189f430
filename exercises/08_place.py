"""Chapter 08, level 1: the place on the strip of each number of each head."""

import torch

from exercises import Clue, Exercise, Field, change, has_shape, numbers, same, whole


def parameters(seed):
    if seed == 0:
        words, heads, width = 3, 2, 2
    else:
        words, heads, width = 2 + seed % 5, 2 + seed % 3, 1 + (seed + 1) % 4
    return {"words": words, "heads": heads, "width": width}


def table(function, words, heads, width):
    """What the answer says for every number, as [heads, words, width], or None."""
    return numbers(
        [
            [[whole(function(h, t, i, heads, width)) for i in range(width)] for t in range(words)]
            for h in range(heads)
        ]
    )


def checks(names, parameters):
    words, heads, width = parameters["words"], parameters["heads"], parameters["width"]
    places = table(names["place"], words, heads, width)
    given = has_shape(places, (heads, words, width))
    strip = torch.arange(words * heads * width)
    right = strip.view(words, heads, width).transpose(0, 1)
    other = table(names["place"], 4, 3, 5)
    other_right = torch.arange(60).view(4, 3, 5).transpose(0, 1)
    return [
        Clue("`place(h, t, i, heads, width)` gives one whole number", given),
        Clue("head 0 of word 0 begins at place 0", given and places[0, 0, 0].item() == 0),
        ("every place is used once", given and same(places.flatten().sort()[0], strip)),
        ("each head gets some numbers of every word, in order", same(places, right)),
        ("it is also right for 4 words and 3 heads of 5 numbers", same(other, other_right)),
    ]


EXERCISE = Exercise(
    id="08-place",
    chapter="08",
    title="Which place on the strip?",
    level=1,
    points=1,
    text=(
        "Write `place(h, t, i, heads, width)` for the first text. It returns the place on the "
        "strip of number `i` of word `t` in head `h`, after `.view(b, n, heads, "
        "width).transpose(1, 2)`. A head has `width` numbers for each word. {% if chapter "
        "%}With `heads` = 2 and `width` = 2 it must give the first of the two tables.{% else "
        "%}Number 0 of word 1 in head 0 comes right after all numbers of word 0: try "
        "`place(0, 1, 0, heads, width)`.{% endif %} *Expected: one line in the function.*"
    ),
    starter="""\
def place(h, t, i, heads, width):
    return ...""",
    solution="""\
def place(h, t, i, heads, width):
    return t * heads * width + h * width + i""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "t * heads * width + h * width",
            "h * 3 * width + t * width",
            hint=(
                "This is the wrong view for three words: head 1 begins "
                "in the middle of the sentence. From word to word it is "
                "`heads * width` places, from head to head only `width`."
            ),
            name="heads-split-by-view",
        ),
        change(
            "h * width + i",
            "i * heads + h",
            hint=(
                "Every word keeps its numbers, but you deal them out to the heads in turn. A "
                "head's numbers are together, where the product with the head's matrix has put "
                "them."
            ),
        ),
        change(
            "t * heads * width",
            "t * width",
            hint=(
                "From word to word you step over only one head, but a word has numbers for all "
                "heads."
            ),
        ),
    ),
    probes=lambda parameters: [(2, 3, 1, 5, 7), (0, 0, 0, 1, 1)],
    fields=(Field("place(1, 2, 0, heads=2, width=2)", places=0),),
)
