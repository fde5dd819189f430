"""The arithmetic of the gradients of a source: its matrices, its biases and x."""

from collections.abc import Iterator
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.arithmetic import (
    Term,
    angle_term,
    factor,
    kept_terms,
    listed,
    numbers,
    rotated_text,
    total,
)
from attn_core.digits import written
from attn_core.gradients.input_lines import InputLines, added, labelled, summed
from attn_core.gradients.inputs import unrotated
from attn_core.source import Projection

ROLES = {"q": "query", "k": "key", "v": "value"}


class SourceLines(InputLines):
    """The same for what q, k and v were made from; a column of a matrix belongs to one head."""

    @property
    def source(self) -> Projection:
        source = self.record.source
        assert source is not None
        return source

    @cached_property
    def x(self) -> Float[Tensor, "B T E"]:
        return self.source.x.detach().reshape(-1, *self.source.x.shape[-2:])

    def matrix(self, name: str) -> Float[Tensor, "E columns"]:
        return getattr(self.source, f"w_{ROLES[name]}").detach()

    def heads(self, name: str) -> int:
        return getattr(self.record, name).shape[1]

    def projected(self, name: str, batch: int) -> Float[Tensor, "T columns"]:
        """The gradients of what x times the matrix is, of all heads side by side, in float64."""
        group = 1 if name == "q" else self.record.group
        of_heads = [self.head(batch, h).of_inputs[name] for h in range(self.record.shape[1])]
        # Of each head of q, k or v the numbers of its group, added and put side by side.
        rows = torch.stack(of_heads).unflatten(0, (-1, group)).sum(1).transpose(0, 1).flatten(1)
        return rows if name == "v" else unrotated(rows, self.source, batch)

    def projected_term(self, name: str, batch: int, position: int, column: int) -> Term:
        """One of them; with a rotary, both numbers of its pair rotated back."""
        tensor, rotary = getattr(self.record, name), self.source.rotary
        head, d = divmod(column, tensor.shape[-1])

        def of(d: int) -> Term:
            return getattr(self, f"grad_{name}_term")(batch, head, position, d)

        if rotary is None or name == "v":
            term = of(d)
        else:
            pair, other, is_first = rotary.pair_of(d)
            own, beside = of(d), of(other)
            angle = angle_term(rotary, self.source.position(batch, position), (position, pair))
            value = self.projected(name, batch)[position, column].item()
            # The opposite rotation: the signs of the sines change.
            how = rotated_text(own.value, beside.value, angle.value, not is_first)
            how = f"{how} = {written(value)}"
            index, parts = (position, d), (own, beside, angle)
            term = Term(f"grad_projected_{name}", index, value, how, lambda: parts)
        return labelled(term, f"head {head}") if self.heads(name) > 1 else term

    def matrix_term(self, name: str, row: int, column: int) -> Term:
        """Σ over the positions of all sentences: a number of x times what the product gets."""
        label = f"grad_w_{ROLES[name]}"

        def of(batch: int) -> Term:
            def parts() -> Iterator[Term]:
                shown = kept_terms(self.x.shape[1])
                yield from (self.x_term(batch, position, row) for position in shown)
                yield from (self.projected_term(name, batch, t, column) for t in shown)

            grads = self.projected(name, batch)[:, column]
            return summed(label, (row, column), self.x[batch, :, row], grads, parts)

        return added(label, (row, column), map(of, range(len(self.x))), self._sentences)

    def bias_term(self, name: str, column: int) -> Term:
        """Σ over the positions of all sentences."""
        label = f"grad_bias_{ROLES[name]}"

        def of(batch: int) -> Term:
            def parts() -> Iterator[Term]:
                shown = kept_terms(self.x.shape[1])
                yield from (self.projected_term(name, batch, t, column) for t in shown)

            grads = numbers(self.projected(name, batch)[:, column])
            value = total(grads)
            how = f"{listed(grads, factor, ' + ')} = {written(value)}"
            return Term(label, (column,), value, how, parts)

        return added(label, (column,), map(of, range(len(self.x))), self._sentences)

    def grad_x_term(self, batch: int, position: int, e: int) -> Term:
        """What comes back through the queries, the keys and the values."""

        def of(name: str) -> Term:
            def parts() -> Iterator[Term]:
                shown = kept_terms(self.matrix(name).shape[1])
                yield from (self.projected_term(name, batch, position, c) for c in shown)
                yield from (self.matrix_number(name, e, c) for c in shown)

            grads = self.projected(name, batch)[position]
            return summed("grad_x", (position, e), grads, self.matrix(name)[e], parts)

        return added("grad_x", (position, e), map(of, ROLES), map("through {}".format, ROLES))

    def x_term(self, batch: int, position: int, e: int) -> Term:
        value = float(self.x[batch, position, e])
        return Term("x", (position, e), value, written(value))

    def matrix_number(self, name: str, e: int, column: int) -> Term:
        value = float(self.matrix(name)[e, column])
        return Term(f"w_{ROLES[name]}", (e, column), value, written(value))

    @property
    def _sentences(self) -> list[str]:
        return [f"batch {batch}" for batch in range(len(self.x))]
