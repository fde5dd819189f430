"""Functions of torch that hold no product and no attention, of those that models call most."""

import torch
from torch import Tensor
from torch.nn import functional

NAMES = """
add sub mul div neg pow sqrt rsqrt exp log abs sin cos tanh sigmoid relu clamp where masked_fill
add_ sub_ mul_ div_ relu_ masked_fill_ copy_ zero_ fill_ __getitem__ __setitem__ __rsub__ __rpow__
eq ne lt le gt ge logical_and logical_or logical_not __and__ __or__ bitwise_not
sum mean amax amin max min all any argmax cumsum softmax log_softmax var
view reshape flatten unflatten transpose permute squeeze unsqueeze expand expand_as repeat
repeat_interleave narrow split chunk unbind stack cat contiguous clone detach roll pad
to float type_as size dim numel stride item tolist is_contiguous is_floating_point
index_select gather masked_select triu tril arange zeros ones full empty zeros_like ones_like
new_zeros new_ones layer_norm rms_norm group_norm batch_norm embedding gelu silu
"""
PLAIN = {
    getattr(place, name)
    for place in (Tensor, torch, functional)
    for name in NAMES.split()
    if callable(getattr(place, name, None))
}
