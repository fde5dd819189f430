"""A whole model to play with: in a live notebook, and as HTML for a page."""

import html
import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from torch import nn

from attn_core.checks import brief, check_whole
from attn_core.steps import Steps, recording
from attn_core.steps.explaining import RecordingError
from attn_core.steps.passes import exact
from attn_core.steps.terms import check_address
from attn_core.views import script
from attn_core.views.explorer import check_name
from attn_core.views.markup import element
from attn_core.views.model_pass import read_and_written, side_of, word_ids, written
from attn_core.views.model_payload import LONGEST, MOST_LONGEST, check_longest, model_payload
from attn_core.views.shown import Shown
from attn_core.views.table import table

if TYPE_CHECKING:
    from attn_core.views.picture import Picture

HERE = Path(__file__).parent
MARKS = {"start": "<start>", "end": "<end>", "pad": "<pad>"}
# What a page can leave out.
PARTS = ("sentence", "translation", "likeliest", "steps", "plan", "station", "switches")
# What a reader chooses, by the names that an address has for it.
CHOSEN = (
    *("say", "taken", "written", "off", "temperature", "loss"),
    *("at", "stage", "head", "select"),
)


class OpenModel(Shown):
    """A model on the page; any of its numbers can be opened.

    say: the sentence. taken: words taken instead of the likeliest, "1:猫". written: how many words
    of the translation are written, 0 for all. off: what is switched off, in the form used in the
    page's address, "heads_off:encoder.0.attention.2". temperature: what scores are divided by
    before the softmax.
    loss: the number whose gradients are shown instead of the numbers, "probabilities:2,7", or "".
    at: the station that is shown. stage: which of the station's arrays is shown, "" for its output.
    head: which head of an attention is shown. select: the place of the number whose arithmetic is
    open, or None. The page says what it cannot take.

    Taught in chapter 10.
    """

    _esm = script.BUILT / "model_widget.js"
    _css = "\n".join((HERE / name).read_text("utf-8") for name in ("explorer.css", "machine.css"))

    say = traitlets.Unicode("").tag(sync=True)
    taken = traitlets.Unicode("").tag(sync=True)
    written = traitlets.Int(0, min=0, max=LONGEST).tag(sync=True)
    off = traitlets.Unicode("").tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    loss = traitlets.Unicode("").tag(sync=True)
    at = traitlets.Unicode("").tag(sync=True)
    stage = traitlets.Unicode("").tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    select = traitlets.List(traitlets.Int(), default_value=None, allow_none=True).tag(sync=True)

    def __init__(self, steps: Steps, payload: dict) -> None:
        self.steps = steps
        super().__init__(payload=payload, **{name: payload["view"][name] for name in CHOSEN})

    @traitlets.validate("say")
    def _check_say(self, proposal) -> str:
        try:
            word_ids(proposal["value"], self.payload)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return proposal["value"]

    @traitlets.validate("at")
    def _check_at(self, proposal) -> str:
        if proposal["value"] not in self.steps:
            raise traitlets.TraitError(f"at must name a step, got {brief(proposal['value'])}")
        return proposal["value"]

    @traitlets.validate("temperature")
    def _check_temperature(self, proposal) -> float:
        if not 0 < proposal["value"] <= 10:
            raise traitlets.TraitError(
                f"temperature must be above 0 and at most 10, got {proposal['value']}"
            )
        return proposal["value"]

    def markup(self, widget_id: str = "", is_alone: bool = False) -> str:
        """The first state for a page."""
        inside = still_table(self.steps, self.payload)
        return element("attention-model", self.payload, inside, widget_id, is_alone)

    def still(self) -> "Picture":
        """The drawing in its first state."""
        from attn_core.views.arcs_still import arcs_still
        from attn_core.views.model_still import model_still

        draw = arcs_still if "arcs" in self.payload["view"] else model_still
        return draw(self.steps, self.payload)

    def __repr__(self) -> str:
        numbers = sum(weight.numel() for weight in self.steps.weights.values())
        return f"Model: {numbers:,} weights, {len(self.steps)} steps, {self.payload['view']['say']}"

    __str__ = __repr__


