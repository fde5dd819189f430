"""Which module made each tensor of a pass, and the steps that its rule writes down for it."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import singledispatch
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

from attn_core.checks import largest, shape_of
from attn_core.precision import upcast
from attn_core.record import AttentionTrace
from attn_core.steps.operation import Attended
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.step import Step, Steps

Rule = Callable[[Any, "ModuleCall", object, str | None], None]


class RecordingError(RuntimeError):
    """What recording cannot write down, in one sentence."""


def explain(kind: type[nn.Module]) -> Callable[[Rule], Rule]:
    """Registers the rule that says which steps one kind of module takes.

    >>> class Doubled(nn.Module):
    ...     def forward(self, x):
    ...         return x + x
    >>> @explain(Doubled)
    ... def of_doubled(module, call, value, child):
    ...     call.add("", "add", [call.argument(), call.argument()], made=value)
    >>> from attn_core.steps import recording
    >>> model = Doubled()
    >>> with recording(model) as steps:
    ...     _ = model(torch.ones(1, 2, 3))
    >>> steps
    x = given() [1, 2, 3]
    add = add(x, x) [1, 2, 3]

    The rule is called for a tensor that no step has made yet. It gets four arguments: `module` is
    the module that computes, `call` is its call, to which steps are added, and `value` is the
    tensor. `child` is the part inside this module that the tensor has reached, or None if the
    module returned it. A rule that adds no step leaves the value unknown: the module's caller may
    know it. Subclasses of this kind have its rule, too.
    Taught in chapter 10.
    """

    def registered(rule: Rule) -> Rule:
        steps_of.register(kind)(rule)
        return rule

    return registered


@singledispatch
def steps_of(module: nn.Module, call: "ModuleCall", value: object, child: str | None) -> None:
    """Adds the steps that made a value, by the rule of the module's kind; of others none."""


