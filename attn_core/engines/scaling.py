"""From scores to scaled scores in a part of a map: scale, softcap and bias, in place."""

from jaxtyping import Float
from torch import Tensor

from attn_core.call import Call, Part

Cells = Float[Tensor, "b h rows cols"]


def cap_(cells: Cells, call: Call) -> Cells:
    """The cells themselves, times the scale, and none of them past the softcap."""
    cells.mul_(call.scale)
    return cells if call.softcap is None else cells.div_(call.softcap).tanh_().mul_(call.softcap)


def add_bias_(cells: Cells, call: Call, part: Part) -> Cells:
    """The cells themselves, the bias of this part of the map added."""
    bias = call.bias_of(part)
    return cells if bias is None else cells.add_(bias)


def scale_(cells: Cells, call: Call, part: Part) -> Cells:
    """Scores turned into scaled scores."""
    return add_bias_(cap_(cells, call), call, part)
