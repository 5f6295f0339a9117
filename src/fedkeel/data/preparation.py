"""What becomes of stored samples on their way into a batch: numbers, and the usual augmentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Preparation:
    """How a data set's images are normalised, and how they are moved about in training.

    A user's own data get none of it.

    Attributes:
        mean: Of each channel, of pixels in [0, 1]; empty: pixels stay as they are.
        std: The standard deviation of each channel.
        crop: How many rows of zeros are put around an image, out of which a window of the image's
            own size is cut.
        flip: Whether half of the images are mirrored, left for right.
    """

    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    crop: int = 0
    flip: bool = False

    @property
    def augments(self) -> bool:
        """Whether images are moved about in training."""
        return bool(self.crop or self.flip)

    def still(self) -> Preparation:
        """Return this without augmentation."""
        return replace(self, crop=0, flip=False)

    def numbers(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """Bring stored samples into a run's arithmetic.

        Bytes become pixels in [0, 1] and are normalised, floats are cast, tokens become int64.
        """
        if x.dtype != torch.uint8:
            return x.to(dtype) if x.is_floating_point() else x.long()
        pixels = x.to(dtype) / 255
        if not self.mean:
            return pixels
        mean, std = (_column(values, dtype, x.device) for values in (self.mean, self.std))
        return (pixels - mean) / std

    def moved(self, x: Tensor, draws: Tensor) -> Tensor:
        """Crop and flip images ``(m, C, H, W)``, each as its number in ``draws`` ``(m,)`` says.

        The number is uniform below 2^63; its remainders are the window's row, its column, the flip.
        """
        side, (height, width) = 2 * self.crop + 1, x.shape[-2:]
        down, right, mirror = draws % side, draws // side % side, draws // side**2 % 2
        rows = down[:, None] + torch.arange(height, device=x.device)  # (m, H)
        columns = torch.arange(width, device=x.device).expand(len(x), width)
        if self.flip:
            columns = torch.where(mirror[:, None] == 1, width - 1 - columns, columns)
        columns = columns + right[:, None]
        last = F.pad(x, [self.crop] * 4).movedim(1, -1)  # (m, H + 2p, W + 2p, C)
        which = torch.arange(len(x), device=x.device)[:, None, None]
        return last[which, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)


@lru_cache(maxsize=64)
def _column(values: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return numbers of channels ``(C, 1, 1)``: kept, since a copy to a GPU would wait for it."""
    return torch.tensor(values, dtype=dtype, device=device)[:, None, None]


AS_STORED = Preparation()
