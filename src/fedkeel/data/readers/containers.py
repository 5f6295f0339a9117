"""Where files lie: in a folder, in a zip, in a tar. Each is listed, then read in its own order."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol

from ...errors import InputError
from .members import Member, inside, members
from .sound import sound, too_large

Opener = Callable[[], BinaryIO]
Streams = Generator[tuple[str, BinaryIO], None, None]


class Container(Protocol):
    """Files by name, listed without reading them, and read one after another."""

    def called(self, name: str) -> str:
        """Return what to call a file in an error."""
        ...

    def names(self) -> Collection[str]:
        """Return the names of all files, with ``/`` between folders."""
        ...

    def streams(self, wanted: Collection[str]) -> Streams:
        """Yield the files wanted as they are stored, each open until the next is asked for."""
        ...


class Files:
    """Files on disk, by the names they are to have."""

    def __init__(self, paths: Mapping[str, Path], limit: int) -> None:
        """Take paths by name, and how large a file may be."""
        self._paths = paths
        self._limit = limit

    def called(self, name: str) -> str:
        """Return what to call a file in an error."""
        return f"'{self._paths[name]}'"

    def names(self) -> Collection[str]:
        """Return the names of all files."""
        return self._paths.keys()

    def opener(self, name: str) -> Opener:
        """Return what opens a file."""
        return lambda: self._paths[name].open("rb")

    def streams(self, wanted: Collection[str]) -> Streams:
        """Yield the files wanted."""
        for name, path in self._paths.items():
            if name in wanted:
                with sound(self.called(name)), path.open("rb") as stream:
                    if os.fstat(stream.fileno()).st_size > self._limit:
                        raise too_large(self.called(name), self._limit)
                    yield name, stream


class Archive:
    """The files of a zip or tar archive, of which every path is checked before any file is read."""

    def __init__(self, title: str, opener: Opener, limit: int) -> None:
        """Take what to call the archive, how to open it, and how large a file in it may be."""
        self._title = title
        self._opener = opener
        self._limit = limit

    def called(self, name: str) -> str:
        """Return what to call a file in an error."""
        return f"{name!r} in {self._title}"

    def names(self) -> Collection[str]:
        """Return the names of all files."""
        return self._names

    @cached_property
    def _names(self) -> Collection[str]:
        names: dict[str, None] = {}
        with sound(self._title), self._opener() as file, members(file) as found:
            for name, _ in self._plain(found):
                if name in names:
                    raise InputError(f"{self._title} holds {name!r} twice: it is damaged")
                names[name] = None
        return names.keys()

    def _plain(self, found: Iterator[Member]) -> Iterator[tuple[str, Member]]:
        for member in found:
            name = inside(member, self._title)
            if not member.is_folder and not hidden(name):
                yield name, member

    def streams(self, wanted: Collection[str]) -> Streams:
        """Yield the files wanted."""
        left = len(wanted)
        with sound(self._title), self._opener() as file, members(file) as found:
            for name, member in self._plain(found):
                if name in wanted:
                    if member.size > self._limit:
                        raise too_large(self.called(name), self._limit)
                    with sound(self.called(name)), member.open() as stream:
                        yield name, stream
                    left -= 1
                if not left:
                    return


def hidden(name: str) -> bool:
    """Tell whether a file is none of the data's: dot files, and what macOS puts beside them."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def folder(path: Path, limit: int) -> Files:
    """Return all files below a folder, in order of their names; linked folders are followed.

    Args:
        path: The folder.
        limit: How large a file may be.
    """
    return Files({file.relative_to(path).as_posix(): file for file in _below(path, ())}, limit)


def _below(path: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    with sound(f"'{path}'"):
        here = path.resolve()
        entries = () if here in above else sorted(path.iterdir())  # a link may lead back up
    for entry in entries:
        if hidden(entry.name):
            continue
        if entry.is_dir():
            yield from _below(entry, (*above, here))
        elif entry.is_file():
            yield entry
