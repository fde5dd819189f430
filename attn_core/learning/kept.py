"""Items kept at some steps of a training, up to a bound: the longer it runs, the sparser."""

from typing import Generic, TypeVar

Item = TypeVar("Item")


class Kept(Generic[Item]):
    """An item for each step that is a multiple of `every`, at most `most` of them.

    >>> kept = Kept(every=1, most=4)
    >>> for step in range(10):
    ...     if kept.is_due(step):
    ...         kept.add(step, f"after {step}")
    >>> list(kept.items), kept.every
    ([0, 4, 8], 4)

    When there are more, every second one is dropped and `every` doubles.
    """

    def __init__(self, every: int, most: int) -> None:
        self.every, self.most = every, most
        self.items: dict[int, Item] = {}

    def is_due(self, step: int) -> bool:
        return step % self.every == 0

    def add(self, step: int, item: Item) -> None:
        self.items[step] = item
        while len(self.items) > self.most:
            self.every *= 2
            self.items = {n: one for n, one in self.items.items() if self.is_due(n)}

    def before(self, step: int) -> int | None:
        """The last step up to this one of which there is an item."""
        return max((n for n in self.items if n <= step), default=None)

    def drop_after(self, step: int) -> None:
        self.items = {n: one for n, one in self.items.items() if n <= step}
