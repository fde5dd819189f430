"""The way back through a pass: from one number to the gradients of all that it was made of."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import brief, check_index
from attn_core.steps.operation import INPUTS, Backward, Operation, gradient_of
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.passes import Pass
from attn_core.steps.step import BACKWARD, Step, Steps
from attn_core.steps.terms import check_address, pass_of

Number = str | tuple[str, Sequence[int]]


class Gradients(Pass):
    """The gradients of one number of a pass, in float64, each computed when it is asked for.

    >>> scores = torch.tensor([[[9.0, 4.0, 1.0]]]).log()
    >>> steps = Steps([Step("scores", "given", value=scores)]).with_loss([1])
    >>> (14 * backward(steps).of("scores")).round()
    tensor([[[  9., -10.,   1.]]], dtype=torch.float64)

    It is a pass, too. Behind the steps of the pass it has those of the way back: "norm.backward",
    with the gradient of each input and parameter as its stages; "norm.grad_output", a sum, where
    the output of norm is used more than once; and "norm.gain.grad", the gradient of a weight, over
    all its uses and all sentences. `workings` opens the numbers of these steps as it does others.

    `backward` makes it. Taught in chapter 13.
    """

    def __init__(self, run: Pass, way: "Way") -> None:
        super().__init__(run.steps.replaced([*run.steps.values(), *way.steps]), run.inputs)
        self.made.update(run.made)
        self.way = way

    def of(self, name: str, stage: str | None = None) -> Float[Tensor, "B ..."]:
        """The gradient with respect to the output of a step, or to one of its stages.

        name: a step of the pass. stage: one that its way back goes through, as the weights of an
        attention; the output unless given. Zeros where the number does not depend on the output.
        """
        if stage is None and self.arrived(name) is None:
            return torch.zeros_like(self.value(name))
        return self.value(*self.address(name, stage))

    def weight(self, name: str) -> Float[Tensor, "..."]:
        """The gradient with respect to a weight, over all its uses and all sentences."""
        if name not in self.steps.weights:
            raise KeyError(
                f"name must be one of the {len(self.steps.weights)} weights, got {brief(name)}"
            )
        if (step := gradient_of_weight(name)) in self.steps:
            return self.value(step)[0]
        return torch.zeros_like(self.steps.weights[name], dtype=torch.float64)

    def address(self, name: str, stage: str | None = None) -> tuple[str, str]:
        """The step and the stage that have such a gradient, as `workings` takes them.

        >>> scores = torch.tensor([[[9.0, 4.0, 1.0]]]).log()
        >>> steps = Steps([Step("scores", "given", value=scores)]).with_loss([1])
        >>> backward(steps).address("scores")
        ('loss.backward', 'grad_scores')
        """
        arrived = self.arrived(name)
        if arrived is None:
            raise ValueError(
                f"name must be a step that {self.way.said} depends on, got {brief(name)}"
            )
        if stage is not None and stage != self.steps[name].output:
            arrived = f"{name}.{BACKWARD}.{gradient_of(stage)}"
            self.check_stage(name, stage)
        step, found = self.place(arrived)
        return step.name, found

    def arrived(self, name: str) -> str | None:
        """What has the gradient of a step's output; None: there is none."""
        step = self.steps[name]
        if step.operation == "words":
            raise ValueError(
                f"name must be a step that makes numbers, got {name!r}, which is words"
            )
        return self.way.arrived.get(name)

    def check_stage(self, name: str, stage: str) -> None:
        back, step = self.steps[f"{name}.{BACKWARD}"], self.steps[name]
        known = [known for known in step.stages if gradient_of(known) in back.stages]
        if stage not in known:
            raise ValueError(
                f"stage of {name} must be one of {', '.join([*known, str(step.output)])} for its "
                f"gradient, got {brief(stage)}"
            )


