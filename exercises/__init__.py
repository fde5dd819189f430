"""The form of an exercise. One file per exercise, `exercises/NN_slug.py`, defines `EXERCISE`:

    import torch

    from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


    def parameters(seed):
        if seed == 0:  # seed 0 is what the chapter itself has at this place
            return {"x": torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]])}
        draw = Draws(seed)
        return {"x": draw.uniform(draw.integer(2, 5), 3, places=2)}


    def checks(names, parameters):
        x = parameters["x"]
        got = names["scores"](x)
        return [
            Clue("`scores(x)` has the shape [T, T]", has_shape(got, (len(x), len(x)))),
            ("row i, column j is x[i]·x[j]", same(got, x @ x.T)),
        ]


    EXERCISE = Exercise(
        id="03-all-scores",
        chapter="03",
        title="All scores at once",
        level=1,
        points=1,
        text="Write `scores(x)`: the score of every query with every key. *Expected: one line.*",
        starter="def scores(x):\\n    return ...",
        solution="def scores(x):\\n    return x @ x.T",
        parameters=parameters,
        checks=checks,
        mistakes=(
            change("@ x.T", "* x", hint="`*` multiplies cell by cell."),
        ),
        probes=lambda parameters: [(torch.zeros(1, 3),), (parameters["x"][:1],)],
        fields=(Field("scores(x)"),),
    )

A starter, a solution and a mistake are run with the names of `parameters(seed)` already there, so
the chapter must define these names above the exercise, or the answer must be a function that the
checks call with the parameters. Whatever else the code needs, it imports. Any whole number up to
2**32 may come as a seed: draw from `Draws`, and keep sizes small with `%`. Compute what has to be
rounded in float64 and hand it out as float32: then every processor gives the same numbers.

An answer is what the starter's names hold in the end: values, functions, or a text (a string; the
exercise has a `rubric`, and a person grades it). Two exercises of a chapter share no such name.

`text` appears in the chapter and, with different numbers, in a student's handout. So a number that
the parameters hold is written as `{{ token }}`, and what only the chapter has, such as a name or a
table above, goes between `{% if chapter %}` and `{% else %}` or `{% endif %}` (these are Jinja's
marks). A number in the text that is the same for all students is listed in `CONSTANTS` of
`tests/grading/test_handouts.py`. The text should not forbid what no check enforces: an answer that
calls `torch.softmax` to compute a softmax is not caught.

`checks(names, parameters)` gets all names that the answer left behind. The answer's functions are
there even where the answer lacks them, and one that raises answers None; each gets copies of what
it is asked with, so that a check's own inputs stay as they are. A blank answer (`...`, a function
that returns None) fails every check, and whatever else an answer holds, no check raises. A right
answer may come in any form, as float64 or bfloat16, as an array, a list or fractions, with one
leading axis of 1 too many, unless the text asks for a form. So compare with what
`exercises.comparing` has: `same`, `near`, `has_shape`, or the answer's numbers `in_shape`, its
`number`, `whole` number, `truth`, `listed` words or `parts`, which are None where it has none. A
function that gives several values has their names in the exercise's `parts`, as in
`03_shuffled_weights.py`: an answer may give them by these names, too.

Each check is worth the same share of the points, except a `Clue`, which is shown but earns nothing:
a check that an answer can pass without computing anything, for example with zeros of the right
shape. `exercises.idle` has such answers, and measures what they earn. A check with one fixed right
value is passed by an answer that always gives that value, so ask for at least two. A reader sees
the checks; grading runs the same ones with numbers that
nobody has seen, and asks the first function for the `probes` too, whose right answers are the
solution's; they count as one check more. To that end a function may be called with numbers,
strings, tensors, ranges, lists, tuples and dicts of these, and with `Handed` functions, and with
nothing else, and the parameters hold nothing that the answer is to find. What an answer must not do
is counted in such a function, which stays out of its reach: `11-tile` counts what is read.

A known mistake is written as what differs from the solution: `change("old", "new", hint="…")`. The
old text occurs in the solution once; where one text is not enough, several such pairs stand in
parentheses. A mistake that shares little with the solution is a `Mistake("its code", "its hint")`.
Either kind must fail a check, and is recognised by its answers: for every seed they must differ
from those of the solution and of every other mistake. If it is one of attn_core.mistakes,
it has its `name`.

`near(got, wanted)` compares typed numbers to two decimals, or to as many `places` as asked for.

`fields` are the values that the page asks for, where there is no Python.

`make exercise NEW=06-two-rows` begins an exercise: its file, with a small example to replace, and
its box behind the others of the chapter. `make notebooks ONLY=06` writes it into the notebooks,
into the chapter where a cell has the tag `exercise:<id>`.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from exercises.comparing import (
    has_shape,
    in_shape,
    is_truth,
    listed,
    near,
    number,
    numbers,
    parts,
    same,
    tensor,
    truth,
    whole,
)
from exercises.draws import Draws
from exercises.form import LEVELS, Clue, Exercise, Field, Names, Parameters
from exercises.functions import Handed
from exercises.known import Mistake, change

__all__ = [
    "LEVELS",
    "Clue",
    "Draws",
    "Exercise",
    "Field",
    "Handed",
    "Mistake",
    "Names",
    "Parameters",
    "change",
    "has_shape",
    "in_shape",
    "is_truth",
    "listed",
    "load",
    "near",
    "number",
    "numbers",
    "parts",
    "same",
    "tensor",
    "truth",
    "whole",
]

HERE = Path(__file__).parent


def load(folder: Path = HERE) -> dict[str, Exercise]:
    """Every exercise of a folder by its id, in the order of the file names."""
    exercises: dict[str, Exercise] = {}
    for path in sorted(Path(folder).glob("[0-9]*.py")):
        loader = SourceFileLoader(f"{__name__}.{path.stem}", str(path))
        module = ModuleType(loader.name)
        loader.exec_module(module)
        exercise = module.EXERCISE
        if exercise.id in exercises:
            raise ValueError(f"two exercises have the id {exercise.id!r}")
        exercises[exercise.id] = exercise
    return exercises
