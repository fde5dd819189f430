"""torch's own attention under any mask, with its own backward pass; it saves its row statistics.

It knows "all keys", "no later key" of a square map, and numbers that are added to the scores. A
mask that is the same for all rows, [B, 1, 1, S], costs nothing; other masks are written out some
rows at a time, for the keys that these rows may see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, finfo, float32
from torch.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
from torch.nn.functional import scaled_dot_product_attention

from attn_core.call import Call
from attn_core.engines.gradients import asking, through_tiles
from attn_core.engines.tiled import Tiled
from attn_core.engines.tiles import parts
from attn_core.masks import Keep, as_slice, in_four_axes
from attn_core.precision import upcast

# What scaled_dot_product_attention calls on a CPU: by name, to have its backward pass without
# a graph, and for masks that are causal and padding at once. Private; there since torch 2.2.
FLASH: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
FLASH_BACK: Any = getattr(
    torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu_backward", None
)
HEIGHT, CELLS = 512, 2**21  # rows of a mask that are written out at a time, and cells at most
MOST_HEADS = 65_535  # or batches: so many blocks fit on one axis of a launch


def serves(call: Call) -> bool:
    """Whether torch has tiles for a call on the CPU: values as wide as keys, and no dropout.

    It knows no softcap, and gives a bias no gradient.
    """
    is_even = call.q.shape[-1] == call.v.shape[-1]
    is_plain = call.dropout is None and call.softcap is None and not asking(call)
    return FLASH is not None and call.q.is_cpu and is_even and is_plain


@dataclass(frozen=True)
class Strip:
    """Some rows, the columns that they may see, and what torch's mask hides there."""

    rows: range
    cols: range
    is_causal: bool = False
    keep: Tensor | None = None  # None: everything
    dead: Tensor | None = None  # rows that keep nothing
    bias: Tensor | None = None

    @property
    def places(self) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Of the rows in q, and of the columns in k and v."""
        everywhere = slice(None), slice(None)
        return (*everywhere, as_slice(self.rows)), (*everywhere, as_slice(self.cols))

    def added(self, dtype: torch.dtype) -> Tensor | None:
        """What torch adds to the scores; a row that keeps nothing is shown everything.

        Not under a triangle, whose mask has one row for all: there such rows are −∞ throughout.
        """
        bias = None if self.bias is None else self.bias.to(dtype)
        if self.keep is None:
            return bias
        shown = self.keep if self.dead is None or self.is_causal else self.keep | self.dead
        if bias is None:
            bias = torch.zeros((), dtype=dtype)
        return torch.where(shown, bias, -torch.inf)


def strips(call: Call) -> Iterator[Strip]:
    """As few parts of a map as torch's masks allow.

    >>> from attn_core import causal, prefill
    >>> x = torch.zeros(600, 2)
    >>> [(strip.rows, strip.is_causal) for strip in strips(Call.of(x, x, x, causal()))]
    [(range(0, 600), True)]
    >>> [(s.rows, s.cols) for s in strips(Call.of(x[:580], x, x, prefill(20)))]
    [(range(0, 512), range(0, 532)), (range(512, 580), range(0, 600))]
    """
    size, (batches, heads, rows, cols) = call.size, call.everything
    keep = Keep() if call.keep is None else call.keep
    # torch hides what comes later before it multiplies by the scale: NaN at 0, +inf below.
    is_causal = is_triangle(keep, size) and call.scale >= finfo(float32).tiny
    rest = Keep(lengths=keep.lengths, starts=keep.starts) if is_causal else keep
    # A table goes to torch as it is, unless a mask has to be written into it.
    table = None if call.bias is None else call.bias.table
    is_ready = call.bias is None or (call.bias.is_table and rest == Keep())
    if is_same_for_all_rows(rest) and is_ready:
        mask = None if rest == Keep() else rest.tile(range(1), range(size[1]), (1, size[1]))
        yield Strip(rows, cols, is_causal, mask, dead_rows(mask, is_causal), table)
        return
    widest = max(len(keep.visible(some, size)) for some in parts(rows, HEIGHT))
    maps = keep.tile(range(1), range(1), size).numel()
    if call.bias is not None:
        maps = max(maps, call.bias.tile((batches, heads, range(1), range(1)), size).numel())
    for some in parts(rows, max(16, min(HEIGHT, CELLS // max(1, maps * widest)))):
        seen = keep.visible(some, size)
        mask = None if keep == Keep() else keep.tile(some, seen, size)
        bias = call.bias_of((batches, heads, some, seen)) if seen else None
        yield Strip(some, seen, False, mask, dead_rows(mask), bias)


def is_triangle(keep: Keep, size: tuple[int, int]) -> bool:
    """Whether a mask hides the later keys of a square map, and padding, and nothing else."""
    triangle = Keep(after=0, lengths=keep.lengths, starts=keep.starts, cached=keep.cached)
    return keep == triangle and size[0] == size[1]


def is_same_for_all_rows(keep: Keep) -> bool:
    rest = replace(keep, lengths=None, starts=None, cells=None, cached=None)
    return rest == Keep() and (keep.cells is None or in_four_axes(keep.cells).shape[2] == 1)


def dead_rows(keep: Tensor | None, is_causal: bool = False) -> Tensor | None:
    """The rows that keep nothing, if there are any; is_causal: under a triangle, too."""
    if keep is None:
        return None
    dead = ~(keep.cumsum(-1) > 0).mT if is_causal else ~keep.any(-1, keepdim=True)
    return dead if dead.any() else None


def without_gaps(*tensors: Tensor) -> list[Tensor]:
    """In float32 at least, as half precision is hardly faster here; rows without gaps."""
    wide = map(upcast, tensors)
    return [tensor if tensor.stride(-1) == 1 else tensor.contiguous() for tensor in wide]


class TorchSdpa(Tiled):
    """On the CPU; its pass keeps the log of each row's sum."""

    def one_pass(self, call: Call) -> tuple[Tensor, Tensor]:
        if call.group > 1:
            passes = [self.one_pass(part) for _, part in by_key_heads(call)]
            output, lse = (interleaved(each) for each in zip(*passes, strict=True))
            return output, lse
        q, k, v = without_gaps(call.q, call.k, call.v)
        passes = [attend(strip, q, k, v, call.scale) for strip in strips(call)]
        output, lse = passes[0]
        if len(passes) > 1:
            output, lse = (torch.cat(each, 2) for each in zip(*passes, strict=True))
        sinks = call.sinks_of(call.everywhere[1])
        return (output, lse) if sinks is None else with_sinks(output, lse, sinks)

    def backward(self, call: Call, grad_output: Tensor, output: Tensor, *saved: Tensor):
        if call.group > 1:
            parts = [
                self.backward(part, *(each[:, heads] for each in (grad_output, output, *saved)))
                for heads, part in by_key_heads(call)
            ]
            of_q, *others = zip(*parts, strict=True)
            return interleaved(of_q), *map(sum, others)
        q, k, v, grad = without_gaps(call.q, call.k, call.v, grad_output)
        grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for strip in strips(call):
            if strip.cols:
                rows, cols = strip.places
                there = q[rows], k[cols], v[cols], output[rows], saved[0][rows]
                gradients = back(strip, grad[rows], *there, call.scale)
                grad_q[rows] = gradients[0]
                grad_k[cols] += gradients[1]
                grad_v[cols] += gradients[2]
        return grad_q.to(call.q.dtype), grad_k.to(call.k.dtype), grad_v.to(call.v.dtype)

    def statistics_of(self, saved: list[Tensor]) -> None:
        return None


