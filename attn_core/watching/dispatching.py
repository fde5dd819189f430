"""Follows the operations of torch from a product to its softmax, and to the product with values."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from attn_core.watching.arguments import Arguments
from attn_core.watching.axes import Labelled, Unreadable, aligned
from attn_core.watching.chain import Chain, of_product
from attn_core.watching.flex import of_flex
from attn_core.watching.listener import Attended, Listener
from attn_core.watching.operations import FOLLOW, Operation
from attn_core.watching.quiet import Watching, above_autograd
from attn_core.watching.reading import arguments_of, places
from attn_core.watching.sdpa import of_sdpa
from attn_core.watching.tracked import Tracked, is_plain, tensors_of

COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
PRODUCTS = {"mm": 0, "bmm": 0, "baddbmm": 1}  # the place of the left factor
# Kernels of scaled_dot_product_attention, as scripted models call them.
KERNELS = {
    "_scaled_dot_product_flash_attention_for_cpu": ("dropout_p", "is_causal"),
    "_scaled_dot_product_flash_attention": ("dropout_p", "is_causal", "return_debug_mask"),
    "_scaled_dot_product_efficient_attention": (
        "attn_bias", "compute_log_sumexp", "dropout_p", "is_causal",
    ),
    "_scaled_dot_product_cudnn_attention": (
        "attn_bias", "compute_log_sumexp", "dropout_p", "is_causal", "return_debug_mask",
    ),
    "_scaled_dot_product_fused_attention_overrideable": ("attn_bias", "dropout_p", "is_causal"),
}  # fmt: skip

BEGIN = {*PRODUCTS, *KERNELS}


class Dispatching(Watching):
    """Sees every operation of the model, below autograd."""

    supports_higher_order_operators = True  # flex_attention is one

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self.listener, self.tracked = listener, Tracked()
        self.names: dict[OpOverload, str] = {}  # of operations; "" for those that change nothing

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled meanwhile, and the check would cost each operation 3 µs

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not self.listener.is_listening:
            return func(*args, **kwargs)
        if not isinstance(func, OpOverload):
            out = func(*args, **kwargs)
            if getattr(func, "__name__", "") == "flex_attention":
                flex = Attended("flex", lambda: of_flex(args), out[0], factors=args[:3])
                self.listener.heard(flex)
            return out
        if torch.is_inference_mode_enabled() and func.has_kernel_for_dispatch_key(COMPOSITE):
            # Elsewhere autograd takes it apart before it comes here.
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = func(*args, **kwargs)
        name = self.names.get(func)
        if name is None:
            name = self.names[func] = name_of(func)
        if name and (self.tracked.storages or name in BEGIN):
            self.listener.safely(self.follow, name, args, kwargs, out)
        return out

    def follow(self, name: str, args: tuple, kwargs: dict[str, Any], out: Any) -> None:
        if name in PRODUCTS:
            self.multiplied(name, args, kwargs, out)
            return
        if name in KERNELS:
            named = dict(zip(("query", "key", "value", *KERNELS[name]), args, strict=False))
            named |= kwargs
            self.listener.heard(
                Attended(
                    "sdpa", lambda: of_sdpa(named, self.listener.heads), out[0], factors=args[:3]
                )
            )
            return
        writes = name.endswith("_") and not name.endswith("__")
        chain = self.followed(name.removesuffix("_") if writes else name, args, kwargs, out)
        if writes:
            self.tracked.forget(args[0])
        elif "out" in kwargs:
            self.tracked.forget(kwargs["out"])
        if chain is not None and is_plain(first_of(out)):
            self.tracked.put(first_of(out), chain)

    def followed(self, name: str, args: tuple, kwargs: dict[str, Any], out: Any) -> Chain | None:
        """The chain of what an operation gave, if one of its arguments has one."""
        if name not in FOLLOW:
            return None
        for x in tensors_of(args):
            chain = self.tracked.get(x)
            if chain is None:
                continue
            if name == "mul" and chain.softmax and self.listener.dropping:
                return replace(chain, dropout=self.listener.dropping)
            chain = FOLLOW[name](chain, Operation(x, args, kwargs, first_of(out)))
            if chain is not None and name.endswith("softmax"):
                chain = replace(chain, paths=(*chain.paths, *self.listener.paths))
            return chain
        return None

    def multiplied(self, name: str, args: tuple, kwargs: dict[str, Any], out: Tensor) -> None:
        left, right = args[PRODUCTS[name] : PRODUCTS[name] + 2]
        self.tracked.prune()
        for weights, values in ((left, right), (right, left)):
            chain = self.tracked.get(weights)
            if chain is not None and chain.softmax is not None and name != "baddbmm":
                self.attended(chain, values, out, is_turned=weights is right)
        chain = of_product(left, right, tuple(self.listener.paths))
        if name == "baddbmm":
            beta, alpha = kwargs.get("beta", 1), kwargs.get("alpha", 1)
            scaled = chain if alpha == 1 else chain.doing("times", alpha)
            chain = scaled if beta == 0 else scaled and scaled.doing("plus", args[0], beta)
        if chain is not None and is_plain(out):
            self.tracked.put(out, chain)

    def attended(self, chain: Chain, values: Tensor, out: Tensor, is_turned: bool) -> None:
        """weights [batch, row, column] @ values [batch, column, width]; or turned, the other way.

        is_turned: values [batch, width, column] @ weights [batch, column, row].
        """
        *batch, rows, columns = chain.axes
        if is_turned:
            rows, columns = columns, rows

        def arrange(tensor: Tensor) -> Tensor:
            at = places(chain)
            if columns != at.key:
                raise Unreadable("its values are not those of all its keys")
            tensor = tensor.mT if is_turned else tensor
            return aligned(Labelled(tensor, (*batch, rows)), [*at.lead, at.query])

        def make() -> Arguments:
            with above_autograd():
                v = Labelled(values.mT if is_turned else values, (*batch, columns))
                return arguments_of(chain, v, self.listener.heads)

        factors = chain.left, values
        self.listener.heard(Attended("softmax", make, out, arrange, chain.paths, factors))


def name_of(func: OpOverload) -> str:
    """The name of an operation; "" if it neither begins, follows nor ends a chain."""
    name = func.overloadpacket.__name__
    is_known = name in BEGIN or name.removesuffix("_") in FOLLOW
    return name if is_known or func._schema.is_mutable else ""


def first_of(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out
