"""Pixels on their way into a batch, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedkeel.data import Preparation

CIFAR = Preparation((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010), crop=2, flip=True)


def images(n: int, channels: int, side: int) -> torch.Tensor:
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.integers(0, 256, (n, channels, side, side), dtype=np.uint8))


def test_normalised_as_the_formula_says() -> None:
    x = images(4, 3, 5)
    found = CIFAR.numbers(x, torch.float64)
    for i in range(4):
        for c in range(3):
            expected = (x[i, c].numpy() / 255 - CIFAR.mean[c]) / CIFAR.std[c]
            assert np.abs(found[i, c].numpy() - expected).max() < 1e-15


def test_what_is_not_bytes_is_only_cast() -> None:
    floats, tokens = torch.rand(3, 4), torch.tensor([[1, 2]], dtype=torch.int16)
    assert torch.equal(CIFAR.numbers(floats, torch.float64), floats.double())
    assert CIFAR.numbers(tokens, torch.float32).dtype == torch.int64
    assert Preparation().numbers(images(1, 1, 2), torch.float32).max() <= 1


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("crop", "flip"), [(0, True), (2, False), (2, True), (4, True)])
def test_moved_as_a_plain_loop_moves(channels: int, crop: int, flip: bool) -> None:
    x, side = images(40, channels, 6), 2 * crop + 1
    draws = torch.from_numpy(np.random.default_rng(1).integers(0, 2**63, 40))
    found = Preparation(crop=crop, flip=flip).moved(x, draws)
    for i, draw in enumerate(draws.tolist()):
        down, right, mirror = draw % side, draw // side % side, draw // side**2 % 2
        padded = np.zeros((channels, 6 + 2 * crop, 6 + 2 * crop), dtype=np.uint8)
        padded[:, crop : crop + 6, crop : crop + 6] = x[i].numpy()
        window = padded[:, down : down + 6, right : right + 6]
        assert np.array_equal(found[i].numpy(), window[:, :, ::-1] if flip and mirror else window)


def test_every_window_and_both_sides_are_equally_likely() -> None:
    x = torch.arange(1, 17, dtype=torch.uint8).reshape(1, 1, 4, 4).expand(20_000, 1, 4, 4)
    draws = torch.from_numpy(np.random.default_rng(2).integers(0, 2**63, 20_000))
    found = Preparation(crop=1, flip=True).moved(x, draws).reshape(20_000, -1)
    seen, counts = np.unique(found.numpy(), axis=0, return_counts=True)
    assert len(seen) == 18  # nine windows, each both ways
    assert abs(counts / 20_000 - 1 / 18).max() < 0.006


def test_still_keeps_the_numbers() -> None:
    assert CIFAR.still().mean == CIFAR.mean
    assert CIFAR.augments and not CIFAR.still().augments
    x = images(3, 3, 4)
    assert torch.equal(CIFAR.still().moved(x, torch.arange(3)), x)
