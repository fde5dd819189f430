"""The modules of chapters 05 to 08: project, call the kernel, merge, nothing else."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attn_core.api import attention, trace
from attn_core.checks import check_batch, check_whole, check_width, shape_of
from attn_core.dropout import Dropout
from attn_core.masks import Keep, causal
from attn_core.record import AttentionTrace
from attn_core.source import Projection

Part = TypeVar("Part", bound=nn.Module)


def each(parts: nn.ModuleList, kind: type[Part]) -> list[Part]:
    """The modules of a list, which knows of no kind."""
    return [cast("Part", part) for part in parts]


class StepDropout(nn.Module):
    """A Dropout for each training step, counted in a buffer; none in eval.

    >>> drop = StepDropout(0.5, seed=7)
    >>> drop(), drop.eval()()
    (Dropout(p=0.5, seed=7), None)

    Unlike nn.Dropout it hands out the rule and not a tensor with zeros in it: the kernel applies
    the rule to the weights. Each call in training counts as a step, even one that only computes a
    pass again. So with torch's checkpoint the gradients would belong to other random bits than the
    output, and no error would say so. In that case, pass `same_steps` as its context_fn, or switch
    dropout off. Taught in chapter 07.
    """

    steps: Tensor

    def __init__(self, p: float, seed: int = 0) -> None:
        super().__init__()
        self.dropout = Dropout(p, seed)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def now(self) -> Dropout | None:
        """The Dropout of the step that comes next, without counting it."""
        if not self.training or self.dropout.p == 0:
            return None
        return self.dropout.step(int(self.steps))

    def forward(self) -> Dropout | None:
        dropout = self.now()
        if dropout is not None:
            self.steps += 1
        return dropout


def same_steps(
    module: nn.Module,
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """For torch's checkpoint: its second pass drops the same weights, and is not counted.

    >>> from functools import partial
    >>> from torch.utils.checkpoint import checkpoint
    >>> layer, x = CausalAttention(3, 2, dropout=0.5), torch.zeros(6, 3)
    >>> context = partial(same_steps, layer)
    >>> checkpoint(layer, x, use_reentrant=False, context_fn=context).sum().backward()
    >>> layer.drop.steps
    tensor(1)

    module: the module that the checkpoint calls, or one that contains it. torch takes a context_fn
    only with use_reentrant=False. StepDropout says why steps are counted. Taught in chapter 07.
    """
    counted = [part.steps for part in module.modules() if isinstance(part, StepDropout)]
    at_first: list[int] = []

    @contextmanager
    def first() -> Iterator[None]:
        at_first[:] = [int(steps) for steps in counted]
        yield

    @contextmanager
    def again() -> Iterator[None]:
        now = [int(steps) for steps in counted]
        set_steps(counted, at_first)
        try:
            yield
        finally:
            set_steps(counted, now)

    return first(), again()


def set_steps(counted: list[Tensor], numbers: list[int]) -> None:
    for steps, number in zip(counted, numbers, strict=True):
        steps.fill_(number)


class Head(nn.Module):
    """One head of self-attention; a subclass says by what x is projected."""

    def __init__(self, keep: Keep | None = None, drop: StepDropout | None = None) -> None:
        super().__init__()
        self.keep, self.drop = keep, drop

    def source(self, x: Tensor) -> Projection:
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*B T E"]) -> Float[Tensor, "*B T Dv"]:
        dropout = self.drop() if self.drop else None
        return attention(*self.source(x).project(), keep=self.keep, dropout=dropout)

    def trace(self, x: Float[Tensor, "*B T E"]) -> AttentionTrace:
        """The record of one pass, down to x; it counts no step of dropout."""
        source = self.source(x)
        dropout = self.drop.now() if self.drop else None
        return trace(*source.project(), keep=self.keep, dropout=dropout, source=source)


class SelfAttentionV1(Head):
    """Self-attention with three bare matrices, drawn uniformly from [0, 1).

    >>> _ = torch.manual_seed(123)
    >>> SelfAttentionV1(3, 2)(torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]])).shape
    torch.Size([2, 2])

    Taught in chapter 05.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.w_query = nn.Parameter(torch.rand(d_in, d_out))
        self.w_key = nn.Parameter(torch.rand(d_in, d_out))
        self.w_value = nn.Parameter(torch.rand(d_in, d_out))

    def source(self, x: Tensor) -> Projection:
        check_width("x", x, self.w_query.shape[0])
        return Projection(x, self.w_query, self.w_key, self.w_value)


class SelfAttention(Head):
    """Self-attention with three nn.Linear, whose initial weights suit training.

    >>> SelfAttention(3, 2)(torch.zeros(2, 6, 3)).shape
    torch.Size([2, 6, 2])

    Taught in chapter 05.
    """

    def __init__(self, d_in: int, d_out: int, *, bias: bool = False) -> None:
        super().__init__()
        self.w_query = nn.Linear(d_in, d_out, bias=bias)
        self.w_key = nn.Linear(d_in, d_out, bias=bias)
        self.w_value = nn.Linear(d_in, d_out, bias=bias)

    def source(self, x: Tensor) -> Projection:
        check_width("x", x, self.w_query.in_features)
        return projection(x, self.w_query, self.w_key, self.w_value)


class CausalAttention(SelfAttention):
    """Self-attention in which each token sees itself and what came before, with dropout.

    >>> CausalAttention(3, 2, dropout=0.1)(torch.zeros(2, 6, 3)).shape
    torch.Size([2, 6, 2])

    The mask needs no length and no buffer: causal() is a rule. Taught in chapters 06 and 07.
    """

    def __init__(
        self, d_in: int, d_out: int, *, dropout: float = 0.0, seed: int = 0, bias: bool = False
    ) -> None:
        super().__init__(d_in, d_out, bias=bias)
        self.keep, self.drop = causal(), StepDropout(dropout, seed)


