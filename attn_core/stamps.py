"""Whether a tensor has been written into since: torch counts the writes."""

import torch
from torch import Tensor


class Stamp:
    """How often each of some tensors had been written in place when the stamp was made.

    >>> import torch
    >>> q = torch.zeros(2)
    >>> stamp = Stamp(q=q)
    >>> stamp.check(q=q)
    >>> stamp.check(q=q.add_(1))
    Traceback (most recent call last):
    ...
    RuntimeError: q must stay as it was when it was traced, got a tensor changed in place: trace \
again, and write into a clone
    """

    def __init__(self, **tensors: Tensor) -> None:
        self.versions = {name: tensor._version for name, tensor in tensors.items()}

    def check(self, **tensors: Tensor) -> None:
        """Raises one sentence if one of these was written in place since."""
        for name, tensor in tensors.items():
            if tensor._version != self.versions[name]:
                raise RuntimeError(
                    f"{name} must stay as it was when it was traced, got a tensor changed in "
                    "place: trace again, and write into a clone"
                )


def counting(tensor: Tensor) -> Tensor:
    """The tensor itself; of an inference tensor, which counts no writes, a copy that does.

    >>> with torch.inference_mode():
    ...     counting(torch.zeros(2)).is_inference()
    False
    """
    if not tensor.is_inference():
        return tensor
    with torch.inference_mode(False):
        return tensor.clone()
