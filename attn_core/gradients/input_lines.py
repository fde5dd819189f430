"""The arithmetic of the gradients of q, k and v: sums over the rows and heads that met them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from attn_core.arithmetic import Term, factor, kept_terms, listed, numbers, sum_of_products, total
from attn_core.digits import written
from attn_core.gradients.exact import ExactHead
from attn_core.gradients.row_lines import Parts, RowLines
from attn_core.traced import Traced


class InputLines:
    """Each number of the backward pass of one attention with its line, by its address."""

    def __init__(self, record: Traced, grad_output: Float[Tensor, "B H L Dv"]) -> None:
        self.record, self.grad_output = record, grad_output
        self.known: dict[tuple[int, int], ExactHead] = {}

    def head(self, batch: int, head: int) -> ExactHead:
        if (batch, head) not in self.known:
            self.known[batch, head] = ExactHead(self.record, self.grad_output, batch, head)
        return self.known[batch, head]

    def row(self, batch: int, head: int, row: int) -> RowLines:
        """The lines of the stages."""
        return RowLines(self.head(batch, head), row)

    def heads_of(self, key_head: int) -> range:
        """The heads of the queries that share a head of the keys."""
        group = self.record.group
        return range(key_head * group, (key_head + 1) * group)

    def grad_q_term(self, batch: int, head: int, row: int, d: int) -> Term:
        return self.row(batch, head, row).grad_q_term(d)

    def grad_k_term(self, batch: int, head: int, row: int, d: int) -> Term:
        terms = [self._key_in_head(batch, h, row, d) for h in self.heads_of(head)]
        return added("grad_k", (row, d), terms, map("head {}".format, self.heads_of(head)))

    def grad_v_term(self, batch: int, head: int, row: int, d: int) -> Term:
        terms = [self._value_in_head(batch, h, row, d) for h in self.heads_of(head)]
        return added("grad_v", (row, d), terms, map("head {}".format, self.heads_of(head)))

    def _key_in_head(self, batch: int, head: int, j: int, d: int) -> Term:
        exact = self.head(batch, head)

        def parts() -> Iterator[Term]:
            rows = self._shown_rows(exact)
            yield from (row.grad_scores_term(j) for row in rows)
            # Forward lines compute a whole row of scores first; those of one row serve all queries.
            yield from (rows[0].forward.number("q", row.row, d) for row in rows)

        return summed("grad_k", (j, d), exact.column(j).grad_scores[:, 0], exact.q[:, d], parts)

    def _value_in_head(self, batch: int, head: int, j: int, d: int) -> Term:
        exact = self.head(batch, head)

        def parts() -> Iterator[Term]:
            rows = self._shown_rows(exact)
            yield from (row.forward.term(row.mixing, j) for row in rows)
            yield from (row.grad_output_term(d) for row in rows)

        grad_output = exact.grad_output[:, d]
        return summed("grad_v", (j, d), exact.column(j).dropped[:, 0], grad_output, parts)

    def _shown_rows(self, exact: ExactHead) -> list[RowLines]:
        return [RowLines(exact, i) for i in kept_terms(exact.L)]


def summed(name: str, index: tuple[int, ...], a: Tensor, b: Tensor, parts: Parts) -> Term:
    """A sum of products."""
    pairs = list(zip(numbers(a), numbers(b), strict=True))
    value = total([x * y for x, y in pairs])
    return Term(name, index, value, f"{sum_of_products(pairs)} = {written(value)}", parts)


def added(name: str, index: tuple[int, ...], terms: Iterable[Term], labels: Iterable[str]) -> Term:
    """A sum of numbers that have lines, each named after where it comes from."""
    parts = [labelled(term, label) for term, label in zip(terms, labels, strict=True)]
    if len(parts) == 1:
        return Term(name, index, parts[0].value, parts[0].how, parts[0].make_parts)
    value = total([part.value for part in parts])
    how = f"{listed([part.value for part in parts], factor, ' + ')} = {written(value)}"
    return Term(name, index, value, how, lambda: [parts[n] for n in kept_terms(len(parts))])


def labelled(term: Term, label: str) -> Term:
    """The same number, named after its head or its sentence, too."""
    return replace(term, name=f"{label}: {term.name}")
