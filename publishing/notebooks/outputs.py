"""Whether two outputs of a cell are the same: text, HTML, payloads and pictures.

Text is compared exactly: what is printed must be the same on every processor. Two things are
compared as numbers, since their bytes differ from processor to processor: the arrays inside a
payload, and the pixels of a picture. `make notebooks` leaves what is stored where nothing differs.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

PAYLOAD = re.compile(r"<script\b[^>]*application/json[^>]*>(.*?)</script>", re.DOTALL)
PICTURE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")

# An array's numbers are sums of products. Rounded term by term, in any order, a sum of n terms is
# off by at most n/2 units of the last place of what its terms add up to without their signs
# (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, equation 4.4), which is seldom
# more than the largest number around. The book's sums have up to 32 terms.
UNITS = 16
# Half a dozen pixels may flip with another rasteriser; the smallest digit that changes moves more.
PIXEL_LEVELS, PIXEL_COUNT = 24, 4

# Between two numbers of float64. It is used where a number has passed many layers, or hundreds of
# steps of a training, each of which makes the difference of two processors larger: after 600 steps
# it was 5e-12.
VECTORS = 1e-9

SKIPPED = {"application/vnd.jupyter.widget-view+json"}  # an id drawn anew in each run


def text_differs(stored: str, new: str) -> str | None:
    """What differs between two texts, or None."""
    if stored == new:
        return None
    before, after = stored.splitlines(), new.splitlines()
    for number, (a, b) in enumerate(zip(before, after, strict=False), 1):
        if a != b:
            return f"line {number}: stored {a[:300]!r}, now {b[:300]!r}"
    return f"stored {len(before)} lines, now {len(after)}"


def array_differs(stored: dict, new: dict) -> str | None:
    """Compare two {"dtype", "shape", "data"} arrays of a payload as numbers."""
    # A plugin of pytest imports this module before shapes are checked in attn_core.
    from attn_core.views.payload import bytes_of

    if (stored["dtype"], stored["shape"]) != (new["dtype"], new["shape"]):
        return f"array {stored['dtype']} {stored['shape']} is now {new['dtype']} {new['shape']}"
    a, b = (
        np.frombuffer(bytes_of(x), np.dtype(x["dtype"]).newbyteorder("<")) for x in (stored, new)
    )
    if a.shape != b.shape:
        return f"array of {a.size} numbers has now {b.size}"
    wrong = are_far(a, b)
    if wrong.any():
        at = int(np.argmax(wrong))
        return f"payload array, number {at}: stored {a[at]!r}, now {b[at]!r}"
    return None


def are_far(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which numbers are farther apart than two processors may be."""
    if a.dtype.kind != "f":
        return a != b
    largest = np.abs(a[np.isfinite(a)]).max(initial=0)
    bound = max(UNITS * np.finfo(a.dtype).eps, VECTORS if a.dtype == np.float64 else 0) * largest
    return ~np.isclose(b, a, rtol=0, atol=bound, equal_nan=True)


def json_differs(stored, new, where: str = "payload", *, room: float = 0.0) -> str | None:
    """Compare two JSON values: arrays in base64 as numbers, all else exactly.

    room: how far two floats may be apart, relative to the larger, or to 1 if they are smaller.
    """
    if isinstance(stored, dict) and isinstance(new, dict):
        if stored.keys() != new.keys():
            return f"{where}: keys {sorted(stored)} are now {sorted(new)}"
        if stored.keys() >= {"dtype", "shape"} and stored.keys() & {"data", "data85"}:
            wrong = array_differs(stored, new)
            return f"{where}: {wrong}" if wrong else None
        pairs = [(stored[key], new[key], f"{where}.{key}") for key in stored]
    elif isinstance(stored, list) and isinstance(new, list) and len(stored) == len(new):
        pairs = [(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(stored, new, strict=True))]
    elif type(stored) is type(new) and (stored == new or is_near(stored, new, room)):
        return None
    else:
        return f"{where}: stored {str(stored)[:200]}, now {str(new)[:200]}"
    return next(filter(None, (json_differs(*pair, room=room) for pair in pairs)), None)


