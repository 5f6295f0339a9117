"""Bringing a data set onto this machine: from what lies about, or from its publisher."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .arrival import Remote
from .catalogue import DATASETS
from .conformity import check_published
from .entry import Entry
from .fetch import fetch
from .places import Place, absent, arrays, at, find, writable
from .store import is_whole, write

_log = logging.getLogger(__name__)

Begin = Callable[[Remote], Callable[[int, int | None], None]]


class Obtained(NamedTuple):
    """Where a data set lies now, and whether it lay there before."""

    place: Place
    before: bool


def obtain(entry: Entry, source: Path | None = None, begin: Begin | None = None) -> Obtained:
    """Store a data set in the first folder of data sets that can be written to.

    What is on this machine is not fetched again. Archives that were fetched are removed once
    their content is stored, unless another data set is read from the same one.

    Args:
        entry: The data set.
        source: A file or folder to take it from; else what lies about, else its publisher.
        begin: Told each file before it is fetched; returns what is told how far it is.
    """
    asked = None if source is None else at(entry, source)
    found = find(entry)
    if found and (found.kind == "package" or (found.kind == "stored" and is_whole(found.path))):
        return Obtained(found, before=True)
    if asked is not None:
        return _stored(entry, asked)
    if found and found.kind != "stored":  # a stored one that is damaged is made anew
        return _stored(entry, found)
    return _fetched(entry, begin)


def _stored(entry: Entry, place: Place) -> Obtained:
    raw = arrays(entry, place)
    check_published(entry, raw, place.path)
    return Obtained(Place("stored", write(writable(), entry.name, raw)), before=False)


def _fetched(entry: Entry, begin: Begin | None) -> Obtained:
    if not entry.files:
        raise absent(entry)
    home = entry.home(writable())
    new = [remote for remote in entry.files if not (home / remote.file).is_file()]
    for remote in entry.files:
        if begin is None or remote not in new:
            fetch(remote, home)
        else:
            fetch(remote, home, begin(remote))
    path = home if len(entry.files) > 1 else home / entry.files[0].file
    _log.info("reading %s", path)
    obtained = _stored(entry, Place("official", path))
    for remote in new:
        if not _is_shared(remote):
            (home / remote.file).unlink(missing_ok=True)
    return obtained


def _is_shared(remote: Remote) -> bool:
    return sum(remote in entry.files for entry in DATASETS.values()) > 1
