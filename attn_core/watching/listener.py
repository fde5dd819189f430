"""Who is told of what the modes see: the watcher, as they know it."""

from collections.abc import Callable
from typing import Any, Protocol

from torch import Tensor

from attn_core.watching.arguments import Arguments


class Listener(Protocol):
    """Hears of attentions, and says whether it wants to."""

    paths: list[str]  # of the modules that run now, the innermost last
    dropping: float  # p of the dropout that runs now

    @property
    def is_listening(self) -> bool: ...

    @property
    def heads(self) -> int | None: ...  # as the module that runs says

    def held(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a function gives; how it computes it is not looked at."""

    def while_dropping(
        self, p: float, function: Callable, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        """What a dropout gives."""

    def safely(self, told: Callable, *args: Any) -> None:
        """Calls what must not reach the model, whatever goes wrong in it."""

    def attended(
        self,
        kind: str,
        make: Callable[[], Arguments],
        output: Callable[[], Tensor],
        paths: tuple[str, ...] = (),
    ) -> None:
        """An attention has just been computed, in the module that runs now.

        paths: further modules that had a part in it.
        """