class StackedHeads(nn.Module):
    """Several causal heads, one after the other; their outputs side by side.

    >>> StackedHeads(3, 2, num_heads=2)(torch.zeros(2, 6, 3)).shape
    torch.Size([2, 6, 4])

    d_out is the width of one head. Head h draws its dropout from seed + h. Taught in chapter 08.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, dropout=dropout, seed=seed + head, bias=bias)
            for head in range(num_heads)
        )

    def forward(self, x: Float[Tensor, "*B T E"]) -> Float[Tensor, "*B T HDv"]:
        return torch.cat([head(x) for head in self.heads], dim=-1)


class MultiHeadAttention(nn.Module):
    """All heads in one projection: split by view and transpose, attend, merge, project.

    >>> x = torch.zeros(2, 6, 8)
    >>> MultiHeadAttention(8, 8, num_heads=2, keep=causal())(x).shape
    torch.Size([2, 6, 8])
    >>> MultiHeadAttention(8, 8, num_heads=2)(x, memory=torch.zeros(2, 9, 8)).shape
    torch.Size([2, 6, 8])

    d_out is the width of all heads together and must be a multiple of num_heads. Queries come
    from x, keys and values from `memory`: x itself (self-attention) or another sequence
    (cross-attention). x and memory must be [B, T, d_in], ValueError otherwise: x[None] makes a
    batch of one sentence.

    keep: a rule such as padding(), or a bool tensor: [S] or [L, S] for all sentences alike,
        [B, 1, L, S] for one table per sentence, and [B, 1, 1, S] for one row per sentence, such as
        a tokenizer's mask, keep[:, None, None]. A mask that can be read in two ways is refused,
        and the error names both readings: this concerns a mask of three axes, and one of two axes
        if B = L. The mask of a call is
        joined by & to the module's own.

    Vaswani et al., "Attention Is All You Need" (2017), 3.2.2. Taught in chapters 08 and 09.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        num_heads: int,
        *,
        keep: Keep | None = None,
        dropout: float = 0.0,
        seed: int = 0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_out, num_heads)
        self.num_heads = num_heads
        self.keep = keep
        self.w_query = nn.Linear(d_in, d_out, bias=bias)
        self.w_key = nn.Linear(d_in, d_out, bias=bias)
        self.w_value = nn.Linear(d_in, d_out, bias=bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.drop = StepDropout(dropout, seed)

    def forward(
        self,
        x: Float[Tensor, "B L E"],
        memory: Float[Tensor, "B S E"] | None = None,
        keep: Keep | Tensor | None = None,
    ) -> Float[Tensor, "B L HDv"]:
        q, k, v = self.split_heads(x, memory)
        heads = attention(q, k, v, keep=both_masks(self.keep, keep, x), dropout=self.drop())
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def trace(
        self,
        x: Float[Tensor, "B L E"],
        memory: Float[Tensor, "B S E"] | None = None,
        keep: Keep | Tensor | None = None,
    ) -> AttentionTrace:
        """The record of all heads, before out_proj; it counts no step of dropout."""
        source = None
        if memory is None:
            source = projection(x, self.w_query, self.w_key, self.w_value)
        return trace(
            *self.split_heads(x, memory),
            keep=both_masks(self.keep, keep, x),
            dropout=self.drop.now(),
            source=source,
        )

    def split_heads(
        self, x: Float[Tensor, "B L E"], memory: Float[Tensor, "B S E"] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """q [B, H, L, D], k and v [B, H, S, D]: head h owns columns h·D to (h+1)·D − 1."""
        memory = x if memory is None else memory
        check_batch("x", x, self.w_query.in_features)
        check_batch("memory", memory, self.w_key.in_features)
        rows = self.w_query(x), self.w_key(memory), self.w_value(memory)
        return tuple(t.view(*t.shape[:2], self.num_heads, -1).transpose(1, 2) for t in rows)


def projection(x: Tensor, query: nn.Linear, key: nn.Linear, value: nn.Linear) -> Projection:
    biases = None if query.bias is None else (query.bias, key.bias, value.bias)
    return Projection(x, query.weight.T, key.weight.T, value.weight.T, biases)


def both_masks(
    own: Keep | None, asked: Keep | Tensor | None, x: Float[Tensor, "B L E"]
) -> Keep | Tensor | None:
    """The module's mask and the call's, joined; x: what the module was called with."""
    check_axes(asked, *x.shape[:2])
    if own is None or asked is None:
        return asked if own is None else own
    return own & asked


def check_axes(keep: Keep | Tensor | None, batch: int, queries: int) -> None:
    """Who calls a module sees no heads, so a mask that can be read in two ways is refused."""
    cells = keep.cells if isinstance(keep, Keep) else keep
    if not isinstance(cells, Tensor):
        return
    if cells.ndim == 3 and cells.shape[0] > 1:
        raise ValueError(
            "keep must say whether its first axis is that of the sentences or of the heads, "
            f"got {shape_of(cells)}: pass keep[:, None] for one table a sentence, or keep[None] "
            "for one a head"
        )
    if cells.ndim == 2 and cells.shape[0] == batch == queries > 1:
        raise ValueError(
            "keep must say whether its rows are sentences or queries, as there are "
            f"{batch} of both, got {shape_of(cells)}: pass keep[:, None, None] for one row a "
            "sentence, or keep[None, None] for one a query"
        )


def check_heads(width: int, num_heads: int) -> None:
    check_whole("num_heads", num_heads, least=1)
    if width % num_heads:
        raise ValueError(f"num_heads must divide the width {width}, got {num_heads}")
