"""`watch`: while it is open, each attention of a model becomes a record."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attn_core.watching.axes import Unreadable
from attn_core.watching.captured import Captured
from attn_core.watching.checking import Sample, difference
from attn_core.watching.editing import unedited
from attn_core.watching.following import Following
from attn_core.watching.listener import Attended
from attn_core.watching.masking import Masks
from attn_core.watching.named import Only, chosen, is_attention, is_below
from attn_core.watching.quiet import quietly
from attn_core.watching.seen import Seen, check_seen, nothing

BY_TRACE = "if it attends, give its q, k and v to trace()"


@contextmanager
def watch(
    model: nn.Module, *, strict: bool = False, check: bool = False, only: Only = None
) -> Iterator[Seen]:
    """Records each attention that a torch model computes inside the block.

    >>> import torch
    >>> from torch import nn
    >>> from attn_core import watch
    >>> layer = nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
    >>> model = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
    >>> mask = nn.Transformer.generate_square_subsequent_mask(5)
    >>> with watch(model) as seen, torch.no_grad():
    ...     output = model(torch.ones(1, 5, 8), mask=mask)
    >>> seen
    path                seen as  heads  queries × keys  mask
    layers.0.self_attn  sdpa     2      5 × 5           causal()
    layers.1.self_attn  sdpa     2      5 × 5           causal()
    >>> seen["layers.1.self_attn"].stage("weights").shape
    torch.Size([1, 2, 5, 5])

    model: any nn.Module. It runs unchanged. `watch` sees scaled_dot_product_attention (sdpa),
        flex_attention, `attention`, and any product of queries and keys that passes through a
        softmax to a product with values; a scale, a mask, a bias, a softcap, sinks and grouped keys
        may come in between.
    strict: if True, an attention that could not be recorded is an error. By default it is a
        warning.
    check: if True, every row of the model's output is compared with the record, so each attention
        is computed twice. By default, a few rows are compared. An attention whose output differs by
        more than rounding is not recorded.
    only: the modules to record: a path, several paths, or a function that takes a path and says
        True or False. A path includes the modules inside it.

    Returns a `Seen`: it holds the records by the path of the module that attended and, in
    `seen.unseen`, what was not recorded and why. If no attention was recorded, RuntimeError says so
    in one sentence. An error raised by the model passes through.

    The memory used is that of q, k and v, which are the model's own tensors. No map is made; a
    mask or a bias that follows no rule is kept as a table. A tensor that the model writes into,
    such as a cache, is copied. So are k and v that repeat heads for a group, but without the
    repetitions. Under torch.no_grad() nothing else is kept. With gradients, q, k and v stay in the
    model's graph, so torch.autograd.grad reaches its parameters through a record, and the graph
    lives as long as `seen`. What a checkpoint computes again is recorded once. If torch applies
    dropout, a record has the weights before it. Under autocast q, k and v have its dtype. A model
    compiled by torch.compile runs uncompiled inside the block.

    `watch` does not see a softmax written with exp and sum, products written as multiplications
    with broadcasting, linear attention, kernels of other packages, or modules that run in another
    thread. `seen.unseen` lists these if their class or path says attention. Taught in chapter 10.
    """
    check_model(model)
    watcher = Watcher(model, check, only)
    try:
        with watcher.following():
            yield watcher.seen
        watcher.close(strict)
    finally:
        watcher.settled()


class Watcher(Following):
    """Hears of each attention, and writes it down."""

    def __init__(self, model: nn.Module, check: bool, only: Only) -> None:
        super().__init__(model)
        self.check, self.is_chosen = check, chosen(only, self.modules)
        self.seen, self.masks = Seen(model), Masks()
        self.seen.settle = self.settle
        self.waiting: dict[str, tuple[Captured, Iterable[Sample]]] = {}  # by path
        self.called: dict[str, str] = {}  # modules named attention: where they ran
        self.recorded: set[str] = set()  # modules that had a part in a record, or in a failed one

    def enter(self, module: nn.Module, args: tuple) -> None:
        super().enter(module, args)
        path = self.names.get(id(module))
        if path is not None and is_attention(path, module):
            self.called.setdefault(path, "here" if self.is_here else "elsewhere")

    def safely(self, told: Callable, *args: Any) -> None:
        """Whatever goes wrong in here does not affect the model."""
        self.attempt(self.paths[-1] if self.paths else "", told, *args)

    def attempt(self, path: str, told: Callable, *args: Any) -> None:
        try:
            with quietly():
                told(*args)
        except Exception as error:
            why = f"the watcher failed: {first_line(error)}"
            self.seen.miss(path, why, "report it, with the model")

    def heard(self, attended: Attended) -> Tensor:
        self.safely(self.record, attended)
        return attended.output

    def record(self, attended: Attended) -> None:
        """Writes it down, and rows of its output, which are compared with it later."""
        path = self.paths[-1]
        if torch._C._current_graph_task_id() != -1:
            return  # computed again, for a backward pass
        self.recorded.update(attended.paths, self.paths)
        if not self.is_chosen(path):
            return
        if path in self.waiting:
            self.settle()
        try:
            arranged = attended.arrange(attended.output)
            one = Captured(path, attended, attended.make(), self.masks)
        except (Unreadable, ValueError, TypeError) as error:
            self.seen.miss(path, first_line(error), BY_TRACE)
            return
        for kept in one.tensors().values():
            self.tracked.release(kept)
        heads = [] if one.p else unedited(self.modules[path], one.at_first.shape[1])
        samples = Sample.each(one.at_first, arranged, self.check, heads)
        self.waiting[path] = one, samples if self.check else list(samples)
        if self.check:
            self.settle()

    def settle(self) -> None:
        """Compares what waits. One after the other takes half as long as each in its layer."""
        waiting, self.waiting = self.waiting, {}
        for one, samples in waiting.values():
            self.attempt(one.path, self.compare, one, samples)

    def compare(self, one: Captured, samples: Iterable[Sample]) -> None:
        """A record is seen if the model's output is its output."""
        try:
            error = None if one.is_written else difference(samples, self.masks)
        except (ValueError, TypeError) as error:
            self.seen.miss(one.path, first_line(error), BY_TRACE)
            return
        if error is None:
            self.seen.add(one)
        else:
            self.seen.miss(
                one.path, f"its output differs by {error:.2g} from the record's", BY_TRACE
            )

    def settled(self) -> None:
        """Nothing waits any more, and `seen` lets go of the model."""
        self.settle()
        self.seen.settle = nothing

    def close(self, strict: bool) -> None:
        """What was called and gave no record is named."""
        self.settle()
        missed = {
            path: where
            for path, where in self.called.items()
            if path not in self.recorded and self.is_chosen(path)
        }
        for path, where in missed.items():
            if not any(other != path and is_below(other, path) for other in missed):
                kind = type(self.modules[path]).__name__
                self.seen.miss(path, *where_not_seen(kind, where))
        check_seen(self.seen, type(self.model).__name__, strict)


def where_not_seen(kind: str, where: str) -> tuple[str, str]:
    if where == "elsewhere":
        return "it ran in another thread", "run the model in the thread of the block"
    return (
        f"{kind} ran, but no product of queries and keys was followed through a softmax to values",
        BY_TRACE,
    )


def check_model(model: nn.Module) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")


def first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
