"""A Hugging Face ``Dataset`` as a data set: its columns are found by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import InputError, nearest
from .arrays import Array, from_arrays
from .columns import class_names, is_array, is_classes, is_image, kind, owners, read_pair
from .federation import Source


def from_huggingface(
    dataset: Any,
    test_dataset: Any = None,
    *,
    x: str | Sequence[str] | None = None,
    y: str | None = None,
    classes: int | None = None,
    owner: str | Array | None = None,
    name: str = "huggingface",
    test_share: float = 0.2,
    seed: int = 0,
) -> Source:
    """Make a data set of a ``datasets.Dataset``, or of a ``DatasetDict`` with "train" and "test".

    Images become bytes ``(n, C, H, W)``, grey where all are grey and else RGB, and must be of one
    size. Sequences and arrays keep their type: bytes are scaled to [0, 1], floats are used as they
    are, other integers are tokens. What is stored is read: a transform that is set is not applied.

    Args:
        dataset: The training samples, or both parts.
        test_dataset: The test samples; without them a share is held out.
        x: The column of inputs, or several columns of numbers, which become floats side by side;
            None: the one of images, else the one of arrays or sequences.
        y: The column of targets; None: the one of class labels.
        classes: How many classes there are; None: the class labels' names say, or the largest.
        owner: Who made each sample: a column, of names or numbers, or integers >= 0.
        name: What the data set is called.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
    """
    train, test = _parts(dataset, test_dataset)
    features = _features(train, "dataset")
    inputs = _inputs(features, x)
    target = _chosen(features, y, "y") if y is not None else _only(features, "y", is_classes)
    names = class_names(features[target])
    x_train, y_train = read_pair(train, inputs, target)
    x_test, y_test = None, None
    if test is not None:
        _check_alike(features, _features(test, "test_dataset"), (*inputs, target))
        x_test, y_test = read_pair(test, inputs, target)
    source = from_arrays(
        x_train,
        y_train,
        x_test,
        y_test,
        classes=classes if classes is not None else len(names) or None,
        owner=owners(train, _chosen(features, owner, "owner")) if isinstance(owner, str) else owner,
        name=name,
        test_share=test_share,
        seed=seed,
    )
    return replace(source, labels=names if len(names) == source.classes else ())


def _parts(dataset: Any, test_dataset: Any) -> tuple[Any, Any]:
    if not isinstance(dataset, Mapping):
        return dataset, test_dataset
    if "train" not in dataset:
        raise InputError(
            f"dataset has the parts {', '.join(map(str, dataset)) or 'none'}: it must have "
            "'train'; give the one to train on as dataset['NAME']"
        )
    return dataset["train"], dataset.get("test") if test_dataset is None else test_dataset


def _features(dataset: Any, what: str) -> Mapping[str, Any]:
    """Return what the columns hold, if this is a data set that is here as a whole."""
    features = getattr(dataset, "features", None)
    if not isinstance(features, Mapping):
        kind = type(dataset).__name__
        raise InputError(f"{what} is {kind}: it must be a datasets.Dataset or a DatasetDict")
    try:
        rows = len(dataset)
    except TypeError as error:
        raise InputError(f"{what} is streamed: load it without streaming=True") from error
    if not rows:
        raise InputError(f"{what} is empty")
    return features


def _inputs(features: Mapping[str, Any], x: str | Sequence[str] | None) -> tuple[str, ...]:
    if x is not None:
        words = (x,) if isinstance(x, str) else tuple(x)
        if not words:
            raise InputError("x names no column: name one or more")
        return tuple(_chosen(features, word, "x") for word in words)
    images = any(map(is_image, features.values()))
    return (_only(features, "x", is_image if images else is_array),)


def _only(features: Mapping[str, Any], what: str, fits: Callable[[Any], bool]) -> str:
    found = [column for column, feature in features.items() if fits(feature)]
    if len(found) != 1:
        many = f"{' and '.join(found)} could all be it" if found else "none is plain to see"
        raise InputError(
            f"which column is {what}? {many}: say {what}='NAME' of {_listed(features)}"
        )
    return found[0]


def _chosen(features: Mapping[str, Any], column: str, what: str) -> str:
    if column not in features:
        close = nearest(column, features)
        hint = f"did you mean '{close}'? " if close else ""
        raise InputError(f"there is no column {what}='{column}': {hint}It has {_listed(features)}")
    return column


def _listed(features: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} ({kind(feature)})" for column, feature in features.items())


def _check_alike(train: Mapping[str, Any], test: Mapping[str, Any], columns: Sequence[str]) -> None:
    for column in columns:
        _chosen(test, column, "test_dataset's ")
        if kind(train[column]) != kind(test[column]) or class_names(train[column]) != class_names(
            test[column]
        ):
            raise InputError(
                f"column '{column}' is {train[column]} for training and {test[column]} for testing"
            )
