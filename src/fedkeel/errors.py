"""What can go wrong, said in one sentence: what was wrong, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from numbers import Real


class InputError(ValueError):
    """The user's input cannot be right; the message is one line and says what would be."""


class Diverged(RuntimeError):
    """A run left the finite numbers; everything up to that round is kept.

    Attributes:
        round: The round that was not merged.
        detail: What was not finite.
    """

    def __init__(self, round: int, detail: str) -> None:
        """Say in which round, and what."""
        super().__init__(f"diverged in round {round}: {detail}")
        self.round = round
        self.detail = detail

    def __reduce__(self) -> tuple[type[Diverged], tuple[int, str]]:
        """Survive the way to another process."""
        return type(self), (self.round, self.detail)


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed spelling that is most like ``word``, if one is.

    >>> nearest("lennet", ["mlp", "lenet"])
    'lenet'
    """
    spellings = {name.lower(): name for name in allowed}
    close = get_close_matches(word.lower(), spellings, n=1, cutoff=0.6)
    return spellings[close[0]] if close else None


def unknown(what: str, value: str, allowed: Iterable[str]) -> InputError:
    """Build the error for a word that is not among those allowed.

    >>> print(unknown("model", "lennet", ["mlp", "lenet"]))
    unknown model 'lennet': did you mean 'lenet'? Allowed: mlp, lenet
    """
    names = list(allowed)
    close = nearest(value, names)
    hint = f"did you mean '{close}'? " if close else ""
    return InputError(f"unknown {what} '{value}': {hint}Allowed: {', '.join(names)}")


def require(holds: bool, name: str, value: object, allowed: str) -> None:
    """Raise unless a value is in its range.

    >>> require(False, "mu", -1, "a number >= 0")
    Traceback (most recent call last):
    fedkeel.errors.InputError: mu=-1 is out of range: it must be a number >= 0
    """
    if not holds:
        raise InputError(f"{name}={value!r} is out of range: it must be {allowed}")


def number(name: str, value: object, allowed: str, holds: Callable[[float], bool]) -> None:
    """Raise unless a value is a number in its range; true and false are none.

    >>> number("mu", 0.1, "a number >= 0", lambda mu: mu >= 0)
    """
    plain = isinstance(value, Real) and not isinstance(value, bool)
    require(plain and holds(float(value)), name, value, allowed)  # type: ignore[arg-type]


def flag(name: str, value: object) -> None:
    """Raise unless a value is true or false."""
    require(isinstance(value, bool), name, value, "true or false")
