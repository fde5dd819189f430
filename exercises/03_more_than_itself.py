"""Chapter 03, level 1: a word that scores higher with a word than that word with itself."""

import torch

from exercises import Clue, Draws, Exercise, Mistake, in_shape


def parameters(seed):
    if seed == 0:  # "step" of the chapter's sentence
        return {"one_word": [0.05, 0.80, 0.55]}
    numbers = Draws(seed).uniform(3, low=0.2, high=1.2, places=2)
    return {"one_word": [round(float(number), 2) for number in numbers]}


def checks(names, parameters):
    word = torch.tensor(parameters["one_word"], dtype=torch.float64)
    other = in_shape(names.get("louder_word"), (3,))
    given = other is not None and bool(other.isfinite().all() and other.any())
    cosine = torch.nn.functional.cosine_similarity(word, other, dim=0) if given else 1.0
    louder, elsewhere = given and bool(word @ other > word @ word), given and bool(cosine < 0.8)
    return [
        Clue(
            "your word's dot product with `one_word` is larger than that of `one_word` with itself",
            louder,
        ),
        Clue("yet it is less similar: the cosine is below 0.8", elsewhere),
        ("both at once", louder and elsewhere),
    ]


EXERCISE = Exercise(
    id="03-more-than-itself",
    chapter="03",
    title="More alike than itself?",
    level=1,
    points=1,
    text="""\
Find what is wrong, and show it: "The higher the dot product, the more similar the two words." Make
`louder_word`, a list of three numbers whose dot product with `one_word` is larger than that of
`one_word` with itself, although it points in another direction, with a cosine below 0.8. (The
cosine is the dot product, divided by both lengths.) *Expected: one line. What does a dot product
measure besides the direction?*""",
    starter="louder_word = ...",
    solution="""\
smallest = one_word.index(min(one_word))
louder_word = [100.0 * (place == smallest) for place in range(3)]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            "louder_word = [2 * number for number in one_word]",
            (
                "Your vector is longer, but it points in the same direction: its cosine is 1. "
                "Its direction must differ as well."
            ),
        ),
        Mistake(
            "louder_word = list(one_word)",
            "That is the word itself, with the same length and the same direction.",
        ),
        Mistake(
            "louder_word = [-2 * number for number in one_word]",
            "It points in the opposite direction, so its dot product is negative.",
        ),
    ),
)
