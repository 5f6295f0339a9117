"""The colours: apart for every kind of colour vision, and visible on paper."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from fedkeel.results import style, style_page

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "common": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Ottosson's OKLab.
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
LIGHT, DARK = style.COLORS.split("@media")


def linear(color: str) -> np.ndarray:
    share = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def colors(css: str) -> list[np.ndarray]:
    return [linear(color) for color in re.findall(r"--s\d: (#\w{6})", css)]


def paper(css: str) -> np.ndarray:
    return linear(re.findall(r"--paper: (#\w{6})", css)[0])


def seen(color: np.ndarray, vision: str) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_LMS @ np.clip(VISION[vision] @ color, 0, 1))


def luminance(color: np.ndarray) -> float:
    return float(color @ [0.2126, 0.7152, 0.0722]) + 0.05


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_any_two_colours_stay_apart(css, vision):
    found = [seen(color, vision) for color in colors(css)]
    assert len(found) == 8
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(found, 2)) > 0.085


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_is_visible_on_paper(css):
    ratios = [luminance(color) / luminance(paper(css)) for color in colors(css)]
    assert min(max(ratio, 1 / ratio) for ratio in ratios) >= 3.0


def test_paper_is_printed_in_the_light_colours():
    printed = re.findall(r"--s\d: #\w{6}", style_page.PAGE)
    assert printed == re.findall(r"--s\d: #\w{6}", LIGHT)
