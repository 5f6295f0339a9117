"""A part told back as the text that makes it: ``clip(norm=5.0) + gcfed``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from itertools import product
from typing import Any

from .composition import Together, compose
from .errors import InputError
from .names import METHODS, constructor
from .notation import Term, write_term
from .part import Part


def spoken(part: Part) -> str:
    """Return the sum that :func:`fedkeel.method` makes a part of, defaults left out.

    >>> from fedkeel import FedProx, compose, gc_fed
    >>> spoken(compose(FedProx(mu=0.5), gc_fed(head="fc2")))
    'fedprox(mu=0.5) + gcfed(head="fc2")'
    """
    rest = list(compose(part).parts)
    terms: list[str] = []
    while rest:
        term, length = _first(rest)
        terms.append(write_term(term))
        rest = rest[length:]
    return " + ".join(terms) or "fedavg"


def _first(parts: Sequence[Part]) -> tuple[Term, int]:
    """Return the method that a list of parts begins with, and how many of them it is.

    The longest is taken: GC-Fed is two parts, the first of which could stand alone.
    """
    for length in range(min(2, len(parts)), 0, -1):
        whole = Together(tuple(parts[:length]))
        for entry in METHODS:
            build = constructor(entry.name)
            for options in _attempts(build, _numbers(whole)):
                if _made(build, options) == whole:
                    return Term(entry.name, options), length
    kind = type(parts[0])
    return Term(f"{kind.__module__}:{kind.__qualname__}", _plain(_fields(parts[0]))), 1


def _attempts(build: Callable[..., Any], held: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the options that could have made a part in which these values stand."""
    named = signature(build).parameters
    choices = {
        name: list(dict.fromkeys([p.default, *held.get(name, []), *_EXTRA.get(name, [])]))
        for name, p in named.items()
    }
    for values in product(*choices.values()):
        yield {n: v for n, v in zip(choices, values, strict=True) if v != named[n].default}


_EXTRA: dict[str, list[Any]] = {"server": [False], "scope": ["non_local"]}


def _numbers(value: Any) -> dict[str, list[Any]]:
    """Collect the fields of a tree of dataclasses by name; a head's names are an option too."""
    held = _fields(value)
    found = {name: [plain] for name, plain in _plain(held).items()}
    names = held.get("names")
    if names:
        found["head"] = [names[0] if len(names) == 1 else names]
    for inner in value if isinstance(value, tuple) else held.values():
        for name, values in _numbers(inner).items():
            found.setdefault(name, []).extend(values)
    return found


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; of anything else, none."""
    if not is_dataclass(value):
        return {}
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _made(build: Callable[..., Any], options: Mapping[str, Any]) -> Together | None:
    try:
        return compose(build(**options))
    except InputError:
        return None


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in options.items() if isinstance(v, bool | int | float | str)}
