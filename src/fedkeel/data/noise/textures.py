"""Textures made of noise: clouds by the diamond-square fractal, and frost grown out of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Texture = NDArray[np.float64]

TINT = (0.86, 0.94, 1.0)  # frost is a little blue

_ROUGHNESS = 1.4  # of frost's fractals, as fog at its thickest: much detail
_COVER = (0.2, 0.5)  # below, the glass is bare; above, it is covered


def plasma(height: int, width: int, decay: float, rng: np.random.Generator) -> Texture:
    """Return clouds in [0, 1], ``(height, width)``: the corner of a diamond-square fractal.

    The fractal lies on a torus whose side is the next power of two. Each halving of its grid puts
    in the mean of four neighbours and a uniform offset, which shrinks by ``decay`` squared. The
    whole is stretched to [0, 1] before it is cut, so a cut may span less.

    Args:
        height: In pixels.
        width: In pixels.
        decay: How fast detail fades, above 1: near 1 is rough, 3 is smooth.
        rng: Where the offsets come from.
    """
    grid = np.zeros((1, 1))
    reach = 1.0
    while len(grid) < max(height, width, 2):
        grid = _halve(grid, reach, rng)
        reach /= decay**2
    clouds: Texture = (grid - grid.min()) / (grid.max() - grid.min())
    return clouds[:height, :width]


def frost_texture(height: int, width: int, rng: np.random.Generator) -> Texture:
    """Return frost on a dark pane in [0, 1], ``(height, width)``: bright veins on a pale crust.

    One fractal, thresholded softly, says where there is ice. The crest lines of a second one,
    where it passes through its middle, are the crystals: brightest on the line, falling off to
    either side.

    Args:
        height: In pixels.
        width: In pixels.
        rng: Where the fractals come from.
    """
    low, high = _COVER
    ice = np.clip((plasma(height, width, _ROUGHNESS, rng) - low) / (high - low), 0, 1)
    crest = 1 - np.abs(2 * plasma(height, width, _ROUGHNESS, rng) - 1)
    texture: Texture = ice * crest**2
    return texture


def _halve(grid: Texture, reach: float, rng: np.random.Generator) -> Texture:
    """Return a grid of points on a torus with twice as many a side."""
    side = len(grid)
    offsets = rng.uniform(-reach, reach, size=(3, side, side))
    on, back = np.arange(1 - side, 1), np.arange(-1, side - 1)  # faster than np.roll where small
    below, right = grid[on], grid[:, on]
    middle = (grid + below + right + below[:, on]) / 4 + offsets[0]
    finer = np.empty((2 * side, 2 * side))
    finer[::2, ::2] = grid
    finer[1::2, 1::2] = middle
    finer[::2, 1::2] = (grid + right + middle + middle[back]) / 4 + offsets[1]
    finer[1::2, ::2] = (grid + below + middle + middle[:, back]) / 4 + offsets[2]
    return finer
