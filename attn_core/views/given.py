"""Weights that came alone, without the q and k that they follow from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import FLOATS, brief, check_dense, shape_of
from attn_core.pooling import pool
from attn_core.precision import upcast
from attn_core.record import AttentionTrace
from attn_core.views.compact import stored
from attn_core.views.payload import VERSION, array

OFF = 0.01  # by how much a row may miss 1: half precision rounds each of its weights
ALONE = ("weights", "dropped")  # the stages that may come alone
# Controls that change what weights follow from, or show it.
HIDDEN = ("strip", "scale", "mask", "vectors", "draw", "dropout", "compare", "inputs", "all")
WHAT = "weights must be a tensor [L, S], [H, L, S] or [B, H, L, S], or a tuple of one a layer"


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """Weights of one or more heads, of which nothing else is known.

    >>> given = GivenWeights(torch.eye(2)[None, None], "weights", None)
    >>> given.shape, given.tile("weights", slice(0, 1), slice(0, 2))
    ((1, 1, 2, 2), tensor([[1., 0.]]))
    """

    cells: Float[Tensor, "B H L S"]
    stage: str  # "weights", or "dropped" if dropout has changed them
    names: list[str] | None  # one a head
    scale = 1.0
    dropout = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        B, H, L, S = self.cells.shape
        return B, H, L, S

    def columns(self, stage: str) -> int:
        """How many columns its stage has: the keys."""
        return self.shape[3]

    def tile(
        self, name: str, rows: slice | range, cols: slice | range, *, batch: int = 0, head: int = 0
    ) -> Tensor:
        """Some rows and columns of one head, as `AttentionTrace.tile` gives them."""
        rows, cols = (slice(p.start, p.stop) if isinstance(p, range) else p for p in (rows, cols))
        return upcast(self.cells[batch, head, rows, cols])

    def pooled(
        self, name: str, shape: Sequence[int], how: str = "mean", *, batch: int = 0, head: int = 0
    ) -> Tensor:
        """An overview of one head, as `AttentionTrace.pooled` gives it."""
        (_, _, L, S), (n, m) = self.shape, shape
        return pool(
            lambda rows, cols: self.tile(name, rows, cols, batch=batch, head=head),
            (L, S), (n, m), how,
        )  # fmt: skip

    def payload(self, name: str, tokens: tuple[list, list], view: dict, store: str | None) -> dict:
        """The page's data: the weights themselves, as there is nothing that they follow from."""
        sent = stored(self.cells, "weights", store)
        payload = {
            "version": VERSION,
            "name": name,
            "form": "explorer",
            "tokens": {"queries": tokens[0], "keys": tokens[1]},
            "weights": array(sent),
            "view": view,
        }
        if store is not None:
            payload["error"] = (sent.double() - self.cells.double()).abs().max().item()
        return payload


Numbers = AttentionTrace | GivenWeights  # what an explorer shows


def is_of_weights(value: Any) -> bool:
    """Whether somebody means weights by it, good ones or bad ones."""
    return isinstance(value, (Tensor, list, tuple)) or hasattr(value, "__array__")


@torch.no_grad()
def given_weights(weights: Any, stage: str) -> GivenWeights:
    """Weights as a tensor or one a layer, checked; TypeError or ValueError with one sentence."""
    if stage not in ALONE:
        raise ValueError(
            f"stage must be 'weights' or 'dropped' where there are only weights, got {stage!r}"
        )
    if not isinstance(weights, (list, tuple)):
        cells, names = with_four_axes(tensor_of(weights, "weights")), None
        cells = cells.clone()
    else:
        if not weights:
            raise ValueError(f"{WHAT}, got an empty {type(weights).__name__}")
        layers = [layer_of(layer, n) for n, layer in enumerate(weights)]
        for n, layer in enumerate(layers):
            if any(layer.shape[axis] != layers[0].shape[axis] for axis in (0, 2, 3)):
                raise ValueError(
                    "weights must have as many queries and keys in each layer as in layer 0, "
                    f"{shape_of(layers[0])}, got {shape_of(layer)} in layer {n}: show them apart"
                )
        cells = torch.cat([layer.to(layers[0]) for layer in layers], 1)
        names = [f"layer {n}, head {h}" for n, x in enumerate(layers) for h in range(x.shape[1])]
    given = GivenWeights(cells, stage, names)
    check_cells_of(given)
    return given


def layer_of(layer: Any, number: int) -> Tensor:
    """One of the layers that a model gave by output_attentions."""
    name = f"layer {number} of weights"
    if layer is None:
        raise TypeError(
            f"{name} must be a tensor, got None, as of a model whose attention keeps no weights: "
            "open_attention(model, …) needs none, or load the model with "
            "attn_implementation='eager'"
        )
    if isinstance(layer, (list, tuple)):
        raise TypeError(
            f"{name} must be a tensor, got a {type(layer).__name__}, as from generate(): show one "
            f"of its steps, such as weights[{number}]"
        )
    tensor = tensor_of(layer, name)
    if tensor.ndim not in (3, 4):
        raise ValueError(f"{name} must have the axes [H, L, S] or [B, H, L, S], "
                         f"got {shape_of(tensor)}")  # fmt: skip
    return with_four_axes(tensor)


def tensor_of(weights: Any, name: str) -> Tensor:
    tensor = weights if isinstance(weights, Tensor) else torch.as_tensor(weights)
    check_dense(name, tensor)
    if tensor.dtype not in FLOATS:
        raise TypeError(f"{name} must be of floating point, got {tensor.dtype}")
    if tensor.ndim not in (2, 3, 4) or tensor.numel() == 0:
        raise ValueError(f"{WHAT}, got {shape_of(tensor)}")
    return tensor.detach().cpu()


def with_four_axes(weights: Tensor) -> Tensor:
    """[L, S], [H, L, S] → [1, H, L, S]."""
    return weights.reshape((1,) * (4 - weights.ndim) + tuple(weights.shape))


def check_cells_of(given: GivenWeights) -> None:
    """Finite, none below 0; unless dropout has changed them, no row adds up to more than 1."""
    cells = given.cells
    for ok, must in ((cells.isfinite(), "be finite"), (cells >= 0, "be at least 0")):
        if not ok.all():
            place = (~ok).nonzero()[0].tolist()
            found = cells[tuple(place)].item()
            raise ValueError(f"weights must {must}, got {found:g} in {place_of(given, place)}")
    if given.stage == "dropped":
        return
    sums = cells.sum(-1, dtype=torch.float64)
    if (over := (sums > 1 + OFF).nonzero()).numel():
        place = over[0].tolist()
        raise ValueError(
            f"weights must have rows that add up to 1, got {sums[tuple(place)].item():.4g} in "
            f"{place_of(given, place)}: give the numbers after softmax, and with stage='dropped' "
            "if dropout has changed them"
        )


def place_of(given: GivenWeights, place: Sequence[int]) -> str:
    batch, head, row, *column = place
    B, H = given.shape[:2]
    name = given.names[head] if given.names else f"head {head}"
    words = [f"sequence {batch}"] * (B > 1) + [name] * (H > 1) + [f"row {row}"]
    return ", ".join(words + [f"column {j}" for j in column])


def check_alone(names: Sequence[str] | None, mistakes: Sequence) -> None:
    """What of `explore` needs q and k."""
    if mistakes:
        raise ValueError(f"mistakes must be left out where there are only weights, got "
                         f"{brief(mistakes)}")  # fmt: skip
    if names is not None:
        raise ValueError(f"stages must be left out where there are only weights, got "
                         f"{brief(names)}")  # fmt: skip
