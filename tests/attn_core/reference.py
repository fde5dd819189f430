"""Attention once more, as loops over Python's own floats: what the library is measured against.

The loops call nothing of attn_core, and nothing is computed by torch.
"""

import math
import operator
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce

import numpy as np
import torch
from hypothesis import strategies as st

from attn_core import Dropout, alibi, causal, padding, prefill, relative, trace, window

STAGES = ("scores", "scaled", "masked", "weights", "dropped", "output")
MAPS = STAGES[:-1]
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def philox_by_hand(counter, key):
    """Philox 4x32-10 with Python's unbounded integers, written from the paper's figures."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for number in range(10):
        if number:
            k0 = (k0 + 2654435769) % 2**32
            k1 = (k1 + 3144134277) % 2**32
        product0, product1 = 3528531795 * x0, 3449720151 * x2
        x0, x2 = (product1 >> 32) ^ x1 ^ k0, (product0 >> 32) ^ x3 ^ k1
        x1, x3 = product1 % 2**32, product0 % 2**32
    return x0, x1, x2, x3


def survives_by_hand(p, seed, batch, head, row, col):
    words = philox_by_hand((col // 4, row, head, batch), (seed % 2**32, seed >> 32))
    return words[col % 4] >= math.floor(p * 2**32)


def one_head(q, k, v, keep, scale, survives, p, bias, softcap=None, sink=None):
    """Every stage of one head as nested lists, and row_max and row_sum."""
    stages = {name: [] for name in (*STAGES, "row_max", "row_sum")}
    for i, query in enumerate(q):
        scores = [math.fsum(a * b for a, b in zip(query, key, strict=True)) for key in k]
        scaled = [score * scale for score in scores]
        if softcap is not None:
            scaled = [softcap * math.tanh(cell / softcap) for cell in scaled]
        scaled = [cell + added for cell, added in zip(scaled, bias[i], strict=True)]
        kept = [j for j in range(len(k)) if keep[i][j]]
        terms = [scaled[j] for j in kept] + ([] if sink is None else [sink])
        row_max = max(terms, default=0.0)
        row_sum = math.fsum(math.exp(term - row_max) for term in terms) if terms else 1.0
        weights = [0.0] * len(k)
        for j in kept:
            weights[j] = math.exp(scaled[j] - row_max) / row_sum
        dropped = [w / (1 - p) if survives[i][j] else 0.0 for j, w in enumerate(weights)]
        output = [
            math.fsum(w * row[d] for w, row in zip(dropped, v, strict=True))
            for d in range(len(v[0]))
        ]
        stages["scores"].append(scores)
        stages["scaled"].append(scaled)
        stages["masked"].append([x if j in kept else -math.inf for j, x in enumerate(scaled)])
        stages["weights"].append(weights)
        stages["dropped"].append(dropped)
        stages["output"].append(output)
        stages["row_max"].append(row_max)
        stages["row_sum"].append(row_sum)
    return stages


def by_loop(q, k, v, keep=None, scale=None, dropout=None, bias=None, softcap=None, sinks=None):
    """All stages in float64 for q [*, L, D] in any rank; keep is a bool tensor [*, L, S] or None.

    dropout is (p, seed) or None, bias [*, L, S] or None, sinks a list or None.
    """
    lead, L, S = tuple(q.shape[:-2]), q.shape[-2], k.shape[-2]
    batches, heads = batches_and_heads(lead)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    keep = torch.ones(*lead, L, S, dtype=torch.bool) if keep is None else keep
    bias = torch.zeros(*lead, L, S, dtype=torch.float64) if bias is None else bias
    if k.shape[:-2] != lead:
        k, v = (t.repeat_interleave(lead[-1] // t.shape[-3], -3) for t in (k, v))
    p, seed = dropout or (0.0, 0)
    flat = [t.detach().double().reshape(batches * heads, *t.shape[-2:]).tolist() for t in (q, k, v)]
    keep, bias = (each.reshape(batches * heads, L, S).tolist() for each in (keep, bias))
    joined = {name: [] for name in (*STAGES, "row_max", "row_sum")}
    for n in range(batches * heads):
        b, h = divmod(n, heads)
        survives = [[True] * S for _ in range(L)]
        if dropout:
            survives = [[survives_by_hand(p, seed, b, h, i, j) for j in range(S)] for i in range(L)]
        sink = None if sinks is None else sinks[h]
        head = one_head(*(t[n] for t in flat), keep[n], scale, survives, p, bias[n], softcap, sink)
        for name, cells in head.items():
            joined[name].append(cells)
    return {
        name: torch.tensor(cells, dtype=torch.float64).reshape(*lead, *np.shape(cells)[1:])
        for name, cells in joined.items()
    }


def batches_and_heads(lead):
    if len(lead) < 2:
        return math.prod(lead), 1
    return math.prod(lead[:-1]), lead[-1]


@dataclass
class Case:
    """One input for attention: the mask once as the caller writes it and once cell by cell."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    parts: list
    dense: torch.Tensor | None
    scale: float | None
    dropout: tuple[float, int] | None
    added: dict = field(default_factory=dict)  # softcap and sinks
    biases: list = field(default_factory=list)  # what makes the parts of the bias
    bias: torch.Tensor | None = None  # the same cell by cell

    def __repr__(self):
        shapes = [tuple(t.shape) for t in (self.q, self.k, self.v)]
        how = self.keep, self.scale, self.dropout, self.added, self.biases
        return f"Case({shapes}, {self.q.dtype}, {how})"

    @cached_property
    def keep(self):
        """The mask as a caller writes it: its parts, joined by &."""
        made = [part() for part in self.parts]
        return reduce(operator.and_, made) if made else None

    def settings(self):
        dropout = Dropout(*self.dropout) if self.dropout else None
        added = dict(self.added)
        if self.biases:
            added["bias"] = reduce(operator.add, [make() for make in self.biases])
        return {"keep": self.keep, "scale": self.scale, "dropout": dropout, **added}

    def trace(self):
        return trace(self.q, self.k, self.v, **self.settings())

    def loop(self):
        sinks = self.added["sinks"].tolist() if "sinks" in self.added else None
        added = self.bias, self.added.get("softcap"), sinks
        return by_loop(self.q, self.k, self.v, self.dense, self.scale, self.dropout, *added)

    def tolerance(self):
        """How far a float32 computation may be off: scores, weights and output.

        A score is a sum of D products, each rounded once and added once; a weight inherits the
        error of its score as a relative one, and that of a sum of S numbers; an output that of S
        weights, and one rounding to the dtype of v.
        """
        wide = torch.promote_types(self.q.dtype, torch.float32)
        eps = torch.finfo(wide).eps
        D, S = self.k.shape[-1], self.k.shape[-2]
        scale = 1 / math.sqrt(D) if self.scale is None else self.scale
        largest = self.q.double().abs().max() * self.k.double().abs().max() * D
        scores = float((D + 2) * eps * largest)
        scaled = (scores + eps * float(largest)) * max(abs(scale), 1e-300)
        added = 0.0 if self.bias is None else float(self.bias.abs().max())
        added += float(self.added.get("sinks", torch.zeros(1)).abs().max())
        scaled += 4 * eps * (added + self.added.get("softcap", 0.0))
        weights = 4 * scaled + (S + 8) * eps
        p = self.dropout[0] if self.dropout else 0.0
        value = float(self.v.double().abs().max()) / (1 - p)
        output = (weights * 2 + S * eps + torch.finfo(self.q.dtype).eps) * value
        tiny = torch.finfo(self.q.dtype).tiny
        return {
            "scores": scores,
            "scaled": scaled,
            "masked": scaled,
            "weights": weights,
            "dropped": weights / (1 - p),
            "output": output + tiny,
            "row_max": scaled,
            "row_sum": (4 * scaled + (S + 8) * eps) * S,
        }


