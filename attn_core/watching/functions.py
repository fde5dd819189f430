"""Sees scaled_dot_product_attention as it is called, and tells when torch drops out."""

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import maybe_current_level
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attn_core.watching.dispatching import Dispatching
from attn_core.watching.listener import Attended, Listener
from attn_core.watching.plain import PLAIN
from attn_core.watching.sdpa import of_sdpa
from attn_core.watching.tracked import KINDS, tensors_of

SDPA = functional.scaled_dot_product_attention
DROPOUT = (functional.dropout, torch.dropout)
NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")


def in_the_open(function: Any) -> FunctionType:
    """A function of torch's Python code, whose inside a mode sees.

    The original asks a mode to take the whole of it over, which then sees nothing of its inside.
    """
    asked = dict.fromkeys(("has_torch_function", "has_torch_function_unary"), lambda args: False)
    names = function.__globals__ | asked
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


# A backward pass may compute parts of the model again.
BACKWARD = (Tensor.backward, torch.autograd.backward, torch.autograd.grad)
IN_THE_OPEN = {
    function: in_the_open(function)
    for function in (functional.multi_head_attention_forward, *BACKWARD)
}


class Functions(TorchFunctionMode):
    """Sees the functions of torch that a model calls."""

    def __init__(self, listener: Listener, dispatching: Dispatching) -> None:
        super().__init__()
        self.listener, self.dispatching = listener, dispatching

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in IN_THE_OPEN:
            with self:
                return IN_THE_OPEN[func](*args, **kwargs)
        if not self.listener.is_listening:
            return func(*args, **kwargs)
        if func is SDPA:
            out = self.listener.held(self.dispatching.aside, (func, args, kwargs), {})
            named = dict(zip(NAMES, args, strict=False)) | kwargs
            made = Attended("sdpa", lambda: of_sdpa(named, self.listener.heads), out)
            return self.listener.heard(made)
        if func in DROPOUT:
            return self.listener.while_dropping(dropout_of(args, kwargs), func, args, kwargs)
        if func in PLAIN and not self.may_follow(types, args, kwargs):
            out = self.dispatching.aside(func, args, kwargs)
        elif func is functional.linear and not self.may_follow(types, args, kwargs):
            out = self.dispatching.linear(*args, **kwargs)
        else:
            out = func(*args, **kwargs)
        self.listener.returned(out)
        return out

    def may_follow(self, types: Iterable[type], args: tuple, kwargs: dict[str, Any]) -> bool:
        """Whether operations of a function may follow from a product that is known."""
        if not KINDS.issuperset(types) or maybe_current_level() is not None:
            return True
        tracked = self.dispatching.tracked
        return bool(tracked.storages) and any(
            map(tracked.knows, tensors_of((*args, *kwargs.values())))
        )


def dropout_of(args: tuple, kwargs: dict[str, Any]) -> float:
    """The p of a call of dropout, 0 if it drops nothing."""
    named = dict(zip(("input", "p", "training"), args, strict=False)) | kwargs
    is_on = named.get("training", named.get("train", True))
    return float(named.get("p", 0.5)) if is_on else 0.0
