"""A small model that learns on the page, step by step: in a live notebook, and as HTML."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import torch

from attn_core.checks import brief
from attn_core.digits import fixed
from attn_core.learning import SGD, AdamW, AttentionLayer, AttentionOnly, Training
from attn_core.masks import Keep, causal
from attn_core.modules import each
from attn_core.views import script
from attn_core.views.explorer import check_name
from attn_core.views.markup import element
from attn_core.views.shown import Shown

if TYPE_CHECKING:
    from attn_core.views.drawings.drawing import Drawing

HERE = Path(__file__).parent
# What the page computes smoothly.
MOST = {"texts": 64, "places": 16, "width": 64, "layers": 2}
MOST_FRAMES = 7  # of the still
MEAN = 10  # steps whose mean loss is shown


class OpenTraining(Shown):
    """What `open_training` shows: a training that a reader can step, run, rewind and change.

    training: the one in Python, whose film is shown on paper.

    Taught in chapter 13.
    """

    _esm = script.BUILT / "training_widget.js"
    _css = "\n".join(
        (HERE / name).read_text("utf-8") for name in ("explorer.css", "machine.css", "training.css")
    )

    def __init__(self, training: Training, payload: dict) -> None:
        self.training = training
        super().__init__(payload=payload)

    def markup(self, widget_id: str = "", is_alone: bool = False) -> str:
        """The first state for a page."""
        inside = losses_table(self.training)
        return element("attention-training", self.payload, inside, widget_id, is_alone)

    def still(self) -> "Drawing | None":
        """The film of the training as it is now, if it has two frames."""
        from attn_core.views.drawings.film_strip import film_strip

        training = self.training
        steps = even_steps(list(training.film))
        if len(steps) < 2:
            return None
        frames = {
            step: [weights[0, 0] for weights in training.film[step].values()] for step in steps
        }
        losses = {
            name: [(step, loss_at(training, step, which)) for step in steps]
            for name, which in (("first-time letters", "first"), ("repeats", "repeats"))
        }
        return film_strip(frames, losses)

    def __repr__(self) -> str:
        weights = sum(weight.numel() for weight in self.training.model.parameters())
        layers = len(self.training.model.layers)
        plural = "s" if layers > 1 else ""
        return f"Training to play with: {weights:,} weights, {layers} layer{plural}"

    __str__ = __repr__


def open_training(training: Training | None = None, *, name: str = "training") -> OpenTraining:
    """A small model that learns on the page: step, run and rewind it, and open any number.

    >>> from attn_core.learning import Training
    >>> open_training(Training())
    Training to play with: 2,496 weights, 2 layers

    training: the page starts from the same task, seed, first weights and optimiser, and computes
        the same numbers; by default Training(). A printed page shows the film of what the model has
        learned so far. The model must be an AttentionOnly of one or two layers, with the weights
        that the seed draws and a causal mask or Keep(); ValueError otherwise.
    name: the explorer's name in the page's address, made of letters, digits and hyphens; it must be
        unique on the page.

    A reader can change the learning rate, the optimiser, the seed and the number of layers, remove
    the mask, and put a start token first. Python does not see these changes.
    Taught in chapter 13.
    """
    training = Training() if training is None else training
    if not isinstance(training, Training):
        raise TypeError(f"training must be a Training, got {brief(training)}")
    payload = {"version": 1, "name": check_name(name), "form": "training"}
    return OpenTraining(training, payload | {"asked": asked(training)})


def asked(training: Training) -> dict:
    """What the page's script is asked to train, by its names."""
    task, model = training.task, training.model
    width = model.unembedding.in_features
    sizes = {"texts": training.texts, "places": task.places, "width": width}
    for what, size in (sizes | {"layers": len(model.layers)}).items():
        if size > MOST[what]:
            raise ValueError(f"{what} of training must be at most {MOST[what]}, got {size}")
    return {
        "seed": training.seed,
        "texts": training.texts,
        "width": width,
        "layers": len(model.layers),
        "isMasked": check_first(training),
        "every": 10,
        "task": {
            "letters": task.letters,
            "places": task.places,
            "shortest": task.shortest,
            "longest": task.longest,
            "hasStart": task.has_start,
        },
        "optimiser": optimiser_of(training.changes[0].optimiser),
    }


def optimiser_of(optimiser: AdamW | SGD) -> dict:
    rates = {"lr": optimiser.lr, "weightDecay": optimiser.weight_decay}
    if isinstance(optimiser, SGD):
        return {"kind": "sgd", **rates}
    beta1, beta2 = optimiser.betas
    return {"kind": "adamw", **rates, "beta1": beta1, "beta2": beta2, "eps": optimiser.eps}


def check_first(training: Training) -> bool:
    """Whether the model is masked; it must begin as one that the seed draws."""
    model, task = training.model, training.task
    masks = [layer.attention.keep for layer in each(model.layers, AttentionLayer)]
    for mask in masks:
        if mask not in (causal(), Keep()) or mask != masks[0]:
            raise ValueError(
                f"layers of training must all have keep=causal(), or all keep=Keep(), got {mask}"
            )
    drawn = AttentionOnly(
        len(task.vocabulary),
        task.length,
        width=model.unembedding.in_features,
        num_layers=len(model.layers),
        seed=training.seed,
    )
    first = training.changes[0].weights
    for name, weight in drawn.named_parameters():
        if not torch.equal(first[name], weight):
            raise ValueError(
                f"training must begin with the weights that seed {training.seed} draws, got others "
                f"in {name}: make the model with AttentionOnly(…, seed={training.seed})"
            )
    return masks[0] == causal()


def even_steps(steps: Sequence[int], most: int = MOST_FRAMES) -> list[int]:
    """Some of the steps, evenly spaced from the first on, as many as fit.

    >>> even_steps(range(0, 310, 10)), even_steps([0, 10, 20])
    ([0, 50, 100, 150, 200, 250, 300], [0, 10, 20])
    """
    apart = -(-(len(steps) - 1) // (most - 1)) or 1
    return list(steps)[::apart]


def loss_at(training: Training, step: int, which: str) -> float:
    """The mean loss of the steps up to this one."""
    until = max(step, 1)
    return fmean(getattr(done, which) for done in training.history[max(until - MEAN, 0) : until])


def losses_table(training: Training) -> str:
    """What stands on a page without scripts: the losses at some steps."""
    if not training.count:
        return "<p>A model that learns stands here on a page with scripts.</p>"
    rows = "\n".join(
        f'<tr><th scope="row">{step}</th><td>{fixed(loss_at(training, step, "first"), 2)}</td>'
        f"<td>{fixed(loss_at(training, step, 'repeats'), 2)}</td></tr>"
        for step in even_steps(list(training.film))
    )
    caption = "the step, the loss on first-time letters, and the loss on repeats"
    return f"<table>\n<caption>{caption}</caption>\n{rows}\n</table>"
