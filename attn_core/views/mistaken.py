"""What a page gets of a mistake: its name, its words, and its record where no formula makes it."""

from collections.abc import Sequence

from attn_core.checks import brief
from attn_core.mistakes import MISTAKES
from attn_core.record import AttentionTrace
from attn_core.views.labels import check_record
from attn_core.views.payload import numbers_of

Asked = str | tuple[str, AttentionTrace]


def mistakes_of(
    record: AttentionTrace, asked: Sequence[Asked], store: str | None, head: int
) -> list[dict]:
    """One entry a mistake, for the page, which has the wrong formulas under the same names."""
    if not isinstance(asked, (list, tuple)):
        raise TypeError(f"mistakes must be a list of names, got {brief(asked)}")
    entries = []
    for choice in asked:
        name, other = name_and_record(choice)
        mistake = MISTAKES.get(name)
        if mistake is None:
            raise ValueError(f"mistakes must name some of attn_core.mistakes, got {name!r}")
        if other is None:
            record.check_plain("record")
            other = None if mistake.is_formula else wrong_record(record, name)
        if other is not None:
            check_other(record, other, name)
        numbers = None if other is None else numbers_of(other, store, head)
        says = f"{mistake.does} {mistake.symptom}"
        entries.append({"name": name, "title": mistake.title, "says": says, "other": numbers})
    return entries


def name_and_record(choice: Asked) -> tuple[str, AttentionTrace | None]:
    if isinstance(choice, str):
        return choice, None
    if not (isinstance(choice, (tuple, list)) and len(choice) == 2 and isinstance(choice[0], str)):
        raise TypeError(
            f"mistakes must be names, or pairs of a name and its wrong record, got {brief(choice)}"
        )
    return choice[0], choice[1]


def wrong_record(record: AttentionTrace, name: str) -> AttentionTrace:
    """What a mistake of a module makes of the record, where the record is all that it needs."""
    inputs = MISTAKES[name].inputs
    if inputs is None:
        raise ValueError(
            f"mistakes must give {name!r} as a pair with its wrong record, since it is a mistake "
            f"of {MISTAKES[name].where}, got its name alone"
        )
    return inputs(record)


def check_other(record: AttentionTrace, other: AttentionTrace, name: str) -> None:
    """A page shows both records under the same tokens and at the same places."""
    check_record(other)
    sizes = [(*r.shape, r.columns("output")) for r in (record, other)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"the wrong record of {name!r} must have the right one's shape "
            f"(B, H, L, S, Dv) = {sizes[0]}, got {sizes[1]}"
        )