def backward(steps: Steps | Pass, loss: Number = "loss", *, batch: int = 0) -> Gradients:
    """The gradients of one number of a pass, with respect to all that it was made of.

    >>> from attn_core.layers import LayerNorm
    >>> from attn_core.steps import recording, workings
    >>> norm = LayerNorm(4, eps=0)
    >>> with recording(norm) as steps:
    ...     _ = norm(torch.tensor([[1.0, 3.0, 3.0, 9.0]]))
    >>> gradients = backward(steps, ("layer_norm", (0, 0)))
    >>> (18 * gradients.of("x")).round()
    tensor([[[ 3., -2., -2.,  1.]]], dtype=torch.float64)
    >>> print(workings(gradients, "layer_norm.backward", (0, 1), "grad_input").text)
    layer_norm.backward.grad_input[0, 1] = (0 - 0.25 - (-0.3333)·(-0.25)) / √(9 + 0) = -0.1111

    steps: what was recorded, or a pass of it that `run` gave, with what is switched off in it.
    loss: the name of a step that makes one number, or (name, index) of any number of an output.
    batch: the sentence of that number. The gradient of a weight is over all sentences.

    Each operation has its way back in the file of its formula. Rumelhart, Hinton and Williams,
    "Learning representations by back-propagating errors" (1986). Taught in chapter 13.
    """
    run = pass_of(steps)
    return Gradients(run, Way(run, *number_of(run, loss), batch))


def number_of(run: Pass, loss: object) -> tuple[str, tuple[int, ...]]:
    """The step and the place of a number."""
    if isinstance(loss, str):
        made = run.value(loss)
        if made.numel() != 1:
            raise ValueError(
                f"loss must be a step that makes one number, or (name, index), got {loss!r}, which "
                f"makes {tuple(made.shape)}"
            )
        return loss, (0,) * (made.ndim - 1)
    if not isinstance(loss, (tuple, list)) or len(loss) != 2:
        raise TypeError(f"loss must be the name of a step or (name, index), got {brief(loss)}")
    name, index = loss
    return name, check_address(name, index, tuple(run.value(name).shape[1:]))


class Way:
    """The steps that lead back from a number, each behind those that it needs.

    arrived: of each step what has the gradient of its output, as an input of a step names it.
    """

    def __init__(self, run: Pass, loss: str, index: tuple[int, ...], batch: int) -> None:
        self.said = f"{loss}{list(index)}"
        self.steps: list[Step] = []
        self.arrived: dict[str, str] = {}
        self.brought: dict[str, list[str]] = defaultdict(list)  # to each step, by those that use it
        self.of_weights: dict[str, list[str]] = defaultdict(list)
        if run.steps[loss].operation == "words":
            raise ValueError(
                f"loss must be a step that makes numbers, got {loss!r}, which is words"
            )
        check_index("batch", batch, len(run.value(loss)))
        settings = {"index": index, "batch": batch}
        start = Step(f"{loss}.grad_output", "itself", (loss,), {}, settings)
        self.brought[loss] = [self.add(start)]
        for step in reversed(list(run.steps.values())):
            if step.name in self.brought:
                self.lead_through(step)
        for name, brought in self.of_weights.items():
            self.add(Step(gradient_of_weight(name), "sum_of_sentences", tuple(brought)))

    def add(self, step: Step) -> str:
        self.steps.append(step)
        return step.name

    def lead_through(self, step: Step) -> None:
        """The step back through a step, all of whose uses have brought their gradients."""
        brought, operation = self.brought[step.name], OPERATIONS[step.operation]
        gradient = brought[0]
        if len(brought) > 1:
            gradient = self.add(Step(f"{step.name}.grad_output", "sum", tuple(brought)))
        self.arrived[step.name] = gradient
        if operation.is_leaf:
            return
        inputs = gradient, *read(step, backward_of(step, operation))
        back = Step(
            f"{step.name}.{BACKWARD}",
            f"{step.operation}_backward",
            inputs,
            step.parameters,
            step.settings,
        )
        self.add(back)
        gradients = operation.gradients(len(step.inputs))
        for source, stage in zip(step.inputs, gradients, strict=True):
            if stage is not None:
                self.brought[source].append(f"{back.name}.{stage}")
        for role, name in step.parameters.items():
            self.of_weights[name].append(f"{back.name}.{gradient_of(role)}")


def backward_of(step: Step, operation: Operation) -> Backward:
    """The way back of a step's operation; one sentence if it has none."""
    if isinstance(operation.backward, str):
        raise ValueError(
            f"gradients must come back through each step, got {step.name!r} of operation "
            f"{step.operation}: {operation.backward}"
        )
    return operation.backward


def read(step: Step, back: Backward) -> list[str]:
    """What the way back takes of a step behind the gradient, as inputs name it."""
    taken: list[str] = []
    for name in back.reads:
        if name == INPUTS:
            taken += step.inputs
        else:
            taken.append(step.name if name == step.output else f"{step.name}.{name}")
    return taken


def gradient_of_weight(name: str) -> str:
    """The step that has the gradient of a weight.

    >>> gradient_of_weight("words_out.bias")
    'words_out.bias.grad'
    """
    return f"{name}.grad"
