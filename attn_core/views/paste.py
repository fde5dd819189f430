"""The box of a page that says which mistake made the numbers that a reader pastes."""

import html
from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.checks import STAGES
from attn_core.diagnosis.classes import classes_of
from attn_core.diagnosis.comparing import bare, compared_stages, rooms_of
from attn_core.diagnosis.sentences import NAMES
from attn_core.diagnosis.slips import REPLAYED, SLIPS
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.questions import Question, questions
from attn_core.mistakes.training import TRAINING
from attn_core.record import AttentionTrace
from attn_core.views.explorer import check_name
from attn_core.views.labels import check_record
from attn_core.views.payload import array, inline_json

MOST_CELLS = 400  # of a stage; the box holds every stage of every mistake


class Box:
    """On a page of the book a form; in a notebook the sentence that says what to call."""

    def __init__(self, payload: dict) -> None:
        self.payload = payload

    def __repr__(self) -> str:
        sizes = self.payload["sizes"]
        return f"A box for your numbers, {sizes}. In a notebook, call diagnose(yours, record)"

    @property
    def html(self) -> str:
        name = html.escape(self.payload["name"])
        script = f'<script type="application/json">{inline_json(self.payload)}</script>'
        inside = f"<p>{html.escape(repr(self))}</p>\n{script}"
        return f'<attention-diagnosis name="{name}">\n{inside}\n</attention-diagnosis>'

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html}


def paste(record: AttentionTrace, *, name: str = "diagnosis", example: Tensor | None = None) -> Box:
    """`diagnose` on a page, with no server: it holds every stage, right and wrong, of a record.

    >>> from attn_core import toy, trace
    >>> paste(trace(*[toy.journey().x] * 3))
    A box for your numbers, 6 × 6 (the output 6 × 3). In a notebook, call diagnose(yours, record)

    record: of at most 400 weights in all. example: an array that a button puts into the box.
    The answers are those of `diagnose`. What is pasted stays in the browser. Taught in chapter 14.
    """
    check_record(record)
    record.check_plain("record")
    stages = compared_stages(record)
    cells = stages["weights"].numel()
    if cells > MOST_CELLS:
        raise ValueError(f"record must have at most {MOST_CELLS} weights, got {cells}")
    pool = Pool(record.float_type)
    sizes = [" × ".join(map(str, stages[stage].shape)) for stage in ("weights", "output")]
    return Box(
        {
            "version": 1,
            "name": check_name(name),
            "sizes": f"{sizes[0]} (the output {sizes[1]})",
            "names": NAMES,
            "output": list(record.output.shape),
            "drops": record.dropout is not None,
            "titles": {
                name: mistake.title
                for name, mistake in (MISTAKES | SLIPS).items()
                if mistake not in TRAINING  # which no table of one pass shows
            },
            # A list is read as float64.
            "rooms": {
                stage: [six_digits(room.base), six_digits(room.share)]
                for stage, room in rooms_of(record, torch.finfo(torch.float64).eps, 0.0).items()
            },
            "right": pool.put(stages),
            "mistakes": [
                {
                    "name": name,
                    "first": mistake.first_stage,
                    "stages": pool.put(compared_stages(record, mistake)),
                    **({"slip": True} if name in SLIPS else {}),
                }
                for name, mistake in REPLAYED.items()
            ],
            "questions": [
                {
                    "text": question_text(question),
                    "classes": {stage: classes_of(number, stage) for stage in STAGES},
                }
                for number, question in enumerate(questions())
            ],
            "arrays": pool.arrays,
            "example": None if example is None else str(bare(example)),
        }
    )


class Pool:
    """Arrays as base64, each only once: most mistakes leave most stages as they are.

    Arrays that differ by a rounding are one, or else another processor would list others.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.arrays: list[dict] = []
        self.kept: list[Tensor] = []

    def put(self, stages: dict[str, Tensor]) -> dict[str, int]:
        return {name: self.place(cells) for name, cells in stages.items()}

    def place(self, cells: Tensor) -> int:
        for place, kept in enumerate(self.kept):
            if are_equal(kept, cells):
                return place
        self.arrays.append(array(cells.to(self.dtype)))
        self.kept.append(cells)
        return len(self.arrays) - 1


def six_digits(room: float) -> float:
    """What a room is for needs no more, and the next ones differ from processor to processor."""
    return float(f"{room:.6g}")


def are_equal(kept: Tensor, cells: Tensor) -> bool:
    if kept.shape != cells.shape:
        return False
    return torch.allclose(kept, cells, rtol=2e-6, atol=1e-7, equal_nan=True)


def question_text(question: Question) -> str:
    """The input as code, one row a line."""

    def rows(part: Sequence, depth: int) -> str:
        if not isinstance(part[0], list):
            return f"[{', '.join(f'{number:g}' for number in part)}]"
        inside = (",\n" + " " * depth).join(rows(row, depth + 1) for row in part)
        return f"[{inside}]"

    arrays = (f"{name} = {rows(getattr(question, name).tolist(), 5)}" for name in "qkv")
    return "\n".join([*arrays, f"keep = {question.keep}", f"dropout = {question.dropout}"])
