"""What you may switch off in a pass, to see what breaks: settings of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from attn_core.checks import brief, check_index
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.step import BACKWARD, Step, Steps, with_settings

OF_HEADS = "heads_off"  # a head at a time, as pairs (step, head)


@dataclass(frozen=True)
class Changes:
    """What is switched off, by the names of steps.

    >>> Changes(heads_off=[("encoder.0.attention", 2)], mask_off=["decoder.0.self_attention"])
    Changes(heads_off=[('encoder.0.attention', 2)], mask_off=['decoder.0.self_attention'])

    heads_off: (step, head): the head's output, its columns of `merged`, is 0.
    positions_off: the words go on without their positions.
    residuals_off: the sum is only what the sublayer made.
    norms_off: the rows go on without being normalised.
    mask_off: every row may see everything.
    scale_off: the scores are multiplied by 1, so they do not change.

    Taught in chapter 10.
    """

    heads_off: Sequence[tuple[str, int]] = ()
    positions_off: Sequence[str] = ()
    residuals_off: Sequence[str] = ()
    norms_off: Sequence[str] = ()
    mask_off: Sequence[str] = ()
    scale_off: Sequence[str] = ()

    def to_json(self) -> dict[str, list]:
        """The form in which a page takes the changes."""
        pairs = {OF_HEADS: [[step, head] for step, head in self.heads_off]}
        return pairs | {kind: list(getattr(self, kind)) for kind in KINDS if kind != OF_HEADS}

    def applied(self, steps: Steps) -> Steps:
        """The steps with the settings that the changes give them."""
        changed = dict(steps.items())
        for kind in KINDS:
            for change in getattr(self, kind):
                name, head = check_pair(change) if kind == OF_HEADS else (change, None)
                check_step(kind, name, changed)
                before = changed[name]
                if head is None:
                    settings = OPERATIONS[before.operation].switches[kind] or {}
                else:
                    settings = {OF_HEADS: heads_off(before, head)}
                changed[name] = with_settings(before, **settings)
                if (back := f"{name}.{BACKWARD}") in changed:
                    changed[back] = with_settings(changed[back], **settings)
        return steps.replaced(list(changed.values()))

    def __repr__(self) -> str:
        given = ((kind, getattr(self, kind)) for kind in KINDS)
        return f"Changes({', '.join(f'{kind}={value}' for kind, value in given if value)})"


KINDS = tuple(field.name for field in fields(Changes))


def switches_of(step: Step) -> list[tuple[str, int | None]]:
    """The kinds of change that would change something in a step, those of heads with the head.

    >>> switches_of(Step("sum", "add", ("x", "y")))
    [('residuals_off', None)]
    """
    found: list[tuple[str, int | None]] = []
    settings = step.all_settings
    for kind, switched in OPERATIONS[step.operation].switches.items():
        if switched is None:
            found += [(kind, head) for head in range(settings["num_heads"])]
        elif any(settings[name] != value for name, value in switched.items()):
            found.append((kind, None))
    return found


def heads_off(step: Step, head: int) -> list[int]:
    """The heads of a step that are off, with one more."""
    settings = step.all_settings
    off = check_index(f"head of {OF_HEADS}", head, settings["num_heads"])
    return sorted({*settings[OF_HEADS], off})


def check_pair(pair: object) -> tuple[str, int]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{OF_HEADS} must hold pairs (step, head), got {brief(pair)}")
    return pair[0], pair[1]


def check_step(kind: str, name: object, steps: dict[str, Step]) -> None:
    """A step whose operation has this to switch."""
    wanted = [operation for operation, said in OPERATIONS.items() if kind in said.switches]
    if not isinstance(name, str) or name not in steps or steps[name].operation not in wanted:
        raise ValueError(
            f"{kind} must name steps of operation {' or '.join(wanted)}, got {brief(name)}"
        )
