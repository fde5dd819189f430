"""Chains by the tensors that they are known of, for as long as these live."""

from collections.abc import Iterable, Iterator
from typing import TypeGuard, cast

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from attn_core.watching.chain import Chain, Product

Geometry = tuple[int | torch.SymInt, torch.Size, tuple[int, ...], torch.dtype]
KINDS = {Tensor, torch.nn.Parameter}  # no subclass that computes otherwise
Known = Chain | Product


def storages_of(tensors: Iterable[object]) -> set[int]:
    return {tensor.untyped_storage()._cdata for tensor in tensors if is_plain(tensor)}


class Tracked:
    """By storage and place in it: autograd hands out other Python objects of the same tensor."""

    def __init__(self) -> None:
        self.storages: dict[int, tuple[StorageWeakRef, dict[Geometry, Known]]] = {}

    def __deepcopy__(self, memo: dict) -> "Tracked":
        # A copy of a model copies its hooks and what they hold; of a weak reference there is none.
        return Tracked()

    def get(self, tensor: object) -> Chain | None:
        if not self.storages or not is_plain(tensor):
            return None
        found = self.of_storage(tensor).get(geometry(tensor))
        return found.chain().viewed(tensor.shape) if isinstance(found, Product) else found

    def put(self, tensor: Tensor, known: Known) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.storages:
            # A weak reference also keeps the address from being used for another storage.
            self.storages[storage._cdata] = StorageWeakRef(storage), {}
        self.storages[storage._cdata][1][geometry(tensor)] = known

    def forget(self, tensor: object) -> None:
        """What was written into is no longer what its chains say."""
        if self.storages and is_plain(tensor):
            self.storages.pop(tensor.untyped_storage()._cdata, None)

    def release(self, kept: Tensor) -> None:
        """A tensor that lives on is not scores: what it was made from must not live on with it."""
        if is_plain(kept) and not any(known.softmax for known in self.of_storage(kept).values()):
            self.forget(kept)

    def knows(self, tensor: object) -> bool:
        """Whether there is a chain of it, or of a tensor that shares its numbers."""
        return is_plain(tensor) and tensor.untyped_storage()._cdata in self.storages

    def of_storage(self, tensor: Tensor) -> dict[Geometry, Known]:
        """Of the tensor, and of all that share its numbers."""
        entry = self.storages.get(tensor.untyped_storage()._cdata)
        return entry[1] if entry else {}

    def prune(self) -> None:
        """Lets go of the factors of products that nobody holds any more."""
        for key in [key for key, (held, _) in self.storages.items() if held.expired()]:
            del self.storages[key]


def is_plain(value: object) -> TypeGuard[Tensor]:
    """Whether it is a tensor with a storage of numbers, and no subclass that says otherwise."""
    if type(value) not in KINDS:
        return False
    tensor = cast(Tensor, value)
    return tensor.layout is torch.strided and not tensor.is_nested


def geometry(tensor: Tensor) -> Geometry:
    return tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def tensors_of(values: object) -> Iterator[Tensor]:
    """All tensors among arguments or results, of lists one deep."""
    for value in values if isinstance(values, (tuple, list)) else (values,):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from (part for part in value if isinstance(part, Tensor))
