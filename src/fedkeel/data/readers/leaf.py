"""LEAF's JSON files: what each user has, in a training and a test folder."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..raw import Raw
from .bundle import Bundle
from .labels import in_range, one_each
from .sound import sound
from .text import LENGTH, characters

_NAMES = tuple(string.digits + string.ascii_uppercase + string.ascii_lowercase)
_SIDE = 28
_ROWS = (list, np.ndarray)


class _Held(NamedTuple):
    """What a user has: inputs and targets, both of one row a sample."""

    x: NDArray[np.uint8]
    y: NDArray[np.int64]


_Read = Callable[[str, Any, Any], _Held]


def read_femnist(bundle: Bundle) -> Raw:
    """Read FEMNIST: characters of 62 classes, each with its writer.

    Pixels come as shares of white; they are stored with the ink high, as whole numbers to 255.
    Writers are numbered in the order of their names, and their samples lie in that order, so that
    it does not matter over which files they were spread.

    Args:
        bundle: LEAF's ``train`` and ``test`` folders, or the files of one folder alone.
    """
    return _read(bundle, _images)._replace(labels=_NAMES)


def read_shakespeare(bundle: Bundle) -> Raw:
    """Read LEAF's Shakespeare: windows of 80 characters, each with the one that follows.

    Roles are numbered and ordered as the writers of ``read_femnist``. Characters beyond code 255
    are stored as unknown.

    Args:
        bundle: LEAF's ``train`` and ``test`` folders, or the files of one folder alone.
    """
    return _read(bundle, _windows)


def _read(bundle: Bundle, read: _Read) -> Raw:
    train, test = _files(bundle)
    users = _users(bundle, train, read)
    raw = Raw(*_stacked(users), owner=_owner(users))
    if not test:
        return raw
    held = _users(bundle, test, read)
    for user in held:
        if user not in users:
            raise InputError(f"{bundle.title}: user {user!r} is in test and not in train")
    x, y = _stacked(held)
    return raw._replace(x_test=x, y_test=y)


def _files(bundle: Bundle) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths of the training and of the test part; one folder alone is for training."""
    train, test = (_below(bundle, part) for part in ("train", "test"))
    if train:
        return train, test
    paths = bundle.matching(lambda path: path.endswith(".json"))
    if test or not paths or len({path.rpartition("/")[0] for path in paths}) > 1:
        raise InputError(f"{bundle.title} has no train/*.json: give LEAF's train and test folders")
    return paths, ()


def _below(bundle: Bundle, part: str) -> tuple[str, ...]:
    return bundle.matching(lambda path: re.search(rf"(^|/){part}/[^/]*\.json$", path) is not None)


def _users(bundle: Bundle, paths: tuple[str, ...], read: _Read) -> dict[str, _Held]:
    users: dict[str, _Held] = {}
    for _, called, data in bundle.walk(paths.__contains__):
        for user, held in _file(data, called, read):
            if user in users:
                raise InputError(f"{called} holds user {user!r}, and so does a file before it")
            users[user] = held
    if not users:
        raise InputError(f"{bundle.title} holds no samples of any user")
    return {user: users[user] for user in sorted(users)}


def _file(data: bytes, called: str, read: _Read) -> Iterator[tuple[str, _Held]]:
    """Yield the users of a file that have samples."""
    with sound(called):
        # What a user has is made small as soon as it is parsed: a file's numbers fill gigabytes.
        stored = json.loads(data, object_hook=_compact)
    for user, count in _counts(stored, called):
        has = stored["user_data"].get(user)
        if not isinstance(has, dict) or not all(isinstance(has.get(key), _ROWS) for key in "xy"):
            raise InputError(f"{called} has no lists x and y of user {user!r}")
        of = f"user {user!r} of {called}"
        if len(has["x"]) != count:
            raise InputError(f"{of} has {len(has['x'])} samples where num_samples says {count}")
        one_each(len(has["y"]), count, of)
        if count:
            yield user, read(of, has["x"], has["y"])


def _compact(parsed: dict[str, Any]) -> dict[str, Any]:
    """Return what a user has as arrays, if it is numbers; anything else as it is."""
    x = parsed.get("x")
    if not isinstance(x, list) or not x or not isinstance(x[0], list):
        return parsed
    try:
        return {**parsed, "x": np.array(x, dtype=np.float32)}
    except (TypeError, ValueError):  # said later, where the user's name is known
        return parsed


def _counts(stored: Any, called: str) -> list[tuple[str, int]]:
    lists = [stored.get(key) if isinstance(stored, dict) else None for key in
             ("users", "num_samples", "user_data")]  # fmt: skip
    users, counts, data = lists
    if not (isinstance(users, list) and isinstance(counts, list) and isinstance(data, dict)):
        raise InputError(f"{called} lacks users, num_samples or user_data: it is no file of LEAF's")
    if len(users) != len(counts) or len(users) != len(data):
        numbers = f"{len(users)} users, {len(counts)} num_samples and {len(data)} user_data"
        raise InputError(f"{called} holds {numbers}: they must be as many")
    return [(str(user), count) for user, count in zip(users, counts, strict=True)]


def _images(of: str, x: Any, y: Any) -> _Held:
    if not isinstance(x, np.ndarray) or x.shape[1:] != (_SIDE * _SIDE,):
        raise InputError(f"{of} has an x that is not {_SIDE * _SIDE} numbers for each sample")
    if not bool(((x >= 0) & (x <= 1)).all()):
        raise InputError(f"{of} has pixels that are not from 0 to 1")
    if not all(type(label) is int for label in y):
        raise InputError(f"{of} has a y that is not an integer for each sample")
    ink = np.rint(255 * (1 - x)).astype(np.uint8).reshape(-1, 1, _SIDE, _SIDE)
    return _Held(ink, in_range(y, len(_NAMES), of))


def _windows(of: str, x: Any, y: Any) -> _Held:
    for text, following in zip(x, y, strict=True):
        if not isinstance(text, str) or len(text) != LENGTH:
            raise InputError(f"{of} has an x that is not a text of {LENGTH} characters")
        if not isinstance(following, str) or not following:
            raise InputError(f"{of} has a y that is not the character that follows")
    codes = characters("".join(text + following[0] for text, following in zip(x, y, strict=True)))
    return _Held(codes.reshape(-1, LENGTH + 1), np.empty((len(x), 0), dtype=np.int64))


def _stacked(users: Mapping[str, _Held]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    x, y = zip(*users.values(), strict=True)
    return np.concatenate(x), np.concatenate(y)


def _owner(users: Mapping[str, _Held]) -> NDArray[np.int64]:
    return np.repeat(
        np.arange(len(users), dtype=np.int64), [len(held.x) for held in users.values()]
    )
