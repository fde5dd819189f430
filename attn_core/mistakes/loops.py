"""A training loop in its plainest form, and the wrong ones: each with one method written anew."""

from collections.abc import Callable
from functools import cache
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attn_core.layers import EncoderLayer, PositionalEncoding, WordEmbedding
from attn_core.learning import AttentionOnly, RepeatedSegments
from attn_core.learning.model import drawn
from attn_core.masks import Keep, causal
from attn_core.mistakes.mistake import Run
from attn_core.modules import each
from attn_core.record import AttentionTrace

TEXTS = 8
Ids = Int[Tensor, "B T"]
Texts = Int[Tensor, "B tokens"]  # of which a model reads all but the last one


class Loop:
    """A language model trained with AdamW and a warm-up, one batch of texts a step.

    >>> from attn_core.mistakes.loops import Loop
    >>> loop = Loop()
    >>> loop.run(3)
    >>> [f"{loss:.4f}" for loss in loop.losses]
    ['2.1141', '2.2230', '2.1546']

    model: gives logits [B, T, words] of ids [B, T], in float64; the model of chapter 13 unless
        given.
    texts: the ids [B, T + 1] of a step, counted from 1; repeated segments unless given.
    peak: the learning rate after the warm-up.
    warmup: how many steps the rate takes to get there.

    `losses` holds the loss of each step, in nats per token. Taught in chapter 14.
    """

    def __init__(
        self,
        model: nn.Module | None = None,
        texts: Callable[[int], Texts] | None = None,
        *,
        peak: float = 0.01,
        warmup: int = 10,
    ) -> None:
        self.model = AttentionOnly(8, 12, keep=self.keep()) if model is None else model
        self.texts = repeated if texts is None else texts
        self.peak, self.warmup = peak, warmup
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=peak)
        self.losses: list[float] = []

    def keep(self) -> Keep:
        """What each place may see, in the model that the loop makes."""
        return causal()

    def pairs(self, ids: Texts) -> tuple[Ids, Ids]:
        """What the model reads of the texts, and what each place is to say."""
        return ids[:, :-1], ids[:, 1:]

    def clear(self) -> None:
        """Forgets the gradients of the step before."""
        self.optimizer.zero_grad()

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 1."""
        return self.peak * min(1.0, step / self.warmup)

    def loss(self, ids: Texts) -> Float[Tensor, ""]:
        """The mean over all places of all texts."""
        read, targets = self.pairs(ids)
        return cross_entropy(self.model(read).flatten(0, 1), targets.flatten())

    def run(self, steps: int) -> None:
        """Does this many more steps."""
        for step in range(len(self.losses) + 1, len(self.losses) + steps + 1):
            loss = self.loss(self.texts(step))
            self.clear()
            loss.backward()
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate(step)
            self.optimizer.step()
            self.losses.append(loss.item())


class NoMask(Loop):
    def keep(self) -> Keep:
        return Keep()


class NotShifted(Loop):
    def pairs(self, ids: Texts) -> tuple[Ids, Ids]:
        return ids[:, :-1], ids[:, :-1]


class NotCleared(Loop):
    def clear(self) -> None:
        pass


class NoWarmup(Loop):
    def rate(self, step: int) -> float:
        return self.peak


class Stack(nn.Module):
    """A language model of encoder layers under a causal mask, drawn as that of chapter 13.

    >>> from attn_core.mistakes.loops import Stack
    >>> Stack(num_layers=2)(torch.tensor([[0, 1, 2]])).shape
    torch.Size([1, 3, 8])

    Taught in chapter 14.
    """

    def __init__(self, num_layers: int, *, norm_first: bool = False, width: int = 16) -> None:
        super().__init__()
        self.placed = nn.Sequential(WordEmbedding(8, width), PositionalEncoding(width))
        self.layers = nn.ModuleList(
            EncoderLayer(width, num_heads=1, hidden=2 * width, norm_first=norm_first)
            for _ in range(num_layers)
        )
        self.unembedding = nn.Linear(width, 8)
        self.double()
        with torch.no_grad():
            for number, (name, weight) in enumerate(self.named_parameters()):
                if weight.ndim == 2:
                    weight.copy_(drawn(weight, 1, number))
                elif name.endswith("bias"):
                    weight.zero_()

    def forward(self, ids: Ids) -> Float[Tensor, "B T words"]:
        x = self.placed(ids)
        for layer in each(self.layers, EncoderLayer):
            x = layer(x, keep=causal())
        return self.unembedding(x)


def alphabet(step: int) -> Texts:
    """Eight texts that go on through the alphabet, each from another letter: A after H."""
    return (torch.arange(8)[:, None] + torch.arange(7)) % 8


@cache
def repeated(step: int) -> Texts:
    """Texts that repeat a segment, as in chapter 13."""
    task = RepeatedSegments()
    numbers = range((step - 1) * TEXTS, step * TEXTS)
    return torch.tensor([text.ids for text in task.texts(1, numbers)])


def one_letter(step: int) -> Texts:
    """Texts that say the same letter again and again."""
    return torch.arange(TEXTS)[:, None].expand(-1, 13)


def after(loop: Loop, steps: int) -> tuple[AttentionOnly, Ids]:
    """The model of a loop after some steps, and what it then reads."""
    loop.run(steps)
    return cast(AttentionOnly, loop.model), loop.pairs(loop.texts(steps + 1))[0]


def seen(model: AttentionOnly, read: Ids) -> AttentionTrace:
    """The first attention of the model, on the first six tokens of the first text."""
    return model.traces(read[:1, :6])[0]


def mask(kind: type[Loop], hidden: bool) -> Run:
    """Hidden in texts of which one token is read."""
    model, read = after(kind(texts=(lambda step: repeated(step)[:, :2]) if hidden else None), 2)
    x = model.placed(read).detach().requires_grad_()
    first = nn.Sequential(*model.layers, model.unembedding)(x)[:, 0]
    (grad,) = torch.autograd.grad(first.sum(), x)
    return Run(seen(model, read), {"grad": grad})


def shift(kind: type[Loop], hidden: bool) -> Run:
    loop = kind(texts=one_letter if hidden else None)
    model, read = after(loop, 2)
    targets = loop.pairs(loop.texts(3))[1]
    return Run(seen(model, read), {"read": read, "targets": targets})


def clearing(kind: type[Loop], hidden: bool) -> Run:
    """Hidden in the first step."""
    steps = 1 if hidden else 3
    loop = kind()
    loop.run(steps - 1)
    weights = tuple(loop.model.parameters())
    fresh = torch.autograd.grad(loop.loss(loop.texts(steps)), weights)
    model, read = after(loop, 1)
    used = [weight.grad for weight in weights]
    return Run(seen(model, read), {"used": used[0], "fresh": fresh[0]})


def warmup(kind: type[Loop], hidden: bool) -> Run:
    """Hidden with a warm-up of one step."""
    loop = kind(warmup=1 if hidden else 10)
    before = [weight.detach().clone() for weight in loop.model.parameters()]
    model, read = after(loop, 1)
    moves = [new - old for new, old in zip(model.parameters(), before, strict=True)]
    farthest = max(move.abs().max() for move in moves)
    return Run(seen(model, read), {"first_move": farthest, "peak": loop.peak})
