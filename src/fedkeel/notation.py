"""How values and methods are written down: TOML, bare words, sums; read, and written again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import NamedTuple

from .errors import InputError

Value = bool | int | float | str | list["Value"] | dict[str, "Value"]

_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_BARE = re.compile(r"[A-Za-z_][\w.\-]*\Z")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*\Z|[A-Za-z_]\w*\Z")
_OPTION = re.compile(r"[A-Za-z_]\w*\Z")


class Term(NamedTuple):
    """One name of a sum, with its options as written."""

    name: str
    options: dict[str, Value]


def split(text: str, separator: str) -> list[str]:
    """Cut a text at a separator, but not inside brackets or quotes.

    >>> split('fedprox(mu=0.1) + gcfed(head=["a+b", c])', "+")
    ['fedprox(mu=0.1) ', ' gcfed(head=["a+b", c])']
    """
    pieces, start, open_, quote, escaped = [], 0, "", "", False
    for place, char in enumerate(text):
        if quote:
            closes = char == quote and not escaped
            escaped = char == "\\" and quote == '"' and not escaped
            quote = "" if closes else quote
        elif char in "\"'":
            quote = char
        elif char in _BRACKETS:
            open_ += _BRACKETS[char]
        elif open_ and char == open_[-1]:
            open_ = open_[:-1]
        elif char in ")]}":
            raise InputError(f"a '{char}' too many in {text!r}")
        elif char == separator and not open_:
            pieces.append(text[start:place])
            start = place + 1
    if quote or open_:
        raise InputError(f"a closing {quote or open_[-1]} is missing in {text!r}")
    return [*pieces, text[start:]]


def read_value(text: str) -> Value:
    """Read a TOML scalar, list or inline table; anything else is taken as it stands, as a string.

    >>> [read_value(t) for t in ("5", "0.1", "true", "[fc1, fc2]", "halve(10)")]
    [5, 0.1, True, ['fc1', 'fc2'], 'halve(10)']
    """
    text = text.strip()
    found = _toml(text)
    if found is not None:
        return found
    if text.startswith("[") and text.endswith("]"):
        items = split(text[1:-1], ",")
        return [read_value(item) for item in items if item.strip()]
    if text[:1] in ("'", '"', "{", "["):
        raise InputError(f"{text} is not a TOML value: check its quotes and brackets")
    return text


def read_sum(text: str) -> tuple[Term, ...]:
    """Read a sum of methods, ``NAME[(key=value, ...)] [+ ...]``.

    >>> read_sum("clip + gcfed(head=fc2)")
    (Term(name='clip', options={}), Term(name='gcfed', options={'head': 'fc2'}))
    """
    try:
        return tuple(_term(piece.strip(), text) for piece in split(text, "+"))
    except InputError as error:
        raise InputError(f"method: {error}") from error


def write_value(value: object) -> str:
    """Write a value as TOML, so that reading gives it back exactly.

    >>> write_value([0.1, 1, True, "a"])
    '[0.1, 1, true, "a"]'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return int.__repr__(value)  # a subclass, as NumPy's, may print itself otherwise
        case float():
            return float.__repr__(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            pairs = ", ".join(f"{_key(k)} = {write_value(v)}" for k, v in value.items())
            return f"{{{pairs}}}"
        case list() | tuple():
            return f"[{', '.join(map(write_value, value))}]"
    raise InputError(
        f"{value!r} cannot be written as TOML: use text, numbers, true, false or lists of them"
    )


def write_toml(document: Mapping[str, object]) -> str:
    """Write a nested mapping as TOML: plain keys first, then a table for each mapping."""
    plain = [
        f"{_key(k)} = {write_value(v)}" for k, v in document.items() if not isinstance(v, Mapping)
    ]
    tables = [
        "\n".join([f"[{_key(name)}]", *(f"{_key(k)} = {write_value(v)}" for k, v in table.items())])
        for name, table in document.items()
        if isinstance(table, Mapping)
    ]
    return "\n\n".join(["\n".join(plain), *tables] if plain else tables) + "\n"


def write_term(term: Term) -> str:
    """Write one name with its options, as :func:`read_sum` reads it.

    >>> write_term(Term("fedprox", {"mu": 0.1}))
    'fedprox(mu=0.1)'
    """
    options = ", ".join(f"{key}={write_value(value)}" for key, value in term.options.items())
    return f"{term.name}({options})" if options else term.name


def _toml(text: str) -> Value | None:
    if "\n" in text:
        return None
    try:
        values = tomllib.loads(f"values = [{text}]")["values"]  # the bracket rules out a comment
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    known = len(values) == 1 and isinstance(values[0], bool | int | float | str | list | dict)
    return values[0] if known else None


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w\-]+", name, re.ASCII) else write_value(name)


def _term(piece: str, whole: str) -> Term:
    if not piece:
        raise InputError(
            f"a method is missing in {whole!r}: write NAME or NAME(key=value), joined by +"
        )
    name, bracket, rest = piece.partition("(")
    name = name.strip()
    if not _NAME.match(name):
        raise InputError(f"{name!r} cannot be a name: write NAME or dotted.module:Attribute")
    if bracket and not rest.endswith(")"):
        raise InputError(f"{piece!r} does not end after its options: join methods by +")
    return Term(name, _options(name, rest[:-1]) if bracket else {})


def _options(name: str, text: str) -> dict[str, Value]:
    options: dict[str, Value] = {}
    for piece in split(text, ",") if text.strip() else []:
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not value or not _OPTION.match(key):
            raise InputError(
                f"{name}({text}): write its options as key=value, not {piece.strip()!r}"
            )
        if key in options:
            raise InputError(f"{name}({text}): the option {key!r} is given twice")
        options[key] = _option(f"{name}({key}={value})", value)
    return options


def _option(place: str, text: str) -> Value:
    value = read_value(text)
    plain = isinstance(value, str) and _toml(text) is None
    if plain and not _BARE.match(text):
        raise InputError(
            f"{place}: the value is neither a number, true, false, a list, a word nor quoted"
        )
    return value
