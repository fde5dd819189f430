"""Another processor, pretended: what torch rounds comes out one unit of the last place away.

Processors add in different orders and compute exp by different polynomials, so two right results
of the same float32 operation are neighbours. Here each result is computed in float64, rounded, and
moved to a neighbour; a sum of many terms by a unit of what they add up to without their signs, as
large as its error may be. What needs no rounding stays: 2 · 3 is 6 on every processor. So do a
sum, product, quotient or root of single numbers, which IEEE 754 fixes to the last bit.

With PRETEND_PROCESSOR=up, down or mixed in the environment, `enter()` begins it.
"""

from __future__ import annotations

import os
from functools import cache

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map_only

RULES = ("up", "down", "mixed", "exact")
FIXED = {"add", "sub", "rsub", "mul", "div", "sqrt", "reciprocal"}
# They change a dtype or a layout, or give memory in which nothing is written yet.
NOT_COMPUTED = {"_to_copy", "copy", "set", "resize", "empty_like", "new_empty", "new_empty_strided"}
NOT_COMPUTED |= {"_to_sparse", "_nested_tensor_from_tensor_list"}
SUMS = {"mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot", "sum", "mean", "cumsum", "index_add"}
SUMS |= {"scatter_add", "embedding_dense_backward"}
SUMMED = {"_scaled_dot_product_flash_attention_for_cpu": 2}  # the one argument whose signs differ
NORMAL = {"randn", "normal"}  # computed with log and cos of numbers that are the same everywhere
WITHIN_1 = {"tanh", "sigmoid", "_softmax", "sin", "cos", "special_ndtr"}


class Processor(TorchDispatchMode):
    """While it is entered, torch rounds float32 as another processor might do it.

    rule: "up" and "down" take the neighbour above or below, "mixed" either or none by place and
    number, "exact" the rounded number itself.
    """

    def __init__(self, rule: str) -> None:
        if rule not in RULES:
            raise ValueError(f"PRETEND_PROCESSOR must be one of {', '.join(RULES)}, got {rule!r}")
        super().__init__()
        self.rule = rule

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name, is_exact, is_seeded = known_of(func)
        if is_exact or (name == "pow" and type(args[1]) is int and args[1] == 2):
            return func(*args, **kwargs)
        if is_seeded:
            made = func(*args, **kwargs)
            if name in NORMAL and is_single(made):
                made.copy_(self.moved(name, made.double() * (1 + 2**-40), made))
            return made
        if not has_single((*args, *kwargs.values())):
            return func(*args, **kwargs)
        wide = widened(args), widened(kwargs)
        made = func(*wide[0], **wide[1])
        sizes = made if name not in SUMS | SUMMED.keys() else sizes_of(func, name, args, kwargs)
        if pairs := written(func, (args, kwargs), wide):
            for own, copy in pairs:
                size = copy if sizes is made else sizes
                own.copy_(self.moved(name, copy, size) if is_single(own) else copy)
            return pairs[0][0] if isinstance(made, Tensor) else tuple(own for own, _ in pairs)
        if isinstance(made, Tensor):
            return self.narrowed(name, made, sizes)
        if isinstance(made, (tuple, list)):
            return type(made)(self.narrowed(name, *pair) for pair in zip(made, sizes, strict=True))
        return made  # a number of Python, such as `item()` gives

    def narrowed(self, name: str, made: object, sizes: object) -> object:
        is_wide = isinstance(made, Tensor) and made.dtype == torch.float64
        return self.moved(name, made, sizes) if is_wide else made

    def moved(self, name: str, exact: Tensor, sizes: Tensor) -> Tensor:
        """A float64 result in float32, at a neighbour of where it belongs."""
        rounded, sizes = exact.float(), sizes.abs().float()
        unit = torch.nextafter(sizes, torch.full_like(sizes, torch.inf)) - sizes
        neighbour = rounded + self.direction(rounded) * unit
        if name in WITHIN_1:
            neighbour = neighbour.clamp(-1, 1)
        # What is too small for float32 is 0 everywhere.
        is_moved = (rounded.double() != exact) & (rounded != 0) & torch.isfinite(neighbour)
        return torch.where(is_moved, neighbour, rounded)

    def direction(self, cells: Tensor) -> Tensor | float:
        if self.rule != "mixed":
            return {"up": 1.0, "down": -1.0, "exact": 0.0}[self.rule]
        # By the bits, too: a single number is not always moved.
        place = torch.arange(cells.numel()).view(cells.shape) + cells.view(torch.int32)
        return ((place * 2654435761 >> 7) % 3 - 1).float()


def is_single(leaf: object) -> bool:
    if not isinstance(leaf, Tensor) or leaf.layout != torch.strided:
        return False
    return leaf.dtype == torch.float32 and leaf.is_cpu


def has_single(values) -> bool:
    return any(
        has_single(value) if isinstance(value, (tuple, list)) else is_single(value)
        for value in values
    )


@cache
def known_of(func) -> tuple[str, bool, bool]:
    """An operation's name, whether it is the same everywhere, and whether it draws numbers."""
    name = func._schema.name.removeprefix("aten::").removesuffix("_")
    is_exact = name in FIXED | NOT_COMPUTED or func.is_view or torch.Tag.inplace_view in func.tags
    return name, is_exact, torch.Tag.nondeterministic_seeded in func.tags and name not in SUMMED


def widened(values):
    wide = tree_map_only(Tensor, lambda t: t.double() if is_single(t) else t, values)
    if isinstance(wide, dict) and wide.get("dtype") == torch.float32:
        wide["dtype"] = torch.float64
    return wide


def sizes_of(func, name: str, args, kwargs):
    """What the terms of each sum add up to without their signs."""

    def unsigned(value):
        return value.abs() if isinstance(value, Tensor) and value.is_floating_point() else value

    wide = list(widened(args))
    if name in SUMMED:
        wide[SUMMED[name]] = unsigned(wide[SUMMED[name]])
        return func(*wide, **widened(kwargs))
    return func(*map(unsigned, wide), **tree_map_only(Tensor, unsigned, widened(kwargs)))


def written(func, given, wide) -> list[tuple[Tensor, Tensor]]:
    """The arguments into which an operation writes, each with its copy in float64."""
    pairs = []
    for n, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            is_placed = n < len(given[0])
            if is_placed or argument.name in given[1]:
                pairs.append(
                    tuple(a[n] if is_placed else k[argument.name] for a, k in (given, wide))
                )
    return pairs


def enter() -> None:
    """From now on, if PRETEND_PROCESSOR is set."""
    if rule := os.environ.get("PRETEND_PROCESSOR"):
        from torch.nn.attention import bias  # takes a second

        # torch makes this tensor of a class that no mode may have named before.
        bias.causal_lower_right = _disable_current_modes()(bias.causal_lower_right)
        Processor(rule).__enter__()
