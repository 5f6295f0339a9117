"""The files of one data set, wherever they lie: loose, in archives, in archives in a folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ...errors import InputError, nearest
from .containers import Archive, Container, Files, Opener, folder
from .members import is_archive
from .packing import unpack, unpacked
from .sound import CHUNK, Guarded, content

LIMIT = 4 << 30
_NESTED = 2


class _Item(NamedTuple):
    """A file: its place, its name there, its path in the bundle, and its members' path before."""

    place: Container
    name: str
    path: str
    prefix: str


class Piece(NamedTuple):
    """A file that was read.

    Attributes:
        path: Its path in the bundle, without ``.gz`` and the like.
        called: What to call it in an error.
        data: What it holds, unpacked.
    """

    path: str
    called: str
    data: bytes


class Bundle:
    """Files that are found by the end of their path, so that folders round them do not matter.

    Nothing is written to disk. A file that lies loose is taken before one in an archive, and one
    that is not packed before ``x.gz``, ``x.xz`` or ``x.bz2``, which are found as ``x``; hidden
    files are not seen. What is found twice on the same terms, would lead out of its archive, is a
    link or a device in it, or is larger than the limit is refused.
    """

    def __init__(self, title: str, items: list[_Item], limit: int) -> None:
        """Take files; ``Bundle.of`` finds them."""
        self.title = title
        self._limit = limit
        self._known: list[list[_Item]] = []
        self._unopened = self._add(items)

    @classmethod
    def of(cls, path: str | Path, *more: str | Path, limit: int = LIMIT) -> Bundle:
        """Return the files of a folder, an archive or a single file, or of several of these.

        Args:
            path: The folder, archive or file.
            more: Further ones that belong to it.
            limit: How many bytes a file may hold, unpacked.
        """
        paths = [Path(entry) for entry in (path, *more)]
        items = [item for entry in paths for item in _items(entry, limit)]
        return cls(", ".join(f"'{entry}'" for entry in paths), items, limit)

    def names(self) -> tuple[str, ...]:
        """Return the paths of all files, those in archives included, archives left out."""
        return tuple(item.path for items in self._shelves() for item in items)

    def has(self, suffix: str) -> bool:
        """Tell whether there is a file whose path ends so, on whole components."""
        paths = (item.path for items in self._shelves() for item in items)
        return any(_ends(path, suffix) or _ends(unpacked(path), suffix) for path in paths)

    def called(self, path: str) -> str:
        """Return what to call a file in an error: its path, and the archive it lies in."""
        item = self._item(path)
        return item.place.called(item.name)

    def open(self, suffix: str) -> BinaryIO:
        """Open the file whose path ends so; closing it closes its archive."""
        item = self._item(suffix)
        streams = item.place.streams({item.name})
        _, stream = next(streams)
        called = item.place.called(item.name)
        raw = Guarded(unpack(item.name, stream), called, self._limit, streams.close)
        return io.BufferedReader(raw, CHUNK)

    def read(self, suffix: str) -> bytes:
        """Return what the file holds whose path ends so."""
        with self.open(suffix) as stream:
            return b"".join(iter(lambda: stream.read(CHUNK), b""))

    def matching(self, wanted: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the paths, without ``.gz`` and the like, that a condition holds for.

        Args:
            wanted: The condition, of the path without ``.gz`` and the like.
        """
        return tuple(self._matching(wanted))

    def walk(self, wanted: Callable[[str], bool]) -> Iterator[Piece]:
        """Yield what ``matching`` returns, read, in the order of the archives.

        An archive is gone through once, however many files are wanted of it.

        Args:
            wanted: The condition, as for ``matching``.
        """
        matches = self._matching(wanted)
        for place in {id(item.place): item.place for item in matches.values()}.values():
            inner = {item.name: path for path, item in matches.items() if item.place is place}
            for name, stream in place.streams(inner.keys()):
                called = place.called(name)
                yield Piece(inner[name], called, content(unpack(name, stream), called, self._limit))

    def _matching(self, wanted: Callable[[str], bool]) -> dict[str, _Item]:
        for items in self._shelves():
            matches: dict[str, _Item] = {}
            for item in items:
                path = unpacked(item.path)
                if wanted(path) and (path not in matches or path == item.path):
                    matches[path] = item
            if matches:
                return matches
        return {}

    def _item(self, suffix: str) -> _Item:
        for items in self._shelves():
            for path_of in (str, unpacked):  # as it is before as it would be unpacked
                found = [item for item in items if _ends(path_of(item.path), suffix)]
                exact = [item for item in found if path_of(item.path) == suffix]
                if len(exact or found) > 1:
                    names = " and ".join(repr(item.path) for item in found[:2])
                    raise InputError(f"{self.title} holds {names}: which '{suffix}' is meant?")
                if found:
                    return (exact or found)[0]
        raise self.missing(suffix)

    def missing(self, suffix: str) -> InputError:
        """Build the error for a file that is needed and not there."""
        names = sorted({path.rpartition("/")[2] for path in self.names()})
        close = nearest(suffix.rpartition("/")[2], names[:1000])
        listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        holds = f"did you mean {close!r}? It holds {listed}" if close else f"it holds {listed}"
        return InputError(f"{self.title} has no '{suffix}': {holds if names else 'it is empty'}")

    def _shelves(self) -> Iterator[list[_Item]]:
        """Yield loose files, then those in archives, then those in archives in archives."""
        for depth in range(_NESTED + 1):
            if depth == len(self._known):
                found = [member for item in self._unopened for member in self._members(item)]
                self._unopened = self._add(found)
            yield self._known[depth]

    def _add(self, items: list[_Item]) -> list[_Item]:
        """Keep files as a shelf of their own, and return the archives among them."""
        self._known.append([item for item in items if not is_archive(item.name)])
        return [item for item in items if is_archive(item.name)]

    def _members(self, item: _Item) -> Iterator[_Item]:
        called = item.place.called(item.name)
        archive = Archive(called, _opener(item, self._limit), self._limit)
        for name in archive.names():
            path = item.prefix + name
            yield _Item(archive, name, path, f"{path}/")


def _items(path: Path, limit: int) -> list[_Item]:
    if path.is_file():
        return [_Item(Files({path.name: path}, limit), path.name, path.name, "")]
    if path.is_dir():
        files = folder(path, limit)
        return [_Item(files, name, name, f"{name}/") for name in files.names()]
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, beside)
    hint = f": did you mean '{path.parent / close}'?" if close else ": check its path"
    raise InputError(f"there is no file or folder '{path}'{hint}")


def _opener(item: _Item, limit: int) -> Opener:
    if isinstance(item.place, Files):
        return item.place.opener(item.name)

    def open_member() -> BinaryIO:
        _, stream = next(streams := item.place.streams({item.name}))
        try:
            return io.BytesIO(content(stream, item.place.called(item.name), limit))
        finally:
            streams.close()

    return open_member


def _ends(path: str, suffix: str) -> bool:
    return path == suffix or path.endswith(f"/{suffix}")
