"""The written-out arithmetic of any number of a record, from the output down to the inputs."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch
from torch import Tensor

from attn_core.checks import check_index, check_stage
from attn_core.digits import plain, written
from attn_core.rotary import Rotary
from attn_core.traced import Traced

MOST_TERMS = 16


@dataclass(frozen=True)
class Term:
    """One number with its arithmetic: `name` and `index` identify it, `parts` make it up.

    `str()` writes `levels` levels of the tree below it, or the whole tree, with one line for each
    number and each part under the number that it feeds. Parts are made on demand, because the whole
    tree of a model's number would take too long.
    """

    name: str
    index: tuple[int, ...]
    value: float
    how: str
    make_parts: Callable[[], Iterable["Term"]] = field(default=tuple, compare=False)
    levels: int | None = None

    @cached_property
    def parts(self) -> tuple["Term", ...]:
        return tuple(self.make_parts())

    @property
    def text(self) -> str:
        """One line: scores[1, 0] = 0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544."""
        index = ", ".join(str(i) for i in self.index)
        return f"{self.name}[{index}] = {self.how}"

    def written(self, levels: int | None = None) -> str:
        """This line and those of so many levels below it, or of all levels if None."""
        lines = [self.text]
        if levels != 0:
            below = None if levels is None else levels - 1
            for part in self.parts:
                lines += ["  " + line for line in part.written(below).splitlines()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.written(self.levels)

    __repr__ = __str__


def workings(
    record: Traced,
    stage: str,
    row: int,
    col: int,
    *,
    batch: int | None = None,
    head: int | None = None,
) -> Term:
    """How one number of a record is computed, as a tree down to the inputs.

    >>> from attn_core import toy, trace, workings
    >>> x = toy.journey().x
    >>> print(workings(trace(x, x, x, scale=1.0), "scaled", 1, 0))
    scaled[1, 0] = 0.9544 · 1 = 0.9544
      scores[1, 0] = 0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544
        q[1] = (0.55, 0.87, 0.66)
        k[0] = (0.43, 0.15, 0.89)

    row and col count from 0; for "output" the column is that of the values. A record with several
    heads needs `head`, and one with several sequences needs `batch`. Everything is computed in
    float64 from the stored numbers; for small whole numbers, everything up to the scores is
    exact. With a `source` the tree goes on below q, k and v to x and the matrices. Taught in
    chapter 04.
    """
    if not isinstance(record, Traced):
        raise TypeError(
            f"record must be an AttentionTrace, got {type(record).__name__}: of what watch saw, "
            "seen[path] is one"
        )
    check_stage(stage)
    B, H, L, _ = record.shape
    check_index("row", row, L)
    check_index("col", col, record.columns(stage))
    batch, head = the_one("batch", batch, B), the_one("head", head, H)
    record.check_source_unchanged()
    return Workings(record, batch, head, row).term(stage, col)


def the_one(name: str, index: int | None, size: int) -> int:
    """Which of several; of one alone it need not be said."""
    if index is not None:
        return check_index(name, index, size)
    if size > 1:
        raise ValueError(
            f"{name} must be one of the record's {size}, got none: {name}=0 is the first"
        )
    return 0


class Workings:
    """The numbers of one row of one head, in float64."""

    def __init__(self, record: Traced, batch: int, head: int, row: int) -> None:
        self.record, self.batch, self.head, self.row = record, batch, head, row
        self.key_head = head // record.group
        self.query = numbers(record.q[batch, head, row])
        self.keys = numbers(record.k[batch, self.key_head])
        self.width = len(self.keys)
        self.scores = [dot(self.query, key) for key in self.keys]
        part = range(row, row + 1)
        self.bias = [0.0] * self.width
        where = range(batch, batch + 1), range(head, head + 1), part, range(self.width)
        bias = record.bias_of(where, torch.float64)
        if bias is not None:
            self.bias = numbers(bias.expand(1, 1, 1, self.width)[0, 0, 0])
        self.sink = None if record.sinks is None else float(record.sinks[head])
        pairs = zip(self.scores, self.bias, strict=True)
        self.scaled = [self.capped(score) + bias for score, bias in pairs]
        self.keeps = [True] * self.width
        keep = record.keep_of(where)
        if keep is not None:
            self.keeps = keep.expand(1, 1, 1, self.width)[0, 0, 0].tolist()
        pairs = zip(self.scaled, self.keeps, strict=True)
        self.masked = [cell if keep else -math.inf for cell, keep in pairs]
        # What the softmax is of: a sink is one number more.
        self.in_sum = self.masked if self.sink is None else [*self.masked, self.sink]
        self.is_dead = self.sink is None and not any(self.keeps)
        self.row_max = 0.0 if self.is_dead else max(self.in_sum)
        self.exps = [math.exp(cell - self.row_max) for cell in self.in_sum]
        self.row_sum = 1.0 if self.is_dead else total(self.exps)
        self.weights = [e / self.row_sum for e in self.exps[: self.width]]
        self.survives = [True] * self.width
        p = 0.0
        if record.dropout is not None:
            p = record.dropout.p
            self.survives = record.dropout.survives(*where)[0, 0, 0].tolist()
        # A stage that leaves every number as it is needs no line among the parts of another.
        self.before_softmax = "scaled" if record.keep is None else "masked"
        self.mixing = "weights" if record.dropout is None else "dropped"
        pairs = zip(self.weights, self.survives, strict=True)
        self.dropped = [weight * survives / (1 - p) for weight, survives in pairs]

    def term(self, stage: str, col: int) -> Term:
        return getattr(self, f"{stage}_term")(col)

    def scores_term(self, j: int) -> Term:
        products = [(q, k) for q, k in zip(self.query, self.keys[j], strict=True)]
        how = f"{sum_of_products(products)} = {written(self.scores[j])}"
        return Term(
            "scores",
            (self.row, j),
            self.scores[j],
            how,
            lambda: (self.vector("q", self.row), self.vector("k", j)),
        )

    def capped(self, score: float) -> float:
        """A score, scaled; with a softcap no larger than that."""
        scaled, cap = score * self.record.scale, self.record.softcap
        return scaled if cap is None else cap * math.tanh(scaled / cap)

    def scaled_term(self, j: int) -> Term:
        value, bias, record = self.scaled[j], self.record.bias, self.record
        score, scale, cap = self.scores[j], record.scale, record.softcap
        how = f"{written(score, scale)} · {written(scale, score)}"
        if cap is not None:
            how = f"{written(cap)} · tanh({how} / {written(cap)})"
        if bias is not None:
            how += f" + {factor(self.bias[j])}"

        def parts() -> Iterator[Term]:
            yield self.scores_term(j)
            if bias is not None:
                yield self.bias_term(j)

        return Term("scaled", (self.row, j), value, f"{how} = {written(value)}", parts)

    def bias_term(self, j: int) -> Term:
        value, bias, size = self.bias[j], self.record.bias, self.record.size
        how = written(value)
        if bias is not None and bias.slopes is not None and bias.is_alibi:
            slope = -float(bias.slopes[self.head])
            away = abs(j - (self.row + size[1] - size[0]))
            how = f"{written(slope, away)} · {away} = {how}"
        return Term("bias", (self.row, j), value, how)

    def sink_term(self) -> Term:
        sink = self.sink or 0.0
        return Term("sink", (self.head,), sink, written(sink))

    def masked_term(self, j: int) -> Term:
        if self.keeps[j]:
            how = written(self.masked[j])
            return Term(
                "masked", (self.row, j), self.masked[j], how, lambda: (self.scaled_term(j),)
            )
        how = "-inf, because the mask does not keep it"
        return Term("masked", (self.row, j), -math.inf, how)

    def weights_term(self, j: int) -> Term:
        value = self.weights[j]
        how = share_text(self.masked[j], self.row_max, self.row_sum, value)

        def parts() -> Iterator[Term]:
            yield from (self.term(self.before_softmax, j), self.row_max_term(), self.row_sum_term())
            if self.sink is not None:
                yield self.sink_term()

        return Term("weights", (self.row, j), value, how, parts)

    def row_max_term(self) -> Term:
        if self.is_dead:
            return Term("row_max", (self.row,), 0.0, "0, because the row keeps nothing")
        how = largest_text(self.in_sum, self.row_max)
        return Term("row_max", (self.row,), self.row_max, how)

    def row_sum_term(self) -> Term:
        if self.is_dead:
            return Term("row_sum", (self.row,), 1.0, "1, because the row keeps nothing")
        how = exponentials_text(self.in_sum, self.row_max, self.exps, self.row_sum)
        return Term("row_sum", (self.row,), self.row_sum, how)

    def dropped_term(self, j: int) -> Term:
        value = self.dropped[j]
        if self.record.dropout is None:
            how = written(value)
        elif self.survives[j]:
            how = f"{surviving_text(self.weights[j], self.record.dropout.p)} = {written(value)}"
        else:
            how = "0, because dropout drops it"
        return Term("dropped", (self.row, j), value, how, lambda: (self.weights_term(j),))

    def output_term(self, d: int) -> Term:
        values = numbers(self.record.v[self.batch, self.key_head, :, d])
        products = list(zip(self.dropped, values, strict=True))
        value = dot(self.dropped, values)
        how = f"{sum_of_products(products)} = {written(value)}"

        def parts() -> Iterator[Term]:
            shown = kept_terms(self.width)
            yield from (self.term(self.mixing, j) for j in shown)
            yield from (self.number("v", j, d) for j in shown)

        return Term("output", (self.row, d), value, how, parts)

    def vector(self, name: str, position: int) -> Term:
        """A row of q, k or v; below it, with a source, each of its numbers."""
        head = self.head if name == "q" else self.key_head
        row = numbers(getattr(self.record, name)[self.batch, head, position])
        shown = () if self.record.source is None else kept_terms(len(row))
        how = f"({listed(row, written)})"
        parts = partial(map, partial(self.number, name, position), shown)
        return Term(name, (position,), math.nan, how, parts)

    def number(self, name: str, position: int, d: int) -> Term:
        """One number of q, k or v; with a source, x times a column of its matrix, or rotated."""
        self.record.check_source_unchanged()
        tensor = getattr(self.record, name)
        head = self.head if name == "q" else self.key_head
        value = numbers(tensor[self.batch, head, position, d : d + 1])[0]
        source = self.record.source
        if source is None:
            return Term(name, (position, d), value, written(value))
        if source.rotary is not None and name != "v":
            pair, other, is_first = source.rotary.pair_of(d)
            own, beside = (self.projected(name, position, column) for column in (d, other))
            place = source.position(self.batch, position)
            angle = angle_term(source.rotary, place, (position, pair))
            how = rotated_text(own.value, beside.value, angle.value, is_first)
            parts = own, beside, angle
            return Term(name, (position, d), value, f"{how} = {written(value)}", lambda: parts)
        how, _ = self.projection(name, position, d)
        return Term(name, (position, d), value, f"{how} = {written(value)}")

    def projected(self, name: str, position: int, d: int) -> Term:
        """One number of a query or key before it is rotated."""
        how, value = self.projection(name, position, d)
        return Term(f"projected_{name}", (position, d), value, f"{how} = {written(value)}")

    def projection(self, name: str, position: int, d: int) -> tuple[str, float]:
        """x times a column of a matrix of the source, plus its bias: as text, and its value."""
        source = self.record.source
        assert source is not None
        head = self.head if name == "q" else self.key_head
        place = ("q", "k", "v").index(name)
        column = head * getattr(self.record, name).shape[-1] + d
        x = numbers(source.x.reshape(-1, *source.x.shape[-2:])[self.batch, position])
        matrix = numbers((source.w_query, source.w_key, source.w_value)[place][:, column])
        how, value = sum_of_products(list(zip(x, matrix, strict=True))), dot(x, matrix)
        if source.biases is not None:
            bias = source.biases[place][column].item()
            how, value = f"{how} + {written(bias)}", value + bias
        return how, value


def angle_term(rotary: Rotary, place: float, index: tuple[int, int]) -> Term:
    """The angle by which a pair of a row is rotated, in radians; index: the row, the pair."""
    value = place * rotary.rate(index[1])
    how = f"{angle_text(rotary, place, index[1])} = {written(value)}"
    return Term("angle", index, value, how)


def angle_text(rotary: Rotary, place: float, pair: int) -> str:
    """3 · 10000^(-2 · 1 / 4): the place, times what the pair rotates from place to place."""
    return f"{written(place)} · {written(rotary.base)}^(-2 · {pair} / {rotary.head_dim})"


def rotated_text(number: float, other: float, angle: float, is_first: bool) -> str:
    """0.43 · cos(0.03) - 0.12 · sin(0.03); the second of a pair adds."""
    sign, turn = "-" if is_first else "+", written(angle, max(abs(number), abs(other)))
    return f"{factor(number)} · cos({turn}) {sign} {factor(other)} · sin({turn})"


def numbers(tensor: Tensor) -> list:
    return tensor.detach().double().cpu().tolist()


def total(summands: Sequence[float]) -> float:
    """From left to right, as the page adds."""
    result = 0.0
    for summand in summands:
        result += summand
    return result


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return total([x * y for x, y in zip(a, b, strict=True)])


def kept_terms(count: int) -> list[int]:
    """Which of many terms are written: all up to 16, else the first twelve and the last."""
    return list(range(count)) if count <= MOST_TERMS else [*range(12), count - 1]


def listed(terms: Sequence, write: Callable[..., str], between: str = ", ") -> str:
    """Terms in a row; of more than 16, the first twelve, how many are left out, and the last."""
    shown = [write(terms[i]) for i in kept_terms(len(terms))]
    if len(terms) > MOST_TERMS:
        shown.insert(-1, f"… {len(terms) - 13} more …")
    return between.join(shown)


def sum_of_products(pairs: Sequence[tuple[float, float]]) -> str:
    return listed(pairs, lambda pair: f"{factor(*pair)}·{factor(*reversed(pair))}", " + ")


def factor(x: float, beside: float = 0.0) -> str:
    text = written(x, beside)
    return f"({text})" if text.startswith("-") else text


def difference(a: float, b: float) -> str:
    return f"{written(a)} - {factor(b)}"


def surviving_text(x: float, p: float) -> str:
    """What dropout makes of a number that survives."""
    # Rounded, a p near 1 would leave nothing of 1 - p.
    return f"{written(x, 1 / (1 - p))} / (1 - {plain(p) if p < 0.5 else p})"


def above_average_text(share: float, gradient: float, row_dot: float) -> str:
    """What a softmax sends back to one of its numbers: 0.25 · (8 - 6)."""
    return f"{written(share, gradient - row_dot)} · ({difference(gradient, row_dot)})"


def share_text(x: float, row_max: float, row_sum: float, value: float) -> str:
    """A number of a softmax."""
    return f"exp({difference(x, row_max)}) / {written(row_sum)} = {written(value)}"


def seen_keys(row: Sequence[float]) -> list[int]:
    """The keys that a mask leaves in a row of a softmax: others have -inf there."""
    return [j for j, cell in enumerate(row) if cell > -math.inf]


def largest_text(row: Sequence[float], row_max: float) -> str:
    seen = seen_keys(row)
    text = f"max({listed([row[j] for j in seen], written)}) = {written(row_max)}"
    return text + hidden_text("without ", "", len(row) - len(seen))


def exponentials_text(
    row: Sequence[float], row_max: float, exps: Sequence[float], row_sum: float
) -> str:
    """What a softmax divides by. The exponential of a hidden key is 0."""
    seen = seen_keys(row)
    summands = listed([row[j] for j in seen], lambda x: f"exp({difference(x, row_max)})", " + ")
    values = listed([exps[j] for j in seen], written, " + ")
    text = f"{summands} = {values} = {written(row_sum)}"
    return text + hidden_text("with 0 for ", "each of ", len(row) - len(seen))


def hidden_text(before: str, each: str, count: int) -> str:
    """Names the keys that a line leaves out."""
    if not count:
        return ""
    keys = "the hidden key" if count == 1 else f"{each}the {count} hidden keys"
    return f", {before}{keys}"
