"""The steps of a pass: what came in, which operation, what came out."""

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from attn_core.checks import brief
from attn_core.masks import Keep
from attn_core.record import AttentionTrace
from attn_core.stamps import Stamp, counting
from attn_core.steps.operations import OPERATIONS

Value = Tensor | AttentionTrace
BACKWARD = "backward"  # "norm.backward" computes the gradients of the step norm


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step: its inputs are names of earlier steps, its parameters names of the model's.

    >>> Step("sum", "add", ("x", "y"))
    sum = add(x, y)

    operation: what is done, one of `operations.OPERATIONS`, which says what each takes.
    inputs: "norm" is the output of the step norm, "norm.normed" a stage before it.
    settings: small values of the operation, such as an eps or a mask.
    value: what the model computed, in its dtype and in the caller's rank; for an attention, its
        record.

    Taught in chapter 10.
    """

    name: str
    operation: str
    inputs: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    value: Value | None = None

    @property
    def stages(self) -> tuple[str, ...]:
        """The arrays that the step makes; the last is its output."""
        return OPERATIONS[self.operation].stages_of(self.inputs, self.parameters)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The stages, and the statistics of their rows."""
        return self.stages + OPERATIONS[self.operation].statistics

    @property
    def output(self) -> str | None:
        """The stage that is named as the step; None of a backward step, which has several."""
        return self.stages[-1] if OPERATIONS[self.operation].has_output else None

    @property
    def all_settings(self) -> Mapping[str, Any]:
        """The settings, and the default of each that they leave out."""
        return OPERATIONS[self.operation].completed(self.settings)

    def check(self) -> None:
        """ValueError with one sentence if its operation does not take what it has."""
        if self.operation not in OPERATIONS:
            known = ", ".join(name for name, known in OPERATIONS.items() if known.has_output)
            raise ValueError(
                f"operation of {self.name} must be one of {known}, got {brief(self.operation)}"
            )
        operation = OPERATIONS[self.operation]
        operation.check(self.name, self.inputs, self.parameters, self.settings)

    def to_json(self) -> dict:
        """The form in which a page gets it: all but the value."""
        settings = dict(self.settings)
        if isinstance(settings.get("keep"), Keep):
            settings["keep"] = settings["keep"].to_json()
        return {
            "name": self.name,
            "operation": self.operation,
            "inputs": list(self.inputs),
            "parameters": dict(self.parameters),
            "settings": settings,
            "stages": list(self.stages),
        }

    def __repr__(self) -> str:
        made = "" if self.value is None else f" {list(self.value.shape)}"
        return f"{self.name} = {self.operation}({', '.join(self.inputs)}){made}"


