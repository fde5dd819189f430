"""The arithmetic of one row on the way back, down to grad_output and the forward pass."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from attn_core.arithmetic import (
    Term,
    Workings,
    above_average_text,
    dot,
    factor,
    kept_terms,
    listed,
    numbers,
    sum_of_products,
    surviving_text,
)
from attn_core.digits import written
from attn_core.gradients.exact import ExactHead

HIDDEN = "the mask does not keep it"
Parts = Callable[[], Iterable[Term]]


class RowLines:
    """Each number of a row with its line."""

    def __init__(self, exact: ExactHead, row: int) -> None:
        self.exact, self.row, self.record = exact, row, exact.record
        cells, self.row_dot = exact.row(row)
        self.found = {name: numbers(cells[0]) for name, cells in cells.known().items()}
        self.grad_output = numbers(exact.grad_output[row])
        self.keeps = self.found.get("keep", [True] * exact.S)
        # A stage that leaves every number as it is needs no line among the parts of another.
        self.before_softmax = "grad_dropped" if self.record.dropout is None else "grad_weights"
        self.before_scale = "grad_masked" if self.record.keep is None else "grad_scaled"
        self.mixing = "weights" if self.record.dropout is None else "dropped"

    @cached_property
    def forward(self) -> Workings:
        """The lines of the same row in the forward pass."""
        return Workings(self.record, self.exact.batch, self.exact.head, self.row)

    def term(self, stage: str, col: int) -> Term:
        return getattr(self, f"{stage}_term")(col)

    def line(self, name: str, j: int, how: str = "", parts: Parts = tuple) -> Term:
        """Of a number of the map: its arithmetic, if there is any, and the result."""
        value = self.found[name][j] + 0.0  # never −0
        result = written(value)
        return Term(name, (self.row, j), value, f"{how} = {result}" if how else result, parts)

    def zero(self, name: str, j: int, reason: str) -> Term:
        return Term(name, (self.row, j), 0.0, f"0, because {reason}")

    def grad_output_term(self, d: int) -> Term:
        value = self.grad_output[d]
        return Term("grad_output", (self.row, d), value, written(value))

    def grad_output_vector(self) -> Term:
        how = f"({listed(self.grad_output, written)})"
        return Term("grad_output", (self.row,), math.nan, how)

    def grad_dropped_term(self, j: int) -> Term:
        value = numbers(self.exact.v[j])
        how = sum_of_products(list(zip(self.grad_output, value, strict=True)))

        def parts() -> Iterator[Term]:
            yield self.grad_output_vector()
            yield self.forward.vector("v", j)

        return self.line("grad_dropped", j, how, parts)

    def grad_weights_term(self, j: int) -> Term:
        before, p, how = self.found["grad_dropped"][j], self.exact.p, ""
        if self.record.dropout is not None:
            if not self.found["survives"][j]:
                return self.zero("grad_weights", j, "dropout drops it")
            how = surviving_text(before, p)
        return self.line("grad_weights", j, how, lambda: (self.grad_dropped_term(j),))

    def row_dot_term(self) -> Term:
        output = [self.forward.output_term(d) for d in range(len(self.grad_output))]
        pairs = [(grad, term.value) for grad, term in zip(self.grad_output, output, strict=True)]
        how = f"{sum_of_products(pairs)} = {written(self.row_dot)}"

        def parts() -> Iterator[Term]:
            yield self.grad_output_vector()
            yield from (output[d] for d in kept_terms(len(output)))

        return Term("row_dot", (self.row,), self.row_dot, how, parts)

    def grad_masked_term(self, j: int) -> Term:
        if not self.keeps[j]:
            return self.zero("grad_masked", j, HIDDEN)
        weight, grad = self.found["weights"][j], self.found["grad_weights"][j]
        how = above_average_text(weight, grad, self.row_dot)

        def parts() -> Iterator[Term]:
            yield self.forward.weights_term(j)
            yield self.term(self.before_softmax, j)
            yield self.row_dot_term()

        return self.line("grad_masked", j, how, parts)

    def grad_scaled_term(self, j: int) -> Term:
        if not self.keeps[j]:
            return self.zero("grad_scaled", j, HIDDEN)
        return self.line("grad_scaled", j, parts=lambda: (self.grad_masked_term(j),))

    def grad_scores_term(self, j: int) -> Term:
        scale, cap = self.record.scale, self.record.softcap
        before, score = self.found[self.before_scale][j], self.found["scores"][j]
        how = f"{written(before, scale)} · {factor(scale, before)}"
        if cap is not None:
            scaled = f"{written(score, scale)} · {written(scale, score)}"
            how += f" · (1 - tanh({scaled} / {written(cap)})²)"

        def parts() -> Iterator[Term]:
            yield self.term(self.before_scale, j)
            if cap is not None:
                yield self.forward.scores_term(j)

        return self.line("grad_scores", j, how, parts)

    def grad_q_term(self, d: int) -> Term:
        grads, keys = self.found["grad_scores"], numbers(self.exact.k[:, d])
        value = dot(grads, keys)
        how = f"{sum_of_products(list(zip(grads, keys, strict=True)))} = {written(value)}"

        def parts() -> Iterator[Term]:
            shown = kept_terms(len(keys))
            yield from (self.grad_scores_term(j) for j in shown)
            yield from (self.forward.number("k", j, d) for j in shown)

        return Term("grad_q", (self.row, d), value, how, parts)
