"""What an operation takes and makes: its inputs, parameters, settings and stages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attn_core.checks import brief
from attn_core.masks import Keep
from attn_core.record import AttentionTrace
from attn_core.steps.cells import Cell, Line

Rows = Float[Tensor, "B T E"]
Inputs = Sequence[Tensor]
Weights = Mapping[str, Tensor]
Settings = Mapping[str, Any]
STATISTICS = ("row_max", "row_sum")  # the two numbers of a softmax's row
REQUIRED = object()


@dataclass(frozen=True)
class Attended:
    """What an attention makes: its record, and the heads side by side."""

    record: AttentionTrace
    merged: Rows

    def __getitem__(self, stage: str) -> Tensor:
        """[B, T, H·Dv] of "merged", [B, H, L, ·] of a stage of the heads."""
        if stage == "merged":
            return self.merged
        if stage in STATISTICS:
            return getattr(self.record, stage)
        return self.record.stage(stage)


Made = Mapping[str, Tensor] | Attended  # each stage by its name


@dataclass(frozen=True)
class Setting:
    """A small value of an operation that is not a weight.

    kind: "number", "whole", "flag", "choice", "mask", "text", or a list of whole numbers, which is
        "heads" or an "index".
    default: its value where a step gives none; without a default, each step must give one.
    least: the smallest number that it may be.
    choices: what a choice is one of.
    is_switch: a program never has it; switching something off sets it.
    """

    kind: str
    default: Any = REQUIRED
    least: float | None = None
    choices: tuple[str, ...] = ()
    is_switch: bool = False

    @property
    def must_be(self) -> str:
        """What a value must be, for a sentence."""
        if self.kind == "choice":
            return " or ".join(map(repr, self.choices))
        said = {
            "number": "a number",
            "whole": "a whole number",
            "flag": "True or False",
            "mask": "a Keep or None",
            "text": "a string",
            "heads": "a list of whole numbers",
            "index": "a list of whole numbers",
        }[self.kind]
        return said if self.least is None else f"{said} of at least {self.least}"

    def fits(self, value: Any) -> bool:
        if self.kind == "choice":
            return value in self.choices
        if self.kind == "mask":
            return value is None or isinstance(value, Keep)
        if self.kind in ("heads", "index"):
            return isinstance(value, (list, tuple)) and all(map(is_whole, value))
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        is_number = is_whole(value) or (self.kind == "number" and isinstance(value, float))
        return is_number and isfinite(value) and (self.least is None or value >= self.least)


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Parameter:
    """A weight of an operation.

    shape: sizes with a space between: E, the columns of what goes in (of words: how many there
        are), a part of them as E/3, and other letters for sizes that the weight decides.
    turned_by: the flag with which the weight is kept the other way round.
    is_optional: a step may go without. unless: (setting, value) with which a step has none.
    """

    shape: str
    turned_by: str | None = None
    is_optional: bool = False
    unless: tuple[str, str] | None = None


OFF = Setting("flag", default=False, is_switch=True)
INPUTS = "inputs"


@dataclass(frozen=True)
class Backward:
    """The backward pass of an operation: from the gradient of its output to those of all it takes.

    formula: makes each stage, with the parameters and settings of the forward step. Its inputs are
        the gradient of the output and what it reads. The gradient of a parameter is the stage
        "grad_" and the role, one for each sentence: [B, ...].
    line: writes out any number of it.
    inputs: for each input the stage that is its gradient, with a number added where there may be
        any number of inputs; None: it has none, as ids have none.
    stages: what is computed before these. statistics: numbers of each row.
    reads: what it needs of the forward step: "inputs", all of them, and stages by their names.
    """

    formula: Callable[[Inputs, Weights, Settings], Made]
    line: Callable[[Cell], Line]
    inputs: tuple[str | None, ...] = ("grad_input",)
    stages: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation:
    """All that is known of an operation; `operations.OPERATIONS` lists them.

    formula: makes each stage from the inputs, the parameters by their roles, and the settings, in
        which defaults stand where a step says nothing.
    line: writes out any number of a step.
    takes: the smallest and the largest number of inputs; None means any number.
    stages: the arrays that it makes, the last being the step's output.
    statistics: numbers of each row that the stages follow from.
    switches: what may be switched off, a field of `Changes`, and which settings that sets; None:
        one head at a time.
    label: its short name in the picture of a model; "" for that of the step.
    is_on_page: whether the page computes it, too (views/page/core/model/operations/).
    backward: its backward pass; if it has none, the reason, a clause.
    """

    name: str
    formula: Callable[[Inputs, Weights, Settings], Made]
    line: Callable[[Cell], Line]
    takes: tuple[int, int | None] = (1, 1)
    stages: tuple[str, ...] = ("output",)
    statistics: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    switches: Mapping[str, Settings | None] = field(default_factory=dict)
    label: str = ""
    is_on_page: bool = True
    backward: Backward | str = ""

    @property
    def is_leaf(self) -> bool:
        """Whether nothing is computed: somebody gives it."""
        return self.takes == (0, 0)

    @property
    def has_output(self) -> bool:
        """Whether the last stage is what a step goes on with, and is named as the step."""
        return True

    def stages_of(self, inputs: Sequence[str], roles: Collection[str]) -> tuple[str, ...]:
        """The stages of a step with these inputs and parameters."""
        return self.stages

    def gradients(self, count: int) -> tuple[str | None, ...]:
        """For each of so many inputs the stage of the backward step that is its gradient."""
        assert isinstance(self.backward, Backward)
        names = self.backward.inputs
        if self.takes[1] is None:
            return tuple(f"{names[0]}_{n}" for n in range(count))
        return names[:count]

    def backward_operation(self) -> "BackwardOperation | None":
        """The operation of the backward steps, if it has any."""
        if isinstance(self.backward, str):
            return None
        back, (least, most) = self.backward, self.takes
        gradients = [name for name in back.inputs if name]
        taken = len(back.reads) + 1
        takes: tuple[int, int | None] = (taken, taken)
        if INPUTS in back.reads:
            takes = taken - 1 + least, None if most is None else taken - 1 + most
        return BackwardOperation(
            f"{self.name}_backward",
            back.formula,
            back.line,
            takes,
            (*back.stages, *gradients, *map(gradient_of, self.parameters)),
            back.statistics,
            self.parameters,
            self.settings,
            is_on_page=False,
            backward="gradients of gradients are not computed",
            of=self,
        )

    def completed(self, settings: Settings) -> Settings:
        """The settings, and the default of each that they leave out."""
        return {name: setting.default for name, setting in self.settings.items()} | dict(settings)

    def __call__(self, inputs: Inputs, weights: Weights, settings: Settings) -> Made:
        return self.formula(inputs, weights, self.completed(settings))

    def check(
        self, name: str, inputs: Sequence[str], roles: Collection[str], settings: Settings
    ) -> None:
        """One sentence if a step has what its operation does not take, or lacks what it needs."""
        check_count(name, len(inputs), self.takes)
        for setting, value in settings.items():
            if setting not in self.settings:
                raise ValueError(
                    f"settings of {name} must be {listed(self.settings)}, got {brief(setting)}"
                )
            if not self.settings[setting].fits(value):
                must_be = self.settings[setting].must_be
                raise ValueError(f"{setting} of {name} must be {must_be}, got {brief(value)}")
        for setting, said in self.settings.items():
            if said.default is REQUIRED and setting not in settings:
                raise ValueError(f"{name} must have the setting {setting}, got none")
        for role in roles:
            if role not in self.parameters:
                raise ValueError(
                    f"parameters of {name} must be {listed(self.parameters)}, got {brief(role)}"
                )
        for role, parameter in self.parameters.items():
            unless, value = parameter.unless or ("", None)
            is_without = parameter.unless is not None and settings.get(unless) == value
            if is_without and role in roles:
                raise ValueError(
                    f"{name} must have no {role} where its {unless} is {value}, got one"
                )
            if role not in roles and not (parameter.is_optional or is_without):
                raise ValueError(f"{name} must have the parameter {role}, got none")


@dataclass(frozen=True)
class BackwardOperation(Operation):
    """The operation of backward steps; `Operation.backward_operation` makes it.

    Its steps have several results and no output: each stage is named.
    """

    of: Operation = field(kw_only=True)

    @property
    def has_output(self) -> bool:
        return False

    def stages_of(self, inputs: Sequence[str], roles: Collection[str]) -> tuple[str, ...]:
        """Without the gradients of inputs and parameters that the forward step does not have."""
        back = self.of.backward
        assert isinstance(back, Backward)
        count = self.of.takes[0]
        if INPUTS in back.reads:
            count = len(inputs) - len(back.reads)
        gradients = [name for name in self.of.gradients(count) if name]
        return (
            *back.stages,
            *gradients,
            *(gradient_of(role) for role in self.parameters if role in roles),
        )


def gradient_of(role: str) -> str:
    """The stage that has the gradient of a parameter."""
    return f"grad_{role}"


def check_count(name: str, count: int, takes: tuple[int, int | None]) -> None:
    least, most = takes
    if count < least or (most is not None and count > most):
        wanted = str(least) if most == least else f"{least} or more"
        if most is not None and most > least:
            wanted = f"{least} or {most}"
        plural = "input" if most == 1 else "inputs"
        raise ValueError(f"{name} must have {wanted} {plural}, got {count}")


def check_one_shape(name: str, x: Tensor, y: Tensor) -> None:
    if x.shape != y.shape:
        shapes = f"{tuple(x.shape)} and {tuple(y.shape)}"
        raise ValueError(f"the inputs of {name} must have one shape, got {shapes}")


def listed(names: Collection[str]) -> str:
    return f"of {', '.join(names)}" if names else "none"