class Notes:
    """What is known of a pass: the steps so far, and which of them made which tensor."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.rows: dict[str, Tensor] = {}  # [B, T, E] or [B, T], what the next step takes
        # Tensors are told apart by their ids; held here, no other one can get the same.
        self.known: dict[int, tuple[object, str]] = {}
        self.unknown: dict[int, tuple[object, str]] = {}
        self.are_held = False

    def name_of(self, value: object) -> str | None:
        return self.known.get(id(value), (None, None))[1]

    def know(self, value: object, name: str) -> None:
        self.known[id(value)] = value, name

    def weight_name(self, weight: Tensor, name: str) -> str:
        """The name under which a weight is already known: one that two modules share has one."""
        known = self.steps.weights.items()
        return next((other for other, same in known if same is weight), name)

    def write(self, step: Step, rows: Tensor, weights: Mapping[str, Tensor]) -> None:
        self.steps.steps[step.name] = step
        self.steps.weights.update(weights)
        self.rows[step.name] = rows


class ModuleCall:
    """One call of a module: its arguments, and what its children gave; `explain` gets it.

    >>> from attn_core.steps import recording
    >>> class Sum(nn.Module):
    ...     def forward(self, x, y):
    ...         return x + y
    >>> @explain(Sum)
    ... def of_sum(module, call, value, child):
    ...     call.add("sum", "add", [call.argument("x"), call.argument("y")], made=value)
    >>> model = Sum()
    >>> with recording(model) as steps:
    ...     _ = model(torch.ones(1, 2, 3), torch.ones(1, 2, 3))
    >>> steps["sum"].inputs
    ('x', 'y')

    Taught in chapter 10.
    """

    def __init__(
        self,
        notes: Notes,
        module: nn.Module,
        path: str,
        parent: "ModuleCall | None",
        args: tuple,
        kwargs: dict[str, Any],
    ) -> None:
        self.notes, self.module, self.path, self.parent = notes, module, path, parent
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        self.arguments = bound.arguments
        self.outputs: dict[str, object] = {}  # of its children, by their names in it

    @property
    def name(self) -> str:
        """As the calling module names it."""
        prefix = "" if self.parent is None or not self.parent.path else f"{self.parent.path}."
        return self.path.removeprefix(prefix)

    @property
    def input(self) -> Any:
        """Its first argument."""
        return next(iter(self.arguments.values()))

    def argument(self, name: str | None = None) -> str:
        """The step that made an argument. Defaults to the first argument."""
        if name is None:
            name = next(iter(self.arguments))
        return (self.parent or self).name_of(self.arguments[name], self.name)

    def child(self, name: str) -> str:
        """The step that made what a child gave."""
        return self.name_of(self.outputs.get(name), name)

    def find(self, value: object, child: str | None) -> str | None:
        """The step that made a value that a child got or the module returns; None: unknown."""
        if self.notes.name_of(value) is None:
            receiver = self.receiver_of(value)
            if receiver is None:
                steps_of(self.module, self, value, child)
            elif receiver.parent is None and isinstance(value, Tensor):
                receiver.add_leaf(value)
        return self.notes.name_of(value)

    def name_of(self, value: object, child: str | None) -> str:
        """The same, or one sentence that says who is not known."""
        name = self.find(value, child)
        if name is None:
            receiver = self.receiver_of(value)
            unknown = (receiver.parent if receiver and receiver.parent else self).described
            _, unknown = self.notes.unknown.get(id(value), (None, unknown))
            raise RecordingError(
                f"recording must know each module that computes, got {unknown}: "
                "attn_core.steps.explain takes what it does"
            )
        return name

    def receiver_of(self, value: object) -> "ModuleCall | None":
        """The call that got a value as an argument, this one or one around it; None: no call."""
        if any(argument is value for argument in self.arguments.values()):
            return self
        return None if self.parent is None else self.parent.receiver_of(value)

    def add_leaf(self, value: Tensor) -> None:
        """What was given to the model itself: words if they are whole numbers."""
        name = next(name for name, other in self.arguments.items() if other is value)
        if name in dict(self.module.named_children()):
            name = f"{name}.given"  # the name itself is that of a part
        is_words = not value.is_floating_point()
        settings = {"side": name} if is_words else {}
        step = Step(name, "words" if is_words else "given", settings=settings, value=value)
        self.notes.write(step, value.reshape(-1, *value.shape[-1 if is_words else -2 :]), {})
        self.notes.know(value, name)

    @property
    def described(self) -> str:
        kind = type(self.module).__name__
        return f"a {kind} at {self.path!r}" if self.path else f"a {kind}"

    def add(
        self,
        role: str,
        operation: str,
        inputs: Sequence[str],
        parameters: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        made: object = None,
        record: AttentionTrace | None = None,
    ) -> str:
        """One step of this module; the formula must give what the module made, within rounding.

        role: the name of the step in the module; "" gives it the name of the module itself.
        parameters: role in the operation → name of the parameter in the module.
        settings: those that the operation takes, ValueError otherwise.
        made: the tensor that the module made, in any rank; None if the module shows none; in that
            case, the formula's result is taken.
        """
        name = ".".join(part for part in (self.path, role) if part) or operation
        if name in self.notes.steps:
            raise RecordingError(f"recording must see each module called once, got {name!r} twice")
        names, weights = {}, {}
        for key, attribute in (parameters or {}).items():
            if (weight := attrgetter(attribute)(self.module)) is not None:
                own = ".".join(part for part in (self.path, attribute) if part)
                names[key] = self.notes.weight_name(weight, own)
                weights[names[key]] = weight
        step = Step(name, operation, tuple(inputs), names, dict(settings or {}))
        step.check()
        with torch.no_grad():
            roles = {key: upcast(weights[names[key]]) for key in names}
            rows = [self.taken(source) for source in inputs]
            stages = OPERATIONS[operation](rows, roles, step.settings)
        value = computed = stages[step.stages[-1]]
        if isinstance(made, Tensor):
            value = made
            self.check(step, computed, made)
            self.notes.know(made, name)
        rows_made = value.detach().reshape(computed.shape)
        if isinstance(stages, Attended):
            record = record or stages.record
        self.notes.write(replace(step, value=record or value), rows_made, weights)
        return name

    def taken(self, name: str) -> Tensor:
        rows = self.notes.rows[name]
        return upcast(rows.detach()) if rows.is_floating_point() else rows

    def check(self, step: Step, computed: Tensor, made: Tensor) -> None:
        """The formula's result is the module's, up to the rounding of its dtype."""
        if computed.shape[-2:] == made.shape[-2:]:
            error = (computed - made.detach().reshape(computed.shape)).abs().max().item()
            if error <= torch.finfo(made.dtype).eps ** 0.5 * max(1.0, largest(made)):
                return
            got = f"numbers that are off by {error:.2g}"
        else:
            got = f"the shape {shape_of(made)}"
        raise RecordingError(
            f"recording must find what the formula of {step.operation} gives at {step.name!r}, "
            f"got {got} from {self.described}"
        )

    def know(self, value: object, name: str) -> None:
        """Another form of what a step made: a view of it, or a tuple around it."""
        self.notes.know(value, name)

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Calls in here are not recorded."""
        self.notes.are_held = True
        try:
            yield
        finally:
            self.notes.are_held = False
