"""What the value of a key may be, and how to say so in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..errors import InputError, nearest
from ..notation import Value, write_value
from ..schedule import parse


class Kind(NamedTuple):
    """A set of allowed values.

    Attributes:
        allowed: The set in words, to stand after "it must be".
        read: Gives the value in its own type, or None when it is not allowed.
        words: The set itself where it is an enumeration.
        later: Words that a later version knows.
    """

    allowed: str
    read: Callable[[Value], Value | None]
    words: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def check(self, name: str, value: Value) -> Value:
        """Return the value in its own type, or raise with what is allowed."""
        found = self.read(value)
        if found is not None:
            return found
        if value in self.later:
            raise InputError(
                f"{name}={write_value(value)} is not in this version: it must be {self.allowed}"
            )
        close = nearest(value, self.words) if isinstance(value, str) else None
        hint = f" (did you mean '{close}'?)" if close and close != value else ""
        raise InputError(
            f"{name}={write_value(value)} is not allowed: it must be {self.allowed}{hint}"
        )


def integer(low: int, allowed: str = "", high: int = (1 << 63) - 1) -> Kind:
    """Allow integers from ``low`` to ``high``, which is what 63 bits hold."""

    def read(value: Value) -> Value | None:
        return value if type(value) is int and low <= value <= high else None

    return Kind(allowed or f"an integer >= {low}", read)


def number(allowed: str, holds: Callable[[float], bool]) -> Kind:
    """Allow finite numbers for which a condition holds; integers become floats."""

    def read(value: Value) -> Value | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            found = float(value)
        except OverflowError:  # an integer beyond all floats
            return None
        return found if math.isfinite(found) and holds(found) else None

    return Kind(allowed, read)


def choice(words: str, later: str = "") -> Kind:
    """Allow some words."""
    known = tuple(words.split())

    def read(value: Value) -> Value | None:
        return value if isinstance(value, str) and value in known else None

    return Kind(either(known), read, known, tuple(later.split()))


def text(allowed: str = "text") -> Kind:
    """Allow any text."""
    return Kind(allowed, lambda value: value if isinstance(value, str) else None)


def _flag(value: Value) -> Value | None:
    return value if isinstance(value, bool) else None


def _cohort(value: Value) -> Value | None:
    if type(value) is int:
        return value if value >= 1 else None
    return value if type(value) is float and 0 < value <= 1 else None


def _schedule(value: Value) -> Value | None:
    try:
        parse(str(value))
    except InputError:
        return None
    return value if isinstance(value, str) else None


def _compile(value: Value) -> Value | None:
    return value if isinstance(value, bool) or value == "auto" else None


def _rate(value: Value) -> Value | None:
    if isinstance(value, list):
        several = [SHARE.read(item) for item in value]
        fine = [item for item in several if item is not None]
        return fine if fine and len(fine) == len(several) else None
    if not isinstance(value, dict):
        return SHARE.read(value)
    if value.keys() != {"low", "high"}:
        return None
    low, high = SHARE.read(value["low"]), SHARE.read(value["high"])
    if not isinstance(low, float) or not isinstance(high, float) or low > high:
        return None
    return {"low": low, "high": high}


def _classes(value: Value) -> Value | None:
    alike = isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
    return value if alike else None


def _words(allowed: tuple[str, ...]) -> Callable[[Value], Value | None]:
    def read(value: Value) -> Value | None:
        return value if isinstance(value, list) and all(w in allowed for w in value) else None

    return read


def words(allowed: str) -> Kind:
    """Allow lists of some words."""
    known = tuple(allowed.split())
    return Kind(f"a list of {either(known)}", _words(known))


def either(words: tuple[str, ...]) -> str:
    """Join words for a sentence.

    >>> either(("keep", "drop", "pad"))
    'keep, drop or pad'
    """
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


FLAG = Kind("true or false", _flag, ("true", "false"))
COHORT = Kind("an integer >= 1, or a float in (0, 1] for their share (1.0 is all)", _cohort)
SCHEDULE = Kind(
    "constant, or as exponential(0.998), halve(10), cosine(250) with a number > 0",
    _schedule,
    ("constant", "exponential(0.998)", "halve(10)", "cosine(250)"),
)
COMPILE = Kind("auto, true or false", _compile, ("auto", "true", "false"))
POSITIVE = number("a number > 0", lambda x: x > 0)
NOT_NEGATIVE = number("a number >= 0", lambda x: x >= 0)
SHARE = number("a number in [0, 1]", lambda x: 0 <= x <= 1)
BELOW_ONE = number("a number in [0, 1)", lambda x: 0 <= x < 1)
CONCENTRATION = number("a number from 1e-6 to 1e9", lambda x: 1e-6 <= x <= 1e9)
ANGLE = number("degrees in [0, 180]", lambda x: 0 <= x <= 180)
RATE = Kind("a number in [0, 1], a list of one a client, or {low = a, high = b} with a <= b", _rate)
CLASSES = Kind("a list of classes, integers >= 0", _classes)
