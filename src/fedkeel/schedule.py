"""Learning rates that change from round to round.

``constant``, ``exponential(0.998)``, ``halve(10)``, ``cosine(250)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import cos, floor, pi

from .errors import InputError, unknown

_SCHEDULES: dict[str, Callable[[float, int], float]] = {
    "constant": lambda _, t: 1.0,
    "exponential": lambda factor, t: factor**t,
    "halve": lambda every, t: 2.0 ** -floor(t / every),
    "cosine": lambda length, t: 0.5 * (1 + cos(pi * min(t, length) / length)),
}


def rate(schedule: str, round: int) -> float:
    """Return the factor on the learning rate in a round, counted from 0.

    >>> rate("halve(10)", 20), rate("constant", 3)
    (0.25, 1.0)
    """
    name, number = parse(schedule)
    return _SCHEDULES[name](number, round)


def parse(schedule: str) -> tuple[str, float]:
    """Split a schedule into its name and its number, and check both."""
    found = re.fullmatch(r"\s*([a-zA-Z_]+)\s*(?:\(\s*([^()]*?)\s*\))?\s*", str(schedule))
    name, text = found.groups() if found else (str(schedule), None)
    if name not in _SCHEDULES:
        raise unknown(
            "schedule",
            str(schedule),
            ["constant", "exponential(0.998)", "halve(10)", "cosine(250)"],
        )
    if name == "constant" and text is None:
        return name, 1.0
    try:
        number = float(text or "")
    except ValueError:
        number = 0.0
    if name == "constant" or not 0 < number < float("inf"):
        raise InputError(
            f"schedule='{schedule}' cannot be read: constant takes no number, "
            "the others one > 0, as in halve(10)"
        )
    return name, number