def drawn(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def kept_by_rule(kind, b, i, j, L, S, numbers):
    """Each mask from its sentence in the docstring, one cell at a time."""
    place = i + S - L
    if kind in ("causal", "prefill"):
        return j <= place
    if kind == "window":
        before, after = numbers
        return place - before <= j <= place + after
    if kind == "left padding":
        return j >= numbers[b]
    return j < numbers[b]


@st.composite
def structured(draw, lead, L, S):
    """(what makes it, its cells [*lead, L, S]) of one structured mask."""
    batches, heads = batches_and_heads(lead)
    kinds = ["causal", "window", "padding", "left padding"] + (["prefill"] if S >= L else [])
    kind = draw(st.sampled_from(kinds))
    numbers = ()
    if kind == "causal":
        make = causal
    elif kind == "window":
        numbers = draw(st.tuples(st.integers(0, 4), st.integers(0, 3)))
        make = partial(window, *numbers)
    elif kind == "prefill":
        make = partial(prefill, S - L)
    else:
        numbers = draw(st.lists(st.integers(0, S), min_size=batches, max_size=batches))
        numbers_or_tensor = torch.tensor(numbers) if draw(st.booleans()) else numbers
        side = "starts" if kind == "left padding" else "lengths"
        make = partial(padding, **{side: numbers_or_tensor})
    cells = torch.zeros(batches, heads, L, S, dtype=torch.bool)
    for b, h, i, j in np.ndindex(batches, heads, L, S):
        cells[b, h, i, j] = kept_by_rule(kind, b, i, j, L, S, numbers)
    return make, cells.reshape(*lead, L, S)


@st.composite
def dense(draw, lead, L, S, most_axes=None):
    """A bool tensor of any shape that broadcasts to [*lead, L, S], and its cells."""
    full = (*lead, L, S)
    axes = draw(st.integers(0, len(full) if most_axes is None else most_axes))
    shape = [n if draw(st.booleans()) else 1 for n in full[len(full) - axes :]]
    seed = draw(st.integers(0, 2**20))
    keep = torch.from_numpy(np.asarray(np.random.default_rng(seed).random(shape) < 0.7))
    return lambda: keep, keep.expand(full)


@st.composite
def keeps(draw, lead, L, S):
    """No mask, a bool tensor, a structured mask, or several to be joined by &; and the cells."""
    kind = draw(st.sampled_from(("none", "dense", "structured", "structured", "joined")))
    if kind == "none":
        return [], None
    if kind == "dense":
        make, cells = draw(dense(lead, L, S))
        return [make], cells
    make, cells = draw(structured(lead, L, S))
    parts = [make]
    if kind == "joined":
        for _ in range(draw(st.integers(1, 2))):
            # Joined masks stand on the record's four axes.
            axes = 4 if len(lead) == 2 else 2
            other = structured(lead, L, S) | dense(lead, L, S, axes)
            make, more_cells = draw(other)
            parts.append(make)
            cells = cells & more_cells
    return parts, cells


def bias_by_rule(kind, away, numbers):
    """Each bias from its sentence in the docstring, one cell at a time."""
    if kind == "alibi":
        return -numbers * abs(away)
    reach = len(numbers) // 2
    return numbers[min(max(away, -reach), reach) + reach]


@st.composite
def biases(draw, lead, L, S):
    """A table, a rule, or their sum as a caller writes it; and its cells [*lead, L, S]."""
    batches, heads = batches_and_heads(lead)
    seed = draw(st.integers(0, 2**20))
    kinds = draw(st.sampled_from((["table"], ["alibi"], ["relative"], ["alibi", "table"])))
    made, cells = [], torch.zeros(batches, heads, L, S, dtype=torch.float64)
    for kind in kinds:
        if kind == "table":
            # In a sum a table is on the record's four axes, as in joined masks.
            full = (*lead, L, S)
            is_free = len(kinds) == 1 or len(lead) == 2
            axes = draw(st.integers(2, len(full) if is_free else 2))
            shape = [n if draw(st.booleans()) else 1 for n in full[len(full) - axes :]]
            table = drawn(seed, *shape)
            made.append(partial(torch.clone, table))
            cells = cells + table.expand(full).reshape(cells.shape)
            continue
        numbers = drawn(seed + 1, heads) if kind == "alibi" else drawn(seed + 2, heads, 5)
        made.append(partial(alibi if kind == "alibi" else relative, numbers))
        numbers = numbers.tolist()
        for b, h, i, j in np.ndindex(batches, heads, L, S):
            cells[b, h, i, j] += bias_by_rule(kind, j - (i + S - L), numbers[h])
    return made, cells.reshape(*lead, L, S)


@st.composite
def cases(draw, dtypes=DTYPES, with_dropout=True, with_keep=True, most=6, with_added=False):
    lead = tuple(draw(st.lists(st.integers(1, 2), max_size=3)))
    size = st.integers(1, most)
    L, S, D, Dv = draw(size), draw(size), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(dtypes))
    spread = draw(st.sampled_from((0.0, 0.01, 1.0, 3.0)))
    seed = draw(st.integers(0, 2**20))
    q = (drawn(seed, *lead, L, D) * spread).to(dtype)
    k = (drawn(seed + 1, *lead, S, D) * spread).to(dtype)
    v = drawn(seed + 2, *lead, S, Dv).to(dtype)
    parts, cells = draw(keeps(lead, L, S)) if with_keep else ([], None)
    scale = draw(st.sampled_from((None, 1.0, 0.0, -0.7, 2.5)))
    dropout = None
    if with_dropout and draw(st.booleans()):
        dropout = draw(st.tuples(st.sampled_from((0.0, 0.1, 0.5, 0.9)), st.integers(0, 2**53 - 1)))
    if not with_added:
        return Case(q, k, v, parts, cells, scale, dropout)
    added, made, bias = {}, [], None
    if len(lead) > 1 and draw(st.booleans()):
        k, v = k[..., :1, :, :], v[..., :1, :, :]
    if draw(st.booleans()):
        made, bias = draw(biases(lead, L, S))
    if draw(st.booleans()):
        added["softcap"] = draw(st.sampled_from((0.5, 30.0)))
    if draw(st.booleans()):
        added["sinks"] = drawn(seed + 3, batches_and_heads(lead)[1]) * 3
    return Case(q, k, v, parts, cells, scale, dropout, added, made, bias)


@torch.no_grad()
def copy_attention(ours, theirs):
    """The weights of an nn.MultiheadAttention into our MultiHeadAttention."""
    width = theirs.embed_dim
    for n, layer in enumerate((ours.w_query, ours.w_key, ours.w_value)):
        layer.weight.copy_(theirs.in_proj_weight[width * n : width * (n + 1)])
        layer.bias.copy_(theirs.in_proj_bias[width * n : width * (n + 1)])
    ours.out_proj.load_state_dict(theirs.out_proj.state_dict())


@torch.no_grad()
def copy_rest(ours, theirs, norms):
    """The feed-forward and the norms of a layer of nn.Transformer into ours."""
    ours.feed_forward.widen.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.narrow.load_state_dict(theirs.linear2.state_dict())
    for residual, norm in zip(ours.residuals, norms, strict=True):
        residual.norm.gain.copy_(norm.weight)
        residual.norm.bias.copy_(norm.bias)
