"""How a command ends: its exit code and its one line."""

from __future__ import annotations

from ..errors import Diverged, InputError

DONE, FAILED, WRONG_INPUT, DIVERGED, INTERRUPTED = 0, 1, 2, 3, 130


class Interrupted(Exception):
    """A command was told to stop, by Ctrl-C or SIGTERM; the message says what is kept."""


def ending(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error, and its line, empty where nothing is left to say."""
    from typer import Abort, TyperException

    from .parsing import sentence

    match error:
        case TyperException():
            return WRONG_INPUT, sentence(error)
        case InputError():
            return WRONG_INPUT, str(error)
        case Diverged():
            return DIVERGED, str(error)
        case Interrupted():
            return INTERRUPTED, str(error)
        case KeyboardInterrupt() | Abort():
            return INTERRUPTED, "interrupted"
        case SystemExit():
            return error.code if isinstance(error.code, int) else FAILED, ""
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return FAILED, f"unexpected error: {reason}; --debug shows the traceback"
