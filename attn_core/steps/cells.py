"""One number of a pass, with what its line asks for: rows of its inputs, weights, other numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from torch import Tensor

from attn_core.arithmetic import kept_terms, numbers
from attn_core.record import AttentionTrace


class Line(NamedTuple):
    """How a number is written out, and the numbers that it is made of."""

    how: str
    parts: Callable[[], Iterable["Cell"]] = tuple


class StepOfCell(Protocol):
    """What a cell asks of its step; `step.Step` has it."""

    @property
    def name(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def output(self) -> str | None: ...
    @property
    def arrays(self) -> tuple[str, ...]: ...
    @property
    def all_settings(self) -> Mapping[str, Any]: ...


class PassOfCell(Protocol):
    """What a cell asks of its pass; `passes.Pass` has it."""

    @property
    def steps(self) -> Mapping[str, StepOfCell]: ...
    def value(self, name: str, stage: str | None = None) -> Tensor: ...
    def place(self, address: str) -> tuple[StepOfCell, str]: ...
    def record(self, name: str) -> AttentionTrace: ...
    def weights(self, name: str) -> dict[str, Tensor]: ...
    def words(self, name: str) -> Sequence[str] | None: ...


@dataclass(frozen=True, eq=False)
class Cell:
    """A number's address in a pass: of which step and stage, where in it, of which sentence."""

    run: PassOfCell
    step: StepOfCell
    stage: str
    index: tuple[int, ...]
    batch: int

    @property
    def name(self) -> str:
        """Of a stage that is not the output both names."""
        is_output = self.stage == self.step.output
        return self.step.name if is_output else f"{self.step.name}.{self.stage}"

    @cached_property
    def value(self) -> float:
        return self.numbers_of(self.step, self.stage)[self.index].item()

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.step.all_settings

    @property
    def is_off(self) -> bool:
        """Whether the step is switched off."""
        return self.settings["off"]

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """The step's parameters in float64."""
        return self.run.weights(self.step.name)

    @property
    def width(self) -> int:
        """The columns of the step's output."""
        return self.run.value(self.step.name).shape[-1]

    def at(self, stage: str, *index: int) -> "Cell":
        """Another number of the same step."""
        return replace(self, stage=stage, index=index)

    def in_sentence(self, batch: int) -> "Cell":
        """The number in its place in another sentence."""
        return replace(self, batch=batch)

    def in_each_sentence(self) -> list["Cell"]:
        sentences = len(self.run.value(self.step.name, self.stage))
        return [self.in_sentence(batch) for batch in range(sentences)]

    def input(self, n: int, *index: int) -> "Cell":
        """A number of an input."""
        step, stage = self.run.place(self.step.inputs[n])
        return replace(self, step=step, stage=stage, index=index)

    def array(self, stage: str) -> Tensor:
        """All numbers of a stage of the same step in this sentence."""
        return self.numbers_of(self.step, stage)

    def input_array(self, n: int) -> Tensor:
        """All numbers of an input in this sentence."""
        return self.numbers_of(*self.run.place(self.step.inputs[n]))

    def numbers_of(self, step: StepOfCell, stage: str) -> Tensor:
        """Those of a stage in this sentence, or what all sentences share."""
        made = self.run.value(step.name, stage)
        return made[self.batch if len(made) > 1 else 0]

    def input_row(self, n: int, row: int) -> list[float]:
        """A row of an input."""
        return numbers(self.input_array(n)[row])

    def shown_of_input(self, n: int, row: int) -> list["Cell"]:
        """The numbers of a row of an input that a line of them writes."""
        return [self.input(n, row, i) for i in kept_terms(len(self.input_row(n, row)))]
