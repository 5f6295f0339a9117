"""The nine corruptions against their formulas, and what all of them keep to."""

from __future__ import annotations

import colorsys
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from fedkeel.data.noise.corruptions import CORRUPTIONS, corrupt
from fedkeel.data.noise.severities import FOG, FROST, IMPULSE, JPEG, PIXELATE, SHOT
from fedkeel.data.noise.textures import TINT, frost_texture, plasma
from fedkeel.numerics.random import generator

SEVERITIES = (1, 2, 3, 4, 5)


def rng(number: int = 0) -> np.random.Generator:
    return generator(7, "attribute", 2, number)


def picture(height: int = 32, width: int = 32, channels: int = 3, number: int = 0) -> np.ndarray:
    """Return something with large shapes and fine detail, of whole bytes over 255."""
    layers = [plasma(height, width, 2.0, rng(1000 + 10 * number + c)) for c in range(channels)]
    return np.round(255 * (0.1 + 0.7 * np.stack(layers, axis=-1))) / 255


def plain(value: float, side: int = 32, channels: int = 3) -> np.ndarray:
    return np.full((side, side, channels), value)


# --- what all of them keep to ---


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (8, 8), (13, 9), (28, 28), (64, 64), (65, 40)])
@pytest.mark.parametrize("channels", [1, 3])
def test_an_image_of_any_size_stays_an_image(name: str, size: tuple, channels: int) -> None:
    image = picture(*size, channels)
    before = image.copy()
    for severity in (1, 5):
        out = CORRUPTIONS[name](image, severity, rng())
        assert out.shape == image.shape
        assert out.dtype == np.float64
        assert 0 <= out.min() <= out.max() <= 1
    assert_array_equal(image, before)


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_black_and_white_stay_in_range(name: str, value: float) -> None:
    out = CORRUPTIONS[name](plain(value, 8), 5, rng())
    assert np.isfinite(out).all()
    assert 0 <= out.min() <= out.max() <= 1


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_equal_generators_give_equal_images(name: str) -> None:
    image = picture()
    first, again, other = (CORRUPTIONS[name](image, 3, rng(n)) for n in (1, 1, 2))
    assert_array_equal(first, again)
    assert (first != image).any()
    drawn = name not in ("brightness", "pixelate", "jpeg")
    assert (first != other).any() == drawn


LADDERS = sorted(set(CORRUPTIONS) - {"frost", "elastic"})


@pytest.mark.parametrize(
    ("name", "side"), [(name, side) for name in LADDERS for side in (32, 72) if name != "fog"]
)
def test_each_severity_does_more_harm(name: str, side: int) -> None:
    """Not frost, which dims as it covers, nor elastic, whose constants trade tilt for ripples."""
    harm = [harm_of(name, side, severity) for severity in SEVERITIES]
    assert 0 < harm[0] < harm[1] < harm[2] < harm[3] < harm[4]


def test_each_severity_of_fog_does_more_harm() -> None:
    """In large images the third and the fourth are equally thick, and differ in detail alone."""
    small, large = ([harm_of("fog", side, s) for s in SEVERITIES] for side in (32, 72))
    assert 0 < small[0] < small[1] < small[2] < small[3] < small[4]
    assert 0 < large[0] < large[1] < large[2] < large[4]


def harm_of(name: str, side: int, severity: int) -> float:
    images = [picture(side, side, number=n) for n in range(4)]
    out = [CORRUPTIONS[name](image, severity, rng(n)) for n, image in enumerate(images)]
    return float(np.mean((np.array(out) - np.array(images)) ** 2))


def test_constants_are_those_of_the_size() -> None:
    noise = [CORRUPTIONS["gaussian"](plain(0.5, side), 1, rng()).std() for side in (64, 65)]
    assert_allclose(noise, [0.04, 0.08], rtol=0.03)


# --- noise ---


def test_gaussian_has_the_moments_of_its_formula() -> None:
    noise = CORRUPTIONS["gaussian"](plain(0.5, 64), 5, rng()) - 0.5
    assert abs(noise.mean()) < 4 * 0.1 / np.sqrt(noise.size)
    assert_allclose(noise.std(), 0.1, rtol=0.03)
    assert_allclose((noise**4).mean() / noise.var() ** 2, 3, rtol=0.1)  # of a normal law


@pytest.mark.parametrize("severity", SEVERITIES)
def test_shot_has_the_mean_and_variance_of_photons(severity: int) -> None:
    photons = SHOT.small[severity - 1]
    out = CORRUPTIONS["shot"](plain(0.3, 64), severity, rng())
    assert_allclose(out.mean(), 0.3, rtol=0.02)
    assert_allclose(out.var(), 0.3 / photons, rtol=0.06)
    assert_allclose(out * photons, np.round(out * photons), atol=1e-9)


