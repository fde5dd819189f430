"""A film of attention maps: what a model attends to in a fixed input, step after step."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attn_core.checks import brief, check_whole
from attn_core.learning.kept import Kept
from attn_core.watching import Seen, watch
from attn_core.watching.seen import THE_MODEL

Inputs = Tensor | Sequence[Any] | Mapping[str, Any]
Frame = dict[str, Float[Tensor, "*lead L S"]]
MOST_BYTES = 20_000_000


class Film(Mapping[int, Frame]):
    """The attention maps of a model on a fixed input at some steps: `film[100][path]`.

    >>> from attn_core.learning import AttentionOnly
    >>> model = AttentionOnly(8, 12)
    >>> film = Film(model, torch.tensor([[0, 1, 2, 0, 1]]), every=2)
    >>> for step in range(5):
    ...     film.look(step)
    >>> film
    3 frames, steps 0 to 4, every 2; 0.6 kB
    path                maps
    layers.0.attention  1 × 1 × 5 × 5
    layers.1.attention  1 × 1 × 5 × 5

    A frame holds a map [*lead, L, S] in float32 for each module that attends, by its path; a module
    that attends several times has a map for each time. `watch_training` makes a film of a loop with
    an optimizer of torch; without one, call `look` after each step.

    model: any nn.Module whose attention `watch` sees.
    inputs: what the model is called with: a tensor, a list of arguments, or a dict of named ones.
    every: how many steps lie between two frames.
    most_bytes: when the film would need more, every second frame is dropped and `every` doubles.

    Taught in chapter 13.
    """

    def __init__(
        self, model: nn.Module, inputs: Inputs, *, every: int = 10, most_bytes: int = MOST_BYTES
    ) -> None:
        check_whole("every", every, least=1)
        self.model, self.inputs = model, inputs
        self.first = self.seen_now()
        self.frame_bytes = sum(map_.numel() * 4 for map_ in self.first.values())
        if check_whole("most_bytes", most_bytes) < 2 * self.frame_bytes:
            raise ValueError(
                f"most_bytes must be at least {2 * self.frame_bytes}, two frames of these inputs, "
                f"got {most_bytes}: take a shorter input"
            )
        self.kept: Kept[Frame] = Kept(every, most_bytes // self.frame_bytes)

    def look(self, step: int) -> None:
        """Keeps the maps that the model has now, if the step is a multiple of `every`."""
        if self.kept.is_due(step):
            self.kept.add(step, self.seen_now())

    def seen_now(self) -> Frame:
        """The maps that the model has now; it runs once, as in evaluation and without gradients."""
        training = [module for module in self.model.modules() if module.training]
        self.model.eval()
        try:
            with watch(self.model) as seen, torch.no_grad():
                called(self.model, self.inputs)
        finally:
            for module in training:
                module.training = True
        return dict(maps_of(seen))

    def path(self, path: str) -> Float[Tensor, "frames *lead L S"]:
        """All maps of one module, frame after frame."""
        return torch.stack([frame[path] for frame in self.values()])

    @property
    def every(self) -> int:
        """How many steps lie between two frames; it doubles when the film is full."""
        return self.kept.every

    def __getitem__(self, step: int) -> Frame:
        if step not in self.kept.items:
            raise KeyError(f"step must be one of the film's {len(self)} frames, got {brief(step)}")
        return self.kept.items[step]

    def __iter__(self) -> Iterator[int]:
        return iter(self.kept.items)

    def __len__(self) -> int:
        return len(self.kept.items)

    def __repr__(self) -> str:
        """How many frames there are, and the shapes of their maps."""
        size = f"{len(self) * self.frame_bytes / 1000:.1f} kB"
        steps = f", steps {min(self)} to {max(self)}" if self else ""
        width = max(map(len, ["path", *self.first]))
        rows = [(path, " × ".join(map(str, map_.shape))) for path, map_ in self.first.items()]
        lines = [f"{path.ljust(width)}  {shape}" for path, shape in [("path", "maps"), *rows]]
        return "\n".join([f"{len(self)} frames{steps}, every {self.every}; {size}", *lines])


@contextmanager
def watch_training(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    inputs: Inputs,
    *,
    every: int = 10,
    most_bytes: int = MOST_BYTES,
) -> Iterator[Film]:
    """A film of what a model attends to in a fixed input, while your own loop trains it.

    >>> import torch
    >>> from attn_core.learning import watch_training
    >>> model = torch.nn.TransformerEncoderLayer(8, nhead=2, dropout=0.0, batch_first=True)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> x = torch.linspace(-1, 1, 40).sin().view(1, 5, 8)
    >>> with watch_training(model, optimizer, x, every=5) as film:
    ...     for step in range(20):
    ...         loss = model(x).square().mean()
    ...         optimizer.zero_grad()
    ...         loss.backward()
    ...         optimizer.step()
    >>> film
    5 frames, steps 0 to 20, every 5; 1.0 kB
    path       maps
    self_attn  1 × 2 × 5 × 5
    >>> film[20]["self_attn"].shape
    torch.Size([1, 2, 5, 5])

    model: any nn.Module whose attention `watch` sees.
    optimizer: its steps are counted. The film begins with a frame before the first, step 0.
    inputs: what the model is called with: a tensor, a list of arguments, or a dict of named ones.
    every: how many steps lie between two frames.
    most_bytes: maps are float32, 4 bytes a weight. When the film would need more, every second
        frame is dropped and `every` doubles, so that a training of any length fits.

    For each frame, the model runs once more, in evaluation mode and without gradients, and then
    returns to its former mode: the film changes nothing in the training. TypeError if the optimizer
    is not torch's, ValueError if two frames need more than most_bytes. Taught in chapter 13.
    """
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"optimizer must be a torch.optim.Optimizer, got {type(optimizer).__name__}: "
            "without one, make a Film and call its look after each step"
        )
    film, step = Film(model, inputs, every=every, most_bytes=most_bytes), 0
    film.look(step)

    def stepped(*_: object) -> None:
        nonlocal step
        step += 1
        film.look(step)

    handle = optimizer.register_step_post_hook(stepped)
    try:
        yield film
    finally:
        handle.remove()


def called(model: nn.Module, inputs: Inputs) -> None:
    """Runs a model with what somebody passes for its inputs."""
    if isinstance(inputs, Tensor):
        model(inputs)
    elif isinstance(inputs, Mapping):
        model(**inputs)
    elif isinstance(inputs, Sequence) and not isinstance(inputs, str):
        model(*inputs)
    else:
        raise TypeError(f"inputs must be a tensor, a list or a dict, got {brief(inputs)}")


def maps_of(seen: Seen) -> Iterator[tuple[str, Tensor]]:
    """The weights of each attention that was seen, by its path: copies."""
    for path in seen:
        records = seen.all(path)
        for n, record in enumerate(records):
            name = path or THE_MODEL
            name += f" ({n + 1} of {len(records)})" if len(records) > 1 else ""
            yield name, record.stage("weights").detach().to("cpu", torch.float32, copy=True)
