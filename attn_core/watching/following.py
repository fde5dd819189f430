"""Follows a model through its modules and operations while it runs as it was written."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.utils.hooks import RemovableHandle

from attn_core.call import Call
from attn_core.observing import Compute, observing
from attn_core.watching.arguments import of_call
from attn_core.watching.dispatching import Dispatching
from attn_core.watching.functions import Functions
from attn_core.watching.listener import Attended, Listener
from attn_core.watching.named import heads_of, is_simple
from attn_core.watching.quiet import QUIET
from attn_core.watching.tracked import Tracked


class Following(Listener):
    """Knows which module of a model runs, and hears of each attention in it."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.modules = dict(model.named_modules())
        self.names = {id(module): path for path, module in self.modules.items()}
        self.paths: list[str] = []  # of the modules that run now, the innermost last
        self.dropping, self.is_held = 0.0, False
        self.thread = threading.get_ident()
        self.tracked = Tracked()

    @contextmanager
    def following(self) -> Iterator[None]:
        fast = torch.backends.mha.get_fastpath_enabled()
        with ExitStack() as stack:
            for hook in self.hooks():
                stack.callback(hook.remove)
            stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
            torch.backends.mha.set_fastpath_enabled(False)
            stack.enter_context(uncompiled())
            stack.enter_context(observing(self.own))
            dispatching = Dispatching(self, self.tracked, self.model.parameters())
            stack.enter_context(Functions(self, dispatching))
            stack.enter_context(dispatching)
            yield

    def hooks(self) -> Iterator[RemovableHandle]:
        """Those that follow which module runs."""
        if any(isinstance(module, torch.jit.ScriptModule) for module in self.modules.values()):
            # A scripted module takes hooks of all modules alone.
            yield register_module_forward_pre_hook(self.enter)
            yield register_module_forward_hook(self.leave, always_call=True)
            return
        for path, module in self.modules.items():
            if path and is_simple(module):
                continue
            yield module.register_forward_pre_hook(self.enter)
            yield module.register_forward_hook(self.leave, always_call=True)

    def enter(self, module: nn.Module, args: tuple) -> None:
        path = self.names.get(id(module))
        if path is not None and self.is_here:
            self.paths.append(path)

    def leave(self, module: nn.Module, args: tuple, output: object) -> None:
        path = self.names.get(id(module))
        if self.is_here and path in self.paths:
            while self.paths.pop() != path:
                pass

    @property
    def is_here(self) -> bool:
        """Whether this runs in the thread of the block."""
        return threading.get_ident() == self.thread

    @property
    def is_listening(self) -> bool:
        return bool(self.paths) and not self.is_held and not QUIET.get()

    @property
    def heads(self) -> int | None:
        """How many the module that runs says it has."""
        return heads_of(self.modules[self.paths[-1]])

    def held(self, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a function gives; how it computes it is not looked at."""
        self.is_held = True
        try:
            return func(*args, **kwargs)
        finally:
            self.is_held = False

    def while_dropping(self, p: float, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        before, self.dropping = self.dropping, p
        try:
            return func(*args, **kwargs)
        finally:
            self.dropping = before

    def returned(self, values: object) -> None:
        return

    def own(self, call: Call, compute: Compute) -> Tensor:
        """An attention of this library."""
        if not self.is_listening:
            return compute()
        output = self.held(compute, (), {})
        return self.heard(Attended("attn_core", lambda: of_call(call), output))


def uncompiled() -> Any:
    """Compiled models run as they were written: what is compiled cannot be followed."""
    set_stance = getattr(torch.compiler, "set_stance", None)  # torch 2.5 has none
    return nullcontext() if set_stance is None else set_stance("force_eager")
