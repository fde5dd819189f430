"""Which modules are attentions by their names, and which of them are chosen."""

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from torch import nn

Only = Callable[[str], bool] | Collection[str] | str | None

CLASS = re.compile(r"attention|attn", re.IGNORECASE)
PART = re.compile(r"(norm|output|dropout|mask|bias|embedding|processor)\w*$", re.IGNORECASE)
PATH = re.compile(r"((self|cross|encoder|decoder|enc_dec|temporal|spatial)_)?(attn|attention)\d*")
# crossattention.self, encoder_attn, EncDecAttention, and the second attention of torch's decoder
CROSS = re.compile(r"(^|\.)(cross|multihead_attn|enc\w*(dec|att))\w*(\.[^.]+)?$", re.IGNORECASE)
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")


def is_attention(path: str, module: nn.Module) -> bool:
    """Whether its class or the end of its path says that it attends.

    >>> is_attention("attention", nn.LayerNorm(2)), is_attention("", nn.MultiheadAttention(2, 1))
    (False, True)
    """
    kind = type(module)
    return says_attention(kind.__module__, kind.__name__, path.rpartition(".")[2])


@lru_cache(1024)
def says_attention(package: str, kind: str, name: str) -> bool:
    if PART.search(kind):
        return False
    is_torchs = package.startswith("torch.")
    return bool(CLASS.search(kind)) or (not is_torchs and bool(PATH.fullmatch(name)))


def is_cross(path: str) -> bool:
    """Whether the end of a path says that queries and keys come from two texts.

    >>> is_cross("decoder.layers.0.encoder_attn"), is_cross("cross_encoder.0.self_attn")
    (True, False)
    """
    return bool(CROSS.search(path))


def chosen(
    only: Only,
    paths: Collection[str],
    of: str = "the model",
    place: str = "model.named_modules()",
) -> Callable[[str], bool]:
    """Whether the attention of a path is meant; an error says whose paths they are, and where."""
    if only is None:
        return lambda path: True
    if callable(only):
        return only
    names = (only,) if isinstance(only, str) else tuple(only)
    for name in names:
        if not isinstance(name, str) or not any(is_below(path, name) for path in paths):
            raise ValueError(
                f"only must name modules of {of}, got {name!r}: its paths are those of {place}"
            )
    return lambda path: any(is_below(path, name) for name in names)


def is_below(path: str, name: str) -> bool:
    """Whether a path is this module or one inside it."""
    return not name or path == name or path.startswith(f"{name}.")


def heads_of(module: nn.Module) -> int | None:
    """How many heads a module says it has."""
    for name in HEADS:
        heads = getattr(module, name, None)
        if isinstance(heads, int) and not isinstance(heads, bool):
            return heads
    return None
