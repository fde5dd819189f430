"""Chapter 06, level 2: a causal mask for a batch that is padded on the left."""

import torch

from exercises import Clue, Exercise, Field, change, in_shape, is_truth


def parameters(seed):
    if seed == 0:
        return {"lengths": [6, 2], "T": 6}
    T = 4 + seed % 3
    return {"lengths": [T, 1 + seed % 2, T - 1], "T": T}


def checks(names, parameters):
    lengths, T = parameters["lengths"], parameters["T"]
    said = names["keep_left"](lengths, T)
    mask = in_shape(said, (len(lengths), T, T))
    is_bool = mask is not None and is_truth(said)
    got = mask.bool() if is_bool else None
    i = torch.arange(T)
    future = i > i[:, None]
    is_word = i >= T - torch.tensor(lengths)[:, None, None]
    keeps = is_bool and bool(got.any())
    return [
        Clue("`keep_left(lengths, T)` has the shape [B, T, T]", mask is not None),
        Clue("its numbers are True and False", is_bool),
        (
            "some query sees a key, and none sees a later one",
            keeps and not bool((got & future).any()),
        ),
        (
            "some query sees a key, and none sees padding",
            keeps and not bool((got & ~is_word).any()),
        ),
        (
            "everything else is kept, for the queries of the padding, too",
            is_bool and torch.equal(got, ~future & is_word),
        ),
    ]


EXERCISE = Exercise(
    id="06-left-padding",
    chapter="06",
    title="Padding on the left",
    level=2,
    points=2,
    text="""\
A batch is padded on the *left*: sentence b has `lengths[b]` words, which are at the end of its `T`
places.{% if chapter %} (`padding(lengths)` does not do this: it keeps the first places.)
{%- endif %} Write `keep_left(lengths, T)`, which returns the bool tensor [B, T, T] that is True for
every key that is neither padding nor later than the query. Try it with
{% if chapter %}`keep_left([6, 2], 6)`: its second table is shown above.
{%- else %}`keep_left(lengths, T)`.{% endif %} If shapes differ, torch
stretches an axis of size 1, or one that is missing at the front, until it fits (*broadcasting*,
广播): [T] with [T, 1] gives [T, T], and [B, 1, 1] with [T] gives [B, 1, T]. *Expected: three
lines in the function. Compare the places by number, and let shapes broadcast.*""",
    starter="""\
def keep_left(lengths, T):
    return ...""",
    solution="""\
import torch


def keep_left(lengths, T):
    place = torch.arange(T)
    is_word = place >= T - torch.tensor(lengths)[:, None, None]
    return is_word & (place <= place[:, None])""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "place >= T - torch",
            "place < torch",
            hint="That is padding on the right: your words are at the beginning.",
        ),
        change(
            "place >= T",
            "place[:, None] >= T",
            hint="You hid the padding as queries, in the rows. Hide it as keys, in the columns.",
            name="padding-on-queries",
        ),
        change(
            ("is_word = place >= T", "is_pad = place < T"),
            ("is_word & (place <= place[:, None])", "is_pad | (place > place[:, None])"),
            hint="Your True marks the keys to *hide*. Here True keeps.",
            name="mask-turned",
        ),
        change(
            "is_word & (place <= place[:, None])",
            "is_word.expand(-1, T, -1)",
            hint="You hid the padding, but not the later words.",
        ),
    ),
    probes=lambda parameters: [([1], 1), ([2, 3, 1], 3)],
    fields=(Field("keep_left([2], 3)[0].int()", places=0),),
)