def vectors_differ(stored: Path, made: str) -> str | None:
    """Where vectors for the page's script are not what a file has, but for float64's rounding."""
    before = json.loads(stored.read_text(encoding="utf-8"))
    return json_differs(before, json.loads(made), "vectors", room=VECTORS)


def is_near(a: object, b: object, room: float) -> bool:
    return isinstance(a, float) and math.isclose(a, b, rel_tol=room, abs_tol=room)


def picture_differs(stored: str, new: str) -> str | None:
    """Compare two PNG pictures in base64 by their pixels."""
    a, b = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(x))).convert("RGBA"), dtype=np.int16)
        for x in (stored, new)
    )
    if a.shape != b.shape:
        return f"picture of {a.shape[1]}×{a.shape[0]} pixels is now {b.shape[1]}×{b.shape[0]}"
    moved = (np.abs(a - b).max(axis=2) > PIXEL_LEVELS).sum()
    return f"{moved} pixels of the picture differ" if moved > PIXEL_COUNT else None


def html_differs(stored: str, new: str) -> str | None:
    """Compare HTML as text, but the payloads and pictures inside it as what they are."""
    for pattern, compare in ((PAYLOAD, _payload_differs), (PICTURE, picture_differs)):
        a, b = pattern.findall(stored), pattern.findall(new)
        if len(a) != len(b):
            return f"HTML with {len(a)} payloads or pictures has now {len(b)}"
        for pair in zip(a, b, strict=True):
            if wrong := compare(*pair):
                return wrong
        stored, new = pattern.sub("", stored), pattern.sub("", new)
    return text_differs(stored, new)


def _payload_differs(stored: str, new: str) -> str | None:
    return json_differs(json.loads(stored), json.loads(new))


COMPARE = {"text/html": html_differs, "image/png": picture_differs}


def parts(outputs: list) -> list[tuple[str, object]]:
    """Everything of a cell's outputs that is compared, in order, as (what, value)."""
    pairs = []
    for output in outputs:
        if output["output_type"] == "stream":
            pairs.append((output["name"], output["text"]))
        elif output["output_type"] == "error":
            pairs.append(("error", f"{output['ename']}: {output['evalue']}"))
        else:
            data = output["data"]
            pairs += [(mime, data[mime]) for mime in sorted(data) if mime not in SKIPPED]
    return pairs


def differences(stored: list, new: list) -> Iterator[str]:
    """One sentence for each output that is not what it was."""
    a, b = parts(stored), parts(new)
    if [what for what, _ in a] != [what for what, _ in b]:
        yield f"stored {[what for what, _ in a]}, now {[what for what, _ in b]}"
        return
    for (what, before), (_, after) in zip(a, b, strict=True):
        if isinstance(before, str) and isinstance(after, str):
            wrong = COMPARE.get(what, text_differs)(before, after)
        else:
            wrong = json_differs(before, after, what)
        if wrong:
            yield f"{what}: {wrong}"


def keep_same(stored: list, new: list) -> None:
    """Put the stored outputs of cells where the new ones differ by no more than a processor does.

    So what is stored does not change with the machine on which a notebook is run again.
    """
    known = {cell.id: cell.outputs for cell in stored if cell.cell_type == "code"}
    for cell in new:
        before = known.get(cell.id)
        if before is None or described(before) != described(cell.outputs):
            continue
        if not any(differences(before, cell.outputs)):
            for was, now in zip(before, cell.outputs, strict=True):
                if "execution_count" in now:
                    was.execution_count = now.execution_count
            cell.outputs = before


def described(outputs: list) -> list:
    """What outputs say beside their data, such as a picture's text."""
    return [output.get("metadata") for output in outputs]
