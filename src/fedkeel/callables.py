"""Options given in text, held against the signature of what they are for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputError, unknown
from .notation import Value

_KINDS = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "Literal": str,
    "list": list,
    "tuple": list,
    "Sequence": list,
    "Iterable": list,
    "dict": dict,
    "Mapping": dict,
}
_SPOKEN = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an inline table",
}


def options(build: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a function or class, by name.

    >>> list(options(defaults))
    ['build', 'but']
    """
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(build).parameters
    return {name: parameter for name, parameter in parameters.items() if parameter.kind in named}


def defaults(build: Callable[..., Any], but: tuple[str, ...] = ()) -> dict[str, Value]:
    """Return the options that have a default that can be written down, with it."""
    found = {
        n: p.default for n, p in options(build).items() if p.default is not p.empty and n not in but
    }
    return {n: list(v) if isinstance(v, tuple) else v for n, v in found.items() if v is not None}


def fitting(
    place: str, build: Callable[..., Any], given: Mapping[str, Value], but: tuple[str, ...] = ()
) -> dict[str, Value]:
    """Hold options against a signature: names always, values where it states plain types.

    Args:
        place: What the options belong to, for the error.
        build: What will be called with them.
        given: The options as they were written.
        but: Parameters that are not the user's to give.
    """
    allowed = {name: p for name, p in options(build).items() if name not in but}
    for name in given:
        if name not in allowed and not allowed:
            raise InputError(f"{place} takes no options, so '{name}' cannot be given")
        if name not in allowed:
            raise unknown(f"option of {place}:", name, allowed)
    return {n: _typed(f"{place}: {n}", v, str(allowed[n].annotation)) for n, v in given.items()}


def _typed(place: str, value: Value, annotation: str) -> Value:
    unquoted = (
        re.sub(r"\"[^\"]*\"|'[^']*'", "", annotation) if "class" not in annotation else annotation
    )
    words = set(re.findall(r"\w+", re.sub(r"\[.*?\]", "", unquoted))) - {"class", "None"}
    kinds = {_KINDS[word] for word in words & _KINDS.keys()}
    if not kinds or words - _KINDS.keys() or type(value) in kinds:
        return value
    if type(value) is int and float in kinds:
        return float(value)
    if type(value) is int and kinds == {str}:
        return str(value)
    allowed = " or ".join(spoken for kind, spoken in _SPOKEN.items() if kind in kinds)
    quoted = f', as in "{value}"' if kinds == {str} else ""
    raise InputError(f"{place}={value!r} is of the wrong type: it must be {allowed}{quoted}")
