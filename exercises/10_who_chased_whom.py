"""Chapter 10, level 2: the one head without which the model forgets who does it."""

from functools import cache

from exercises import Clue, Draws, Exercise, change, number, whole


def parameters(seed):
    if seed == 0:
        return {"english": ["Jerry", "chases", "Tom"]}
    draw = Draws(seed)
    verb = draw.choice(["chases", "sees", "follows", "helps", "likes"])
    return {"english": ["Jerry", verb, draw.choice(["Tom", "Spike", "Tyke"])]}


@cache
def written(english, step=None, head=None):
    """The words of the translation, one head switched off; None if there is no such head."""
    from attn_core.steps import Changes
    from attn_core.translators import transformer

    off = [] if step is None else [(step, head)]
    try:
        return transformer.translate(transformer.stored(), english, Changes(heads_off=off)).words
    except (KeyError, ValueError, IndexError):
        return None


def checks(names, parameters):
    english = tuple(parameters["english"])
    step, head = names.get("step"), whole(names.get("head"))
    given = isinstance(step, str) and head is not None and number(head) is not None
    changed = written(english, step, head) if given else None
    right = written(english)
    forgets = changed is not None and changed[0] != right[0] and changed[1:] == right[1:]
    return [
        Clue("`step` and `head` name a head of the model", changed is not None),
        ("without it another word comes first, and the rest as before", forgets),
        (
            "`written_first` is the word that comes first then",
            forgets and names.get("written_first") == changed[0],
        ),
    ]


EXERCISE = Exercise(
    id="10-who-chased-whom",
    chapter="10",
    title="Who did it?",
    level=2,
    points=2,
    text="""\
The chapter's model translates *{{ english | join(" ") }}* rightly. Switch off one head of its 24,
and it forgets who does it: another name comes first, and all other words are as before. Find that
head{% if chapter %} in the machine at the top of the chapter, or in Python{% endif %}. Give the
name of its station, `step`, such as `"encoder.0.attention"`, the number of the `head`, and the
word that the model writes in the place of the first, `written_first`. In Python
`transformer.translate(model, english, Changes(heads_off=[(step, head)]))` translates without it.
*Expected: a loop over six stations and four heads, or some clicks.*""",
    starter="step = ...\nhead = ...\nwritten_first = ...",
    solution="""\
from attn_core.steps import Changes
from attn_core.translators import transformer

step, head = "decoder.1.cross_attention", 3
without = Changes(heads_off=[(step, head)])
written_first = transformer.translate(transformer.stored(), english, without).words[0]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            '"decoder.1.cross_attention", 3',
            '"encoder.0.attention", 3',
            hint="Without that head the translation stays as it is. Look where the decoder reads.",
        ),
        change(
            "transformer.stored(), english, without)",
            "transformer.stored(), english)",
            hint="That is what the model writes with all heads on.",
        ),
    ),
)
