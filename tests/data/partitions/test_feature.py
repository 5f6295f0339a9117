"""Feature skew: angles and noise by client."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from fedkeel.data.partitions import feature
from fedkeel.data.partitions.feature import Feature, rotated
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

GREY = torch.full((4000, 1, 1, 1), 128, dtype=torch.uint8)
TWO = np.arange(4000) % 2


def _images(n: int = 6, size: tuple[int, int] = (8, 8)) -> torch.Tensor:
    return torch.from_numpy(
        np.random.default_rng(0).integers(0, 256, (n, 3, *size)).astype(np.uint8)
    )


@pytest.mark.parametrize(("degrees", "turns"), [(0, 0), (90, 1), (180, 2), (-90, 3)])
def test_quarter_turns_are_exact_and_anticlockwise(degrees: float, turns: int) -> None:
    images = np.random.default_rng(0).random((2, 3, 7, 7))
    assert np.array_equal(rotated(images, degrees), np.rot90(images, turns, (2, 3)))


@settings(deadline=None)
@given(st.floats(-180, 180), st.integers(1, 9), st.integers(1, 9))
def test_turning_is_that_of_scipy(degrees: float, height: int, width: int) -> None:
    image = np.random.default_rng(0).random((height, width))
    expected = ndimage.rotate(image, degrees, reshape=False, order=1, mode="grid-constant")
    assert rotated(image, degrees) == pytest.approx(expected, abs=1.1 / 256)  # half a step each way


@pytest.mark.parametrize("degrees", [7.0, -51.0])
def test_positions_are_those_nearest(degrees: float) -> None:
    """Half a step each way is 1 / 256 of the steepest picture there is."""
    board = np.indices((64, 64)).sum(axis=0) % 2 * 1.0
    expected = ndimage.rotate(board, degrees, reshape=False, order=1, mode="grid-constant")
    assert rotated(board, degrees) == pytest.approx(expected, abs=1 / 256)


def test_turning_whole_pixel_values_is_the_same_in_float32_and_float64() -> None:
    image = np.random.default_rng(0).integers(0, 256, (28, 28))
    single, double = (rotated(image.astype(kind), 33.3) for kind in (np.float32, np.float64))
    assert single.dtype == np.float32
    assert np.array_equal(single, double)


def test_noise_grows_from_client_to_client() -> None:
    rule = Feature(feature_noise=0.2, feature_rotation=0)
    owner = np.arange(4000) % 5
    seen = rule.skewed(GREY, owner, 5, 0).numpy().ravel() / 255
    spread = [seen[owner == k].std() for k in range(5)]
    assert spread == pytest.approx([0, 0.05, 0.1, 0.15, 0.2], rel=0.08)
    assert seen.mean() == pytest.approx(128 / 255, abs=0.01)


def test_floating_inputs_have_noise_in_their_own_units_and_are_not_clipped() -> None:
    x = torch.ones(4000, 3, dtype=torch.float64)
    seen = Feature(0.2, 0).skewed(x, TWO, 2, 0)
    assert seen.dtype == torch.float64
    assert torch.equal(seen[::2], x[::2])
    assert seen[1::2].std().item() == pytest.approx(0.2, rel=0.05)
    assert seen.max() > 1


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_the_type_stays(kind: torch.dtype) -> None:
    x = torch.rand(4, 1, 5, 5).to(kind)
    assert Feature().skewed(x, np.array([0, 0, 1, 1]), 2, 0).dtype == kind


def test_bytes_are_rounded_to_the_nearest() -> None:
    seen = Feature(0.002, 0).skewed(GREY, TWO, 2, 0)[1::2].float()
    assert seen.mean().item() == pytest.approx(128, abs=0.05)


def test_bytes_stay_bytes() -> None:
    x = torch.tensor([0, 255], dtype=torch.uint8).repeat(500)[:, None]
    seen = Feature(0.5, 0).skewed(x, np.ones(1000, dtype=int), 2, 0)
    assert seen.dtype == torch.uint8
    assert (seen[::2] == 0).float().mean() == pytest.approx(0.5, abs=0.1)
    assert (seen[1::2] == 255).float().mean() == pytest.approx(0.5, abs=0.1)


def test_a_client_turns_all_its_images_by_one_angle_and_each_its_own() -> None:
    x = _images(1).repeat(6, 1, 1, 1)
    seen = Feature(0, 45).skewed(x, np.array([0, 0, 1, 1, 2, 2]), 3, 0)
    assert torch.equal(seen[::2], seen[1::2])
    assert len({image.numpy().tobytes() for image in seen}) == 3


def test_angles_are_spread_evenly() -> None:
    """A point right of the centre shows the angle."""
    x = torch.zeros(300, 1, 41, 41)
    x[:, 0, 19:22, 36:39] = 1.0
    seen = Feature(0, 60).skewed(x, np.arange(300), 300, 0).numpy()[:, 0]
    angles = [
        np.degrees(np.arctan2(20 - row, column - 20))
        for row, column in (ndimage.center_of_mass(image) for image in seen)
    ]
    assert max(np.abs(angles)) < 60.5
    assert np.mean(angles) == pytest.approx(0, abs=8)
    assert np.std(angles) == pytest.approx(120 / 12**0.5, rel=0.1)


def test_what_no_client_holds_stays_and_inputs_are_not_written_to() -> None:
    x = _images()
    before = x.clone()
    seen = Feature().skewed(x, np.array([-1, 0, -2, 1, 1, -1]), 2, 0)
    assert torch.equal(x, before)
    assert torch.equal(seen[[0, 2, 5]], x[[0, 2, 5]])
    assert not torch.equal(seen[[1, 3, 4]], x[[1, 3, 4]])


def test_a_client_sees_the_same_whoever_else_is_there() -> None:
    x = _images()
    a = Feature().skewed(x, np.array([0, 0, 1, 1, 2, 2]), 3, 5)
    b = Feature().skewed(x, np.array([-1, -1, 1, 1, -1, 0]), 3, 5)
    assert torch.equal(a[2:4], b[2:4])


def test_the_seed_decides() -> None:
    x, owner = _images(), np.array([0, 0, 1, 1, 2, 2])
    a, b, c = (Feature().skewed(x, owner, 3, seed) for seed in (0, 0, 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


@pytest.mark.parametrize("x", [_images(), _images().float() / 255])
def test_rows_at_a_time_do_not_matter(x: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = np.array([1, 1, 0, 1, 1, 1])
    whole = Feature().skewed(x, owner, 2, 0)
    monkeypatch.setattr(feature, "_ROWS", 2)
    assert torch.equal(Feature().skewed(x, owner, 2, 0), whole)


def test_one_client_has_no_noise() -> None:
    x = _images()
    assert torch.equal(Feature(0.5, 0).skewed(x, np.zeros(6, dtype=int), 1, 0), x)


def test_neither_noise_nor_angle_changes_nothing() -> None:
    x = _images()
    assert torch.equal(Feature(0, 0).skewed(x, np.arange(6) % 2, 2, 0), x)


def test_inputs_that_are_no_images() -> None:
    owner = np.array([0, 0, 1, 1])
    with pytest.raises(
        InputError, match=r"^feature_rotation=45.0 needs images .* are \(5,\): use "
    ):
        Feature().skewed(torch.rand(4, 5), owner, 2, 0)
    assert Feature(0.1, 0).skewed(torch.rand(4, 5), owner, 2, 0).shape == (4, 5)
    with pytest.raises(InputError, match=r"^partition 'feature' needs .* are torch.int64: use"):
        Feature(0.1, 0).skewed(torch.zeros(4, 5, dtype=torch.int64), owner, 2, 0)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"feature_noise": -0.1}, "feature_noise"),
        ({"feature_noise": float("inf")}, "feature_noise"),
        ({"feature_rotation": 181}, "feature_rotation"),
        ({"feature_rotation": -1}, "feature_rotation"),
        ({"feature_rotation": float("nan")}, "feature_rotation"),
        ({"feature_rotation": "45"}, "feature_rotation"),
    ],
)
def test_options_out_of_range(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=f"^{word}=.* is out of range"):
        Feature(**options)


def test_noise_has_a_stream_of_its_own() -> None:
    x = torch.zeros(4, 3, dtype=torch.float64)
    seen = Feature(0.5, 0).skewed(x, np.array([0, 0, 1, 1]), 2, seed=3)
    rng = generator(3, "feature", 1, 1)
    expected = rng.standard_normal((2, 3), np.float32) * np.float32(0.5)
    assert torch.equal(seen[2:], torch.from_numpy(expected).double())
    assert not seen[:2].any()