class Steps(Mapping[str, Step]):
    """The steps of a pass by their names, in an order in which each comes after its inputs.

    >>> steps = Steps([Step("x", "given"), Step("made", "tanh", ("x",))])
    >>> list(steps), steps["made"].inputs
    (['x', 'made'], ('x',))

    weights: the parameters and buffers that the steps name, as the model holds them.
    words: the vocabulary of each leaf of words, where it is known.

    `recording` makes them. Taught in chapter 10.
    """

    def __init__(
        self,
        steps: Sequence[Step] = (),
        weights: Mapping[str, Tensor] | None = None,
        words: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        for step in steps:
            step.check()
        check_names(steps)
        self.steps = {step.name: step for step in steps}
        self.weights = dict(weights or {})
        self.words = dict(words or {})
        self.known: dict[str, Any] = {}  # what was computed of them
        self.close()

    def __getitem__(self, name: str) -> Step:
        if name not in self.steps:
            raise KeyError(f"name must be one of the {len(self)} steps, got {brief(name)}")
        return self.steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    # A Mapping's own would ask for each step by its name.

    def __contains__(self, name: object) -> bool:
        return name in self.steps

    def values(self) -> ValuesView[Step]:
        return self.steps.values()

    def items(self) -> ItemsView[str, Step]:
        return self.steps.items()

    def place(self, address: str) -> tuple[Step, str]:
        """The step and the stage that an input names."""
        name, _, stage = address.rpartition(".")
        if address in self.steps or name not in self.steps:
            return self[address], check_stage(self[address], None)
        return self[name], check_stage(self[name], stage)

    def record(self, name: str) -> AttentionTrace:
        """The record of an attention, as the model computed it."""
        value = self[name].value
        if not isinstance(value, AttentionTrace):
            raise ValueError(f"name must be that of a recorded attention, got {name!r}")
        return value

    def with_softmax(self, name: str = "probabilities") -> "Steps":
        """The same steps and one more: the softmax over the numbers of the last one."""
        last = list(self)[-1]
        return self.replaced([*self.values(), Step(name, "softmax", (last,))])

    def with_loss(
        self,
        targets: Int[Tensor, "*B T"] | Sequence[int],
        *,
        ignored: int | None = None,
        words: Sequence[str] | None = None,
    ) -> "Steps":
        """The same steps and two more: the targets, and the loss of the last scores.

        >>> import torch
        >>> steps = Steps([Step("scores", "given", value=torch.tensor([[[9.0, 4.0, 1.0]]]).log())])
        >>> from attn_core.steps import run
        >>> run(steps.with_loss([1])).value("loss").exp()
        tensor([[3.5000]], dtype=torch.float64)

        The loss is cross-entropy: the mean of −ln(probability of the target) over all places. If
        the last step is a softmax, the scores are its input.

        targets: the id of the right word for each row of the scores, [T] or [B, T].
        ignored: the id of places that do not count, such as padding.
        words: the vocabulary of the targets, so that lines can name them.

        Taught in chapter 13.
        """
        last = list(self.values())[-1]
        scores = last.inputs[0] if last.operation == "softmax" else last.name
        right = Step(
            "targets", "words", settings={"side": "targets"}, value=as_tensor("targets", targets)
        )
        settings = {} if ignored is None else {"ignored": ignored}
        loss = Step("loss", "cross_entropy", (scores, right.name), settings=settings)
        known = {} if words is None else {right.name: words}
        return Steps([*self.values(), right, loss], self.weights, {**self.words, **known})

    def replaced(self, steps: Sequence[Step]) -> "Steps":
        """Other steps with the same weights and words."""
        self.check_unchanged()
        return Steps(steps, self.weights, self.words)

    def close(self) -> None:
        """From now on a tensor that is written in place is found out.

        Inference tensors do not count their writes: it keeps copies of them.
        """
        self.weights = {name: counting(weight) for name, weight in self.weights.items()}
        for name, step in self.steps.items():
            if isinstance(step.value, Tensor) and not step.inputs:
                self.steps[name] = replace(step, value=counting(step.value))
        self.stamp = Stamp(**self.tensors())

    def check_unchanged(self) -> None:
        """Raises one sentence if a weight or what went in was written in place since."""
        self.stamp.check(**self.tensors())

    def weights_of(self, step: Step) -> dict[str, Tensor]:
        """The parameters of a step, each by its role; one sentence if one was written into."""
        names = step.parameters.values()
        self.stamp.check(**{name: self.weights[name] for name in names})
        return {role: self.weights[name] for role, name in step.parameters.items()}

    def tensors(self) -> dict[str, Tensor]:
        """All that the numbers follow from, by names that an error can use."""
        leaves = {name: step.value for name, step in self.steps.items() if not step.inputs}
        given = {name: value for name, value in leaves.items() if isinstance(value, Tensor)}
        return self.weights | given

    def __repr__(self) -> str:
        """A line for each step."""
        return "\n".join(map(repr, self.values()))


def check_stage(step: Step, stage: str | None) -> str:
    """The stage's name; the output's unless one is given."""
    if stage is None and step.output is not None:
        return step.output
    if stage not in step.arrays:
        raise ValueError(
            f"stage of {step.name} must be one of {', '.join(step.arrays)}, got {brief(stage)}"
        )
    return stage


def check_names(steps: Sequence[Step]) -> None:
    names = [step.name for step in steps]
    if len(set(names)) < len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise ValueError(f"steps must have names that differ, got {twice!r} twice")


def as_tensor(name: str, value: Sequence[int] | Tensor) -> Tensor:
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be ids or a torch tensor, got {brief(value)}") from None


def with_settings(step: Step, **settings: object) -> Step:
    """The step with some settings more, or others."""
    return replace(step, settings={**step.settings, **settings})
