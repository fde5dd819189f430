"""Which of the known inputs tells mistakes apart."""

from functools import cache

from attn_core.diagnosis.comparing import agree, candidate, compared_stages, rooms_of
from attn_core.diagnosis.slips import REPLAYED
from attn_core.mistakes.questions import questions


@cache
def classes_of(number: int, stage: str) -> dict[str, int]:
    """What one of the questions tells apart in a stage: equal numbers are the same; 0 is right."""
    record = questions()[number].trace()
    rooms = rooms_of(record, 2**-23, 0.0)
    kinds = [candidate(stage, "", compared_stages(record), rooms)]
    classes = {}
    for name, mistake in REPLAYED.items():
        made = compared_stages(record, mistake)
        ours = [agree(made[stage], kind) for kind in kinds]
        classes[name] = ours.index(True) if True in ours else len(kinds)
        if classes[name] == len(kinds):
            kinds.append(candidate(stage, "", made, rooms))
    return classes


def shown_by(number: int, stage: str) -> set[str]:
    """The mistakes that one of the questions shows in a stage."""
    return {name for name, kind in classes_of(number, stage).items() if kind}


def tells_apart(number: int, names: tuple[str, ...], stage: str) -> bool:
    """True if no two of these mistakes give the same stage on this input."""
    classes = classes_of(number, stage)
    return len({classes[name] for name in names}) == len(names)
