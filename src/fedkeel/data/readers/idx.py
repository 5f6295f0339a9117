"""The IDX format of MNIST, Fashion-MNIST and EMNIST."""

from __future__ import annotations

import math
import string
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .labels import Labels, filled, in_range, one_each
from .sound import CHUNK

_NAMES = {
    "byclass": tuple(string.digits + string.ascii_uppercase + string.ascii_lowercase),
    "letters": tuple(string.ascii_lowercase),
    "digits": tuple(string.digits),
}
_UNKNOWN = 10  # classes, where the prefix does not say: MNIST and all that imitate it have ten
_BYTES = 0x08


def read_idx(bundle: Bundle, prefix: str = "") -> Raw:
    """Read images and labels of a training and a test part, as they are.

    Files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k``
    or ``test``; ``images.idx3-ubyte`` is taken too. EMNIST stores its images with rows and columns
    exchanged, and so they stay. The labels of its letters, 1 to 26, become 0 to 25.

    Args:
        bundle: The files.
        prefix: What names begin with, such as ``emnist-letters-``; it says the classes.
    """
    split = next((split for split in _NAMES if split in prefix), "")
    names = _NAMES.get(split, ())
    classes, first = len(names) or _UNKNOWN, 1 if split == "letters" else 0
    x_train, y_train = _part(bundle, prefix, ("train",), classes, first)
    x_test, y_test = _part(bundle, prefix, ("t10k", "test"), classes, first)
    if x_train.shape[1:] != x_test.shape[1:]:
        shapes = f"{x_train.shape[2:]} and {x_test.shape[2:]}"
        raise InputError(f"{bundle.title}: images to train on and to test with differ: {shapes}")
    return Raw(x_train, y_train, x_test, y_test, labels=names)


def _part(
    bundle: Bundle, prefix: str, parts: tuple[str, ...], classes: int, first: int
) -> tuple[NDArray[np.uint8], Labels]:
    images = _file(bundle, [f"{prefix}{part}-images" for part in parts], 3)
    labels = _file(bundle, [f"{prefix}{part}-labels" for part in parts], 1)
    x, y = _array(bundle, images, 3), _array(bundle, labels, 1)
    filled(len(x), bundle.called(images))
    one_each(len(y), len(x), bundle.called(labels), bundle.called(images))
    return x[:, None], in_range(y, classes, bundle.called(labels), first=first)


def _file(bundle: Bundle, stems: list[str], dimensions: int) -> str:
    """Return the first spelling that is there, else the usual one, which is then missing."""
    names = [f"{stem}{mark}idx{dimensions}-ubyte" for stem in stems for mark in "-."]
    return next((name for name in names if bundle.has(name)), names[0])


def _array(bundle: Bundle, name: str, dimensions: int) -> NDArray[np.uint8]:
    with bundle.open(name) as stream:
        called = bundle.called(name)
        shape = _shape(stream, called, dimensions)
        values = _body(stream, math.prod(shape))
    if len(values) != math.prod(shape):
        held = f"{len(values)} values" if len(values) < math.prod(shape) else "more"
        raise InputError(f"{called} says it has the shape {shape}, and it holds {held}: damaged")
    return np.frombuffer(values, dtype=np.uint8).reshape(shape)


def _shape(stream: BinaryIO, called: str, dimensions: int) -> tuple[int, ...]:
    magic = stream.read(4)
    if magic != bytes((0, 0, _BYTES, dimensions)):
        wanted = bytes((0, 0, _BYTES, dimensions)).hex()
        raise InputError(
            f"{called} begins with '{magic.hex()}': an IDX file of bytes with {wanted}"
        )
    header = stream.read(4 * dimensions)
    if len(header) < 4 * dimensions:
        raise InputError(f"{called} ends within its header: it is cut off")
    return tuple(int(size) for size in np.frombuffer(header, dtype=">u4"))


def _body(stream: BinaryIO, size: int) -> bytearray:
    """Read until there is more than a header says, so that what it says allocates nothing."""
    values = bytearray()
    while len(values) <= size and (chunk := stream.read(CHUNK)):
        values += chunk
    return values
