"""An image whose patches are the keys of an attention: as a page gets it, and their grid."""

import base64
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from attn_core.checks import brief, check_whole

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST = 448  # pixels of a side as it is sent
QUALITY = 90
LEADING = (0, 1, 2, 5)  # tokens before the patches: none, a class token, more of them, registers
NEAR = 1.1  # by which factor patches may be longer one way than the other


def image_payload(image: Any, grid: Sequence[int] | None, keys: int, batch: int) -> dict:
    """The image as JPEG in base64, the rows and columns of its patches, and the tokens before."""
    picture = picture_of(image)
    rows, cols, first = grid_of(grid, keys, picture.size)
    picture.thumbnail((LONGEST, LONGEST))
    stream = io.BytesIO()
    picture.save(stream, format="jpeg", quality=QUALITY)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return {"data": data, "grid": [rows, cols], "first": first, "batch": batch}


def picture_of(image: Any) -> "Image":
    """Any image as one of PIL, in three colours; the caller's own stays as it is."""
    from PIL import Image  # which few explorers need

    if isinstance(image, Image.Image):
        return image.convert("RGB") if image.mode != "RGB" else image.copy()
    if not isinstance(image, (Tensor, np.ndarray)):
        raise TypeError(f"image must be an image of PIL, an array or a tensor, got {brief(image)}")
    pixels = torch.as_tensor(image).detach().cpu()
    if pixels.ndim == 4 and pixels.shape[0] == 1:
        pixels = pixels[0]
    shape = tuple(pixels.shape)
    if pixels.ndim == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3):
        pixels = pixels.permute(1, 2, 0)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3) or pixels.numel() == 0:
        raise ValueError(
            f"image must have the axes [h, w], [h, w, 3] or [3, h, w], of one image, got {shape}"
        )
    return Image.fromarray(bytes_of(pixels).expand(-1, -1, 3).contiguous().numpy())


def bytes_of(pixels: Tensor) -> Tensor:
    """Bytes as they are, numbers from 0 to 1 times 255; others from their least to their most."""
    if pixels.dtype == torch.uint8:
        return pixels
    if not pixels.is_floating_point():
        raise TypeError(f"image must be of bytes or of floating point, got {pixels.dtype}")
    pixels = pixels.double()
    if not pixels.isfinite().all():
        raise ValueError("image must be finite, got a number that is not")
    low, high = pixels.min().item(), pixels.max().item()
    if low < 0 or high > 1:
        pixels = (pixels - low) / (high - low)
    return (pixels * 255).round().to(torch.uint8)


def grid_of(
    grid: Sequence[int] | None, keys: int, size: tuple[int, int] = (1, 1)
) -> tuple[int, int, int]:
    """The patches' rows and columns, and how many tokens are before them.

    >>> grid_of(None, 197), grid_of(None, 15, size=(500, 300)), grid_of((2, 3), 8)
    ((14, 14, 1), (3, 5, 0), (2, 3, 2))

    size: width and height of the image. Without a grid it is a square of patches, or one whose
    patches are about square; before them may be a class token, or as many more as models have.
    """
    if grid is not None:
        if not isinstance(grid, Sequence) or isinstance(grid, str) or len(grid) != 2:
            raise TypeError(f"grid must be two whole numbers, got {brief(grid)}")
        rows, cols = (check_whole("grid", each, least=1) for each in grid)
        if rows * cols > keys:
            raise ValueError(
                f"grid must have at most the {keys} keys as patches, got {rows} × {cols}"
            )
        return rows, cols, keys - rows * cols
    width, height = size
    for first in LEADING:
        side = math.isqrt(max(0, keys - first))
        if side > 1 and side * side == keys - first:
            return side, side, first
    for first in LEADING:
        rows = round(math.sqrt(max(0, keys - first) * height / width))
        cols = (keys - first) // rows if rows else 0
        if rows * cols == keys - first > 1:
            across, down = width / cols, height / rows
            if max(across, down) <= NEAR * min(across, down):
                return rows, cols, first
    raise ValueError(
        f"grid must be given as the rows and columns of the patches, such as (14, 14), where the "
        f"{keys} keys do not tell it, got None"
    )


def on_image(image: Any, grid: Sequence[int] | None, keys: int) -> bool:
    """Whether these keys are the patches of the image, after the tokens that models put first."""
    if image is None:
        return False
    try:
        _, _, first = grid_of(grid, keys, picture_of(image).size)
    except ValueError:
        return False
    return first <= max(LEADING)


def patch_names(grid: tuple[int, int, int]) -> list[str]:
    """A name for each key: the class token's, and the row and column of each patch.

    >>> patch_names((1, 2, 1))
    ['[CLS]', '0·0', '0·1']
    """
    rows, cols, first = grid
    names = [f"[{n}]" if n else "[CLS]" for n in range(first)]
    return names + [f"{r}·{c}" for r in range(rows) for c in range(cols)]
