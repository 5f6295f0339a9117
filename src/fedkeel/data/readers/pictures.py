"""Compressed pictures as arrays, read with Pillow."""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .bundle import Bundle
from .sound import sound

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
# Only these: among Pillow's others is one that starts a program.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
_GREY = ("1", "L", "LA", "La")
_MOST = 1 << 26  # pixels of a picture: small files can unpack to any size


def is_picture(path: str) -> bool:
    """Tell by its name whether a file is a picture of a kind that is read."""
    return path.lower().endswith(SUFFIXES)


def gather(
    bundle: Bundle, paths: Collection[str], *, size: int | None = None, colour: bool = False
) -> Pixels:
    """Return pictures ``(n, C, H, W)`` in the order of their paths.

    They have one channel if all of them are grey and colour is not asked for, else three. Without
    a size all must have the same.

    Args:
        bundle: Where they are.
        paths: Their paths, as ``bundle.matching`` says them.
        size: Height and width to bring them to.
        colour: Whether to have three channels in any case.
    """
    rows = {path: row for row, path in enumerate(paths)}
    gathered: Pixels | None = None
    first = ""
    for path, called, data in bundle.walk(rows.__contains__):
        picture = decode(data, called, size=size, colour=colour)
        if gathered is None:
            first, gathered = called, _empty(len(rows), picture)
        elif picture.shape[1:] != gathered.shape[2:]:
            sizes = f"{_said(gathered.shape)} and {_said(picture.shape)}"
            raise InputError(
                f"{first} and {called} differ in size, {sizes}: bring them to one size, or load "
                "them with fk.data.from_folder(PATH, size=64), which does"
            )
        if len(picture) > gathered.shape[1]:
            gathered = np.repeat(gathered, len(picture), axis=1)
        gathered[rows[path]] = picture  # one channel fills three
    if gathered is None:
        raise InputError(f"{bundle.title} holds no pictures")
    return gathered


def _empty(count: int, picture: Pixels) -> Pixels:
    try:
        return np.empty((count, *picture.shape), dtype=np.uint8)
    except MemoryError as error:
        size = _said(picture.shape)
        raise InputError(
            f"{count} pictures of {size} do not fit in memory: make them smaller"
        ) from error


def _said(shape: tuple[int, ...]) -> str:
    return f"{shape[-1]}x{shape[-2]}"


def decode(data: bytes, called: str, *, size: int | None = None, colour: bool = False) -> Pixels:
    """Return one picture ``(C, H, W)``, of one channel if it is grey.

    Transparency is left out, and of several frames the first is taken. To a size it is brought by
    a cut about the centre and bilinear interpolation.

    Args:
        data: The file's content.
        called: What to call it in an error.
        size: Height and width to bring it to.
        colour: Whether to have three channels in any case.
    """
    library = pillow()
    with sound(called), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Pillow thinks of odd but readable files
        warnings.simplefilter("error", library.DecompressionBombWarning)
        image = library.open(io.BytesIO(data), formats=_FORMATS)
        if image.width * image.height > _MOST:
            raise InputError(f"{called} is a picture of {image.width}x{image.height}: too large")
        pixels = np.asarray(_fitted(_plain(image, library, called, colour), size))
        return np.moveaxis(pixels, -1, 0) if pixels.ndim == 3 else pixels[None]


def _plain(image: Image, library: ModuleType, called: str, colour: bool) -> Image:
    """Return a picture as 8 bits of grey or of three colours."""
    if image.mode.startswith("I;16"):
        high = (np.asarray(image) >> 8).astype(np.uint8)
        image = library.fromarray(high)
    if image.mode in ("I", "F"):
        raise InputError(f"{called} has pixels of 32 bits: save it with 8 bits a channel")
    return image.convert("L" if image.mode in _GREY and not colour else "RGB")


def _fitted(image: Image, size: int | None) -> Image:
    """Return a picture at a size: the square about its centre, brought to it.

    Cut first: what a long strip would grow to has no bound.
    """
    if size is None or image.size == (size, size):
        return image
    short = min(image.size)
    left, top = ((side - short) // 2 for side in image.size)
    square = image.crop((left, top, left + short, top + short))
    return square.resize((size, size), pillow().Resampling.BILINEAR)


def pillow() -> ModuleType:
    """Return Pillow's module of images, or say how to get it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError("pictures are read by Pillow: pip install 'fedkeel[images]'") from error
    return Image
