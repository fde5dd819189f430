"""One attention that was seen: its tensors now, its record when it is asked for."""

import torch
from torch import Tensor

from attn_core.api import recorded
from attn_core.call import Call
from attn_core.engines.choose import engine_for
from attn_core.record import AttentionTrace
from attn_core.stamps import Stamp, counting
from attn_core.watching.arguments import Arguments, ungrouped
from attn_core.watching.generating import continued
from attn_core.watching.listener import Arrange, Attended
from attn_core.watching.masking import Masks
from attn_core.watching.quiet import quietly


class Captured:
    """What a record is made of, and how often it had been written into."""

    def __init__(self, path: str, attended: Attended, arguments: Arguments, masks: Masks) -> None:
        self.path, self.kind = path, attended.kind
        self.p = arguments.p if arguments.dropout is None else arguments.dropout.p
        self._live: Arguments | None = None
        # What the model goes on with, where gradients reach it, and how it becomes [*lead, L, Dv].
        self.output: tuple[Tensor, Arrange] | None = None
        self._record: AttentionTrace | None = None
        if is_live(arguments):
            # Views that are made here, below autograd, would not lead back to the model. Heads of
            # keys that are equal stay apart: their gradients may differ.
            self._live = arguments
            self.output = attended.output, attended.arrange
            arguments = arguments.each(Tensor.detach)
        else:
            arguments = ungrouped(arguments).each(kept)
        self.at_first = call = arguments.call(masks)
        if added := call.added():
            self.at_first = call.with_added(**{name: counting(x) for name, x in added.items()})
        self.stamp = Stamp(**self.tensors())

    def tensors(self) -> dict[str, Tensor]:
        if self._live is not None:
            return {"q": self._live.q, "k": self._live.k, "v": self._live.v}
        call = self.at_first
        return {"q": call.q, "k": call.k, "v": call.v, **call.added()}

    def continues(self, earlier: "Captured") -> bool:
        """Whether this is a further step of a generation; the earlier then has both."""
        if self._live or earlier._live or self.p or earlier.p or self.kind != earlier.kind:
            return False
        both = continued(earlier.call, self.at_first)
        if both is None:
            return False
        earlier.at_first, earlier._record = both, None
        earlier.stamp = Stamp(**earlier.tensors())
        return True

    @property
    def is_written(self) -> bool:
        """Whether its tensors have been written into since."""
        return any(x._version != self.stamp.versions[name] for name, x in self.tensors().items())

    @property
    def call(self) -> Call:
        """With tensors that gradients reach the model through, if they did when it ran."""
        self.stamp.check(**self.tensors())
        return self.at_first if self._live is None else self._live.call(Masks())

    @property
    def record(self) -> AttentionTrace:
        """Computed when it is first asked for."""
        if self._record is None:
            with quietly():
                call = self.call
                self._record = recorded(call, engine_for(call))
        return self._record


def is_live(arguments: Arguments) -> bool:
    return torch.is_grad_enabled() and any(
        tensor.requires_grad for tensor in (arguments.q, arguments.k, arguments.v)
    )


def kept(tensor: Tensor) -> Tensor:
    """The tensor itself, or a copy of one that is written into again and again, as a cache is."""
    if tensor.is_inference():
        return counting(tensor)
    if tensor._version == 0:
        return tensor.detach()
    with torch.inference_mode(False):  # where a copy counts its writes, too
        return tensor.detach().clone()
