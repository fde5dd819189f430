"""What somebody gives: words, or rows."""

from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Inputs, Made, Operation, Setting, Settings, Weights


def leaf(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """What is given, not made."""
    return {"output": inputs[0]}


def words_line(cell: Cell) -> Line:
    """chases (17)."""
    vocabulary, word = cell.run.words(cell.step.name), int(cell.value)
    if vocabulary is None or not 0 <= word < len(vocabulary):  # the id of targets that are ignored
        return Line(str(word))
    return Line(f"{vocabulary[word]} ({word})")


def given_line(cell: Cell) -> Line:
    return Line(written(cell.value))


WORDS = Operation("words", leaf, words_line, takes=(0, 0), settings={"side": Setting("text")})
GIVEN = Operation("given", leaf, given_line, takes=(0, 0), is_on_page=False)
