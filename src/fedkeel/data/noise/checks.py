"""Which noise can be put on which samples, and what a mistake is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from ...errors import InputError, require, unknown
from ..federation import Federation, Owners, Source
from .corruptions import CORRUPTIONS
from .rates import Reals

KINDS = ("symmetric", "pairwise")


def check_choices(kind: str, corruptions: Sequence[str], severity: int) -> tuple[str, ...]:
    """Refuse words and numbers that say nothing, and return the corruptions to draw from.

    They are a set, in the order of the table: neither order nor repetition changes a draw.

    Args:
        kind: Of label noise.
        corruptions: Names; empty: all.
        severity: Of the corruptions.
    """
    if kind not in KINDS:
        raise unknown("kind of label noise", str(kind), KINDS)
    whole = isinstance(severity, int | np.integer) and not isinstance(severity, bool)
    require(whole and 1 <= severity <= 5, "severity", severity, "an integer from 1 to 5")
    listed = isinstance(corruptions, Iterable) and not isinstance(corruptions, str)
    require(listed, "corruptions", corruptions, "a list of names")
    wanted = list(corruptions) or list(CORRUPTIONS)
    for name in wanted:
        if name not in CORRUPTIONS:
            raise unknown("corruption", str(name), CORRUPTIONS)
    return tuple(name for name in CORRUPTIONS if name in wanted)


def foreign_classes(source: Source, foreign: Iterable[int | str]) -> Owners:
    """Return the numbers of the foreign classes, ascending.

    Args:
        source: Whose classes they are.
        foreign: Numbers, or names where the classes have names.
    """
    listed = isinstance(foreign, Iterable) and not isinstance(foreign, str)
    require(listed, "foreign", foreign, "a list of classes")
    named = list(foreign)
    if named:
        _check_classes(source, "open-set")
    return np.unique(np.array([_class(source, value) for value in named], dtype=np.int64))


def check_samples(
    federation: Federation, red: Owners, open_set: Reals, label: Reals, attribute: Reals
) -> None:
    """Refuse noise that cannot be put on these samples.

    Args:
        federation: Who holds what.
        red: The foreign classes.
        open_set: The clients' rates of open-set noise, ``(clients,)``.
        label: Their rates of label noise.
        attribute: Their rates of attribute noise.
    """
    source = federation.source
    if federation.clean is not None:
        raise InputError(
            f"'{source.name}' has noise already: ask for all of it at once, of the split without"
        )
    if open_set.any() and not len(red):
        raise InputError("open_set has nothing to mix in: give foreign, a list of classes")
    if label.any():
        _check_classes(source, "label")
    left = (source.classes or 0) - len(red)
    if len(red) and left < 2:
        raise InputError(
            f"foreign={red.tolist()} leaves '{source.name}' {left} of {source.classes} classes: "
            "two at least are needed"
        )
    if label.any() and left < 2:
        raise InputError(f"label noise needs two classes, and '{source.name}' has {left}")
    if attribute.any():
        _check_images(source)


def _class(source: Source, value: int | str) -> int:
    if isinstance(value, str) and source.labels:
        if value not in source.labels:
            raise unknown("foreign class", value, source.labels)
        return source.labels.index(value)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) < (source.classes or 0):
        raise InputError(
            f"foreign holds {value!r}: it must hold classes of '{source.name}', integers from 0 to "
            f"{(source.classes or 0) - 1}"
        )
    return int(value)


def _check_classes(source: Source, what: str) -> None:
    if source.classes is None or source.train.y.ndim != 1:
        has = "floating targets" if source.classes is None else "one for each step of a sequence"
        raise InputError(f"{what} noise needs one class a sample, and '{source.name}' has {has}")


def _check_images(source: Source) -> None:
    x = source.train.x
    if x.dtype != torch.uint8 or x.ndim != 4 or x.shape[1] not in (1, 3):
        kind = str(x.dtype).removeprefix("torch.")
        raise InputError(
            f"attribute noise needs uint8 images (n, C, H, W) of 1 or 3 channels, and x of "
            f"'{source.name}' is {kind} of shape {tuple(x.shape)}"
        )
