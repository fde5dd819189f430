"""Attention as others compute it, causal, with its weights: what `trace` is measured against."""

import ast
import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import distribution
from types import SimpleNamespace

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

Attention = Callable[[Tensor, Tensor, Tensor], object]


CAUSAL = torch.empty(0)  # what is meant where no mask is named


def future(L: int) -> Tensor:
    """True above the diagonal."""
    return torch.ones(L, L, dtype=torch.bool).triu(1)


def textbook(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """One operation for each symbol of the formula.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> textbook(x, x, x)[1]
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = future(q.shape[-2]).to(q.device)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return weights @ v, weights


def torch_with_weights(p: float = 0.0) -> Attention:
    """The operations of nn.MultiheadAttention(need_weights=True) between its projections."""

    def attend(
        q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None = CAUSAL
    ) -> tuple[Tensor, Tensor]:
        B, H, L, D = q.shape
        keep = ~future(L) if keep is CAUSAL else keep
        q, k, v = (tensor.reshape(B * H, *tensor.shape[2:]) for tensor in (q, k, v))
        q = q * math.sqrt(1 / D)
        if keep is None:
            weights = torch.bmm(q, k.mT)
        else:
            mask = torch.zeros(keep.shape).masked_fill_(~keep, -torch.inf)
            if mask.ndim == 4 and len(mask) == B > 1:  # one for each sequence, and so for its heads
                mask = mask.expand(B, H, *mask.shape[2:]).reshape(B * H, *mask.shape[2:])
            weights = torch.baddbmm(mask.view(-1, *mask.shape[-2:]), q, k.mT)
        weights = torch.softmax(weights, dim=-1)
        if p > 0:
            weights = dropout(weights, p)
        output = torch.bmm(weights, v)
        return output.view(B, H, L, -1), weights.view(B, H, L, -1)

    return attend


def torch_alone(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    p: float = 0.0,
) -> Tensor:
    """torch's own attention, which gives no weights."""
    return scaled_dot_product_attention(q, k, v, mask, p, is_causal)


def flash_of_torch(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The private operation behind it, which also gives the log of each row's sum."""
    op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return op(q, k, v, is_causal=True)


@cache
def defined(package: str, file: str, names: Sequence[str]) -> SimpleNamespace:
    """Functions and classes of an installed package, from its text.

    To import the whole of it would need packages that have nothing to do with attention.
    """
    text = distribution(package).locate_file(file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if getattr(node, "name", None) in names]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    namespace = {"torch": torch, "nn": nn, "math": math}
    exec(compile(tree, file, "exec"), namespace)
    return SimpleNamespace(**{name: namespace[name] for name in names})


def hugging_face(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The eager attention of transformers, with the mask that its models hand to it."""
    file = "transformers/models/bert/modeling_bert.py"
    eager = defined("transformers", file, ("eager_attention_forward",)).eager_attention_forward
    L = q.shape[2]
    mask = torch.zeros(L, L).masked_fill_(future(L), torch.finfo(q.dtype).min)
    return eager(SimpleNamespace(training=False), q, k, v, mask[None, None])


def d2l(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """DotProductAttention of Dive into Deep Learning; a causal row is as long as its number."""
    names = ("masked_softmax", "DotProductAttention")
    attend = defined("d2l", "d2l/torch.py", names).DotProductAttention(0.0).eval()
    B, H, L = q.shape[:3]
    lengths = torch.arange(1, L + 1).expand(B * H, L)
    q, k, v = (tensor.reshape(B * H, *tensor.shape[2:]) for tensor in (q, k, v))
    return attend(q, k, v, lengths), attend.attention_weights
