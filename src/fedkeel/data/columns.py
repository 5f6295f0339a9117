"""The columns of a Hugging Face data set: what they hold, and that as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Column = NDArray[Any]

_GREY = ("1", "L", "LA")
_COLOUR = ("RGB", "RGBA", "P", "PA", "CMYK", "YCbCr")


def kind(feature: Any) -> str:
    """Return the name of what a column holds, as "Image" or "ClassLabel"."""
    return "List" if isinstance(feature, list) else type(feature).__name__


def is_image(feature: Any) -> bool:
    """Tell a column of images."""
    return kind(feature) == "Image"


def is_array(feature: Any) -> bool:
    """Tell a column of arrays or sequences."""
    found = kind(feature)
    return found in ("List", "LargeList", "Sequence") or found.startswith("Array")


def is_classes(feature: Any) -> bool:
    """Tell a column of class labels."""
    return kind(feature) == "ClassLabel"


def class_names(feature: Any) -> tuple[str, ...]:
    """Return what the classes of a column are called; empty: it does not say."""
    return tuple(feature.names) if is_classes(feature) and feature.names else ()


def read_pair(dataset: Any, inputs: tuple[str, ...], target: str) -> tuple[Column, Column]:
    """Return the inputs and the targets of all samples.

    Args:
        dataset: The data set.
        inputs: The column of inputs, or several of numbers.
        target: The column of targets.
    """
    features = dataset.features
    if len(inputs) > 1:
        columns = [_numbers(dataset, column, features[column]) for column in inputs]
        flat = [column.reshape(len(column), -1).astype(np.float32) for column in columns]
        x = np.concatenate(flat, axis=1)
    elif is_image(features[inputs[0]]):
        x = _images(dataset, inputs[0], features[inputs[0]])
    else:
        x = _numbers(dataset, inputs[0], features[inputs[0]])
        x = x[:, None].astype(np.float32) if x.ndim == 1 else x
    return x, _numbers(dataset, target, features[target])


def _numbers(dataset: Any, column: str, feature: Any) -> Column:
    """Return a column of numbers, or of sequences of one length, in the type it is stored in."""
    dtype = _dtype(feature)
    if dtype is None:
        raise InputError(
            f"column '{column}' holds {feature}, which is not numbers; of words, "
            f"dataset.class_encode_column('{column}') makes classes"
        )
    # Floats come as float32 unless more is asked for; integers with gaps would come as floats,
    # which nothing must turn back into integers.
    asked = {"dtype": dtype} if dtype.kind == "f" else {}
    try:
        read = dataset.select_columns([column]).with_format("numpy", **asked)[:]
        values = np.asarray(read[column])
    except (TypeError, ValueError):  # rows of different lengths
        values = np.empty(0, dtype=object)
    if values.dtype.kind not in ("f" if asked else "biu"):
        raise InputError(
            f"column '{column}' cannot be one array: its rows must be of one shape, without gaps"
        )
    return values.astype(np.int64 if dtype.kind == "b" else dtype)


def _dtype(feature: Any) -> np.dtype[Any] | None:
    """Return the type of the numbers that a column holds, however deep; None: no numbers."""
    inner = feature[0] if isinstance(feature, list) and feature else feature
    nested = getattr(inner, "feature", None)
    if nested is not None:
        return _dtype(nested)
    try:
        dtype = np.dtype(getattr(inner, "dtype", "") or "object")
    except TypeError:
        return None
    return dtype if dtype.kind in "biuf" else None


def _images(dataset: Any, column: str, feature: Any) -> Column:
    """Return a column of images as bytes ``(n, C, H, W)``."""
    images = dataset.select_columns([column]).with_format(None)
    if not getattr(feature, "decode", True):
        images = images.cast_column(column, type(feature)())
    pixels = [_pixels(row[column], f"{column}[{i}]") for i, row in enumerate(images)]
    first = pixels[0].shape[:2]
    for i, image in enumerate(pixels):
        if image.shape[:2] != first:
            raise InputError(
                f"{column}[{i}] is {_size(image)} where {column}[0] is {_size(pixels[0])}: all "
                "images must be of one size; dataset.map can resize them"
            )
    channels = max(image.shape[2] for image in pixels)
    found = np.empty((len(pixels), channels, *first), np.uint8)
    for i, image in enumerate(pixels):
        found[i] = image.transpose(2, 0, 1)  # a grey one fills all channels
    return found


def _pixels(image: Any, name: str) -> NDArray[np.uint8]:
    """Return an image ``(H, W, 1 or 3)``."""
    mode = getattr(image, "mode", None)
    if mode in _GREY:
        return np.asarray(image.convert("L"), np.uint8)[:, :, None]
    if mode in _COLOUR:
        return np.asarray(image.convert("RGB"), np.uint8)
    found = "missing" if image is None else f"of mode {mode}"
    raise InputError(f"{name} is {found}: images must be grey or colour, of 8 bits a channel")


def _size(image: NDArray[np.uint8]) -> str:
    return f"{image.shape[1]}x{image.shape[0]}"


def owners(dataset: Any, column: str) -> NDArray[np.int64]:
    """Number the owners that a column names, in the order of their names.

    Args:
        dataset: The data set.
        column: Its column of words or integers.
    """
    values = np.asarray(dataset.select_columns([column]).with_format(None)[:][column])
    if values.dtype.kind not in "iuU" or values.ndim != 1:
        raise InputError(
            f"column '{column}' cannot say who owns what: it must hold words or integers"
        )
    numbers: NDArray[np.int64] = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return numbers
