"""Chapter 08, level 2: the heads of each word side by side again."""

import torch

from exercises import Clue, Exercise, Field, change, in_shape, same


def parameters(seed):
    # Each number is its place on the strip that was split; no two sizes are alike but in the first.
    sizes = (1, 3, 2, 2) if seed == 0 else (1 + seed % 2, 3 + seed % 3, 2, 4 + seed % 2)
    b, n, h, d = sizes
    strip = torch.arange(b * n * h * d, dtype=torch.float32)
    heads = strip.view(b, n, h, d).transpose(1, 2)
    return {"heads": heads.contiguous()}


def checks(names, parameters):
    heads = parameters["heads"]
    b, h, n, d = heads.shape
    got = in_shape(names["merge_heads"](heads), (b, n, h * d))
    shaped = got is not None
    strip = torch.arange(b * n * h * d, dtype=torch.float32).view(b, n, h * d)
    own = shaped and all(same(got[:, t].sort(dim=-1)[0], strip[:, t]) for t in range(n))
    return [
        Clue("`merge_heads(heads)` has the shape [b, n, h·d]", shaped),
        ("each row holds the numbers of its word", own),
        ("head 0 comes first, each head in its own order", same(got, strip)),
    ]


EXERCISE = Exercise(
    id="08-merge-heads",
    chapter="08",
    title="The way back",
    level=2,
    points=2,
    text=(
        "Write `merge_heads(heads)`, which turns the output of attention, [b, h, n, d], into "
        "[b, n, h·d], with each word's heads side by side. You do not need a loop. Try it with {% "
        "if chapter %}`right.contiguous()`, the same numbers on a separate strip, head after "
        "head, as attention returns them (in the exercise notebook: `heads`). It must give "
        "back the original strip in three rows, 0 to 3, 4 to 7, 8 to 11{% else "
        "%}`merge_heads(heads)`, where each number is its place on the strip that was split "
        "into heads: the rows must count up from 0{% endif %}. *Expected: two lines in the "
        "function.*"
    ),
    starter="""\
def merge_heads(heads):
    return ...""",
    solution="""\
def merge_heads(heads):
    b, h, n, d = heads.shape
    return heads.transpose(1, 2).reshape(b, n, h * d)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ".transpose(1, 2)",
            "",
            hint=(
                "The shape is right, but the rows mix words: this is the wrong view again, on "
                "the way back. Before you merge, the word axis must come before the head axis."
            ),
            name="heads-merged-by-view",
        ),
        change(
            "transpose(1, 2)",
            "permute(0, 2, 3, 1)",
            hint=(
                "Each row has the right word, but the heads are interleaved: number 0 of every "
                "head, then number 1. `out_proj` expects one head after the other."
            ),
        ),
        change(
            "reshape",
            "view",
            hint=(
                "The idea is right, but `view` raises an error: after `transpose` a word's "
                "numbers are not together in memory. `reshape` copies them, as "
                "`.contiguous().view` does."
            ),
        ),
    ),
    probes=lambda parameters: [
        (torch.arange(24.0).view(1, 3, 4, 2),),
        (torch.arange(30.0).view(1, 2, 5, 3),),
    ],
    fields=(Field("merge_heads(torch.arange(100, 112).view(1, 2, 3, 2))[0]", places=0),),
)
