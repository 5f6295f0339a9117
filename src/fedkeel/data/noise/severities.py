"""The constants of the nine corruptions at their five severities.

They are those of Hendrycks & Dietterich's programs that made CIFAR-10-C (``make_cifar_c.py``) and
ImageNet-C (``make_imagenet_c.py``).
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

T = TypeVar("T")

SMALL = 64  # pixels a side up to which an image takes the constants of CIFAR-10-C


class Scale(NamedTuple, Generic[T]):
    """A corruption's constants, severity by severity.

    Attributes:
        small: For images of up to ``SMALL`` pixels a side (CIFAR-10-C).
        large: For larger ones (ImageNet-C).
    """

    small: tuple[T, T, T, T, T]
    large: tuple[T, T, T, T, T]

    def at(self, image: NDArray[Any], severity: int) -> T:
        """Return the constants for an image at a severity."""
        return (self.small if max(image.shape[:2]) <= SMALL else self.large)[severity - 1]


GAUSSIAN = Scale((0.04, 0.06, 0.08, 0.09, 0.10), (0.08, 0.12, 0.18, 0.26, 0.38))
SHOT = Scale((500, 250, 100, 75, 50), (60, 25, 12, 5, 3))
IMPULSE = Scale((0.01, 0.02, 0.03, 0.05, 0.07), (0.03, 0.06, 0.09, 0.17, 0.27))
FROST = Scale(
    ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
    ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),
)
FOG = Scale(
    ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
    ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
)
BRIGHTNESS = Scale((0.05, 0.1, 0.15, 0.2, 0.3), (0.1, 0.2, 0.3, 0.4, 0.5))
PIXELATE = Scale((0.95, 0.9, 0.85, 0.75, 0.65), (0.6, 0.5, 0.4, 0.3, 0.25))
JPEG = Scale((80, 65, 58, 50, 40), (25, 18, 15, 10, 7))

_SLIP = 244 / 224  # ImageNet-C took its elastic lengths of 244 pixels, of images of 224
ELASTIC = Scale(
    ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
    (
        (2 * _SLIP, 0.7 * _SLIP, 0.1 * _SLIP),
        (2 * _SLIP, 0.08 * _SLIP, 0.2 * _SLIP),
        (0.05 * _SLIP, 0.01 * _SLIP, 0.02 * _SLIP),
        (0.07 * _SLIP, 0.01 * _SLIP, 0.02 * _SLIP),
        (0.12 * _SLIP, 0.01 * _SLIP, 0.02 * _SLIP),
    ),
)
