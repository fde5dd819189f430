"""The plain form: the six formulas one after the other, on whole maps."""

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core import stages
from attn_core.dropout import Dropout
from attn_core.masks import Keep

Rows = Float[Tensor, "B H L"]


def forward(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    v: Float[Tensor, "B H S Dv"],
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
) -> tuple[Float[Tensor, "B H L Dv"], Rows, Rows]:
    """output in the dtype of v; row_max and row_sum in float32 at least, without gradient."""
    B, H, L = q.shape[:3]
    S = k.shape[2]
    float_type = torch.promote_types(q.dtype, torch.float32)
    cells = stages.scaled(stages.scores(q.to(float_type), k.to(float_type)), scale)
    cells = stages.masked(cells, None if keep is None else keep.dense(L, S, q.device))
    row_max, row_sum = stages.row_statistics(cells)
    cells = stages.weights(cells, row_max, row_sum)
    if dropout is not None:
        survives = dropout.survives(range(B), range(H), range(L), range(S), q.device)
        cells = stages.dropped(cells, survives, dropout.p)
    output = stages.output(cells, v.to(float_type)).to(v.dtype)
    return output, row_max.detach(), row_sum.detach()
