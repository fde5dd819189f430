"""`diagnose`: what is asked, in the order in which it is tried."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from attn_core.checks import STAGES, check_made_by_trace, check_stage
from attn_core.diagnosis.comparing import (
    Candidate,
    Room,
    agree,
    bare,
    candidate,
    compared_stages,
    factor_of,
    is_vague,
    rooms_of,
    wrong_candidates,
)
from attn_core.diagnosis.merging import unmerged_heads
from attn_core.diagnosis.partly import dropped_anew, of_heads
from attn_core.diagnosis.sentences import (
    NAMES,
    Diagnosis,
    is_right,
    is_wrong,
    nearest,
    of_dropout,
    of_some,
    places,
)
from attn_core.diagnosis.yours import check_fits_a_stage, check_no_nan, check_yours
from attn_core.digits import fixed
from attn_core.mistakes import MISTAKES
from attn_core.record import AttentionTrace


def diagnose(yours: Any, trace: AttentionTrace, *, stage: str | None = None) -> Diagnosis:
    """Says in a sentence what your array is: right, or which mistake it comes from.

    >>> import torch
    >>> from attn_core import diagnose, toy, trace
    >>> x = toy.journey().x
    >>> record = trace(x, x, x)
    >>> print(str(diagnose(torch.softmax(x @ x.T / 3**0.5, dim=0), record)).split(". ")[0])
    these are the weights with softmax over queries
    >>> diagnose(2 * record.stage("scores"), record)
    right up to a factor of 2.0000: these are the scores times it

    yours: a tensor, a NumPy array or nested lists, as large as a stage, or as the output with all
        heads in one table; axes of size 1 in front make no difference.
    trace: the record of the same q, k and v.
    stage: the one stage that yours should be, such as "weights".

    Two numbers are the same if they differ by no more than a few roundings of the coarser dtype;
    for weights the roundings of their scores count as well. If all your numbers have three to five
    decimals, they may also be off by half of the last decimal. Every mistake that gives these
    numbers is named, and if there are several, `tell_apart` is an input on which they differ.
    `diagnose` never guesses. Besides the mistakes of the gallery, it recognises some slips, such as
    softmax taken twice; one head alone, the mean of the heads and their sum; and weights some of
    which were dropped because dropout was left on. Taught in chapters 03 and 14.
    """
    check_made_by_trace("trace", trace, AttentionTrace)
    trace.check_plain("trace")
    if stage is not None:
        check_stage(stage)
    cells, eps, slack = check_yours(yours)
    cells = bare(cells)
    decimals = f", to the {places(slack)} decimals given" if slack else ""
    rooms = rooms_of(trace, eps, slack)
    merged = None
    if stage in (None, "output") and (heads := unmerged_heads(cells, trace)):
        merged = of_merged(heads, trace, rooms, decimals)
    is_open = merged is None or merged.verdict == "unknown"
    if is_open and (found := of_heads(cells, trace, rooms, stage)):
        return of_some(found, trace.shape[1], decimals)
    return merged or of_stage(cells, trace, stage, rooms, decimals)


def of_stage(
    cells: Tensor,
    record: AttentionTrace,
    stage: str | None,
    rooms: dict[str, Room],
    decimals: str,
) -> Diagnosis:
    stages = compared_stages(record)
    right = [candidate(name, "", stages, rooms) for name in STAGES if stage in (None, name)]
    check_fits_a_stage(cells, [each.cells for each in right])
    fitting = [c for c in right if agree(cells, c)]
    if fitting:
        seen = {c.mistake for c in wrong_candidates(record, stages, rooms, fitting[0].stage)}
        return is_right(fitting, seen, decimals)
    known = wrong_candidates(record, stages, rooms, stage)
    wrong = [c for c in known if agree(cells, c) and not is_vague(cells, c)]
    if wrong:
        return is_wrong(wrong, right, decimals)
    check_no_nan(cells)
    weights = candidate("weights", "", stages, rooms)
    if stage in (None, "weights", "dropped") and (factor := dropped_anew(cells, weights)):
        return of_dropout(cells, factor, record.dropout is not None, decimals)
    return of_other(cells, right)


def of_other(cells: Tensor, right: list[Candidate]) -> Diagnosis:
    """Transposed, times a factor, or not recognised."""
    for each in right:
        if agree(cells.mT, each):
            text = f"{NAMES[each.stage]}, transposed: rows and columns are exchanged"
            return Diagnosis(text, "transposed", (each.stage,))
    fitting = [c for c in right if c.cells.shape == cells.shape]
    if not fitting:
        stage = next(c.stage for c in right if c.cells.shape == cells.mT.shape)
        text = f"not recognised. It has the shape of {stage} transposed, but not its numbers"
        return Diagnosis(text, "unknown", (stage,))
    for each in fitting:
        factor = factor_of(cells, each)
        if factor is not None:
            text = f"right up to a factor of {fixed(factor)}: {NAMES[each.stage]} times it"
            return Diagnosis(text, "factor", (each.stage,), factor=factor)
    return nearest(cells, fitting)


def of_merged(
    heads: dict[str, Tensor],
    record: AttentionTrace,
    rooms: dict[str, Room],
    decimals: str,
) -> Diagnosis:
    """The output with all heads in one table: heads that are right may be merged wrongly."""
    diagnoses = {
        way: of_stage(bare(parts), record, "output", rooms, decimals)
        for way, parts in heads.items()
    }
    beside = diagnoses.pop("", None)
    if beside is None or beside.verdict != "right":
        for way, diagnosis in diagnoses.items():
            if diagnosis.verdict == "right":
                text = f"{NAMES['output']} with {MISTAKES[way].title}{decimals}. Each head is right"
                return Diagnosis(text, "mistake", ("output",), (way,))
    if beside is None:
        wide = MISTAKES["heads-along-tokens"].title
        text = f"not recognised. It has the size of the output with {wide}, but not its numbers"
        return Diagnosis(text, "unknown", ("output",))
    text = beside.text.replace(NAMES["output"], f"{NAMES['output']}, its heads side by side")
    return replace(
        beside, text=text.replace("Nearest: output", "Nearest: output, its heads side by side")
    )
