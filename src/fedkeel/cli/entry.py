"""The way in and out of the command line: exit codes, a line for each error, signals, messages."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .endings import DONE, INTERRUPTED, ending

_log = logging.getLogger("fedkeel")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Codes: 0 done; 1 a check that failed, or an unexpected error; 2 wrong input; 3 the run
    diverged; 130 interrupted or terminated.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"] or ["--help"]
    with _messages(debug), _termination():
        try:
            return _command(words)
        except BaseException as error:
            if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
                return _reader_gone()
            if debug:
                traceback.print_exc()
            code, line = ending(error)
            if line:
                _log.error("%s", " ".join(line.split()))
            return code


def script() -> None:
    """Run the command that the shell was given, and leave with its exit code."""
    raise SystemExit(main())


def _command(words: list[str]) -> int:
    from typer.main import get_command

    from .app import app

    code = get_command(app).main(args=words, prog_name="fedkeel", standalone_mode=False)
    sys.stdout.flush()
    if code == INTERRUPTED:  # the parser catches Ctrl-C and keeps silent
        raise KeyboardInterrupt
    return code if isinstance(code, int) else DONE


def _reader_gone() -> int:
    """Say nothing more, not even at exit, to a reader that has had enough, as ``head`` has."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


class _ToStandardError(logging.Handler):
    """Write messages to what standard error is by then, so that a live display can catch them.

    A notice is given once: twelve runs with the same one say it in one line.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if record.levelno >= logging.ERROR or line not in self._said:
            self._said.add(line)
            print(line, file=sys.stderr)


class _Line(logging.Formatter):
    """Name the program before a complaint, and nothing before a plain message."""

    def format(self, record: logging.LogRecord) -> str:
        plain = record.levelno <= logging.INFO
        return record.getMessage() if plain else f"fedkeel: {record.getMessage()}"


@contextmanager
def _messages(debug: bool) -> Iterator[None]:
    handler, level, spreads = _ToStandardError(), _log.level, _log.propagate
    handler.setFormatter(_Line())
    _log.addHandler(handler)
    _log.setLevel(logging.DEBUG if debug else logging.INFO)
    _log.propagate = False
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.setLevel(level)
        _log.propagate = spreads


@contextmanager
def _termination() -> Iterator[None]:
    """Let SIGTERM, and a terminal that closes, end a command as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt("terminated")

    before: dict[signal.Signals, Any] = {}
    try:
        for name in ("SIGTERM", "SIGHUP"):
            known = signal.Signals.__members__.get(name)
            if known and signal.getsignal(known) is not signal.SIG_IGN:  # as nohup sets it
                before[known] = signal.signal(known, stop)
    except ValueError:  # not in the main thread, where signals do not arrive
        pass
    try:
        yield
    finally:
        for known, handler in before.items():
            signal.signal(known, handler)
