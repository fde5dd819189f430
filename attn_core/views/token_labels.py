"""Tokens as a model's user has them: strings, a tokenizer's output, or ids and their tokenizer."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from attn_core.checks import brief
from attn_core.watching.named import is_cross

IN_DECODER = re.compile("decoder|cross", re.IGNORECASE)
Tokens = Any  # strings, what a tokenizer gave, or a list of such
Text = list[str] | list[list[str]]  # of all sequences, or of each its own


def token_texts(tokens: Tokens, tokenizer: Any, inputs: Iterable[Any]) -> list[Text]:
    """The texts that may label the sides of a map.

    >>> token_texts(["to", "be"], None, ())
    [['to', 'be']]
    """
    if tokens is not None:
        return [texts_of(each) for each in (tokens if is_several(tokens) else [tokens])]
    if tokenizer is None:
        return []
    decode = getattr(tokenizer, "decode", None)
    if decode is None:
        raise TypeError(
            f"tokenizer must have a method decode, got {brief(tokenizer)}; give words as tokens"
        )
    found = of_ids(inputs)
    if not found:
        raise ValueError(
            "tokenizer must come with ids of tokens among the inputs, got none: give tokens"
        )
    return [
        alike([[decode([n]) for n in row] for row in ids.reshape(-1, ids.shape[-1]).tolist()])
        for ids in found
    ]


def alike(rows: list[list[str]]) -> Text:
    """One list where all sequences have the same tokens."""
    return rows[0] if all(row == rows[0] for row in rows) else rows


def of_ids(inputs: Iterable[Any]) -> list[Tensor]:
    """The inputs that look like ids of tokens: whole numbers, of which not all are 0 or 1."""
    tensors = [each for each in inputs if isinstance(each, Tensor) and each.ndim in (1, 2)]
    whole = (torch.int32, torch.int64)
    return [ids for ids in tensors if ids.dtype in whole and ids.numel() and ids.max() > 1]


def is_several(tokens: Tokens) -> bool:
    """Whether there is more than one text: its parts are not strings."""
    return isinstance(tokens, (list, tuple)) and bool(tokens) and not isinstance(tokens[0], str)


def texts_of(tokens: Tokens) -> Text:
    if callable(getattr(tokens, "tokens", None)):
        several = getattr(tokens, "encodings", None) or ()
        if len(several) > 1:
            return alike([list(each.tokens) for each in several])
        return list(tokens.tokens())
    if isinstance(tokens, Sequence) and not isinstance(tokens, str):
        return list(tokens)
    raise TypeError(
        f"tokens must be strings, or what a tokenizer with tokens() gave, got {brief(tokens)}"
    )


def of_batch(texts: list[Text], batch: int) -> list[Text]:
    """Of as many texts of one length as there are sequences, each is that of one.

    >>> of_batch([["to", "be"], ["or", "not"]], 2)
    [[['to', 'be'], ['or', 'not']]]
    """
    is_each = batch > 1 and len(texts) == batch and len({length(text) for text in texts}) == 1
    if not is_each or any(isinstance(text[0], list) for text in texts):
        return texts
    return [cast("list[list[str]]", texts)]


def length(text: Text) -> int:
    return len(text[0]) if text and isinstance(text[0], list) else len(text)


def tokens_for(
    path: str, labels: Sequence[Text], queries: int, keys: int
) -> tuple[Text | None, Text | None]:
    """For each side of a map the text that is as long as it; places where there is no text.

    >>> tokens_for("cross", [["the", "cat"], ["die", "Katze", "!"]], 3, 2)
    (['die', 'Katze', '!'], ['the', 'cat'])
    """
    if not labels:
        return None, None
    found = []
    for side, count in (("queries", queries), ("keys", keys)):
        fitting = [texts for texts in labels if length(texts) == count]
        if not fitting:
            lengths = " and ".join(str(length(texts)) for texts in labels)
            raise ValueError(
                f"tokens must name the {count} {side} of {path or 'the model'}, got {lengths}: "
                "give a list of texts, one for each length, or leave tokens out"
            )
        # Of two texts of one length the encoder reads the first, the decoder writes the last.
        is_written = IN_DECODER.search(path) and not (side == "keys" and is_cross(path))
        found.append(fitting[-1 if is_written else 0])
    return found[0], found[1]
