"""Who is told of what the modes see, as they know it: a watcher, or an editor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attn_core.watching.arguments import Arguments

Arrange = Callable[[Tensor], Tensor]


def unchanged(tensor: Tensor) -> Tensor:
    return tensor


@dataclass(frozen=True)
class Attended:
    """An attention that has just been computed, in the module that runs now."""

    kind: str
    make: Callable[[], Arguments]
    output: Tensor
    arrange: Arrange = unchanged  # brings a tensor of the output's shape to [*lead, L, Dv]
    paths: tuple[str, ...] = ()  # further modules that had a part in it
    # What it was computed from, where autograd no longer sees what happens to the output. A change
    # is then written into the output.
    factors: Sequence[Tensor] = ()


class Listener(ABC):
    """Hears of attentions, and says whether it wants to."""

    paths: list[str]  # of the modules that run now, the innermost last
    dropping: float  # p of the dropout that runs now

    @property
    @abstractmethod
    def is_listening(self) -> bool: ...

    @property
    @abstractmethod
    def heads(self) -> int | None: ...  # as the module that runs says

    @abstractmethod
    def held(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a function gives; how it computes it is not looked at."""

    @abstractmethod
    def while_dropping(
        self, p: float, function: Callable, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        """What a dropout gives."""

    @abstractmethod
    def safely(self, told: Callable, *args: Any) -> None:
        """Calls what neither mode sees, and handles its errors."""

    @abstractmethod
    def heard(self, attended: Attended) -> Tensor:
        """Gives the output that the model goes on with."""

    @abstractmethod
    def returned(self, values: object) -> None:
        """A function of torch gives these values, which autograd knows."""
