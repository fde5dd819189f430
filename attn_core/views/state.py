"""The state of a live explorer: traits that Python and the page both read and set."""

import math
import re
from typing import Any

import numpy as np
import traitlets

from attn_core.checks import STAGES, check_scale
from attn_core.dropout import Dropout
from attn_core.views import backward
from attn_core.views.given import GivenWeights, Numbers
from attn_core.views.labels import check_select

# As in the page's state.js: digits are those of ASCII.
MASK = re.compile(r"given|none|causal|window:\d{1,6},\d{1,6}", re.ASCII)
LENGTHS = re.compile(r"padding:(\d{1,6}(?:,\d{1,6})*)", re.ASCII)
DECIMAL = r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)"
NUMBER = re.compile(f"{DECIMAL}(?:/{DECIMAL})?", re.ASCII | re.IGNORECASE)
CELL = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


class State(traitlets.HasTraits):
    """What an explorer shows, under the names and in the texts of a page's address.

    stage: which stage is shown; one of the way back only where grad_output was given.
    batch, head: of which sequence and head.
    scale: what the scores are multiplied by.
    mask: "given", "none", "causal", "window:2,0" or "padding:4" (a length for each sequence), also
    joined as in "causal+padding:4". drawn: cells toggled over it, "1.0,2.3" for (1, 0) and (2, 3).
    dropout: "" or p and seed, "0.5,7".
    edits: changed inputs, as the page's address has them; the page says which it cannot take, and
    keeps the others. mistake: the name of one, or "".
    compare: whether the original stands beside. hide: the controls that are left out, "mask,scale".
    select: [row, column] of the number whose arithmetic is open, or None.
    """

    record: Numbers
    payload: traitlets.Dict

    stage = traitlets.Enum((*STAGES, *backward.STAGES), "weights").tag(sync=True)
    batch = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    scale = traitlets.Float(1.0).tag(sync=True)
    mask = traitlets.Unicode("given").tag(sync=True)
    drawn = traitlets.Unicode("").tag(sync=True)
    dropout = traitlets.Unicode("").tag(sync=True)
    edits = traitlets.Unicode("").tag(sync=True)
    mistake = traitlets.Unicode("").tag(sync=True)
    compare = traitlets.Bool(False).tag(sync=True)
    hide = traitlets.Unicode("").tag(sync=True)
    select = traitlets.List(traitlets.Int(), default_value=None, allow_none=True).tag(sync=True)

    @traitlets.validate("stage", "edits", "compare")
    def _check_alone(self, proposal) -> Any:
        """Weights that came alone follow from nothing that could be changed.

        A stage of the way back needs the gradient of the output.
        """
        name, value = proposal["trait"].name, proposal["value"]
        is_back = name == "stage" and value in backward.STAGES
        if is_back and "grad_output" not in self.payload:
            raise traitlets.TraitError(
                f"stage must be one of {', '.join(STAGES)}, as no grad_output was given, "
                f"got {value!r}"
            )
        if isinstance(self.record, GivenWeights):
            known = {"stage": self.record.stage, "scale": 1.0, "mask": "given", "compare": False}
            if value != (only := known.get(name, "")):
                raise traitlets.TraitError(
                    f"{name} must be {only!r} where there are only weights, got {value!r}"
                )
        return value

    @traitlets.validate("batch", "head")
    def _check_place(self, proposal) -> int:
        name = proposal["trait"].name
        size = self.record.shape[0 if name == "batch" else 1]
        if proposal["value"] >= size:
            raise traitlets.TraitError(f"{name} must be below {size}, got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate("scale")
    def _check_scale(self, proposal) -> float:
        if isinstance(self.record, GivenWeights):
            return self._check_alone(proposal)
        try:
            return check_scale(proposal["value"], self.record.q)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    @traitlets.validate("mask")
    def _check_mask(self, proposal) -> str:
        self._check_alone(proposal)
        for part in proposal["value"].split("+"):
            lengths = LENGTHS.fullmatch(part)
            fits = lengths and len(lengths[1].split(",")) == self.record.shape[0]
            if not fits and not MASK.fullmatch(part):
                raise traitlets.TraitError(
                    "mask must be given, none, causal, window:2,0, padding:3 (one a sequence), "
                    f"or some joined by +, got {proposal['value'] or 'nothing'}"
                )
        return proposal["value"]

    @traitlets.validate("drawn")
    def _check_drawn(self, proposal) -> str:
        self._check_alone(proposal)
        L, S = self.record.shape[2:]
        for cell in filter(None, proposal["value"].split(",")):
            place = CELL.fullmatch(cell)
            if not place or int(place[1]) >= L or int(place[2]) >= S:
                raise traitlets.TraitError(
                    f"drawn must name cells as '1.0,2.3', rows below {L} and columns below {S}, "
                    f"got {cell!r}"
                )
        return proposal["value"]

    @traitlets.validate("dropout")
    def _check_dropout(self, proposal) -> str:
        self._check_alone(proposal)
        text = proposal["value"]
        try:
            if text:
                p, seed = map(number_in, text.split(","))
                if p is None or seed is None or not seed.is_integer():
                    raise ValueError(text)
                Dropout(p, int(seed))
        except ValueError:
            raise traitlets.TraitError(
                f"dropout must be '' or a p from 0 to below 1 and a seed, '0.5,7', got {text!r}"
            ) from None
        return text

    @traitlets.validate("mistake")
    def _check_mistake(self, proposal) -> str:
        names = [mistake["name"] for mistake in self.payload.get("mistakes", [])]
        if proposal["value"] not in ("", *names):
            raise traitlets.TraitError(
                f"mistake must be '' or one of {', '.join(names)}, got {proposal['value']!r}"
                if names
                else f"mistake must be '', as no mistakes were given, got {proposal['value']!r}"
            )
        return proposal["value"]

    @traitlets.validate("hide")
    def _check_hide(self, proposal) -> str:
        if not re.fullmatch(r"[a-z,]*", proposal["value"]):
            raise traitlets.TraitError(
                f"hide must name controls with commas between, got {proposal['value']!r}"
            )
        return proposal["value"]

    @traitlets.validate("select")
    def _check_select(self, proposal) -> list[int] | None:
        value = proposal["value"]
        try:
            return check_select(self.record, self.stage, value)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None


def number_in(text: str) -> float | None:
    """A number as the page reads it: ASCII digits, no underscores; a fraction, a typographic minus.

    >>> number_in(" -0.5"), number_in("1e3"), number_in("−1/4"), number_in("３"), number_in("1_0")
    (-0.5, 1000.0, -0.25, None, None)
    """
    match = NUMBER.fullmatch(re.sub("[−–]", "-", text.strip()))
    if not match:
        return None
    with np.errstate(all="ignore"):  # by zero as in the page: infinite, or no number
        value = float(np.divide(float(match[1]), float(match[2] or 1)))
    return None if math.isnan(value) else value


def dropout_text(dropout: dict | None) -> str:
    """As the address writes it.

    >>> dropout_text({"p": 0.5, "seed": 7}), dropout_text({"p": 0.0, "seed": 7}), dropout_text(None)
    ('0.5,7', '0,7', '')
    """
    if dropout is None:
        return ""
    p = dropout["p"]
    return f"{int(p) if p == int(p) else p},{dropout['seed']}"
