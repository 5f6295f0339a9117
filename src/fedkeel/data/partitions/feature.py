"""Feature skew: clients hold the same classes and see them differently."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import InputError, number
from ...numerics.random import generator
from .base import IID, Facts, Owners, enough

Real = NDArray[np.floating[Any]]

_ROWS = 512  # images at a time: what bounds the memory needed beside the data
_UNIT = 1 << 20  # of cosines and sines
_STEP = 1 << 8  # of positions between two pixels


@dataclass(frozen=True)
class Feature:
    """Samples are dealt evenly, and each client turns its images and adds its own noise.

    Client k of N turns its images by an angle of its own, drawn evenly from -``feature_rotation``
    to ``feature_rotation`` degrees, and then adds Gaussian noise of standard deviation
    ``feature_noise`` k / (N - 1), where inputs run from 0 to 1. Only training inputs change.

    Attributes:
        feature_noise: Standard deviation of the last client's noise.
        feature_rotation: The largest angle, in degrees, 180 at most.
    """

    feature_noise: float = 0.1
    feature_rotation: float = 45.0
    name: ClassVar[str] = "feature"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        number("feature_noise", self.feature_noise, "a number >= 0", lambda v: 0 <= v < math.inf)
        allowed = "a number of degrees from 0 to 180"
        number("feature_rotation", self.feature_rotation, allowed, lambda v: 0 <= v <= 180)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Deal the samples out evenly, as ``IID`` does."""
        return IID().owners(facts, enough(self.name, clients, len(facts.labels)), rng)

    def skewed(self, x: Tensor, owner: Owners, clients: int, seed: int) -> Tensor:
        """Return the inputs as their clients see them; those that no client holds stay.

        Args:
            x: Inputs, ``(n, ...)``: uint8, which stay in 0 to 255, or floating, which may leave
                [0, 1]. To be turned they must be images ``(n, C, H, W)``.
            owner: The client of each sample; below 0: none.
            clients: How many clients there are.
            seed: Equal seeds give equal angles and noise.
        """
        self._check(x)
        seen = x.clone()
        order = np.argsort(owner, kind="stable")
        starts = np.searchsorted(owner[order], np.arange(clients + 1))
        for k in range(clients):
            noise = self.feature_noise * k / max(1, clients - 1)
            angle = generator(seed, "feature", 0, k).uniform(-1, 1) * self.feature_rotation
            rng = generator(seed, "feature", 1, k)
            for rows in torch.from_numpy(order[starts[k] : starts[k + 1]]).split(_ROWS):
                seen[rows] = _changed(x[rows], angle, noise, rng)
        return seen

    def _check(self, x: Tensor) -> None:
        if x.dtype != torch.uint8 and not x.is_floating_point():
            raise InputError(
                f"partition 'feature' needs images or numbers, and these inputs are {x.dtype}: "
                "use another partition"
            )
        if self.feature_rotation and x.ndim != 4:
            raise InputError(
                f"feature_rotation={self.feature_rotation} needs images (C, H, W), and these "
                f"inputs are {tuple(x.shape[1:])}: use feature_rotation=0"
            )


def _changed(x: Tensor, angle: float, noise: float, rng: np.random.Generator) -> Tensor:
    """Turn some inputs and add noise to them, in their own units and type."""
    levels = 255 if x.dtype == torch.uint8 else 1
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32).numpy()
    out = rotated(wide, angle) if angle else wide
    if noise:
        out = out + rng.standard_normal(out.shape, np.float32) * np.float32(levels * noise)
    if levels == 255:
        out = np.clip(np.rint(out), 0, 255)
    return torch.from_numpy(out).to(x.dtype)


def rotated(images: Real, degrees: float) -> Real:
    """Turn images ``(..., H, W)`` about their centre, anticlockwise as one looks at them.

    Bilinear, with zeros outside. Positions are integers, in 256ths of a pixel, so that weights are
    exact in float32, and with whole pixel values so are the sums: no machine rounds otherwise.
    """
    height, width = images.shape[-2:]
    where, weights = _taps(height, width, degrees)
    flat = images.reshape(*images.shape[:-2], height * width)
    out = np.zeros_like(flat)
    for position, weight in zip(where, weights.astype(flat.dtype), strict=True):
        out += np.take(flat, position, axis=-1) * weight
    return out.reshape(images.shape)


def _taps(height: int, width: int, degrees: float) -> tuple[Owners, NDArray[np.float64]]:
    """Return the four pixels that each pixel is made of ``(4, H W)``, and their weights."""
    y, x = _origins(height, width, degrees)
    where, weights = [], []
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row, column = y // _STEP + down, x // _STEP + right
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        part = abs(1 - down - y % _STEP / _STEP) * abs(1 - right - x % _STEP / _STEP)
        where.append(np.where(inside, row * width + column, 0))
        weights.append(np.where(inside, part, 0.0))
    return np.stack(where), np.stack(weights)


def _origins(height: int, width: int, degrees: float) -> tuple[Owners, Owners]:
    """Return row and column, in steps, of where each pixel's colour comes from ``(H W,)``."""
    cosine = round(math.cos(math.radians(degrees)) * _UNIT)
    sine = round(math.sin(math.radians(degrees)) * _UNIT)
    i, j = np.divmod(np.arange(height * width), width)
    down, right = 2 * i - (height - 1), 2 * j - (width - 1)  # from the centre, in half pixels
    step = 2 * _UNIT // _STEP
    rows = right * sine + down * cosine + (height - 1) * _UNIT
    columns = right * cosine - down * sine + (width - 1) * _UNIT
    return (rows + step // 2) // step, (columns + step // 2) // step
