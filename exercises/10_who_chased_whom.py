"""Chapter 10, level 2: the one head without which one word of a translation comes out wrong."""

from functools import cache

from exercises import Clue, Draws, Exercise, Field, change, whole

VERBS = ["chases", "sees", "follows", "helps", "likes"]


def parameters(seed):
    """A sentence for which one head of the 24 is missed, and one word is lost without it."""
    if seed == 0:
        return {"english": ["Jerry", "chases", "Spike"]}
    draw = Draws(seed)
    if draw.integer(0, 5) == 0:
        return {"english": ["Jerry", draw.choice(VERBS), draw.choice(["Tom", "Tyke"])]}
    who, whom = draw.choice(["Tom", "Spike", "Tyke"]), draw.choice(["Tom", "Spike"])
    return {"english": [who, draw.choice(["sees", "helps", "likes"]), whom, "in", "the", "garden"]}


@cache
def translated(english, step=None, head=None):
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
    given = isinstance(step, str) and head is not None
    without = translated(english, step, head) if given else None
    lost = []
    if without is not None and len(without) == len(translated(english)):
        pairs = zip(without, translated(english), strict=True)
        lost = [new for new, right in pairs if new != right]
    return [
        Clue("`step` and `head` name a head of the model", without is not None),
        ("without that head one word is different, and the others are the same", len(lost) == 1),
        (
            "`written` is the word that replaces it",
            len(lost) == 1 and isinstance(names.get("written"), str) and names["written"] in lost,
        ),
    ]


EXERCISE = Exercise(
    id="10-who-chased-whom",
    chapter="10",
    title="One head, one word",
    level=2,
    points=2,
    text="""\
The translator {% if chapter %}of this chapter{% else %}`transformer.stored()` of
`attn_core.translators`{% endif %} translates *{{ english | join(" ") }}* correctly. If you switch
off one of its 24 heads, one word comes out wrong, while all others stay the same. Find that
head{% if chapter %}, in the machine at the top or in Python{% endif %}. Give `step`, the name of
its station in Python, such as `"encoder.0.attention"`; `head`, its number; and `written`, the
Chinese word that the model then writes in place of the right one. In Python
`transformer.translate(model, english, Changes(heads_off=[(step, head)])).words` is the translation
without that head; `Changes` is in `attn_core.steps`. *Expected: a loop over six stations and four
heads, or a few clicks.*""",
    starter="step = ...\nhead = ...\nwritten = ...",
    solution="""\
from attn_core.steps import Changes
from attn_core.translators import transformer

model = transformer.stored()
right = transformer.translate(model, english).words
kinds = "decoder.{}.cross_attention", "decoder.{}.self_attention", "encoder.{}.attention"
for one in [(kind.format(n), number) for kind in kinds for n in (0, 1) for number in range(4)]:
    words = transformer.translate(model, english, Changes(heads_off=[one])).words
    if words != right:
        step, head = one
        written = [new for new, old in zip(words, right) if new != old][0]
        break""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "step, head = one",
            'step, head = "encoder.0.attention", one[1]',
            hint="Without that head the translation stays the same. Look where the decoder reads.",
        ),
        change(
            "[new for new",
            "[old for new",
            hint="That is what the model writes with all heads on.",
        ),
        change(
            "step, head = one",
            'step, head = one[0].replace("1", "2"), one[1]',
            hint="Layer 2 of the machine is `1` in Python, which counts from 0.",
        ),
        change(
            "step, head = one",
            "step, head = one[0], one[1] + 1",
            hint="Heads are counted from 0 to 3.",
        ),
    ),
    fields=(Field("head", places=0),),
)
