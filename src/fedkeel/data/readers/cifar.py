"""CIFAR-10 and CIFAR-100, from the pickles or from the binary files of their makers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .cifar_names import CIFAR10, CIFAR100_COARSE, CIFAR100_FINE
from .labels import Array, Labels, filled, in_range, one_each
from .pickled import read_pickle

_SHAPE = (3, 32, 32)
_PIXELS = 3072


class _Kind(NamedTuple):
    """Where a data set's parts are, and what its labels and their names are called in it."""

    train: tuple[str, ...]
    test: str
    keys: tuple[str, ...]
    meta: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...]


# Labels in the order of the binary files, where the coarse one comes first.
_TEN = _Kind(
    tuple(f"data_batch_{number}" for number in range(1, 6)),
    "test_batch",
    ("labels",),
    "batches.meta",
    ("label_names",),
    ("batches.meta.txt",),
    (CIFAR10,),
)
_HUNDRED = _Kind(
    ("train",),
    "test",
    ("coarse_labels", "fine_labels"),
    "meta",
    ("coarse_label_names", "fine_label_names"),
    ("coarse_label_names.txt", "fine_label_names.txt"),
    (CIFAR100_COARSE, CIFAR100_FINE),
)


class _Part(NamedTuple):
    """Images and one or two kinds of labels."""

    x: NDArray[np.uint8]
    labels: tuple[Labels, ...]


def read_cifar10(bundle: Bundle) -> Raw:
    """Read CIFAR-10: five training batches and a test batch, pickled or binary.

    Pickles are never run.

    Args:
        bundle: The files, or the publisher's archive.
    """
    train, test, names = _read(bundle, _TEN)
    return Raw(train.x, train.labels[0], test.x, test.labels[0], labels=names[0])


def read_cifar100(bundle: Bundle) -> Raw:
    """Read CIFAR-100 with its fine and its coarse classes, pickled or binary.

    Pickles are never run.

    Args:
        bundle: The files, or the publisher's archive.
    """
    train, test, (coarse, fine) = _read(bundle, _HUNDRED)
    return Raw(
        train.x,
        train.labels[1],
        test.x,
        test.labels[1],
        labels=fine,
        coarse_train=train.labels[0],
        coarse_test=test.labels[0],
        coarse_labels=coarse,
    )


def _read(bundle: Bundle, kind: _Kind) -> tuple[_Part, _Part, tuple[tuple[str, ...], ...]]:
    binary = bundle.has(f"{kind.train[0]}.bin")
    needed = [f"{name}.bin" if binary else name for name in (*kind.train, kind.test)]
    useful = kind.texts if binary else (kind.meta,)
    paths = _paths(bundle, needed, useful)
    read = _binary if binary else _pickled
    parts, names = {}, {}
    for path, called, data in bundle.walk(paths.__contains__):  # through an archive once
        if paths[path] in needed:
            parts[paths[path]] = read(data, called, kind)
        else:
            names[paths[path]] = [_lines(data)] if binary else _meta(data, called, kind)
    *train, test = (parts[name] for name in needed)
    return _joined(train), _joined([test]), _names(kind, [names.get(name, []) for name in useful])


def _paths(bundle: Bundle, needed: Sequence[str], useful: Sequence[str]) -> dict[str, str]:
    """Return the last component of each path that is wanted; what is needed is there, and once."""
    wanted = (*needed, *useful)
    paths = bundle.matching(lambda path: path.rpartition("/")[2] in wanted)
    names = {path: path.rpartition("/")[2] for path in paths}
    for name in needed:
        found = [path for path in paths if names[path] == name]
        if not found:
            raise bundle.missing(name)
        if len(found) > 1:
            both = f"{found[0]!r} and {found[1]!r}"
            raise InputError(f"{bundle.title} holds {both}: leave one of them")
    return names


def _pickled(data: bytes, called: str, kind: _Kind) -> _Part:
    stored = read_pickle(data, called)
    for key in ("data", *kind.keys):
        if key not in stored:
            raise InputError(f"{called} has no '{key}': it holds {', '.join(sorted(stored))!r}")
    x = stored["data"]
    if not isinstance(x, np.ndarray) or x.dtype != np.uint8 or x.shape[1:] != (_PIXELS,):
        raise InputError(f"{called} has a 'data' that is no uint8 array of (images, {_PIXELS})")
    labels = [_listed(stored[key], called, key) for key in kind.keys]
    return _part(x, labels, called, kind)


def _listed(values: object, called: str, key: str) -> Array:
    whole = isinstance(values, list) and all(type(value) is int for value in values)
    if not whole and not (isinstance(values, np.ndarray) and values.dtype.kind in "iu"):
        raise InputError(f"{called} has '{key}' that are no list of integers")
    return np.asarray(values)


def _binary(data: bytes, called: str, kind: _Kind) -> _Part:
    row = len(kind.keys) + _PIXELS
    if len(data) % row:
        raise InputError(f"{called} has {len(data)} bytes: it must have {row} for each image")
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, row)
    labels = [rows[:, i] for i in range(len(kind.keys))]
    return _part(rows[:, len(kind.keys) :], labels, called, kind)


def _part(x: NDArray[np.uint8], labels: Sequence[Array], called: str, kind: _Kind) -> _Part:
    filled(len(x), called)
    for values in labels:
        one_each(values.size, len(x), called)
    checked = (
        in_range(values.reshape(-1), len(names), called)
        for values, names in zip(labels, kind.classes, strict=True)
    )
    return _Part(x.reshape(-1, *_SHAPE), tuple(checked))


def _joined(parts: Sequence[_Part]) -> _Part:
    labels = zip(*(part.labels for part in parts), strict=True)
    return _Part(
        np.concatenate([part.x for part in parts]),
        tuple(np.concatenate(values) for values in labels),
    )


def _names(kind: _Kind, found: list[list[tuple[str, ...]]]) -> tuple[tuple[str, ...], ...]:
    """Return the names of the classes: what the files say, else what everybody knows."""
    said = tuple(names for group in found for names in group)
    right = [len(names) for names in said] == [len(names) for names in kind.classes]
    return said if right else kind.classes


def _lines(data: bytes) -> tuple[str, ...]:
    return tuple(data.decode("utf-8", "replace").split())


def _meta(data: bytes, called: str, kind: _Kind) -> list[tuple[str, ...]]:
    stored = read_pickle(data, called)
    listed = [stored.get(key, []) for key in kind.names]
    return [tuple(_text(name) for name in names) for names in listed if isinstance(names, list)]


def _text(name: object) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
