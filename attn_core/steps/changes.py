"""What one may switch off in a pass, to see what breaks: settings of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from attn_core.checks import brief, check_index
from attn_core.steps.step import Step, Steps, with_settings

# Which operation a change is of, and what it sets.
OF_STEPS: dict[str, tuple[str, dict[str, object]]] = {
    "positions_off": ("add_positions", {"off": True}),
    "residuals_off": ("add", {"off": True}),
    "norms_off": ("layer_norm", {"off": True}),
    "mask_off": ("attention", {"keep": None}),
    "scale_off": ("attention", {"scale": 1.0}),
}


@dataclass(frozen=True)
class Changes:
    """What is switched off, by the names of steps.

    >>> Changes(heads_off=[("encoder.0.attention", 2)], mask_off=["decoder.0.self_attention"])
    Changes(heads_off=[('encoder.0.attention', 2)], mask_off=['decoder.0.self_attention'])

    heads_off: (step, head): what the head gives is 0, its columns of `merged`.
    positions_off: the words go on without their positions.
    residuals_off: the sum is what the sublayer made, alone.
    norms_off: the rows go on as they are.
    mask_off: attention to everything.
    scale_off: the scores are taken as they are, times 1.

    Taught in chapter 10.
    """

    heads_off: Sequence[tuple[str, int]] = ()
    positions_off: Sequence[str] = ()
    residuals_off: Sequence[str] = ()
    norms_off: Sequence[str] = ()
    mask_off: Sequence[str] = ()
    scale_off: Sequence[str] = ()

    def to_json(self) -> dict[str, list]:
        """The form in which a page takes them."""
        pairs = {"heads_off": [[step, head] for step, head in self.heads_off]}
        return pairs | {name: list(getattr(self, name)) for name in OF_STEPS}

    def applied(self, steps: Steps) -> Steps:
        """The steps with the settings that the changes give them."""
        changed = dict(steps.items())
        for name, (operation, switched) in OF_STEPS.items():
            for step in getattr(self, name):
                check_step(name, step, operation, changed)
                changed[step] = with_settings(changed[step], **switched)
        for pair in self.heads_off:
            step, head = check_pair(pair)
            check_step("heads_off", step, "attention", changed)
            before = changed[step].settings
            check_index("head of heads_off", head, before["num_heads"])
            off = sorted({*before.get("heads_off", ()), head})
            changed[step] = with_settings(changed[step], heads_off=off)
        return steps.replaced(list(changed.values()))

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return f"Changes({', '.join(f'{name}={value}' for name, value in given if value)})"


def check_pair(pair: object) -> tuple[str, int]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"heads_off must hold pairs (step, head), got {brief(pair)}")
    return pair[0], pair[1]


def check_step(change: str, name: object, operation: str, steps: dict[str, Step]) -> None:
    if not isinstance(name, str) or name not in steps or steps[name].operation != operation:
        raise ValueError(f"{change} must name steps of operation {operation}, got {brief(name)}")