def by_key_heads(call: Call) -> list[tuple[slice, Call]]:
    """Calls with one head of queries for each head of keys, and which heads of the queries."""
    slices = [slice(first, None, call.group) for first in range(call.group)]
    return [(heads, call.of_query_heads(heads)) for heads in slices]


def interleaved(parts: Sequence[Tensor]) -> Tensor:
    """What the calls of `by_key_heads` give, in the order of the queries' heads."""
    return torch.stack(tuple(parts), 2).flatten(1, 2)


def with_sinks(output: Tensor, lse: Tensor, sinks: Tensor) -> tuple[Tensor, Tensor]:
    """The sinks' share taken from a pass that knew none of them: one more term of each sum."""
    total = torch.logaddexp(lse, sinks)
    return output * torch.exp(lse - total).unsqueeze(-1), total


def attend(strip: Strip, q: Tensor, k: Tensor, v: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The output of some rows, and the log of each one's sum."""
    rows, cols = strip.places
    if not strip.cols:
        return torch.zeros_like(q[rows]), q.new_zeros(q[rows].shape[:3])
    kwargs = {"attn_mask": strip.added(q.dtype), "scale": scale}
    output, lse = FLASH(q[rows], k[cols], v[cols], 0.0, strip.is_causal, **kwargs)
    if strip.dead is not None:
        # Whatever torch makes of a row of −∞: with these its way back gives 0.
        output.masked_fill_(strip.dead, 0.0)
        lse.masked_fill_(strip.dead[..., 0], 0.0)
    return output, lse


def back(strip: Strip, grad_output: Tensor, *there: Tensor | float) -> tuple[Tensor, ...]:
    """The gradients of some rows of q, and what they add to those of k and of v."""
    *tensors, scale = there
    kwargs = {"attn_mask": strip.added(grad_output.dtype), "scale": scale}
    if strip.dead is not None:
        grad_output = grad_output.masked_fill(strip.dead, 0.0)
    return FLASH_BACK(grad_output, *tensors, 0.0, strip.is_causal, **kwargs)


def serves_gpu(call: Call) -> bool:
    """Whether torch has tiles for a call on a GPU; of masks it serves causal ones alone.

    It hides what no query may see, and what lies beyond the last key, before it multiplies by the
    scale.
    """
    if call.group > 1 or call.softcap is not None or call.added():
        return False
    is_square = call.keep is not None and call.keep.is_causal and call.size[0] == call.size[1]
    if call.scale < finfo(float32).tiny or not (call.keep is None or is_square):
        return False
    if call.dropout is not None or max(call.q.shape[:2]) > MOST_HEADS:
        return False
    params = SDPAParams(call.q, call.k, call.v, None, 0.0, is_square, False)
    return can_use_flash_attention(params) or can_use_efficient_attention(params)


class TorchSdpaOnGpu(Tiled):
    """In the dtype of q; chosen where no tensor asks for gradients."""

    def one_pass(self, call: Call) -> tuple[Tensor]:
        is_causal, scale = call.keep is not None, call.scale
        q, k, v = call.q, call.k, call.v
        return (scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=scale),)

    def backward(self, call: Call, grad_output: Tensor, output: Tensor, *saved: Tensor):
        """torch.func asks for gradients of tensors that do not say so."""
        statistics = self.row_statistics(call, *call.everywhere)
        return through_tiles(call, upcast(grad_output), upcast(output), *statistics)

    def statistics_of(self, saved: list[Tensor]) -> None:
        return None


TORCH_SDPA = TorchSdpa()
TORCH_SDPA_ON_GPU = TorchSdpaOnGpu()
