"""Numbers that arithmetic gives: `law n * (n + 1) / 2 == sum(range(n + 1))` for the 1 and the 2.

A law is Python in which a letter stands for any number. It vouches for the numbers in it if it is
true, and would be false with another number in their place.
"""

from __future__ import annotations

import ast
import copy
import functools
import math
import operator
import random
from decimal import Decimal

# A letter is any number, a share between 0 and 1, or else a count.
REALS, SHARES = set("absxy"), set("pw")
SIGNS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: lambda a, b: a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12),
    ast.NotEq: operator.ne,
}
FUNCTIONS = {"exp", "log", "sqrt", "sin", "cos", "tanh", "inf", "pi", "isnan", "prod"}
FACTS = {name: getattr(math, name) for name in FUNCTIONS}


def letters(tree: ast.Expression) -> list[str]:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and len(node.id) == 1]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return sorted({node.id for node in names} - bound)


def tried(letter: str, chance: random.Random) -> float:
    if letter in SHARES:
        return chance.uniform(0.05, 0.95)
    return chance.uniform(-5, 5) if letter in REALS else chance.randint(2, 9)


def holds(node: ast.expr, names: dict) -> bool:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return all(holds(part, names) for part in node.values)
    if not isinstance(node, ast.Compare):
        return bool(value(node, names))
    sides = [value(side, names) for side in (node.left, *node.comparators)]
    return all(
        SIGNS[type(op)](*pair) for op, *pair in zip(node.ops, sides, sides[1:], strict=False)
    )


def value(node: ast.expr, names: dict) -> float:
    return eval(compile(ast.Expression(node), "a law", "eval"), {**FACTS, **names})


def is_true(tree: ast.Expression) -> bool:
    """Whether a law holds for all numbers that are tried."""
    chance = random.Random(7)
    draws = [{letter: tried(letter, chance) for letter in letters(tree)} for _ in range(4)]
    try:
        return all(holds(tree.body, names) for names in draws)
    except ArithmeticError:
        return False


def is_pinned(tree: ast.Expression, number: Decimal) -> bool:
    """Whether the number stands in the law, and the law is false with one more or one less."""
    for at, node in enumerate(ast.walk(tree)):
        if not (isinstance(node, ast.Constant) and Decimal(repr(node.value)) == abs(number)):
            continue
        for step in (1, -1):
            changed = copy.deepcopy(tree)
            next(n for i, n in enumerate(ast.walk(changed)) if i == at).value += step
            if not is_true(changed):
                return True
    return False


@functools.cache
def slip(law: str, wanted: tuple[Decimal, ...]) -> str | None:
    """What is wrong with a law as the origin of these numbers, in a few words."""
    try:
        tree = ast.parse(law, mode="eval")
        if not is_true(tree):
            return "but this law is not true"
    except (SyntaxError, NameError, TypeError) as error:
        return f"cannot be worked out: {error}"
    loose = [number for number in wanted if not is_pinned(tree, number)]
    return f"but the law does not depend on {loose[0]}" if loose else None
