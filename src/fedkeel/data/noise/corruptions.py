"""Nine common corruptions of images, at five severities.

After Hendrycks & Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and
Perturbations" (ICLR 2019), with the constants of their releases. Frost is made of noise here and of
photographs there.

A corruption takes one image ``(H, W, C)`` in [0, 1] with one or three channels, a severity from 1
to 5 and a generator, and returns an image in [0, 1] of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .severities import (
    BRIGHTNESS,
    ELASTIC,
    FOG,
    FROST,
    GAUSSIAN,
    IMPULSE,
    JPEG,
    PIXELATE,
    SHOT,
)
from .textures import TINT, frost_texture, plasma

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Image = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Corruption = Callable[[Image, int, np.random.Generator], Image]


def gaussian(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Add normal noise to every value: ``x + c z``."""
    return _bounded(image + GAUSSIAN.at(image, severity) * rng.standard_normal(image.shape))


def shot(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Count photons: ``Poisson(c x) / c``."""
    photons = SHOT.at(image, severity)
    return _bounded(rng.poisson(photons * image) / photons)


def impulse(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Turn a share ``c`` of all values to 0 or 1, half to each: salt and pepper."""
    share = IMPULSE.at(image, severity)
    draw = rng.random(image.shape)
    return np.where(draw < share / 2, 0.0, np.where(draw < share, 1.0, image))


def frost(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Lay frost over the image: ``a x + b t``, where the texture ``t`` is made of noise."""
    a, b = FROST.at(image, severity)
    height, width, channels = image.shape
    tint = np.array(TINT if channels == 3 else (1.0,))
    return _bounded(a * image + b * frost_texture(height, width, rng)[..., None] * tint)


def fog(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Add clouds ``p`` and keep the brightest value ``m``: ``(x + a p) m / (m + a)``."""
    strength, decay = FOG.at(image, severity)
    height, width, _ = image.shape
    clouds = plasma(height, width, decay, rng)[..., None]
    brightest = float(image.max())
    return _bounded((image + strength * clouds) * (brightest / (brightest + strength)))


def brightness(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Raise the value of hue, saturation and value: ``v = min(v + c, 1)``; of grey, the grey.

    Hue and saturation stay if all channels grow by the same factor; black has neither, and becomes
    grey.
    """
    value: Image = image.max(axis=-1, keepdims=True)
    raised = np.minimum(value + BRIGHTNESS.at(image, severity), 1)
    black = value == 0
    return np.where(black, raised, image / np.where(black, 1, value) * raised)


def elastic(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Bend the image: a jittered affine map, then a smooth random displacement.

    With ``(a, s, j)`` as shares of the shorter side: three corners round the middle move by up to
    ``j`` in each direction and the plane with them; then each pixel is read from a place off by
    ``a`` times uniform noise in [-1, 1] that a Gaussian of width ``s`` has smoothed.
    """
    from scipy.ndimage import gaussian_filter

    size = image.shape[:2]
    amount, width, jitter = (min(size) * share for share in ELASTIC.at(image, severity))
    places = np.indices(size, dtype=np.float64)  # (2, H, W): row and column
    tilted = _read(image, _affine(places, jitter, rng), "mirror")
    noise = rng.uniform(-1, 1, size=places.shape)
    push = gaussian_filter(noise, (0, width, width), mode="reflect", truncate=3)
    return _bounded(_read(tilted, places + amount * push, "reflect"))


def pixelate(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Shrink both sides to ``int(c side)`` pixels by box means, and blow them up again."""
    from PIL.Image import Resampling

    share = PIXELATE.at(image, severity)
    height, width = (max(1, int(side * share)) for side in image.shape[:2])
    small = _picture(image).resize((width, height), Resampling.BOX)
    return _values(small.resize(image.shape[1::-1], Resampling.BOX), image.shape)


def jpeg(image: Image, severity: int, rng: np.random.Generator) -> Image:
    """Write the image as a JPEG of quality ``c``, and read it back."""
    from PIL.Image import open as read

    file = BytesIO()
    _picture(image).save(file, "JPEG", quality=JPEG.at(image, severity))
    return _values(read(file), image.shape)


CORRUPTIONS: dict[str, Corruption] = {
    "gaussian": gaussian,
    "shot": shot,
    "impulse": impulse,
    "frost": frost,
    "fog": fog,
    "brightness": brightness,
    "elastic": elastic,
    "pixelate": pixelate,
    "jpeg": jpeg,
}


def corrupt(
    images: Bytes, names: Sequence[str], severity: int, rngs: Iterable[np.random.Generator]
) -> Bytes:
    """Return images corrupted, each by its own corruption and out of its own generator.

    Args:
        images: ``(m, C, H, W)`` with one or three channels; they stay as they are.
        names: Keys of ``CORRUPTIONS``, one an image.
        severity: From 1 to 5.
        rngs: One an image.
    """
    corrupted = np.empty_like(images)
    for out, image, name, rng in zip(corrupted, images, names, rngs, strict=True):
        values = np.moveaxis(image, 0, -1) / 255
        out[...] = np.moveaxis(_bytes(CORRUPTIONS[name](values, severity, rng)), -1, 0)
    return corrupted


def _bounded(image: Image) -> Image:
    return np.clip(image, 0, 1)


def _bytes(image: Image) -> Bytes:
    """Round to the nearest byte, so that bytes over 255 come back as they were."""
    return (image * 255 + 0.5).astype(np.uint8)


def _picture(image: Image) -> Picture:
    from PIL.Image import fromarray

    return fromarray(_bytes(image)[..., 0] if image.shape[-1] == 1 else _bytes(image))


def _values(picture: Picture, shape: tuple[int, ...]) -> Image:
    return np.asarray(picture, dtype=np.float64).reshape(shape) / 255


def _read(image: Image, places: Image, mode: str) -> Image:
    """Return the image as read at ``places`` ``(2, H, W)``, between pixels along straight lines."""
    from scipy.ndimage import map_coordinates

    channels: list[Any] = [
        map_coordinates(image[..., c], places, order=1, mode=mode) for c in range(image.shape[-1])
    ]
    return np.stack(channels, axis=-1)


def _affine(places: Image, jitter: float, rng: np.random.Generator) -> Image:
    """Return where an affine map reads that moves three corners round the middle at random."""
    size = places.shape[1:]
    reach = max(1, min(size) // 3)
    corners = np.array(size) // 2 + reach * np.array([(1, 1), (1, -1), (-1, -1)])
    moved = corners + rng.uniform(-jitter, jitter, size=corners.shape)
    back = np.linalg.solve(np.column_stack([moved, np.ones(3)]), corners)  # moved -> corners
    read: Image = np.tensordot(back[:2].T, places, 1) + back[2][:, None, None]
    return read