def open_model(
    model: nn.Module,
    words: Mapping[str, Sequence[str]],
    say: str,
    *,
    name: str = "model",
    at: str | None = None,
    stage: str = "",
    select: Sequence[int] | None = None,
    off: str = "",
    loss: tuple[str, Sequence[int]] | None = None,
    examples: Sequence[str] = (),
    switched: Mapping[str, Any] | None = None,
    show: Sequence[str] = PARTS,
    together: str = "",
    explorer: Mapping[str, object] | None = None,
    arcs: tuple[tuple[str, int], tuple[str, int]] | None = None,
    marks: Mapping[str, str] = MARKS,
    longest: int = LONGEST,
    longest_trained: int | None = None,
) -> OpenModel:
    """A trained model that reads and writes on the page; any of its numbers can be opened.

    >>> from attn_core.translators.grammar import CHINESE, ENGLISH
    >>> from attn_core.translators.transformer import stored
    >>> open_model(stored(), {"source": ENGLISH, "target": CHINESE}, "Tom chases Jerry")
    Model: 45,824 weights, 70 steps, Tom chases Jerry

    model: called as model(source, target), or model(source, lengths, target), with ids [1, T]. Its
    weights must be exact in float16; otherwise ValueError names one that is not.
    words: the vocabularies, "source" and "target", with a word for each row of their tables. say:
    the sentence that the model reads at first, in any form that a reader may type on the page: "tom
    chases Jerry." is fine, too. name: the model's name in the page's address; it must be unique on
    the page.
    at: the step that is shown at first, by default the last attention. stage: one of its arrays.
    select: the place of the number whose arithmetic is open at first, [row, column] or, for a head,
    [head, row, column]. off: what is switched off at first, in the form used in the page's address.
    loss: (step, [row, column]), a number in the output of a step, in the form that
    `attn_core.steps.backward` takes. At first, the page shows the gradients of this number instead
    of the numbers themselves.
    examples: sentences that the reader can choose. switched: how many translations change when each
    part is switched off in turn, {"sentences": 300, "counts": {"heads_off:encoder.0.attention.2":
    {"words": 8, "order": 2, "endless": 0, "example": "Tom sees Jerry"}, …}}; for the book's trained
    models, `attn_core.translators.switched.switched` returns this dict.
    show: which parts the page has, from "sentence" (the field to type in; without it the sentence
    is plain text), "translation", "likeliest" (words to take), "steps" (word by word, temperature),
    "plan" (the drawing), "station" and "switches". together: a name; models on one page that share
    it read the same sentence. explorer: what the explorer of an attention hides and shows, in the
    form of `explore`'s view: {"hide": ["head"], "stages": ["weights"]}.
    arcs: ((step, head) within the sentence, (step, head) from the translation to it): the page
    shows the sentence with arcs for these weights instead of the drawing of the machine.
    marks: the words that mean start, end and pad. longest: how many words a sentence may have, 512
    at most. longest_trained: how many words the longest sentence in the model's training had; if a
    reader's sentence is longer, the page says so.

    The page gets the weights, the words and the steps, and computes everything else itself.
    TypeError or ValueError says what it cannot take, such as a module that is called differently or
    an operation for which the page has no formula.
    Taught in chapter 10.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {brief(model)}")
    check_words_of(words, marks)
    check_longest(longest)
    program = {"words": words, "marks": marks, "longest": longest}
    steps = steps_of(model, words, word_ids(say, program), marks)
    attentions = [step.name for step in steps.values() if step.operation == "attention"]
    at = at or [*steps, *attentions][-1]
    if at not in steps:
        raise ValueError(f"at must name a step of the model, got {at!r}")
    view = {
        "say": say,
        "taken": "",
        "written": 0,
        "off": off,
        "temperature": 1.0,
        "loss": "" if loss is None else loss_text(steps, loss),
        "at": at,
        "stage": stage,
        "head": int(select[0]) if select is not None and len(select) == 3 else 0,
        "select": None if select is None else [int(n) for n in select],
    }
    for part in show:
        if part not in PARTS:
            raise ValueError(f"show must be of {', '.join(PARTS)}, got {part!r}")
    if tuple(show) != PARTS:
        view["show"] = list(show)
    if together:
        view["together"] = together
    if explorer is not None:
        view["explorer"] = dict(explorer)
    for text in examples:
        word_ids(text, program)
    if examples:
        view["examples"] = list(examples)
    if switched is not None:
        view["switched"] = dict(switched)
    if longest_trained is not None:
        view["longest_trained"] = check_whole("longest_trained", longest_trained, least=1)
    if arcs is not None:
        (inner, inner_head), (across, across_head) = arcs
        view["arcs"] = {
            "within": {"step": inner, "head": inner_head},
            "across": {"step": across, "head": across_head},
        }
    payload = model_payload(steps, marks, longest)
    payload |= {"form": "model", "name": check_name(name), "view": view}
    return OpenModel(steps, payload)


def loss_text(steps: Steps, loss: tuple[str, Sequence[int]]) -> str:
    """A number of an output as an address has it.

    The rows are those of a sentence, which the page decides; it says where a sentence has too few.
    """
    if not isinstance(loss, (tuple, list)) or len(loss) != 2:
        raise TypeError(f"loss must be (step, [row, column]), got {brief(loss)}")
    name, index = loss
    if name not in steps or steps[name].operation == "words":
        raise ValueError(f"loss must name a step that makes numbers, got {brief(name)}")
    width = exact(steps).value(name).shape[-1]
    row, column = check_address(name, index, (MOST_LONGEST, width))
    return f"{name}:{row},{column}"


def steps_of(
    model: nn.Module, words: Mapping[str, Sequence[str]], ids: list[int], marks: Mapping[str, str]
) -> Steps:
    """The steps of a pass over the sentence, as far as the first word of its translation."""
    target = torch.tensor([[list(words["target"]).index(marks["start"])]])
    given: list[object] = [torch.tensor([ids]), target]
    called, kind = inspect.signature(model.forward), type(model).__name__
    if "lengths" in called.parameters:
        given.insert(1, [len(ids)])
    try:
        called.bind(*given)
    except TypeError:
        raise TypeError(
            "model must be called as model(source, target) or model(source, lengths, target), "
            f"got a {kind}, whose forward takes {', '.join(called.parameters) or 'nothing'}"
        ) from None
    with torch.no_grad(), recording(model, words) as steps:
        try:
            model(*given)
        except (RecordingError, ValueError):
            raise  # one sentence already
        except Exception as error:
            said = str(error).partition("\n")[0]
            raise ValueError(
                f"model must take ids of words, [1, {len(ids)}] of the source and [1, 1] of the "
                f"target, got a {kind}, which ends in {type(error).__name__}: {said}"
            ) from error
    return steps.with_softmax()


def still_table(steps: Steps, payload: dict) -> str:
    """What stands on a page without scripts: the translation, and the weights of one attention."""
    view, words = payload["view"], payload["words"]["target"]
    done, labels = read_and_written(steps, payload)
    line = " ".join(words[n] for n in written(steps, payload)[0])
    attentions = [step.name for step in steps.values() if step.operation == "attention"]
    text = f"<p>{html.escape(view['say'])} → {html.escape(line)}</p>\n{known_words(payload)}"
    if not attentions:
        return text
    at = view["at"] if view["at"] in attentions else attentions[-1]
    queries, keys = (labels[side_of(steps, name)] for name in steps[at].inputs[:2])
    head = view["select"][0] if len(view["select"] or ()) == 3 and at == view["at"] else 0
    shown = {"stage": "weights", "batch": 0, "head": head, "select": None, "places": 4}
    return text + table(done.record(at), shown, {"queries": queries, "keys": keys})


def known_words(payload: dict) -> str:
    """All words of both sides; the site's fonts have the characters that stand on the page."""
    marks = payload["marks"].values()
    lists = [[word for word in words if word not in marks] for words in payload["words"].values()]
    text = html.escape(". ".join(" ".join(words) for words in lists))
    return f"<details><summary>The words that it knows</summary><p>{text}</p></details>\n"


def check_words_of(words: Mapping[str, Sequence[str]], marks: Mapping[str, str]) -> None:
    if set(words) != {"source", "target"}:
        raise ValueError(f"words must have a source and a target, got {', '.join(words) or 'none'}")
    for side, listed in words.items():
        twice = [word for word, count in Counter(listed).items() if count > 1]
        if twice:
            raise ValueError(f"words must be different, got {twice[0]!r} twice in the {side}")
    for name in MARKS:
        if marks.get(name) not in words["target"]:
            raise ValueError(
                f"marks must name words of the target, got {name}: {marks.get(name)!r}"
            )
