"""The output of several heads in one table, as a module merges them: side by side, or wrongly."""

from torch import Tensor

from attn_core.diagnosis.comparing import bare
from attn_core.record import AttentionTrace


def unmerged_heads(cells: Tensor, record: AttentionTrace) -> dict[str, Tensor]:
    """The heads [*, H, L, Dv] of a merged output, for each way in which it may have been merged.

    "" is the right way, heads side by side; the others have the names of mistakes. Empty if it
    has not the size of a merged output.
    """
    *lead, H, L, Dv = record.output.shape if record.shape[1] > 1 else (1, 0, 0)
    if H == 1:
        return {}
    if cells.shape == bare(cells.new_empty(*lead, L, H * Dv)).shape:
        beside = cells.reshape(*lead, L, H, Dv).transpose(-3, -2)
        return {"": beside, "heads-merged-by-view": cells.reshape(*lead, H, L, Dv)}
    if cells.shape == bare(cells.new_empty(*lead, H * L, Dv)).shape:
        return {"heads-along-tokens": cells.reshape(*lead, H, L, Dv)}
    return {}
