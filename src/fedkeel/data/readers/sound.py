"""Reading what others made: every kind of damage, and every excess, becomes one line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from ...errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20


@contextmanager
def sound(called: str) -> Iterator[None]:
    """Turn whatever fails in the block into an ``InputError`` that names the file.

    Args:
        called: What the file is called, with quotes.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # archives, codecs and parsers raise dozens of kinds
        raise InputError(f"{called} cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return error.strerror.lower()
    if isinstance(error, MemoryError):
        return "it does not fit in memory"
    return f"it is damaged or something else ({type(error).__name__})"


def too_large(called: str, limit: int) -> InputError:
    """Build the error for a file that holds, or says it holds, more than is ever read."""
    return InputError(f"{called} is larger than {limit} bytes unpacked: it is refused")


def content(stream: BinaryIO, called: str, limit: int) -> bytes:
    """Return all that a stream holds, unless it is more than the limit.

    Args:
        stream: Where to read.
        called: What it is called in an error.
        limit: How many bytes it may hold.
    """
    parts, total = [], 0
    with sound(called):
        while chunk := stream.read(CHUNK):
            total += len(chunk)
            if total > limit:
                raise too_large(called, limit)
            parts.append(chunk)
    return b"".join(parts)


class Guarded(io.RawIOBase):
    """A stream that goes on as long as what comes is sound and not beyond a limit."""

    def __init__(
        self, stream: BinaryIO, called: str, limit: int, release: Callable[[], object]
    ) -> None:
        """Watch over a stream.

        Args:
            stream: Where to read.
            called: What it is called in an error.
            limit: How many bytes it may hold.
            release: Called when this is closed.
        """
        super().__init__()
        self._stream, self._called = stream, called
        self._limit, self._left = limit, limit
        self._release = release

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer as far as there is something."""
        view = memoryview(buffer).cast("B")
        with sound(self._called):
            chunk = self._stream.read(len(view))
        self._left -= len(chunk)
        if self._left < 0:
            raise too_large(self._called, self._limit)
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Let go of the stream and of what it lies in."""
        if not self.closed:
            self._release()
        super().close()
