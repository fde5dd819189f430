"""Which of the known inputs tells mistakes apart."""

from functools import cache

from torch import Tensor

from attn_core.diagnosis.comparing import agree, candidate, compared_stages, rooms_of
from attn_core.diagnosis.slips import REPLAYED
from attn_core.mistakes.questions import questions


@cache
def stages_of(number: int) -> dict[str, dict[str, Tensor]]:
    """All stages of one of the questions: the right ones, named "", and those of each mistake."""
    record = questions()[number].trace()
    made = {name: compared_stages(record, mistake) for name, mistake in REPLAYED.items()}
    return {"": compared_stages(record), **made}


@cache
def classes_of(number: int, stage: str) -> dict[str, int]:
    """What one of the questions tells apart in a stage: equal numbers are the same; 0 is right."""
    record = questions()[number].trace()
    rooms = rooms_of(record, 2**-23, 0.0)
    kinds = [candidate(stage, "", stages_of(number)[""], rooms)]
    classes = {}
    for name in REPLAYED:
        made = stages_of(number)[name]
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
