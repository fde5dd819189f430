"""Other outputs for some heads of a model, while it runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attn_core.checks import brief, check_index, shape_of
from attn_core.watching.axes import Unreadable
from attn_core.watching.captured import Captured
from attn_core.watching.following import Following
from attn_core.watching.listener import Attended
from attn_core.watching.quiet import quietly
from attn_core.watching.tracked import is_plain, tensors_of

HeadsByPath = Mapping[str, Sequence[int] | bool]  # by the path of a module; True is all of them


@dataclass(frozen=True)
class Edit:
    """What some heads of a module give instead of their outputs."""

    heads: list[int]
    num_heads: int
    outputs: Sequence[Tensor] = ()  # [B, heads, L, Dv] of each call; none: zeros

    def values(self, call: int, shape: tuple[int, ...]) -> Tensor:
        if not self.outputs:
            return torch.zeros(())
        values = self.outputs[call % len(self.outputs)]
        if values.shape != shape:
            raise RuntimeError(
                f"the outputs of these heads must have the shape of those that replace them, "
                f"{shape_of(values)}, got {shape}: run the model on inputs of the same size"
            )
        return values


@contextmanager
def editing(model: nn.Module, edits: Mapping[str, Edit]) -> Iterator[None]:
    """Changes outputs of heads of the model, by the paths of their modules, inside the block."""
    editor = Editor(model, edits)
    before = EDITORS.set((*EDITORS.get(), editor))
    try:
        with editor.following():
            yield
    finally:
        EDITORS.reset(before)
    missed = [path for path in edits if not editor.calls[path]]
    if missed:
        raise RuntimeError(
            f"{' and '.join(map(repr, missed))} must attend inside the block, but did not: call "
            "the model there, by model(…) and in the thread of the block"
        )


def unedited(module: nn.Module, heads: int) -> list[int]:
    """The heads of a module, of this many, whose outputs are the model's."""
    edited = {head for editor in EDITORS.get() for head in editor.heads_of(module)}
    return [head for head in range(heads) if head not in edited]


@dataclass
class Cells:
    """Where a tensor was written into below autograd, which must send no gradient there."""

    storage: int
    flags: Tensor  # for each number of the storage

    @classmethod
    def of(cls, output: Tensor, places: Sequence[Tensor]) -> "Cells":
        storage = output.untyped_storage()
        size = storage.nbytes() // output.element_size()
        flags = torch.zeros(size, dtype=torch.bool, device=output.device)
        view = flags.as_strided(output.shape, output.stride(), output.storage_offset())
        view[tuple(places)] = True
        return cls(storage._cdata, flags)

    def hook(self, tensor: Tensor) -> bool:
        """Stops the gradients of a tensor that is the one written into, or a view of it."""
        is_known = is_plain(tensor) and tensor.requires_grad
        if not is_known or tensor.untyped_storage()._cdata != self.storage:
            return False
        hidden = self.flags.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        tensor.register_hook(lambda gradient: gradient.masked_fill(hidden, 0))
        return True


class Editor(Following):
    """Hears of each attention, and gives it another output if it is to have one."""

    def __init__(self, model: nn.Module, edits: Mapping[str, Edit]) -> None:
        super().__init__(model)
        self.edits, self.calls = edits, Counter[str]()
        self.written: Cells | None = None  # until a function of torch returns it
        self.lost: str | None = None  # where gradients would pass through what was written

    def heads_of(self, module: nn.Module) -> Sequence[int]:
        """Those that have other outputs."""
        edit = self.edits.get(self.names.get(id(module), ""))
        return [] if edit is None else edit.heads

    def leave(self, module: nn.Module, args: tuple, output: object) -> None:
        # Not where it happens: the error of a function in a scripted model has no sentence.
        if self.lost is not None or self.written:
            path = self.lost or self.paths[-1] or "the model"
            raise RuntimeError(
                f"{path!r} must run under torch.no_grad() while its heads are changed: its "
                "gradients cannot be followed"
            )
        super().leave(module, args, output)

    def safely(self, told: Callable, *args: Any) -> None:
        with quietly():
            told(*args)

    def heard(self, attended: Attended) -> Tensor:
        path, output, factors = self.paths[-1], attended.output, attended.factors
        if path not in self.edits:
            return output
        with quietly():
            places = torch.arange(output.numel(), device=output.device).view(output.shape)
            try:
                places = attended.arrange(places)
            except Unreadable:
                return output  # a product that is not this attention
            edit, call = self.edits[path], self.calls[path]
            self.calls[path] += 1
            heads = places.reshape(-1, edit.num_heads, *places.shape[-2:])[:, edit.heads]
            values = edit.values(call, shape_of(heads)).to(output)
            at = torch.unravel_index(heads, output.shape)
            if not factors:
                changed = output.clone()
                changed[at] = values
                return changed
            output[at] = values
            if torch.is_grad_enabled() and any(factor.requires_grad for factor in factors):
                self.written = Cells.of(output, at)
        return output

    def returned(self, values: object) -> None:
        if self.written and not any(map(self.written.hook, tensors_of(values))):
            self.lost = self.paths[-1]
        self.written = None


EDITORS: ContextVar[tuple[Editor, ...]] = ContextVar("EDITORS", default=())


def zeros(path: str, heads: object, captured: Sequence[Captured]) -> Edit:
    """Zeros for the outputs of some heads of one module."""
    sizes = {one.at_first.shape[1] for one in captured}
    if len(sizes) > 1:
        raise ValueError(
            f"{path!r} must attend with one number of heads, got {sorted(sizes)}: its heads cannot "
            "be told apart"
        )
    (size,) = sizes
    if heads is True:
        return Edit(list(range(size)), size)
    if not isinstance(heads, Sequence) or isinstance(heads, str):
        raise TypeError(f"heads of {path!r} must be a list of numbers or True, got {brief(heads)}")
    if not heads:
        raise ValueError(f"heads of {path!r} must name at least one of {size}, got none")
    numbers = {check_index(f"heads of {path!r}", head, size) for head in heads}
    return Edit(sorted(numbers), size)


def outputs_of(
    path: str, heads: object, captured: Sequence[Captured], others: Sequence[Captured]
) -> Edit:
    """The outputs that some heads of one module had in another run."""
    edit = zeros(path, heads, captured)
    shapes, wanted = ([shape_of_output(one) for one in each] for each in (others, captured))
    if shapes != wanted:
        raise ValueError(
            f"other must have outputs of {path!r} of the same shapes, {wanted}, got {shapes}: run "
            "the model on inputs of the same size"
        )
    if any(one.p and one.at_first.dropout is None for one in others):
        raise ValueError(
            f"other must know the outputs of {path!r}, got a run with a dropout by torch, which "
            "has none: watch the model after model.eval()"
        )
    outputs = [one.record.output.detach() for one in others]
    each = [out.reshape(shape)[:, edit.heads] for out, shape in zip(outputs, shapes, strict=True)]
    return Edit(edit.heads, edit.num_heads, each)


def shape_of_output(one: Captured) -> tuple[int, ...]:
    return *one.at_first.shape[:3], one.at_first.v.shape[-1]
