"""Whether a tensor was written into since: torch counts it."""

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
        self.versions = {name: version_of(tensor) for name, tensor in tensors.items()}

    def check(self, **tensors: Tensor) -> None:
        """Raises one sentence if one of these was written in place since."""
        for name, tensor in tensors.items():
            if version_of(tensor) != self.versions[name]:
                raise RuntimeError(
                    f"{name} must stay as it was when it was traced, got a tensor changed in "
                    "place: trace again, and write into a clone"
                )


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor was written in place; inference tensors don't count."""
    return None if tensor.is_inference() else tensor._version
