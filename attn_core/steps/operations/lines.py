"""What the lines of several operations have in common."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from attn_core.arithmetic import factor, kept_terms, listed, numbers, sum_of_products
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line


def passed_on(other: Cell, why: str = "") -> Line:
    """A number that is taken over from elsewhere as it is; why: a clause behind it."""
    return Line(written(other.value) + why, lambda: [other])


def switched_off(other: Cell, what: str) -> Line:
    """0.8312, because the norm is switched off."""
    return passed_on(other, f", because the {what} switched off")


def nothing(why: str) -> Line:
    """0, because the norm is switched off."""
    return Line(f"0, because {why}")


def values(cells: Iterable[Cell]) -> Tensor:
    return torch.tensor([cell.value for cell in cells], dtype=torch.float64)


def added(cell: Cell, terms: Tensor, part: Callable[[int], Cell]) -> Line:
    """0.31 + (-0.2) = 0.11; part: where a term comes from."""
    if len(terms) == 1:
        return passed_on(part(0))
    how = f"{listed(numbers(terms), factor, ' + ')} = {written(cell.value)}"
    return Line(how, lambda: map(part, kept_terms(len(terms))))


def products(
    cell: Cell, left: Tensor, right: Tensor, parts: Callable[[int], Iterable[Cell]]
) -> Line:
    """0.31·0.12 + (-0.2)·0.5 = -0.0628; parts: where the numbers of a product come from."""
    pairs = list(zip(numbers(left), numbers(right), strict=True))
    how = f"{sum_of_products(pairs)} = {written(cell.value)}"
    return Line(how, lambda: (part for i in kept_terms(len(pairs)) for part in parts(i)))


def product_text(x: float, y: float) -> str:
    """0.31 · (-0.2)."""
    return f"{factor(x, y)} · {factor(y, x)}"
