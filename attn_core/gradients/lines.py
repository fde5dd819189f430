"""Which numbers of a backward pass can be written out, and by which line."""

from collections.abc import Callable
from typing import Any, NamedTuple

from attn_core.arithmetic import Term, the_one
from attn_core.checks import brief, check_index
from attn_core.gradients.cells import STAGES
from attn_core.gradients.source_lines import ROLES, SourceLines


class Entry(NamedTuple):
    """The numbers of one name: how many batches, heads and rows it has, and columns if any."""

    sizes: tuple[int, ...]
    term: Callable[..., Term]  # of a batch, a head, a row and a column


def workings(
    lines: SourceLines,
    name: str,
    row: int,
    col: int | None,
    batch: int | None,
    head: int | None,
) -> Term:
    """The line of one number, by its address."""
    known = entries(lines)
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {brief(name)}")
    entry = known[name]
    address: list[Any] = [row, col]
    if len(entry.sizes) == 3 and address.pop() is not None:
        raise ValueError(f"col must be None, as {name} has only rows, got {brief(col)}")
    batches, heads, *sizes = entry.sizes
    which = the_one("batch", batch, batches), the_one("head", head, heads)
    labelled = zip(("row", "col"), address, sizes, strict=False)
    return entry.term(*which, *(check_index(*place) for place in labelled))


def entries(lines: SourceLines) -> dict[str, Entry]:
    record = lines.record
    B, H, L, _ = record.shape

    def of_stage(name: str) -> Callable[..., Term]:
        return lambda batch, head, row, col: lines.row(batch, head, row).term(name, col)

    known = {name: Entry((B, H, L, record.columns(name)), of_stage(name)) for name in STAGES}
    known["row_dot"] = Entry((B, H, L), lambda *place: lines.row(*place).row_dot_term())
    for name in ROLES:
        sizes = tuple(getattr(record, name).shape)
        known[f"grad_{name}"] = Entry(sizes, getattr(lines, f"grad_{name}_term"))
    return known if record.source is None else known | of_source(lines)


def of_source(lines: SourceLines) -> dict[str, Entry]:
    def of_matrix(name: str) -> Callable[..., Term]:
        return lambda _, __, row, col: lines.matrix_term(name, row, col)

    def of_bias(name: str) -> Callable[..., Term]:
        return lambda _, __, row: lines.bias_term(name, row)

    batches, *of_x = lines.x.shape
    known = {
        "grad_x": Entry((batches, 1, *of_x), lambda b, _, *place: lines.grad_x_term(b, *place))
    }
    for name, role in ROLES.items():
        sizes = tuple(lines.matrix(name).shape)
        known[f"grad_w_{role}"] = Entry((1, 1, *sizes), of_matrix(name))
        if lines.source.biases is not None:
            known[f"grad_bias_{role}"] = Entry((1, 1, sizes[1]), of_bias(name))
    return known
