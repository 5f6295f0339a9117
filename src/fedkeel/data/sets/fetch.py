"""Fetching a file from its publisher: gone on with where it stopped, checked as it arrives."""

from __future__ import annotations

import os
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from ...errors import InputError
from .arrival import BLOCK, Arrival, Remote, own

Progress = Callable[[int, int | None], None]

_TIMEOUT = 30.0  # seconds without a byte
_CUTS = 5  # connections that may end early before one gives up


def fetch(remote: Remote, folder: Path, progress: Progress = lambda done, total: None) -> Path:
    """Fetch a file into a folder, unless it is there, and return its path.

    What arrives lies in ``FILE.part`` until it is whole and its checksum is right, so a file of its
    own name is never half a file; the next call goes on where this one was stopped.

    Args:
        remote: What to fetch.
        folder: Where to; made if it is missing.
        progress: Told the bytes that are here and those there will be, if that is known.
    """
    target = folder / remote.file
    part = folder / f"{remote.file}.part"
    if target.is_file():
        return _present(remote, target)
    with own(part) as file:
        right = _arrive(remote, Arrival(file, remote), folder, progress)
        if right:
            file.flush()
            os.replace(part, target)
    if not right:
        part.unlink(missing_ok=True)
        raise InputError(
            f"'{remote.file}' came from {_host(remote)} with another checksum than the published "
            f"one and was removed: try again later, or {_by_hand(remote, folder)}"
        )
    return target


def _arrive(remote: Remote, arrival: Arrival, folder: Path, progress: Progress) -> bool:
    """Receive until the file is whole; tell whether it is the right one."""
    if arrival.bytes and arrival.right:  # stopped between the last byte and the renaming
        return True
    resumed = arrival.bytes > 0
    for _ in range(_CUTS):
        if _receive(remote, arrival, folder, progress):
            break
    else:
        raise InputError(
            f"the connection to {_host(remote)} ended early {_CUTS} times: what came is kept and "
            f"the same command goes on from there, or {_by_hand(remote, folder)}"
        )
    if resumed and remote.checksum and not arrival.right:
        arrival.restart()  # what lay here was of another file
        return _arrive(remote, arrival, folder, progress)
    return arrival.right or not remote.checksum


def _receive(remote: Remote, arrival: Arrival, folder: Path, progress: Progress) -> bool:
    """Receive over one connection; tell whether the file is whole now."""
    from urllib.error import HTTPError

    try:
        with _ask(remote, arrival.bytes) as response:
            if not _goes_on(response, arrival.bytes):
                arrival.restart()
            total = _total(response, arrival.bytes) or remote.size
            progress(arrival.bytes, total)
            while block := response.read(BLOCK):
                arrival.add(block)
                progress(arrival.bytes, total)
            return total is None or arrival.bytes >= total
    except HTTPError as error:
        error.close()
        if error.code == 416 and arrival.bytes:  # it ends before the place that was asked for
            arrival.restart()
            return False
        raise InputError(
            f"{_host(remote)} answered {error.code} {error.reason}: {_by_hand(remote, folder)}"
        ) from error
    except (OSError, HTTPException) as error:
        if arrival.bytes and not _unreachable(error):
            return False
        raise InputError(
            f"{_host(remote)} cannot be reached ({_reason(error)}): {_by_hand(remote, folder)}"
        ) from error


def _ask(remote: Remote, start: int) -> HTTPResponse:
    from urllib.request import Request, urlopen

    headers = {"User-Agent": "fedkeel"} | ({"Range": f"bytes={start}-"} if start else {})
    response: HTTPResponse = urlopen(Request(remote.url, headers=headers), timeout=_TIMEOUT)
    return response


def _goes_on(response: HTTPResponse, start: int) -> bool:
    """Tell whether a server sends the rest alone; one that knows no ranges sends all again."""
    said = response.headers.get("Content-Range", "")
    return not start or (response.status == 206 and said.startswith(f"bytes {start}-"))


def _total(response: HTTPResponse, start: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    return start + int(length) if length.isdecimal() else None


def _unreachable(error: Exception) -> bool:
    """Tell a connection that was never made from one that broke."""
    from urllib.error import URLError

    return isinstance(error, URLError)


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", "") or error or type(error).__name__).split())


def _host(remote: Remote) -> str:
    from urllib.parse import urlsplit

    return urlsplit(remote.url).netloc


def _by_hand(remote: Remote, folder: Path) -> str:
    return f"fetch {remote.url} by hand and put it into '{folder}', or say where it is with --from"


def _present(remote: Remote, path: Path) -> Path:
    if not remote.checksum:
        return path
    with path.open("rb") as file:
        if Arrival(file, remote).right:
            return path
    raise InputError(
        f"'{path}' is not the file that was published, its checksum differs: remove it, and run "
        "the command again"
    )
