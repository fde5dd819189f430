"""Chapter 10, level 3: switch off one part after the other, always the one least missed."""

from exercises import Clue, Draws, Exercise, Handed, change, listed

COUNTER = """\
def counter(parts, alone, pair, together):
    def count_right(off):
        # Each part costs some of 100 sentences; without both of the pair many more are lost.
        off = set(off)
        cost = sum(loss for part, loss in zip(parts, alone) if part in off)
        return 100 - cost - together * all(part in off for part in pair)

    return count_right
"""


def parameters(seed):
    draw = Draws(seed)
    while True:
        parts = [f"head {n}" for n in range(draw.integer(5, 8))]
        costs = draw.order(len(parts))
        alone = [1 + 2 * costs[n] for n in range(len(parts))]
        pair = [parts[costs.index(0)], parts[costs.index(1)]]
        count_right = Handed(COUNTER, "counter", parts, alone, pair, draw.integer(30, 60))
        least = 100 - draw.integer(14, 24)
        wanted = order(count_right, parts, least)
        if wanted != parts[: len(wanted)]:
            return {"parts": parts, "count_right": count_right, "least": least}


def order(count_right, parts, least):
    off = []
    while len(off) < len(parts):
        left = [part for part in parts if part not in off]
        best = max(left, key=lambda part: count_right([*off, part]))
        if count_right([*off, best]) < least:
            break
        off.append(best)
    return off


def checks(names, parameters):
    count_right, parts, least = (parameters[name] for name in ("count_right", "parts", "least"))
    wanted = order(count_right, parts, least)
    got = listed(names["least_missed"](count_right, parts, least))
    fewer = listed(names["least_missed"](count_right, parts, count_right(wanted[:-1])))
    given = bool(got) and all(isinstance(part, str) and part in parts for part in got)
    given = given and len(set(got)) == len(got)
    return [
        Clue("`least_missed` returns a list of parts, none of them twice", given),
        ("enough sentences stay right without them", given and count_right(got) >= least),
        ("each further part is the one that is least missed", given and got == wanted),
        (
            "if more sentences have to stay right, one part fewer is switched off",
            given and got == wanted and fewer == wanted[:-1],
        ),
    ]


EXERCISE = Exercise(
    id="10-least-missed",
    chapter="10",
    title="Least missed",
    level=3,
    points=3,
    text="""\
Write `least_missed(count_right, parts, least)`. `count_right(off)` says how many sentences a model
translates correctly while the parts in the list `off` are switched off. Begin with all parts on.
Then switch off one more part at a time: the part that, together with those already off,
leaves the most sentences right. If several are equal, take the first in `parts`. Stop before fewer
than `least` sentences would stay right, or when no part is left. Return the list of parts that are
off, in the order in which they were switched off. (Two parts may do the same work: neither is
missed on its own, but together they are.) *Expected: about eight lines in the function.*""",
    starter="def least_missed(count_right, parts, least):\n    return ...",
    solution="""\
def least_missed(count_right, parts, least):
    off = []
    while len(off) < len(parts):
        left = [part for part in parts if part not in off]
        best = max(left, key=lambda part: count_right([*off, part]))
        if count_right([*off, best]) < least:
            break
        off.append(best)
    return off""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ("max(left, key=lambda part: count_right([*off, part]))", "left[0]"),
            hint="You take the parts in their given order. Take the part that is least missed.",
        ),
        change(
            "key=lambda part: count_right([*off, part])",
            "key=lambda part: -count_right([*off, part])",
            hint="You take the part that is missed most.",
        ),
        change(
            "key=lambda part: count_right([*off, part])",
            "key=lambda part: count_right([part])",
            hint=(
                "You count with only one part off. When you count, the parts that "
                "you chose earlier must be off, too."
            ),
        ),
    ),
    probes=lambda parameters: [
        (parameters["count_right"], parameters["parts"][::-1], parameters["least"]),
        (parameters["count_right"], parameters["parts"], 0),
    ],
)
