"""The pass of some steps, computed again in float64 from the weights and what is given."""

from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from torch import Tensor

from attn_core.checks import brief, check_index
from attn_core.record import AttentionTrace
from attn_core.steps.changes import Changes
from attn_core.steps.operation import Attended, Made
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.step import Step, Steps, as_tensor, check_stage

Input = Sequence[int] | Tensor
NOTHING = Changes()


class Pass:
    """Every number of a pass in float64, each step computed when it is first asked for.

    >>> steps = Steps([Step("x", "given"), Step("made", "softmax", ("x",))])
    >>> run(steps, x=torch.tensor([[1.0, 1.0]])).value("made")
    tensor([[[0.5000, 0.5000]]], dtype=torch.float64)

    `run` makes it. Taught in chapter 10.
    """

    def __init__(self, steps: Steps, inputs: dict[str, Tensor], changes: Changes = NOTHING) -> None:
        self.steps, self.inputs = changes.applied(steps), inputs
        self.made: dict[str, Made] = {}

    def value(self, name: str, stage: str | None = None) -> Shaped[Tensor, "B ..."]:
        """All numbers of a stage, [B, T, E], or [B, H, ·] for heads. Defaults to the output.

        For words, these are their ids [B, T].
        """
        step = self.steps[name]
        return self.stages(name)[check_stage(step, stage)]

    def place(self, address: str) -> tuple[Step, str]:
        """The step and the stage that an input of a step names."""
        return self.steps.place(address)

    def record(self, name: str) -> AttentionTrace:
        """The record of an attention in this pass."""
        made = self.stages(name)
        if not isinstance(made, Attended):
            raise ValueError(f"name must be that of an attention, got {name!r}")
        return made.record

    def stages(self, name: str) -> Made:
        """What a step makes."""
        wanted = self.steps[name].name
        if wanted not in self.made:
            for step in self.steps.values():
                if step.name not in self.made:
                    self.made[step.name] = self.computed(step)
                if step.name == wanted:
                    break
        return self.made[wanted]

    @torch.no_grad()
    def computed(self, step: Step) -> Made:
        operation = OPERATIONS[step.operation]
        if operation.is_leaf:
            inputs = [self.inputs[step.name]]
        else:
            places = map(self.place, step.inputs)
            inputs = [self.value(source.name, stage) for source, stage in places]
        return operation(inputs, self.weights(step.name), step.settings)

    def weights(self, name: str) -> dict[str, Tensor]:
        """The parameters of a step in float64, each by its role."""
        named = self.steps.weights_of(self.steps[name]).items()
        return {role: weight.detach().double() for role, weight in named}

    def words(self, name: str) -> Sequence[str] | None:
        """The vocabulary of a leaf of words, where it is known."""
        return self.steps.words.get(name)


def run(steps: Steps, changes: Changes = NOTHING, **inputs: Input) -> Pass:
    """The pass of these steps over other words, or with something switched off, in float64.

    >>> from attn_core.steps import recording
    >>> from attn_core.transformer import Transformer
    >>> model = Transformer(9, 7, width=4, num_heads=2, hidden=8, num_layers=1)
    >>> with recording(model) as steps:
    ...     _ = model(torch.tensor([[3, 4, 5]]), torch.tensor([[1, 2]]))
    >>> without = Changes(heads_off=[("encoder.0.attention", 1)])
    >>> run(steps, without, source=[5, 6]).value("encoder.0.attention")[0, :, 2:]
    tensor([[0., 0.],
            [0., 0.]], dtype=torch.float64)

    changes: what is switched off.
    inputs: what goes in, by the names of the leaves: ids of words [T] or [B, T], rows [T, E] or
        [B, T, E]. Defaults to what was recorded.

    The formulas and the numbers are those of the page. ValueError for a name that is not a leaf,
    and for an id without a row. Taught in chapter 10.
    """
    leaves = {step.name: step for step in steps.values() if OPERATIONS[step.operation].is_leaf}
    for name in inputs:
        if name not in leaves:
            raise ValueError(f"inputs must be named {' or '.join(leaves)}, got {brief(name)}")
    values = {name: leaf_value(step, inputs.get(name)) for name, step in leaves.items()}
    for step in steps.values():
        if step.operation == "embed":
            check_ids(
                step.inputs[0], values[step.inputs[0]], steps.weights[step.parameters["weight"]]
            )
    return Pass(steps, values, changes)


def exact(steps: Steps) -> Pass:
    """The pass as it was recorded, in float64; computed once."""
    if not isinstance(steps.known.get("pass"), Pass):
        steps.known["pass"] = run(steps)
    return steps.known["pass"]


def leaf_value(step: Step, passed: Input | None) -> Tensor:
    """[B, T] of words, [B, T, E] in float64 of rows."""
    value = step.value if passed is None else as_tensor(step.name, passed)
    if not isinstance(value, Tensor):
        raise ValueError(f"{step.name} must be given, got nothing: these steps hold no values")
    if step.operation == "words":
        if value.is_floating_point() or value.ndim not in (1, 2) or value.numel() == 0:
            raise ValueError(
                f"{step.name} must be ids [T] or [B, T], at least one, got {value.dtype} of shape "
                f"{tuple(value.shape)}"
            )
        return value.reshape(-1, value.shape[-1]).clone()
    if value.ndim < 2:
        raise ValueError(f"{step.name} must be rows [T, E] or [B, T, E], got {tuple(value.shape)}")
    return value.detach().double().reshape(-1, *value.shape[-2:]).clone()


def check_ids(name: str, ids: Tensor, table: Tensor) -> None:
    for word in (int(ids.min()), int(ids.max())):
        check_index(f"an id of {name}", word, len(table))
