"""Oxford's 102 flowers, from the publisher's three files."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .labels import Labels, in_range
from .matlab import read_vector
from .pictures import gather, pillow

SIZE = 64
_CLASSES = 102
_IMAGE = re.compile(r"(?:^|/)image_(\d{5})\.jpg$")


def read_flowers(bundle: Bundle) -> Raw:
    """Read the images, each brought to 64x64 by its shorter side and a cut about the centre.

    The official training and validation parts, ten images of each class in both, are together the
    training part: nothing here is tuned on a part of its own, and ten images a class are too few
    to be shared out. The test part is the official one. Images lie in the order of their numbers.

    Args:
        bundle: ``102flowers.tgz`` or its images, ``imagelabels.mat`` and ``setid.mat``.
    """
    pillow()
    classes = _vector(bundle, "imagelabels.mat", "labels")
    labels = in_range(classes, _CLASSES, bundle.called("imagelabels.mat"), first=1)
    train, test = _sets(bundle, len(labels))
    paths = _paths(bundle)
    numbers = [int(image) + 1 for image in (*train, *test)]
    for number in numbers:
        if number not in paths:
            raise bundle.missing(f"image_{number:05d}.jpg")
    x = gather(bundle, [paths[number] for number in numbers], size=SIZE, colour=True)
    return Raw(x[: len(train)], labels[train], x[len(train) :], labels[test])


def _sets(bundle: Bundle, images: int) -> tuple[Labels, Labels]:
    """Return which images to train on and to test with, from 0."""
    called = bundle.called("setid.mat")
    parts = [
        in_range(_vector(bundle, "setid.mat", name), images, called, first=1, what="image")
        for name in ("trnid", "valid", "tstid")
    ]
    everything = np.concatenate(parts)
    if len(np.unique(everything)) < len(everything):
        raise InputError(f"{called} has an image in two parts")
    return np.sort(np.concatenate(parts[:2])), np.sort(parts[2])


def _vector(bundle: Bundle, name: str, key: str) -> NDArray[np.int64]:
    return read_vector(bundle.read(name), key, bundle.called(name))


def _paths(bundle: Bundle) -> dict[int, str]:
    found = ((_IMAGE.search(path), path) for path in bundle.matching(_is_image))
    return {int(match.group(1)): path for match, path in found if match}


def _is_image(path: str) -> bool:
    return _IMAGE.search(path) is not None
