"""Whether arrays can be the data set that they are said to be."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..raw import Array, Raw
from .entry import Entry
from .store import digests

_log = logging.getLogger(__name__)


def conform(entry: Entry, raw: Raw, where: Path) -> Raw:
    """Return arrays with the names of their classes, or say why they cannot be that data set.

    Fewer samples or classes than were published are fine: a part of a set is a set to try with.

    Args:
        entry: What they are said to be.
        raw: The arrays.
        where: The file or folder they came from.
    """
    coarse = () if raw.coarse_train is None else raw.coarse_labels or entry.coarse_labels
    named = raw._replace(labels=raw.labels or entry.labels, coarse_labels=coarse)
    try:
        _check(entry, named)
    except InputError as error:
        raise InputError(f"'{where}' cannot be {entry.name}: {error}") from error
    return named


def check_published(entry: Entry, raw: Raw, where: Path) -> None:
    """Raise where the content is known and these arrays are not it."""
    found = digests(raw) if entry.digests else {}
    for name, digest in entry.digests.items():
        if found.get(name) != digest:
            raise InputError(
                f"'{where}' cannot be {entry.name}: its {name} differs from the published set's; "
                "load it by its path if it is a set of your own"
            )


def published_counts(entry: Entry, raw: Raw) -> str:
    """Say how a set's size differs from the published one; nothing where it does not."""
    here = (len(raw.x_train), 0 if raw.x_test is None else len(raw.x_test))
    there = (entry.train, entry.test)
    if None in there or here == there:
        return ""
    return (
        f"{here[0]:,} + {here[1]:,} samples where {entry.train:,} + {entry.test:,} were published"
    )


def _check(entry: Entry, raw: Raw) -> None:
    if raw.x_test is None and entry.test is not None:
        raise InputError("it has no test part")
    _check_part(entry, raw, "train", raw.x_train, raw.y_train, raw.coarse_train)
    if raw.x_test is not None:
        _check_part(entry, raw, "test", raw.x_test, raw.y_test, raw.coarse_test)
    if raw.owner is not None:
        _check_integers("the owners", raw.owner, len(raw.x_train), None)


def _check_part(
    entry: Entry, raw: Raw, part: str, x: Array, y: Array | None, coarse: Array | None
) -> None:
    shape = (entry.shape[0] + 1,) if entry.tokens else entry.shape
    if x.dtype != np.uint8 or x.shape[1:] != shape:
        raise InputError(f"x_{part} is {x.dtype} {x.shape}: it must be uint8 (n, {_said(shape)})")
    if not len(x):
        raise InputError(f"x_{part} is empty")
    if entry.tokens:
        return
    if y is None:
        raise InputError(f"y_{part} is missing")
    _check_integers(f"y_{part}", y, len(x), len(raw.labels) or entry.classes)
    if coarse is not None:
        _check_integers(f"coarse_{part}", coarse, len(x), len(raw.coarse_labels) or None)


def _check_integers(name: str, values: Array, samples: int, below: int | None) -> None:
    if values.shape != (samples,) or values.dtype.kind not in "iu":
        raise InputError(
            f"{name} is {values.dtype} {values.shape}: it must be an integer for each of "
            f"{samples:,} samples"
        )
    least, most = int(values.min()), int(values.max())
    if least < 0 or (below is not None and most >= below):
        wrong = least if least < 0 else most
        allowed = "0 or more" if below is None else f"from 0 to {below - 1}"
        raise InputError(f"{name} holds {wrong}: it must be {allowed}")


def _said(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
