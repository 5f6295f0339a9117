"""Plays by role: a line of JSON for each speaking role, with all that it says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import numpy as np

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .labels import filled
from .sound import sound
from .text import cut, joined

_KEYS = ("play", "role", "text")


def read_plays(bundle: Bundle) -> Raw:
    """Read what roles say as windows of 80 characters, each with the one that follows.

    A role of a play is an owner, numbered in the order of the file. The last fifth of its lines,
    rounded down, is its test part. Characters beyond code 255 are stored as unknown.

    Args:
        bundle: A ``.jsonl`` file, packed or not, of objects with ``play``, ``role`` and ``text``.
    """
    name = _name(bundle)
    owners: dict[tuple[str, str], int] = {}
    train, test, owner = [], [], []
    for play, role, text in _roles(bundle, name):
        kept, held = _parts(text)
        train.append(cut(kept))
        test.append(cut(held))
        owner.append(np.full(len(train[-1]), owners.setdefault((play, role), len(owners))))
    x_train, x_test = joined(train), joined(test)
    filled(len(x_train), bundle.called(name))
    return Raw(
        x_train,
        _no_labels(len(x_train)),
        x_test,
        _no_labels(len(x_test)),
        np.concatenate(owner).astype(np.int64),
    )


def _name(bundle: Bundle) -> str:
    names = bundle.matching(lambda path: path.endswith(".jsonl"))
    if len(names) == 1:
        return names[0]
    found = " and ".join(repr(name) for name in names[:2]) or "no .jsonl file"
    raise InputError(f"{bundle.title} holds {found}: one .jsonl file is needed")


def _roles(bundle: Bundle, name: str) -> Iterator[tuple[str, str, str]]:
    called = bundle.called(name)
    with bundle.open(name) as stream:
        lines = iter(io.TextIOWrapper(stream, encoding="utf-8", newline="\n"))
        number = 0
        while True:
            number += 1
            with sound(f"line {number} of {called}"):
                line = next(lines, None)
                if line is None:
                    return
                yield _role(json.loads(line))


def _role(said: object) -> tuple[str, str, str]:
    if not isinstance(said, dict) or not all(isinstance(said.get(key), str) for key in _KEYS):
        raise ValueError("play, role and text are needed")
    return said["play"], said["role"], said["text"]


def _parts(text: str) -> tuple[str, str]:
    lines = text.split("\n")
    held = len(lines) // 5
    first = len(lines) - held
    return "\n".join(lines[:first]), "\n".join(lines[first:])


def _no_labels(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.empty((count, 0), dtype=np.int64)
