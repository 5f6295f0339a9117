"""Folders of images, one for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import InputError, require
from ..raw import Raw
from .bundle import Bundle
from .labels import Labels
from .pictures import gather, is_picture, pillow

_TESTS = ("test", "val", "valid", "validation")  # the first that is there is the test part
_PARTS = ("train", *_TESTS)


class _Picture(NamedTuple):
    """A picture's path, the part and the class that its folders say, and what stands above."""

    path: str
    part: str
    label: str
    above: tuple[str, ...]


def read_folders(bundle: Bundle | str | Path, size: int | None = None) -> Raw:
    """Read ``CLASS/*.png`` and the like, or ``train/CLASS`` and ``test/CLASS``, of any top folder.

    Without ``test`` it is ``val`` that is the test part; without both there is none. Classes are
    the folders with images, in the order of their names, and images lie in the order of theirs;
    those of a test part must be among those of the training part. Images become grey if all of
    them are, else RGB. Orientation that a camera noted is not applied.

    Args:
        bundle: A folder or an archive.
        size: Height and width that images are brought to; None: all must have the same.
    """
    require(size is None or size >= 1, "size", size, "an integer >= 1")
    pillow()
    files = bundle if isinstance(bundle, Bundle) else Bundle.of(bundle)
    found = [_picture(path, files) for path in sorted(files.matching(is_picture))]
    _check(found, files)
    train, test = _split(found, files)
    labels = tuple(sorted({picture.label for picture in train}))
    y_train, y_test = (_labels(part, labels, files) for part in (train, test))
    x = gather(files, [picture.path for picture in (*train, *test)], size=size)
    raw = Raw(x[: len(train)], y_train, labels=labels)
    return raw._replace(x_test=x[len(train) :], y_test=y_test) if test else raw


def _picture(path: str, files: Bundle) -> _Picture:
    *above, label, _ = ("", *path.split("/"))
    if not label:
        raise InputError(f"{files.called(path)} lies in no folder of a class: make one for each")
    part = above[-1] if above[-1] in _PARTS else ""
    return _Picture(path, part, label, tuple(above[1 : len(above) - bool(part)]))


def _check(found: Sequence[_Picture], files: Bundle) -> None:
    """Refuse pictures that do not lie side by side in folders of classes."""
    if not found:
        raise InputError(f"{files.title} holds no images: make a folder of images for each class")
    for picture in found:
        if picture.above != found[0].above or bool(picture.part) != bool(found[0].part):
            both = f"{files.called(found[0].path)} and {files.called(picture.path)}"
            raise InputError(
                f"{both} lie at different depths or under different folders: give the folder that "
                "holds the classes"
            )
    if {picture.label for picture in found} <= {*_PARTS}:
        raise InputError(
            f"{files.title} has images in {found[0].label!r} and no folders of classes"
        )


def _split(
    found: Sequence[_Picture], files: Bundle
) -> tuple[Sequence[_Picture], Sequence[_Picture]]:
    if not found[0].part:
        return found, ()
    parts: Mapping[str, list[_Picture]] = {
        part: [picture for picture in found if picture.part == part] for part in _PARTS
    }
    if not parts["train"]:
        raise InputError(f"{files.title} has {found[0].part}/ and no images in train/")
    return parts["train"], next((parts[name] for name in _TESTS if parts[name]), [])


def _labels(part: Sequence[_Picture], labels: Sequence[str], files: Bundle) -> Labels:
    number = {label: i for i, label in enumerate(labels)}
    for picture in part:
        if picture.label not in number:
            where = files.called(picture.path)
            raise InputError(f"{where} is of class {picture.label!r}, which train/ has no image of")
    return np.array([number[picture.label] for picture in part], dtype=np.int64)
