"""LC25000: histopathological images of lung and colon tissue, in their official folders."""

from __future__ import annotations

import re

import numpy as np

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .pictures import gather, is_picture, pillow

SIZE = 128
_CLASSES = ("colon_aca", "colon_n", "lung_aca", "lung_n", "lung_scc")
_HELD = 5  # one in so many images of a class is for the test part


def read_lc25000(bundle: Bundle) -> Raw:
    """Read the five classes, each image brought to 128x128.

    The images were made of far fewer originals by turning and mirroring them, and the files do not
    say which are of one original. So the last fifth of each class by number is the test part, and
    patches of one original may lie on both sides: test accuracies are higher than on new patients.

    Args:
        bundle: The official archive, or its folder.
    """
    pillow()
    groups = [_group(bundle, name) for name in _CLASSES]
    cuts = [len(paths) - len(paths) // _HELD for paths in groups]
    train = [paths[:cut] for paths, cut in zip(groups, cuts, strict=True)]
    test = [paths[cut:] for paths, cut in zip(groups, cuts, strict=True)]
    x = gather(
        bundle, [path for group in (*train, *test) for path in group], size=SIZE, colour=True
    )
    count = sum(cuts)
    y_train, y_test = (
        np.repeat(np.arange(len(_CLASSES), dtype=np.int64), [len(group) for group in part])
        for part in (train, test)
    )
    return Raw(x[:count], y_train, x[count:], y_test, labels=_CLASSES)


def _group(bundle: Bundle, name: str) -> list[str]:
    """Return the paths of a class, in the order of the numbers in their names."""
    paths = bundle.matching(lambda path: is_picture(path) and path.split("/")[-2:-1] == [name])
    if len(paths) < _HELD:
        raise InputError(
            f"{bundle.title} has {len(paths)} images in '{name}': the official folders have 5000"
        )
    return sorted(paths, key=lambda path: (_number(path), path))


def _number(path: str) -> int:
    digits = re.findall(r"\d+", path.rpartition("/")[2])
    return int(digits[-1]) if digits else 0
