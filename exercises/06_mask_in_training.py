"""Chapter 06, level 2: in one's own words, why a causal model is trained with its mask."""

import re

from exercises import Exercise

# Chinese has no spaces between words: each of its characters counts as one.
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")


def checks(names, parameters):
    answer = names.get("in_training")
    words = WORD.findall(answer) if isinstance(answer, str) else []
    return [("`in_training` has twenty words or more", len(words) >= 20)]


EXERCISE = Exercise(
    id="06-mask-in-training",
    chapter="06",
    title="No mask in training?",
    level=2,
    points=2,
    text="""\
Someone writes: "In training no mask is needed, because the whole sentence is known." Answer in
three or four sentences: what would a model without a mask learn to do, how would its loss change
during training, and what would happen when the model has to write? Put your answer in the string
`in_training`. It is graded by hand. *Expected: three or four sentences.*""",
    starter='in_training = ""',
    solution="""\
in_training = (
    "The model is asked for the next word, and without a mask that word is in its input. So it "
    "learns to copy that word: the loss falls to almost nothing, even on random words, from which "
    "there is nothing to learn. When it writes, the next word is not there yet, and what it has "
    "learned is of no use."
)""",
    parameters=lambda seed: {},
    checks=checks,
    rubric="""\
- Half of the points: the word that is asked for is among the inputs, so the model copies it.
- A quarter: the loss falls to almost nothing, whether or not there is something to learn.
- A quarter: when the model writes, the next word is not there, and it has learned nothing else.""",
)
