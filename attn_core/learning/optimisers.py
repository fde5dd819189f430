"""How a weight follows from its gradient, with every part of the update."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import is_number

Numbers = Float[Tensor, "..."]


class Moments(NamedTuple):
    """What AdamW remembers of a weight's gradients."""

    step: int  # how many updates it has made
    m: Numbers  # the running mean of the gradients
    v: Numbers  # that of their squares


class Update(NamedTuple):
    """One update of a weight, part by part, each in the shape of the weight.

    after = before − decayed − moved, where decayed is lr·weight_decay·before and moved is
    lr·gradient, or, for AdamW, lr·ratio with ratio = m_hat / (√v_hat + eps). SGD has no moments,
    and no m_hat, v_hat or ratio. Taught in chapter 13.
    """

    before: Numbers
    gradient: Numbers
    decayed: Numbers
    moved: Numbers
    after: Numbers
    moments: Moments | None = None  # of AdamW, as those below
    m_hat: Numbers | None = None
    v_hat: Numbers | None = None
    ratio: Numbers | None = None


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent: each weight moves against its gradient.

    >>> weight, gradient = torch.tensor([2.0, 2.0]), torch.tensor([0.5, -0.5])
    >>> SGD(lr=0.1).update(weight, gradient).after
    tensor([1.9500, 2.0500])

    after = weight − lr·weight_decay·weight − lr·gradient.

    lr: the learning rate, finite and at least 0, ValueError otherwise.

    Robbins and Monro, "A Stochastic Approximation Method" (1951). Taught in chapter 13.
    """

    lr: float = 0.3
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_rates(self)

    def update(self, weight: Numbers, gradient: Numbers, moments: Moments | None = None) -> Update:
        """The update of one weight; it needs no moments."""
        decayed, moved = self.lr * self.weight_decay * weight, self.lr * gradient
        return Update(weight, gradient, decayed, moved, weight - decayed - moved)


@dataclass(frozen=True)
class AdamW:
    """Adam with decoupled weight decay: as long as its gradients agree in sign, each weight moves
    by about lr a step, whether they are large or small.

    >>> weight, gradient = torch.tensor([2.0, 2.0]), torch.tensor([0.001, 1000.0])
    >>> AdamW(lr=0.1, weight_decay=0.0).update(weight, gradient).after
    tensor([1.9000, 1.9000])

    m = β₁·m + (1 − β₁)·gradient, v = β₂·v + (1 − β₂)·gradient², m_hat = m / (1 − β₁ᵗ),
    v_hat = v / (1 − β₂ᵗ), after = weight − lr·weight_decay·weight − lr·m_hat / (√v_hat + eps) at
    step t = 1, 2, …

    lr: the learning rate, finite and at least 0, ValueError otherwise.
    betas: β₁ and β₂, at least 0 and below 1.
    eps: keeps the division finite where v_hat is 0.
    weight_decay: how much of each weight is taken away; lr multiplies it, as in torch.

    Loshchilov and Hutter, "Decoupled Weight Decay Regularization" (2019), algorithm 2. Taught in
    chapter 13.
    """

    lr: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        check_rates(self)
        if len(self.betas) != 2 or not all(is_number(b) and 0 <= b < 1 for b in self.betas):
            raise ValueError(
                f"betas must be two numbers of at least 0 and below 1, got {self.betas}"
            )
        check_rate("eps", self.eps)

    def update(self, weight: Numbers, gradient: Numbers, moments: Moments | None = None) -> Update:
        """The update of one weight.

        moments: those of the update before; zeros at first.
        """
        zero = torch.zeros_like(weight)
        before = Moments(0, zero, zero) if moments is None else moments
        beta1, beta2 = self.betas
        step = before.step + 1
        m = beta1 * before.m + (1 - beta1) * gradient
        v = beta2 * before.v + (1 - beta2) * gradient * gradient
        m_hat, v_hat = m / (1 - beta1**step), v / (1 - beta2**step)
        ratio = m_hat / (v_hat.sqrt() + self.eps)
        decayed, moved = self.lr * self.weight_decay * weight, self.lr * ratio
        after = weight - decayed - moved
        now = Moments(step, m, v)
        return Update(weight, gradient, decayed, moved, after, now, m_hat, v_hat, ratio)


Optimiser = SGD | AdamW


def check_rates(optimiser: Optimiser) -> None:
    check_rate("lr", optimiser.lr)
    check_rate("weight_decay", optimiser.weight_decay)


def check_rate(name: str, value: float) -> None:
    """A finite number of at least 0."""
    if not is_number(value) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
