"""Wrong versions of attention that people write, by name, each with the line that finds it.

>>> from attn_core.mistakes import MISTAKES
>>> MISTAKES["no-scale"].title
'no scale'
"""

from attn_core.mistakes.masking import MASKING
from attn_core.mistakes.mistake import Mistake, Run
from attn_core.mistakes.scaling import SCALING
from attn_core.mistakes.showing import Evidence, evidence
from attn_core.mistakes.training import TRAINING
from attn_core.mistakes.weighing import WEIGHING
from attn_core.mistakes.wiring import WIRING

MISTAKES: dict[str, Mistake] = {
    mistake.name: mistake for mistake in (*SCALING, *MASKING, *WEIGHING, *WIRING, *TRAINING)
}

__all__ = ["MISTAKES", "Evidence", "Mistake", "Run", "evidence"]
