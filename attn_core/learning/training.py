"""A small model that learns: you can open each step, and go back to it."""

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import brief, check_whole
from attn_core.learning.film import Film
from attn_core.learning.kept import Kept
from attn_core.learning.measures import Shares, mean, shares
from attn_core.learning.model import AttentionOnly
from attn_core.learning.optimisers import SGD, AdamW, Optimiser, Update
from attn_core.learning.task import MOST_TEXTS, Batch, RepeatedSegments

EVERY, MOST_KEPT = 10, 64


class Step(NamedTuple):
    """The losses of one step of a `Training`, before its update, in nats per letter.

    loss: the mean over all places.
    first: over places that predict a letter for the first time, which nobody can know.
    repeats: over places that predict a repeated letter.

    Taught in chapter 13.
    """

    number: int
    loss: float
    first: float
    repeats: float

    def __repr__(self) -> str:
        return (
            f"step {self.number}: loss {self.loss:.4f}, first-time {self.first:.4f}, "
            f"repeats {self.repeats:.4f}"
        )


class Snapshot(NamedTuple):
    """All that the next steps follow from."""

    weights: dict[str, Tensor]
    updates: dict[str, Update]  # the last ones, with the moments of AdamW
    optimiser: Optimiser


class Training:
    """A model of attention alone learns to copy, step by step; the book's pages compute the same
    numbers in the browser.

    >>> training = Training()
    >>> training.step()
    step 1: loss 2.1682, first-time 2.2024, repeats 2.1570
    >>> training.run(9)
    >>> training
    Training by AdamW, lr 0.01; step 10: loss 2.0619, first-time 2.1243, repeats 2.0334
    >>> training.update("positions").m_hat.shape
    torch.Size([12, 16])
    >>> training.rewind(1)
    >>> training.count
    1

    task: where the texts come from. Defaults to RepeatedSegments().
    model: the model that learns. Defaults to a new AttentionOnly for the task.
        AttentionOnly(8, 12, num_layers=1) has one layer; with keep=Keep() it has no mask.
    optimiser: defaults to AdamW(). Assign training.optimiser to change it for later steps.
    seed: draws the texts, and the first weights of a new model.
    texts: how many texts a step has.

    Gradients are autograd's in float64. `film` holds the maps of `example`, a text that is never
    trained on, after every tenth step; `history` holds the losses of each step. A step that
    overflows raises FloatingPointError and changes nothing.

    Page and Python stay within 1e-9 of each other over 600 steps with the default settings. With
    others they may diverge earlier: near the largest learning rate that is stable, training
    amplifies the last bits, in which two machines differ. Taught in chapter 13.
    """

    def __init__(
        self,
        task: RepeatedSegments | None = None,
        model: AttentionOnly | None = None,
        optimiser: Optimiser | None = None,
        *,
        seed: int = 1,
        texts: int = 16,
    ) -> None:
        self.task = RepeatedSegments() if task is None else task
        self.seed, self.texts = check_whole("seed", seed), check_whole("texts", texts, least=1)
        if model is None:
            model = AttentionOnly(len(self.task.vocabulary), self.task.length, seed=seed)
        self.model = model
        check_fits(model, self.task)
        self.example = self.task.batch([self.task.example(seed)])
        self.history: list[Step] = []
        self.updates: dict[str, Update] = {}  # of the last step, by the names of weights
        self.film = Film(model, self.example.ids, every=EVERY)
        self.snapshots: Kept[Snapshot] = Kept(EVERY, MOST_KEPT)
        self.changes: dict[int, Snapshot] = {}  # where the optimiser was set
        self.optimiser = AdamW() if optimiser is None else optimiser
        self.film.look(0)

    @property
    def count(self) -> int:
        """How many updates the weights have had."""
        return len(self.history)

    @property
    def loss(self) -> float:
        """The loss of the last step."""
        if not self.history:
            raise ValueError("loss must be that of a step, got none: call step() first")
        return self.history[-1].loss

    @property
    def optimiser(self) -> Optimiser:
        return self._optimiser

    @optimiser.setter
    def optimiser(self, optimiser: Optimiser) -> None:
        if not isinstance(optimiser, (AdamW, SGD)):
            raise TypeError(f"optimiser must be AdamW or SGD, got {type(optimiser).__name__}")
        self._optimiser = optimiser
        self.changes[self.count] = self.snapshot()

    def batch(self, step: int | None = None) -> Batch:
        """The texts of a step, counted from 1. Defaults to the next step."""
        number = self.count + 1 if step is None else check_whole("step", step, least=1)
        if number * self.texts > MOST_TEXTS:
            raise ValueError(f"step must be at most {MOST_TEXTS // self.texts}, got {number}")
        numbers = range((number - 1) * self.texts, number * self.texts)
        return self.task.batch(self.task.texts(self.seed, numbers))

    def step(self) -> Step:
        """One step: the loss of a batch, its gradient, and the update of each weight.

        FloatingPointError if it overflows.
        """
        batch = self.batch()
        try:
            done, gradients = self.losses(batch)
        except ValueError:  # attention refuses queries that have overflowed
            raise self.overflow from None
        updates = {}
        for name, weight in self.weights():
            moments = self.updates[name].moments if name in self.updates else None
            updates[name] = self.optimiser.update(weight, gradients[name], moments)
        weights = torch.cat([update.after.flatten() for update in updates.values()])
        if not (math.isfinite(done.loss) and weights.isfinite().all()):
            raise self.overflow
        self.put({name: update.after for name, update in updates.items()})
        self.updates = updates
        self.history.append(done)
        self.look()
        if self.snapshots.is_due(self.count):
            self.snapshots.add(self.count, self.snapshot())
        return done

    def run(self, steps: int) -> None:
        """Does this many more steps."""
        for _ in range(check_whole("steps", steps)):
            self.step()

    def losses(self, batch: Batch) -> tuple[Step, dict[str, Tensor]]:
        """The losses of a batch, and the gradient of their mean by the names of the weights."""
        with torch.enable_grad():
            logits = self.model(batch.ids).flatten(0, 1)
            each = torch.nn.functional.cross_entropy(
                logits, batch.targets.flatten(), reduction="none"
            ).view_as(batch.targets)
            names, weights = zip(*self.model.named_parameters(), strict=True)
            gradients = torch.autograd.grad(each.mean(), weights)
        means = map(mean, (each, each[batch.is_first], each[batch.is_repeat]))
        step = Step(self.count + 1, *means)
        return step, dict(zip(names, gradients, strict=True))

    def update(self, name: str) -> Update:
        """The last update of a weight, by its name in the model, part by part."""
        if not self.updates:
            raise ValueError("update must be that of a step, got none: call step() first")
        if name not in self.updates:
            raise KeyError(f"name must be one of {', '.join(self.updates)}, got {brief(name)}")
        return self.updates[name]

    @torch.no_grad()
    def maps(self, batch: Batch | None = None) -> list[Float[Tensor, "B T T"]]:
        """The attention map of each layer for a batch. Defaults to the example."""
        ids = (self.example if batch is None else batch).ids
        return [record.stage("weights")[:, 0] for record in self.model.traces(ids)]

    def shares(self, batch: Batch | None = None) -> list[Shares]:
        """Where the attention of each layer goes in a batch. Defaults to the next step's batch."""
        batch = self.batch() if batch is None else batch
        return [shares(weights, batch) for weights in self.maps(batch)]

    def rewind(self, step: int) -> None:
        """Goes back to an earlier step, exactly; the later steps are forgotten.

        The optimiser is again the one of that step. At most 64 snapshots are kept, and the steps
        after the nearest one are computed again.
        """
        if check_whole("step", step) > self.count:
            raise ValueError(f"step must be at most the {self.count} done so far, got {step}")
        start = self.snapshots.before(step)
        change = max(n for n in self.changes if n <= step)
        kept = self.changes[change]
        if start is not None and start > change:
            kept = self.snapshots.items[start]
        else:
            start = change
        self.changes = {n: one for n, one in self.changes.items() if n <= step}
        for later in (self.snapshots, self.film.kept):
            later.drop_after(step)
        del self.history[start:]
        self.put(kept.weights)
        self.updates, self._optimiser = kept.updates, kept.optimiser
        self.run(step - start)

    def snapshot(self) -> Snapshot:
        return Snapshot(dict(self.weights()), self.updates, self.optimiser)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Copies of the weights as they are now, by their names."""
        return ((name, weight.detach().clone()) for name, weight in self.model.named_parameters())

    @torch.no_grad()
    def put(self, weights: dict[str, Tensor]) -> None:
        for name, weight in self.model.named_parameters():
            weight.copy_(weights[name])

    def look(self) -> None:
        """Keeps a frame of the film, if one is due."""
        with suppress(ValueError):  # of an overflow, which the next step says
            self.film.look(self.count)

    @property
    def overflow(self) -> FloatingPointError:
        """What is said where a step leaves what float64 holds."""
        return FloatingPointError(
            f"training must stay finite, got an overflow at step {self.count + 1} with lr "
            f"{self.optimiser.lr:g}: go back with rewind(…) and set an optimiser with a smaller lr"
        )

    def __repr__(self) -> str:
        last = repr(self.history[-1]) if self.history else "no step yet"
        return f"Training by {type(self.optimiser).__name__}, lr {self.optimiser.lr:g}; {last}"


def check_fits(model: AttentionOnly, task: RepeatedSegments) -> None:
    """The model has a row for each token of the task, and a position for each place."""
    words, places = model.unembedding.out_features, len(model.positions)
    if words != len(task.vocabulary) or places < task.length:
        raise ValueError(
            f"model must have {len(task.vocabulary)} tokens and at least {task.length} places, "
            f"as the task has, got {words} and {places}"
        )
