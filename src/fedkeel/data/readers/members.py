"""What zip and tar archives list, in one form, and which of it is refused as hostile."""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, cast

from ...errors import InputError
from .sound import CHUNK

_NAMES = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
_LONGEST = 1 << 20
_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")


class Member(NamedTuple):
    """An entry of an archive.

    Attributes:
        name: The path as the archive says it.
        size: How many bytes it says that it holds.
        is_folder: Whether it is a folder.
        is_file: Whether it is a file, and no link or device.
        open: Opens it.
    """

    name: str
    size: int
    is_folder: bool
    is_file: bool
    open: Callable[[], BinaryIO]


class _Modest(tarfile.TarInfo):
    """A header whose names are no longer than names are: they are read as a whole."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _NAMES and self.size > _LONGEST:
            raise tarfile.ReadError("a name of millions of letters")
        inner: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return inner


def is_archive(name: str) -> bool:
    """Tell by its name whether a file is an archive of files."""
    return name.lower().endswith(_SUFFIXES)


@contextmanager
def members(file: BinaryIO) -> Iterator[Iterator[Member]]:
    """List an archive in its order, while the block runs.

    A zip is told by its first bytes, not by its name; all else must be a tar, packed or not.

    Args:
        file: The archive, from its start.
    """
    first = file.read(2)
    file.seek(0)
    if first == b"PK":
        with zipfile.ZipFile(file) as zipped:
            yield (_of_zip(zipped, info) for info in zipped.infolist())
    else:
        with tarfile.open(fileobj=file, mode="r:*", tarinfo=_Modest) as tarred:
            yield _of_tar(tarred)


def _of_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0: the archive does not say
    plain = kind in (0, stat.S_IFREG) and not info.is_dir()
    return Member(
        info.filename,
        info.file_size,
        info.is_dir() and kind in (0, stat.S_IFDIR),
        plain,
        lambda: cast(BinaryIO, archive.open(info)),
    )


def _of_tar(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        yield Member(info.name, info.size, info.isdir(), info.isreg(), _opener(archive, info))
    _check_end(archive)


def _opener(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, archive.extractfile(info))


def _check_end(archive: tarfile.TarFile) -> None:
    """Read on to the end: a header that is cut or broken looks like it, and sums stand there."""
    file = cast(BinaryIO, archive.fileobj)
    file.seek(archive.offset)
    if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("no end")
    while file.read(CHUNK):
        pass


def inside(member: Member, title: str) -> str:
    """Return the name of a member as a path below the archive, if it is one.

    Args:
        member: The member.
        title: What to call the archive in an error.
    """
    name = member.name
    parts = name.replace("\\", "/").split("/")
    if not parts[0] or ".." in parts or re.match("[A-Za-z]:", name):
        raise InputError(f"{title} holds {name!r}, a path that leads out of it: refused as hostile")
    if not member.is_file and not member.is_folder:
        raise InputError(f"{title} holds {name!r}, a link or a device: refused as hostile")
    return "/".join(part for part in parts if part not in ("", "."))
