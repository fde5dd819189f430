"""What a page gets of a record: q, k and v as they are stored, never a map."""

import base64
import json
import sys

import numpy as np
import torch
from torch import Tensor

from attn_core.record import AttentionTrace
from attn_core.source import Projection
from attn_core.views.compact import (
    check_store,
    overview,
    sends_one_head,
    stored,
    weight_error,
)

VERSION = 1
MOST_BASE64 = 2**20  # bytes of an array
# The 85 letters that stand for themselves in JSON and inside a script element.
LETTERS = np.array([n for n in range(33, 127) if chr(n) not in "\"&'/<>\\`|"], dtype=np.uint8)


def base85(data: bytes) -> str:
    """Four bytes as five letters, most significant first: a sixteenth less than base64.

    >>> base85(bytes([0, 0, 0, 85]))
    '!!!#!'
    """
    words = np.frombuffer(data + bytes(-len(data) % 4), dtype=">u4").astype(np.int64)
    digits = words[:, None] // 85 ** np.arange(4, -1, -1) % 85
    return LETTERS[digits].tobytes().decode("ascii")


def array(tensor: Tensor) -> dict:
    """A tensor as its numbers, little endian, in base64 or, if they are many, in base85.

    bfloat16 travels as float32.
    """
    tensor = tensor.detach().cpu().contiguous()
    numbers = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu().numpy()
    if sys.byteorder == "big":
        numbers = numbers.byteswap()
    sent = {"dtype": str(numbers.dtype), "shape": list(tensor.shape)}
    data = np.ascontiguousarray(numbers).tobytes()
    if len(data) > MOST_BASE64:
        return sent | {"data85": base85(data)}
    return sent | {"data": base64.b64encode(data).decode("ascii")}


def bytes_of(sent: dict) -> bytes:
    """The numbers of an array as `array` sent them.

    >>> bytes_of(array(torch.tensor([1.5]))) == np.float32(1.5).tobytes()
    True
    """
    if "data" in sent:
        return base64.b64decode(sent["data"])
    values = np.zeros(127, dtype=np.int64)
    values[LETTERS] = np.arange(len(LETTERS))
    digits = values[np.frombuffer(sent["data85"].encode("ascii"), dtype=np.uint8)].reshape(-1, 5)
    words = (digits * 85 ** np.arange(4, -1, -1)).sum(-1).astype(">u4")
    count = int(np.prod(sent["shape"])) * np.dtype(sent["dtype"]).itemsize
    return words.tobytes()[:count]


def source_arrays(record: AttentionTrace) -> dict | None:
    source = record.source
    if source is None:
        return None
    matrices = {name: array(getattr(source, name)) for name in ("w_query", "w_key", "w_value")}
    biases = source.biases or (None, None, None)
    names = ("b_query", "b_key", "b_value")
    pairs = zip(names, biases, strict=True)
    vectors = {name: None if bias is None else array(bias) for name, bias in pairs}
    x = source.x.reshape(-1, *source.x.shape[-2:])
    return {"x": array(x), **matrices, **vectors, **rotation(source)}


def rotation(source: Projection) -> dict:
    """What rotates queries and keys, of a source that has it."""
    if source.rotary is None:
        return {}
    rotary = {"base": source.rotary.base, "pairing": source.rotary.pairing}
    if source.positions is not None:
        positions = source.positions.reshape(-1, source.positions.shape[-1])
        rotary["positions"] = positions.tolist()
    return {"rotary": rotary}


def numbers_of(
    record: AttentionTrace, store: str | None = None, head: int = 0, all_values: bool = False
) -> dict:
    """q, k, v and the settings, all that the stages follow from; k and v with their own heads."""
    dropout = record.dropout
    q, k = (array(stored(getattr(record, name), name, store)) for name in "qk")
    if sends_one_head(record) and not all_values:
        head //= record.group
        v = array(stored(record.v[:, head : head + 1], "v", store)) | {"heads": [head]}
    else:
        v = array(stored(record.v, "v", store))
    return {
        "q": q,
        "k": k,
        "v": v,
        "keep": None if record.keep is None else record.keep.to_json(),
        "scale": record.scale,
        "dropout": None if dropout is None else {"p": dropout.p, "seed": dropout.seed},
        **rarer_numbers_of(record, store),
    }


def rarer_numbers_of(record: AttentionTrace, store: str | None) -> dict:
    """Bias, softcap and sinks, of a record that has them."""
    numbers: dict = {}
    if record.bias is not None:
        numbers["bias"] = {
            name: array(stored(unexpanded(tensor) if name == "table" else tensor, name, store))
            for name, tensor in record.bias.tensors().items()
        }
    if record.softcap is not None:
        numbers["softcap"] = record.softcap
    if record.sinks is not None:
        numbers["sinks"] = array(stored(record.sinks, "sinks", store))
    return numbers


def unexpanded(table: Tensor) -> Tensor:
    """A table with size 1 where one number serves all of an axis."""
    for axis in range(table.ndim):
        if table.stride(axis) == 0:
            table = table.narrow(axis, 0, 1)
    return table


def payload_of(
    record: AttentionTrace,
    name: str,
    form: str,
    tokens: tuple[list, list],
    view: dict,
    store: str | None = None,
    all_values: bool = False,
) -> dict:
    """The page's data as a dict that JSON can hold."""
    check_store(store)
    record.check_source_unchanged()
    # Shorter numbers than those of the source would no longer follow from it.
    source = source_arrays(record) if store is None else None
    payload = {
        "version": VERSION,
        "name": name,
        "form": form,
        "tokens": {"queries": tokens[0], "keys": tokens[1]},
        **numbers_of(record, store, view["head"], all_values),
        "source": source,
        "view": view,
    }
    if store is not None:
        payload["error"] = weight_error(record, store)
    if (blocks := overview(record)) is not None:
        payload["overview"] = blocks
    return payload


def inline_json(payload: dict) -> str:
    """JSON that may stand inside a script element, whatever the tokens are."""
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
