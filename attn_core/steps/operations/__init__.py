"""The list of operations: each module here has all that Python knows of some of them.

An operation brings its formula, its line of arithmetic, the same for its backward pass, and what
its steps take. Whatever a module here defines as an `Operation` is in the list, each followed by
the operation of its backward steps, "linear_backward". The page gets what they take: `python -m
generate.operations` writes it there.
"""

from importlib import import_module
from pkgutil import iter_modules

from attn_core.steps.operation import Operation

MODULES = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]

FORWARD = [
    operation
    for module in MODULES
    for operation in vars(module).values()
    if isinstance(operation, Operation)
]
OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for forward in FORWARD
    for operation in (forward, forward.backward_operation())
    if operation is not None
}
