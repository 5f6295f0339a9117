"""A file on its way here: what there is of it, and its checksum so far."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ...errors import InputError

BLOCK = 1 << 18


@dataclass(frozen=True)
class Remote:
    """A file at its publisher's address.

    Attributes:
        url: The address.
        file: What the file is called here.
        md5: Its published checksum.
        sha256: The same, by the better function, where it is published.
        size: Its bytes, for a progress bar where the server does not say.
    """

    url: str
    file: str
    md5: str = ""
    sha256: str = ""
    size: int | None = None

    @property
    def checksum(self) -> str:
        """The better of its checksums; empty: none is published."""
        return self.sha256 or self.md5

    def digest(self) -> hashlib._Hash:
        """Return an empty sum of that kind."""
        return hashlib.sha256() if self.sha256 else hashlib.md5(usedforsecurity=False)


class Arrival:
    """What there is of a file.

    Attributes:
        bytes: How many bytes of it are here.
    """

    def __init__(self, file: BinaryIO, remote: Remote) -> None:
        """Go on with what a file holds."""
        self._file, self._remote = file, remote
        self._begin()
        file.seek(0)
        while block := file.read(BLOCK):
            self._count(block)

    def _begin(self) -> None:
        self.bytes = 0
        self._digest = self._remote.digest()

    def _count(self, block: bytes) -> None:
        self.bytes += len(block)
        self._digest.update(block)

    def restart(self) -> None:
        """Throw away what is here."""
        self._file.truncate(0)
        self._begin()

    def add(self, block: bytes) -> None:
        """Write down what came."""
        try:
            self._file.write(block)
        except OSError as error:
            raise InputError(f"'{self._file.name}' cannot be written: {error.strerror}") from error
        self._count(block)

    @property
    def right(self) -> bool:
        """Whether this is the whole file, as far as its checksum can tell."""
        return self._digest.hexdigest() == self._remote.checksum


@contextmanager
def own(part: Path) -> Iterator[BinaryIO]:
    """Open a partial file for this process alone, to read and to add to it."""
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        file = part.open("a+b")
    except OSError as error:
        raise InputError(f"'{part}' cannot be written: {error.strerror}") from error
    try:
        with file:
            if sys.platform != "win32":
                _lock(file, part)
            yield file
    finally:
        if part.is_file() and not part.stat().st_size:
            part.unlink()


def _lock(file: BinaryIO, part: Path) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(f"'{part}' is being fetched by another process: wait for it") from error
    except OSError:
        return  # some network drives know no locks; the checksum still decides
