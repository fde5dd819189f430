"""Chains by the tensors that they are known of, for as long as these live."""

from collections.abc import Iterator
from typing import TypeGuard

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from attn_core.watching.chain import Chain

Geometry = tuple[int | torch.SymInt, torch.Size, tuple[int, ...], torch.dtype]


class Tracked:
    """By storage and place in it: autograd hands out other Python objects of the same tensor."""

    def __init__(self) -> None:
        self.storages: dict[int, tuple[StorageWeakRef, dict[Geometry, Chain]]] = {}

    def get(self, tensor: object) -> Chain | None:
        if not self.storages or not is_plain(tensor):
            return None
        entry = self.storages.get(tensor.untyped_storage()._cdata)
        return entry[1].get(geometry(tensor)) if entry else None

    def put(self, tensor: Tensor, chain: Chain) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.storages:
            # A weak reference also keeps the address from being used for another storage.
            self.storages[storage._cdata] = StorageWeakRef(storage), {}
        self.storages[storage._cdata][1][geometry(tensor)] = chain

    def forget(self, tensor: object) -> None:
        """What was written into is no longer what its chains say."""
        if self.storages and is_plain(tensor):
            self.storages.pop(tensor.untyped_storage()._cdata, None)

    def prune(self) -> None:
        """Lets go of the factors of products that nobody holds any more."""
        for key in [key for key, (held, _) in self.storages.items() if held.expired()]:
            del self.storages[key]


def is_plain(value: object) -> TypeGuard[Tensor]:
    """Whether it is a tensor with a storage of numbers, and no subclass that says otherwise."""
    kind = type(value)
    if not isinstance(value, Tensor) or kind not in (Tensor, torch.nn.Parameter):
        return False
    return value.layout is torch.strided and not value.is_nested


def geometry(tensor: Tensor) -> Geometry:
    return tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def tensors_of(values: object) -> Iterator[Tensor]:
    """All tensors among arguments or results, of lists one deep."""
    for value in values if isinstance(values, (tuple, list)) else (values,):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from (part for part in value if isinstance(part, Tensor))
