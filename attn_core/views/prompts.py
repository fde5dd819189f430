"""A few texts that a language model reads, what may come next, and one head on and off."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_core.api import trace
from attn_core.checks import brief, check_index, check_stage, check_whole
from attn_core.language import GroupedQueryAttention, LanguageLayer, LanguageModel
from attn_core.language.model import wide_layers
from attn_core.modules import each
from attn_core.record import AttentionTrace
from attn_core.views.explorer import check_name, first_view
from attn_core.views.markup import element
from attn_core.views.next_tokens import best_of, percent, said
from attn_core.views.payload import payload_of
from attn_core.views.table import table
from attn_core.views.widget import Explorer

if TYPE_CHECKING:
    from attn_core.views.picture import Picture

CHANCE, SCORE = 5, 4  # places that are the same on every machine
SHOWN = ("scores", "scaled", "masked", "weights", "output")  # nothing drops out
HIDDEN = ("batch", "head", "all", "formula", "scale", "mask", "vectors", "inputs")


@runtime_checkable
class Tokenized(Protocol):
    """What a language model needs besides to read a text and to say what comes next."""

    def ids(self, text: str) -> Int[Tensor, "1 T"]: ...
    def tokens(self, text: str) -> list[str]: ...
    def text(self, ids: Sequence[int]) -> str: ...


class Next(NamedTuple):
    """What may come next after each text: the rows with the head, then those without."""

    scores: Float[Tensor, "both words"]
    chances: Float[Tensor, "both words"]


class OpenPrompts(Explorer):
    """What `open_prompts` shows: texts and what may come next, above the explorer of one head.

    Taught in chapter 12.
    """

    def markup(self, widget_id: str = "", is_alone: bool = False) -> str:
        """The first state for a page."""
        payload = self.payload
        text = payload["prompts"]["texts"][payload["view"]["batch"]]
        tokens = {"queries": text["tokens"], "keys": text["tokens"]}
        inside = said(payload["prompts"], text) + table(self.record, payload["view"], tokens)
        return element("attention-explorer", payload, inside, widget_id, is_alone)

    @property
    def picture(self) -> "Picture":
        """The first text under its arcs, and beside it what may come next, for paper."""
        from attn_core.views.prompts_still import prompts_still

        return prompts_still(self.record, self.payload)

    def __repr__(self) -> str:
        prompts = self.payload["prompts"]
        layer, head = prompts["head"]
        text, *others = prompts["texts"]
        best, on, off = best_of(text)
        more = f"; {len(others)} more" if others else ""
        return (
            f"{text['text']}{best} {percent(on)}, "
            f"without head {head} of layer {layer} {percent(off)}{more}"
        )

    __str__ = __repr__


def open_prompts(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    head: tuple[int, int],
    name: str = "prompts",
    select: Sequence[int] | None = None,
    stages: Sequence[str] = SHOWN,
    count: int = 5,
    places: int = 4,
) -> OpenPrompts:
    """What a language model writes after a few texts, with one of its heads and without it.

    >>> from attn_core.pretrained import smollm2
    >>> open_prompts(smollm2(), ["The capital of France is"], head=(23, 4))
    The capital of France is Paris 77.3 %, without head 4 of layer 23 14.1 %

    model: a LanguageModel with a tokenizer, as `pretrained.smollm2()`, with a causal mask.
    texts: these must all have the same number of tokens; a reader chooses one. head: the query head
    that can be switched off, as (layer, head). name: the explorer's name in the page's address; it
    must be unique on the page. select: (row, column) of the weight that is open at first. stages:
    which of the head's stages are shown. count: how many next tokens are listed. places: decimals
    of the weights.

    The model is computed in float64, once with the head and once without. A page gets the head's
    q, k and v, and computes its weights and their arithmetic; the chances are sent already
    computed. Taught in chapter 12.
    """
    if not isinstance(model, LanguageModel) or not isinstance(model, Tokenized):
        raise TypeError(
            "model must be a LanguageModel with the methods ids, tokens and text, as "
            f"pretrained.smollm2(), got {brief(model)}"
        )
    layers = each(model.layers, LanguageLayer)
    layer, at = check_head(layers, head)
    check_count(count, model.unembedding.out_features)
    ids = ids_of(model, texts)
    record, after = read(model, ids, layer, at)
    view = first_view(record, "weights", select, 0, 0, places)
    for stage in stages:
        check_stage(stage, SHOWN)
    view |= {"hide": list(HIDDEN), "stages": list(stages)}
    tokens = [[token.strip() or "␣" for token in model.tokens(text)] for text in texts]
    check_name(name)
    shown = payload_of(record, name, "explorer", (tokens[0], tokens[0]), view, None, True)
    listed = [
        {"text": text, "tokens": cut, **listed_next(model, of, count)}
        for text, cut, of in zip(texts, tokens, after, strict=True)
    ]
    heads = sum(of.attention.num_heads for of in layers)
    shown["prompts"] = {"head": [layer, at], "heads": heads, "count": count, "texts": listed}
    return OpenPrompts(record, shown)


def check_head(layers: Sequence[LanguageLayer], head: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(head, (tuple, list)) or len(head) != 2:
        raise TypeError(f"head must be a pair (layer, head), got {brief(head)}")
    layer = check_index("the layer of head", head[0], len(layers))
    return layer, check_index("head", head[1], layers[layer].attention.num_heads)


def check_count(count: int, words: int) -> None:
    check_whole("count", count, least=1)
    if count > words:
        raise ValueError(f"count must be at most {words}, the tokens that there are, got {count}")


def ids_of(model: Tokenized, texts: Sequence[str]) -> Int[Tensor, "texts T"]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts) or not texts:
        raise TypeError(f"texts must be a list of strings, got {brief(texts)}")
    ids = [model.ids(text) for text in texts]
    sizes = [each.shape[1] for each in ids]
    if len(set(sizes)) > 1 or not sizes[0]:
        wanted = f"{sizes[0]} tokens each, as the first has" if sizes[0] else "at least one token"
        raise ValueError(f"texts must have {wanted}, got {', '.join(map(str, sizes))}")
    return torch.cat(ids)


@torch.no_grad()
def read(
    model: LanguageModel, ids: Int[Tensor, "texts T"], layer: int, head: int
) -> tuple[AttentionTrace, list[Next]]:
    """The record of one head, and what may come next after each text."""
    x, layers = model.embedding(ids).double(), wide_layers(model)
    for wide in islice(layers, layer):
        x = wide(x)
    wide = next(layers)
    record = trace_of(wide.attention, wide.attention_norm(x), head)
    x = torch.cat([wide(x), without(wide, head)(x)])
    for wide in layers:
        x = wide(x)
    scores = deepcopy(model.unembedding).double()(deepcopy(model.norm).double()(x[:, -1]))
    both = scores.unflatten(0, (2, -1)).transpose(0, 1)
    return record, [Next(of, torch.softmax(of, dim=-1)) for of in both]


def trace_of(
    attention: GroupedQueryAttention, x: Float[Tensor, "texts T E"], head: int
) -> AttentionTrace:
    """One head alone, in the float32 that a page gets."""
    q, k, v = attention.split_heads(x)
    group = head // (attention.num_heads // attention.num_kv_heads)
    parts = (q[:, [head]], k[:, [group]], v[:, [group]])
    return trace(*(part.float() for part in parts), keep=attention.keep)


def without(layer: LanguageLayer, head: int) -> LanguageLayer:
    """The layer with one head off: the columns that read it in the last matrix are 0."""
    off = deepcopy(layer)
    width = off.attention.head_dim
    off.attention.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return off


def listed_next(model: Tokenized, of: Next, count: int) -> dict:
    """The likeliest tokens of both, and for each side its scores, chances and sum."""
    best = torch.cat([chances.topk(count).indices for chances in of.chances]).tolist()
    ids = list(dict.fromkeys(best))
    sides = {}
    for side, scores, chances in zip(("on", "off"), of.scores, of.chances, strict=True):
        most = scores.max()
        sides[side] = {
            "scores": [round(x, SCORE) for x in scores[ids].tolist()],
            "chances": [round(x, CHANCE) for x in chances[ids].tolist()],
            "most": round(most.item(), SCORE),
            "sum": round((scores - most).exp().sum().item(), SCORE),
        }
    return {"next": [model.text([token]) for token in ids], "words": of.scores.shape[1], **sides}
