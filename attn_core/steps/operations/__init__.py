"""The list of operations: each module here has all that Python knows of some of them.

An operation brings its formula, its line of arithmetic, and what its steps take. The page gets what
they take: `python -m generate.operations` writes it there.
"""

from attn_core.steps.operation import Operation
from attn_core.steps.operations.activations import GELU, MULTIPLY, RELU, SILU, TANH
from attn_core.steps.operations.attention import ATTENTION
from attn_core.steps.operations.embedding import ADD_POSITIONS, ADD_ROW, EMBED
from attn_core.steps.operations.gru import GRU
from attn_core.steps.operations.leaves import GIVEN, WORDS
from attn_core.steps.operations.norms import LAYER_NORM, RMS_NORM
from attn_core.steps.operations.rotary import ROTARY
from attn_core.steps.operations.rows import CONCAT, LAST_ROW, REPEAT
from attn_core.steps.operations.softmax import SOFTMAX
from attn_core.steps.operations.sums import ADD, LINEAR

ALL = [WORDS, GIVEN, EMBED, ADD_POSITIONS, ADD_ROW, LINEAR, ATTENTION, ADD, LAYER_NORM]
ALL += [RMS_NORM, ROTARY, RELU, GELU, TANH, SILU, MULTIPLY, SOFTMAX, CONCAT, GRU, LAST_ROW, REPEAT]

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in ALL}
