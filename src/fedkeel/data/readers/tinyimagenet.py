"""Tiny ImageNet in its official folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .pictures import gather, pillow

_TRAIN = re.compile(r"(?:^|/)train/([^/]+)/images/[^/]+\.jpe?g$", re.IGNORECASE)
_TEST = re.compile(r"(?:^|/)val/images/([^/]+\.jpe?g)$", re.IGNORECASE)


def read_tinyimagenet(bundle: Bundle) -> Raw:
    """Read the training part and, as the test part, the validation part: the rest has no labels.

    Classes are in the order of their WordNet ids. Grey images become RGB.

    Args:
        bundle: The official archive, or its folder.
    """
    pillow()
    numbers = {wnid: i for i, wnid in enumerate(sorted(_lines(bundle, "wnids.txt")))}
    train, test = _train(bundle, numbers), _test(bundle, numbers)
    x = gather(bundle, [*train, *test], colour=True)
    return Raw(
        x[: len(train)],
        np.array(list(train.values()), dtype=np.int64),
        x[len(train) :],
        np.array(list(test.values()), dtype=np.int64),
        labels=_labels(bundle, list(numbers)),
    )


def _lines(bundle: Bundle, name: str) -> list[str]:
    text = bundle.read(name).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{bundle.called(name)} is empty")
    return lines


def _train(bundle: Bundle, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the class of each training image, by path."""
    labels: dict[str, int] = {}
    for path in sorted(bundle.matching(lambda path: _TRAIN.search(path) is not None)):
        wnid = _group(_TRAIN, path)
        if wnid not in numbers:
            known = bundle.called("wnids.txt")
            raise InputError(f"{bundle.called(path)} is of class '{wnid}', which {known} lacks")
        labels[path] = numbers[wnid]
    missing = set(numbers.values()) - set(labels.values())
    if missing:
        wnid = next(wnid for wnid, number in numbers.items() if number in missing)
        raise InputError(f"{bundle.title} has no images in train/{wnid}/images")
    return labels


def _test(bundle: Bundle, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the class of each validation image, by path."""
    said = _annotations(bundle, numbers)
    paths = sorted(bundle.matching(lambda path: _TEST.search(path) is not None))
    labels = {path: said.pop(_group(_TEST, path), -1) for path in paths}
    called = bundle.called("val_annotations.txt")
    for path, label in labels.items():
        if label < 0:
            raise InputError(f"{bundle.called(path)} has no line in {called}")
    if said:
        raise InputError(f"{called} names '{next(iter(said))}', which is not in val/images")
    return labels


def _annotations(bundle: Bundle, numbers: Mapping[str, int]) -> dict[str, int]:
    said: dict[str, int] = {}
    for line in _lines(bundle, "val_annotations.txt"):
        name, *rest = line.split("\t")
        if not rest or rest[0] not in numbers or name in said:
            where = bundle.called("val_annotations.txt")
            raise InputError(f"{where} has the line {line!r}: an image's name and its class, once")
        said[name] = numbers[rest[0]]
    return said


def _labels(bundle: Bundle, wnids: list[str]) -> tuple[str, ...]:
    """Return the first word for each class, with its id where two share it."""
    if not bundle.has("words.txt"):
        return tuple(wnids)
    pairs = (line.partition("\t") for line in _lines(bundle, "words.txt"))
    words = {wnid: text.split(",")[0] for wnid, _, text in pairs}
    names = [words.get(wnid) or wnid for wnid in wnids]
    count = Counter(names)
    return tuple(
        name if count[name] == 1 else f"{name} ({wnid})"
        for name, wnid in zip(names, wnids, strict=True)
    )


def _group(pattern: re.Pattern[str], path: str) -> str:
    found = pattern.search(path)
    return found.group(1) if found else ""
