"""The backward pass, as steps: from one number of a pass to the gradients of all it depends on."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import brief, check_index
from attn_core.steps.operation import INPUTS, Backward, gradient_of
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

    It is a pass, too: after the steps of the forward pass come those of the backward pass.
    "norm.backward" has as its stages the gradients of the inputs and parameters of the step norm;
    "norm.grad_output" adds up what comes from several uses of its output; "norm.gain.grad" is the
    gradient of a weight, over all its uses and all sentences. `workings` opens each of them.

    `backward` makes it. Taught in chapter 13.
    """

    def __init__(self, run: Pass, steps: "BackwardSteps") -> None:
        super().__init__(run.steps.replaced([*run.steps.values(), *steps.steps]), run.inputs)
        self.made.update(run.made)
        self.number, self.of_outputs = steps.number, steps.of_outputs

    def of(self, name: str, stage: str | None = None) -> Float[Tensor, "B ..."]:
        """The gradient with respect to the output of a step, or to one of its stages.

        name: a step of the forward pass.
        stage: one whose gradient its backward step computes, such as the weights of an attention.
            Defaults to the output.

        Zeros where the number does not depend on the output.
        """
        if stage is None and self.of_output(name) is None:
            return torch.zeros_like(self.value(name))
        return self.value(*self.address(name, stage))

    def weight(self, name: str) -> Float[Tensor, "..."]:
        """The gradient with respect to a weight, over all its uses and all sentences."""
        weights = self.steps.weights
        if name not in weights:
            raise KeyError(f"name must be one of the {len(weights)} weights, got {brief(name)}")
        if (step := gradient_of_weight(name)) in self.steps:
            return self.value(step)[0]
        return torch.zeros_like(weights[name], dtype=torch.float64)

    def address(self, name: str, stage: str | None = None) -> tuple[str, str]:
        """The step and the stage that are such a gradient, as `workings` takes them.

        >>> scores = torch.tensor([[[9.0, 4.0, 1.0]]]).log()
        >>> steps = Steps([Step("scores", "given", value=scores)]).with_loss([1])
        >>> backward(steps).address("scores")
        ('loss.backward', 'grad_scores')
        """
        address = self.of_output(name)
        if address is None:
            raise ValueError(f"name must be a step that {self.number} depends on, got {name!r}")
        step, back = self.steps[name], f"{name}.{BACKWARD}"
        if stage not in (None, step.output):
            computed = self.steps[back].stages if back in self.steps else ()
            known = [known for known in step.stages if gradient_of(known) in computed]
            if stage not in known:
                raise ValueError(
                    f"stage of {name} must be one whose gradient its backward step computes, "
                    f"{' or '.join([*known, str(step.output)])}, got {brief(stage)}"
                )
            address = f"{back}.{gradient_of(stage)}"
        found, of_gradient = self.place(address)
        return found.name, of_gradient

    def of_output(self, name: str) -> str | None:
        """What is the gradient of a step's output; None: there is none."""
        if self.steps[name].operation == "words":
            raise ValueError(
                f"name must be a step that makes numbers, got {name!r}, which is words"
            )
        return self.of_outputs.get(name)


def backward(steps: Steps | Pass, loss: Number = "loss", *, batch: int = 0) -> Gradients:
    """The gradients of one number of a pass, with respect to all that it depends on.

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

    steps: the recorded steps, or a pass of them that `run` returned; what is switched off in that
        pass stays off.
    loss: a step that makes one number, as `Steps.with_loss` adds it, or (name, index) of any number
        of an output.
    batch: the sentence of that number. The gradient of a weight is over all sentences.

    Each operation has its backward formula beside its formula. Rumelhart, Hinton and Williams,
    "Learning representations by back-propagating errors" (1986). Taught in chapter 13.
    """
    if isinstance(steps, Gradients):
        raise TypeError(
            "steps must be those of a forward pass, got Gradients, whose backward pass is there"
        )
    run = pass_of(steps)
    return Gradients(run, BackwardSteps(run, *number_of(run, loss), batch))


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


class BackwardSteps:
    """The steps of a backward pass, each after those that it needs.

    number: the number whose gradients they compute, for an error.
    of_outputs: for each step the gradient of its output, as an input of another step names it.
    """

    def __init__(self, run: Pass, loss: str, index: tuple[int, ...], batch: int) -> None:
        if run.steps[loss].operation == "words":
            raise ValueError(
                f"loss must be a step that makes numbers, got {loss!r}, which is words"
            )
        check_index("batch", batch, len(run.value(loss)))
        self.number = f"{loss}{list(index)}"
        self.steps: list[Step] = []
        self.of_outputs: dict[str, str] = {}
        # The gradients that the users of each output have, and those of each weight.
        self.of_uses: dict[str, list[str]] = defaultdict(list)
        self.of_weights: dict[str, list[str]] = defaultdict(list)
        settings = {"index": index, "batch": batch}
        start = self.add(Step(f"{loss}.grad_output", "itself", (loss,), settings=settings))
        self.of_uses[loss].append(start)
        for step in reversed(list(run.steps.values())):
            if step.name in self.of_uses:
                self.add_backward(step)
        for name, gradients in self.of_weights.items():
            self.add(Step(gradient_of_weight(name), "sum_of_sentences", tuple(gradients)))

    def add(self, step: Step) -> str:
        self.steps.append(step)
        return step.name

    def add_backward(self, step: Step) -> None:
        """The backward step of a step, whose users all have theirs already."""
        gradient, *others = self.of_uses[step.name]
        if others:
            gradient = self.add(Step(f"{step.name}.grad_output", "sum", (gradient, *others)))
        self.of_outputs[step.name] = gradient
        operation = OPERATIONS[step.operation]
        if operation.is_leaf:
            return
        back = self.add(
            Step(
                f"{step.name}.{BACKWARD}",
                f"{step.operation}_backward",
                (gradient, *read(step, backward_of(step))),
                step.parameters,
                step.settings,
            )
        )
        stages = operation.gradients(len(step.inputs))
        for source, stage in zip(step.inputs, stages, strict=True):
            if stage is not None:
                self.of_uses[source].append(f"{back}.{stage}")
        for role, name in step.parameters.items():
            self.of_weights[name].append(f"{back}.{gradient_of(role)}")


def backward_of(step: Step) -> Backward:
    """What the step's operation says of its backward pass; one sentence if there is none."""
    found = OPERATIONS[step.operation].backward
    if isinstance(found, str):
        raise ValueError(
            f"each step must have a backward pass, got {step.name!r} of operation "
            f"{step.operation}: {found}"
        )
    return found


def read(step: Step, back: Backward) -> list[str]:
    """What a backward step takes beside the gradient, as inputs name it."""
    taken: list[str] = []
    for name in back.reads:
        if name == INPUTS:
            taken += step.inputs
        else:
            taken.append(step.name if name == step.output else f"{step.name}.{name}")
    return taken


def gradient_of_weight(name: str) -> str:
    """The step that is the gradient of a weight.

    >>> gradient_of_weight("words_out.bias")
    'words_out.bias.grad'
    """
    return f"{name}.grad"
