"""What users do, under every mask: `attention`, `trace`, gradients, one head's picture, dropout.

Against torch's scaled_dot_product_attention, and the operations of nn.MultiheadAttention with
weights, each handed the same mask in the form that it takes at the least cost.
"""

from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

from attn_core import Dropout, attention, causal, padding, trace
from attn_core.masks import Keep
from benchmarks import peers
from benchmarks.timing import in_turn

Calls = dict[str, Callable[[], object]]


def masks(B: int, T: int) -> dict[str, Keep | Tensor | None]:
    """The last tenth of every second sequence is padding; dense: every fifth cell is hidden."""
    lengths = [T - T // 10 * (b % 2) for b in range(B)]
    places = torch.arange(T)
    return {
        "no mask": None,
        "causal": causal(),
        "padding": padding(lengths),
        "causal & padding": causal() & padding(lengths),
        "dense bool": (places[:, None] * 3 + places) % 5 != 0,
    }


def calls(qkv: list[Tensor], name: str) -> Calls:
    """Ours and theirs for one mask."""
    q, k, v = qkv
    B, _, T, _ = q.shape
    keep = masks(B, T)[name]
    cells = keep if keep is None or isinstance(keep, Tensor) else keep.dense(T, T)
    mask = {} if name == "no mask" else {"mask": cells}
    if name == "causal":
        mask = {"is_causal": True}
    live = [tensor.detach().clone().requires_grad_() for tensor in qkv]
    pull = torch.ones_like(q)

    def back(attend: Callable[..., Tensor]) -> Callable[[], object]:
        def there_and_back():
            with torch.enable_grad():
                return torch.autograd.grad(attend(*live), live, pull)

        return there_and_back

    return {
        "SDPA": lambda: peers.torch_alone(q, k, v, **mask),
        "attention": lambda: attention(q, k, v, keep=keep),
        "trace": lambda: trace(q, k, v, keep=keep),
        "MHA": lambda: peers.torch_with_weights()(q, k, v, cells),
        "one head": lambda: one_head(trace(q, k, v, keep=keep)),
        "SDPA, back": back(lambda *three: peers.torch_alone(*three, **mask)),
        "back": back(lambda *three: attention(*three, keep=keep)),
    }


def one_head(record) -> Tensor:
    """What a picture of one head draws."""
    return record.tile("weights", slice(None), slice(None), batch=0, head=0)


def dropping(qkv: list[Tensor]) -> Calls:
    drop = Dropout(0.1, 1)
    return {
        "SDPA": lambda: peers.torch_alone(*qkv, is_causal=True, p=0.1),
        "attention": lambda: attention(*qkv, keep=causal(), dropout=drop),
    }


def rows(qkv: list[Tensor], rounds: int, faster: Callable, no_slower: Callable) -> list[dict]:
    """All rows of one shape, by the two kinds of row that kernels.py has."""
    T = qkv[0].shape[2]
    forward, picture = (1.25, 1.0) if T <= 128 else (1.15, 2.0 if T <= 512 else 2.5)
    shape, lines = tuple(qkv[0].shape), []
    for name in masks(1, T):
        times = in_turn(calls(qkv, name), rounds)
        where = f"{name}, {shape}"
        most = median(times["MHA"]) / median(times["SDPA"])
        bound = f"one pass alone, which gives no picture: SDPA {most:.2f}×"
        lines += [
            no_slower(f"`attention`, {where}", forward, times, "attention", "SDPA"),
            no_slower(f"`trace`, {where}", forward, times, "trace", "SDPA"),
            no_slower(f"forward and backward, {where}", 1.25, times, "back", "SDPA, back"),
            faster(
                f"a record and one head's picture, {where}",
                picture,
                times,
                "one head",
                "MHA",
                bound,
            ),
        ]
    times = in_turn(dropping(qkv), rounds)
    note = "ours: Philox, from a weight's place, the same bits everywhere; theirs: drawn at random"
    lines.append(no_slower(f"dropout, causal, {shape}", 2.5, times, "attention", "SDPA", note))
    return lines
