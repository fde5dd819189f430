"""What the lines of several operations have in common."""

from attn_core.digits import written
from attn_core.steps.cells import Cell, Line


def passed_on(other: Cell, why: str = "") -> Line:
    """A number that is taken over from elsewhere as it is; why: a clause behind it."""
    return Line(written(other.value) + why, lambda: [other])


def switched_off(other: Cell, what: str) -> Line:
    """0.8312, because the norm is switched off."""
    return passed_on(other, f", because the {what} switched off")
