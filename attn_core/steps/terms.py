"""The arithmetic of any number of a pass, down to the words and rows that went in."""

from collections.abc import Sequence

from attn_core.arithmetic import Term
from attn_core.checks import brief, check_index
from attn_core.steps.cells import Cell
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.passes import Pass, exact
from attn_core.steps.step import Steps, check_stage


def workings(
    steps: Steps | Pass,
    name: str,
    index: Sequence[int],
    stage: str | None = None,
    *,
    batch: int = 0,
) -> Term:
    """How one number of a pass is computed; its parts are numbers of earlier steps.

    >>> import torch
    >>> from attn_core.layers import LayerNorm
    >>> from attn_core.steps import recording
    >>> norm = LayerNorm(4)
    >>> with recording(norm) as steps:
    ...     _ = norm(torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
    >>> workings(steps, "layer_norm", (0, 3))
    layer_norm[0, 3] = 1.3416 · 1 + 0 = 1.3416
      layer_norm.normed[0, 3] = (4 - 2.5) / √(1.25 + 1e-05) = 1.3416
    >>> print(workings(steps, "layer_norm", (0, 0), "mean").written(0))
    layer_norm.mean[0, 0] = (1 + 2 + 3 + 4) / 4 = 2.5

    steps: the recorded steps, or a pass of them that `run` returned.
    index: (row, column); for a stage of an attention (head, row, column), for words (place,).
    stage: one of the step's stages, or row_max and row_sum of an attention (head, row) or of a
        softmax (row,). Defaults to the step's output.

    Everything is computed in float64 from the weights and what went in. The result prints one level
    of parts; `written(levels)` has more or fewer. Taught in chapter 10.
    """
    run = pass_of(steps)
    step = run.steps[name]
    stage = check_stage(step, stage)
    shape = tuple(run.value(name, stage).shape)
    check_index("batch", batch, shape[0])
    return term_of(Cell(run, step, stage, check_address(name, index, shape[1:]), batch))


def term_of(cell: Cell) -> Term:
    """A number with its line; its parts are written out when they are asked for."""
    line = OPERATIONS[cell.step.operation].line(cell)
    return Term(
        cell.name, cell.index, cell.value, line.how, lambda: map(term_of, line.parts()), levels=1
    )


def pass_of(steps: object) -> Pass:
    """The pass of some steps, or the pass itself; one sentence if a weight was written into."""
    if not isinstance(steps, (Steps, Pass)):
        raise TypeError(f"steps must be Steps or a Pass, got {type(steps).__name__}")
    run = exact(steps) if isinstance(steps, Steps) else steps
    run.steps.check_unchanged()
    return run


def check_address(name: str, index: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(index, Sequence) or isinstance(index, str):
        raise TypeError(f"index of {name} must be {len(shape)} whole numbers, got {brief(index)}")
    if len(index) != len(shape):
        raise ValueError(f"index of {name} must have {len(shape)} numbers, got {tuple(index)}")
    pairs = enumerate(zip(index, shape, strict=True))
    return tuple(check_index(f"index[{n}]", place, size) for n, (place, size) in pairs)