def test_shot_leaves_black_black() -> None:
    assert not CORRUPTIONS["shot"](plain(0.0), 5, rng()).any()


@pytest.mark.parametrize("severity", SEVERITIES)
def test_impulse_is_half_salt_half_pepper(severity: int) -> None:
    out = CORRUPTIONS["impulse"](plain(0.4, 64), severity, rng())
    share = IMPULSE.small[severity - 1]
    error = 4 * np.sqrt(share / 2 / out.size)
    assert abs((out == 0).mean() - share / 2) < error
    assert abs((out == 1).mean() - share / 2) < error
    assert set(np.unique(out)) == {0.0, 0.4, 1.0}


# --- weather ---


def test_plasma_is_a_diamond_square_fractal() -> None:
    """Against loops over single points, with the same offsets."""
    draws, size, decay = rng(3), 8, 1.5
    points, step, reach = np.zeros((size, size)), size, 1.0
    while step > 1:
        half, old = step // 2, range(0, size, step)
        offsets = draws.uniform(-reach, reach, size=(3, size // step, size // step))

        def put(r: int, c: int, around: list, layer: int, offsets=offsets, step=step) -> None:
            mean = np.mean([points[(r + i) % size, (c + j) % size] for i, j in around])
            points[r, c] = mean + offsets[layer, r // step, c // step]

        corners = [(i, j) for i in (-half, half) for j in (-half, half)]
        cross = [(-half, 0), (half, 0), (0, -half), (0, half)]
        for r in old:
            for c in old:
                put(r + half, c + half, corners, 0)
        for r in old:
            for c in old:
                put(r, c + half, cross, 1)
                put(r + half, c, cross, 2)
        step, reach = half, reach / decay**2
    expected = (points - points.min()) / np.ptp(points)
    assert_allclose(plasma(8, 8, decay, rng(3)), expected, atol=1e-12)
    assert_allclose(plasma(5, 7, decay, rng(3)), expected[:5, :7], atol=1e-12)


def test_plasma_spans_its_range_and_is_smoother_the_faster_it_fades() -> None:
    clouds = [plasma(64, 64, decay, rng()) for decay in (1.4, 2.0, 3.0)]
    assert all((p.min(), p.max()) == (0, 1) for p in clouds)
    steps = [np.abs(np.diff(p, axis=0)).mean() / p.std() for p in clouds]
    assert 1.1 > steps[0] > steps[1] > steps[2]  # of white noise 2 / sqrt(pi) = 1.13


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_fog_adds_clouds_and_keeps_the_brightest_value(severity: int, channels: int) -> None:
    image = picture(20, 28, channels)
    strength, decay = FOG.small[severity - 1]
    top, clouds = image.max(), plasma(20, 28, decay, rng())[..., None]
    out = CORRUPTIONS["fog"](image, severity, rng())
    assert_allclose(out, (image + strength * clouds) * top / (top + strength))
    assert out.max() <= top + 1e-12


@pytest.mark.parametrize("severity", SEVERITIES)
def test_frost_lies_over_the_image(severity: int) -> None:
    image = picture(28, 20)
    a, b = FROST.small[severity - 1]
    out = CORRUPTIONS["frost"](image, severity, rng())
    texture = frost_texture(28, 20, rng())[..., None] * np.array(TINT)
    assert_allclose(out, np.clip(a * image + b * texture, 0, 1))
    assert (out >= a * image - 1e-12).all()
    assert (out <= a * image + b + 1e-12).all()


def test_frost_on_grey_has_no_tint() -> None:
    out = CORRUPTIONS["frost"](plain(0.0, 16, 1), 5, rng())
    assert_allclose(out[..., 0], 0.45 * frost_texture(16, 16, rng()))


def test_the_texture_of_frost_has_bare_glass_and_bright_crystals() -> None:
    textures = np.stack([frost_texture(32, 32, rng(n)) for n in range(40)])
    assert 0 <= textures.min() <= textures.max() <= 1
    assert 0.25 < textures.mean() < 0.6
    assert (textures < 0.05).mean() > 0.05
    assert (textures > 0.8).mean() > 0.05


@pytest.mark.parametrize("severity", SEVERITIES)
def test_brightness_raises_the_value_alone(severity: int) -> None:
    image = picture(6, 6)
    image[0, 0], image[0, 1], image[0, 2] = (0, 0, 0), (1, 1, 1), (0.9, 0, 0)
    out = CORRUPTIONS["brightness"](image, severity, rng())
    more = (0.05, 0.1, 0.15, 0.2, 0.3)[severity - 1]
    for before, after in zip(image.reshape(-1, 3), out.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*before)
        assert_allclose(
            after, colorsys.hsv_to_rgb(hue, saturation, min(value + more, 1)), atol=1e-12
        )


def test_brightness_of_grey_is_a_sum() -> None:
    grey = picture(8, 8, 1)
    assert_allclose(CORRUPTIONS["brightness"](grey, 5, rng()), np.minimum(grey + 0.3, 1))


# --- shape ---


def test_elastic_moves_as_far_as_its_constants_say() -> None:
    """The middle of a ramp shows the displacement: its variance is that of tilt and ripples.

    The middle lies half way between two of the corners, so the tilt is the mean of two uniform
    offsets; a ripple is uniform noise under a Gaussian, cut off at three widths.
    """
    side, amount, width, jitter = 32, 3.2, 0.96, 0.96
    ramp = np.repeat(np.linspace(0, 1, side)[None, :, None], side, axis=0)
    moved = [
        CORRUPTIONS["elastic"](ramp, 5, rng(n))[16, 16, 0] - ramp[16, 16, 0] for n in range(600)
    ]
    pixels = np.array(moved) * (side - 1)
    bell = np.exp(-0.5 * (np.arange(-3, 4) / width) ** 2)
    ripple = amount**2 / 3 * ((bell / bell.sum()) ** 2).sum() ** 2
    assert_allclose(pixels.var(), jitter**2 / 3 / 2 + ripple, rtol=0.15)
    assert abs(pixels.mean()) < 4 * pixels.std() / np.sqrt(len(pixels))


def test_elastic_moves_all_channels_alike() -> None:
    grey = picture(32, 32, 1)
    colour = CORRUPTIONS["elastic"](np.repeat(grey, 3, axis=-1), 4, rng())
    assert_allclose(colour, np.repeat(CORRUPTIONS["elastic"](grey, 4, rng()), 3, axis=-1))


def test_elastic_leaves_a_plain_image_as_it_is() -> None:
    assert_allclose(CORRUPTIONS["elastic"](plain(0.3), 5, rng()), 0.3)


def test_pixelate_by_hand() -> None:
    image = np.array([[0, 100], [50, 250]])[..., None] / 255  # int(0.65 * 2) = 1 pixel: the mean
    assert_allclose(CORRUPTIONS["pixelate"](image, 5, rng()) * 255, 100)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_pixelate_shrinks_and_blows_up(severity: int, channels: int) -> None:
    image = picture(28, 20, channels)
    share = PIXELATE.small[severity - 1]
    small = as_picture(image).resize((int(20 * share), int(28 * share)), Image.Resampling.BOX)
    expected = np.asarray(small.resize((20, 28), Image.Resampling.NEAREST)).reshape(image.shape)
    assert_array_equal(CORRUPTIONS["pixelate"](image, severity, rng()), expected / 255)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_is_written_and_read_again(severity: int, channels: int) -> None:
    image = picture(28, 20, channels)
    file = BytesIO()
    as_picture(image).save(file, "JPEG", quality=JPEG.small[severity - 1])
    expected = np.asarray(Image.open(file)).reshape(image.shape)
    assert_array_equal(CORRUPTIONS["jpeg"](image, severity, rng()), expected / 255)


def as_picture(image: np.ndarray) -> Image.Image:
    values = np.round(image * 255).astype(np.uint8)
    return Image.fromarray(values if values.shape[-1] == 3 else values[..., 0])


# --- many at once ---


def pile(count: int, channels: int = 3) -> np.ndarray:
    draws = generator(0, "attribute", 9)
    return draws.integers(0, 256, size=(count, channels, 8, 10), dtype=np.uint8)


@pytest.mark.parametrize("channels", [1, 3])
def test_corrupt_takes_each_image_by_itself(channels: int) -> None:
    images, names = pile(9, channels), list(CORRUPTIONS)
    before = images.copy()
    out = corrupt(images, names, 4, [rng(n) for n in range(9)])
    assert out.dtype == np.uint8
    assert out.shape == images.shape
    assert_array_equal(images, before)
    for n in (8, 3, 0):
        alone = corrupt(images[n : n + 1], names[n : n + 1], 4, [rng(n)])
        assert_array_equal(alone[0], out[n])


def test_corrupt_rounds_to_the_nearest_byte() -> None:
    values = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
    raised = corrupt(values, ["brightness"], 1, [rng()])  # by 12.75
    assert_array_equal(raised.ravel(), np.minimum(np.arange(256) + 13, 255))


def test_corrupt_of_nothing_is_nothing() -> None:
    assert corrupt(pile(0), [], 5, []).shape == (0, 3, 8, 10)
