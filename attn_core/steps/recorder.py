"""Writes a model's steps down while it runs, by hooks on its modules."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from attn_core.modules import StepDropout
from attn_core.steps.explaining import ModuleCall, Notes, RecordingError
from attn_core.steps.step import Steps


@contextmanager
def recording(
    model: nn.Module, words: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Steps]:
    """The steps of one pass of a model made of our modules: what came in, what was done with it.

    >>> import torch
    >>> from attn_core.layers import FeedForward
    >>> model = FeedForward(4, 16)
    >>> with recording(model) as steps:
    ...     _ = model(torch.zeros(1, 2, 4))
    >>> steps
    x = given() [1, 2, 4]
    widen = linear(x) [1, 2, 16]
    activation = relu(widen) [1, 2, 16]
    narrow = linear(activation) [1, 2, 4]

    words: the vocabularies of what goes in, {"source": ENGLISH}, so that lines can name words.

    It takes the model because steps have the names of the model's modules and parameters; the
    modules themselves know nothing of the recording. After each step its formula must give what the
    model computed. If a module is not known, is called twice or applies dropout in training,
    RuntimeError says so in one sentence. Taught in chapter 10.
    """
    recorder = Recorder(model, Steps(words=words))
    handles = []
    for path, module in model.named_modules():
        before, after = partial(recorder.before, path), partial(recorder.after, path)
        handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        handles.append(module.register_forward_hook(after, with_kwargs=True))
    try:
        yield recorder.notes.steps
    finally:
        for handle in handles:
            handle.remove()
        recorder.notes.steps.close()


class Recorder:
    """Follows the calls of a model's modules, one inside the other."""

    def __init__(self, model: nn.Module, steps: Steps) -> None:
        self.model, self.notes = model, Notes(steps)
        self.open: list[ModuleCall] = []
        self.called: set[str] = set()

    def before(self, path: str, module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        if self.notes.are_held:
            return
        parent = self.open[-1] if self.open else None
        if parent is None and path:
            raise RecordingError(
                f"recording must see the model itself called, got a call of its part {path!r}"
            )
        if path in self.called:
            name = repr(path) if path else "the model"
            raise RecordingError(f"recording must see each module called once, got {name} twice")
        self.called.add(path)
        check_no_dropout(path, module)
        call = ModuleCall(self.notes, module, path, parent, args, kwargs)
        if parent is not None:
            for argument in call.arguments.values():
                if isinstance(argument, Tensor):
                    parent.find(argument, call.name)
        self.open.append(call)

    def after(
        self, path: str, module: nn.Module, args: tuple, kwargs: dict[str, Any], output: object
    ) -> None:
        if self.notes.are_held:
            return
        call = self.open.pop()
        if call.find(output, None) is None and call.receiver_of(output) is None:
            self.notes.unknown.setdefault(id(output), (output, call.described))
        if call.parent is None:
            call.name_of(output, None)
        else:
            call.parent.outputs[call.name] = output


def check_no_dropout(path: str, module: nn.Module) -> None:
    drops = isinstance(module, StepDropout) and module.now() is not None
    if isinstance(module, (nn.Dropout, nn.GRU)):
        p = module.p if isinstance(module, nn.Dropout) else module.dropout
        drops = module.training and p > 0
    if drops:
        raise RecordingError(
            f"recording takes a model without dropout, got {path!r} in training: call model.eval()"
        )
