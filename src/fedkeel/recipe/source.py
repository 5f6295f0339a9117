"""What the user gave, in a recipe file and on the command line, each value with its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..notation import Value, read_value
from .keys import SECTIONS


class Given(NamedTuple):
    """A value, where it was written (to stand before an error), and where its paths start."""

    value: Value
    place: str
    folder: Path

    @property
    def on_command_line(self) -> bool:
        """Whether it was given as KEY=VALUE."""
        return not self.place


def given(path: Path | None, words: Iterable[str]) -> dict[str, Given]:
    """Read a recipe file and KEY=VALUE words; a later one wins."""
    return {**(from_file(path) if path else {}), **from_words(words)}


def from_words(words: Iterable[str]) -> dict[str, Given]:
    """Read KEY=VALUE words.

    >>> from_words(["data.alpha=0.05"])["data.alpha"].value
    0.05
    """
    pairs = (_pair(word) for word in words)
    return {key: Given(_value(key, text), "", Path.cwd()) for key, text in pairs}


def from_file(path: Path) -> dict[str, Given]:
    """Read a recipe file; its ``[resolved]`` table is left out."""
    text = _text(path)
    document = _document(path, text)
    document.pop("resolved", None)
    lines = _lines(text)
    folder = path.absolute().parent
    return {
        key: Given(
            _plain(f"{path}:{_line(lines, key)}", key, value),
            f"{path}:{_line(lines, key)}: ",
            folder,
        )
        for key, value in _flat(document)
    }


def _pair(word: str) -> tuple[str, str]:
    key, equals, text = word.partition("=")
    if not equals or not key.strip():
        raise InputError(
            f"'{word}' is neither a recipe file nor KEY=VALUE: write it as data.alpha=0.05"
        )
    return key.strip(), text


def _value(key: str, text: str) -> Value:
    try:
        return read_value(text)
    except InputError as error:
        raise InputError(f"{key}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such recipe file") from None
    except IsADirectoryError:
        hint = (
            f": did you mean '{path / 'recipe.toml'}'?" if (path / "recipe.toml").is_file() else ""
        )
        raise InputError(f"{path} is a folder, not a recipe file{hint}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a recipe: it must be a TOML file in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _document(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", where)
        line = (
            found[1] if found else max(1, len(text.splitlines()))
        )  # else it is the document's end
        raise InputError(f"{path}:{line}: not valid TOML: {what}") from None
    except RecursionError:
        raise InputError(f"{path}: not a recipe: its values are nested too deeply") from None


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if isinstance(value, dict) and (key in SECTIONS or value):
            yield from ((f"{key}.{name}", item) for name, item in value.items())
        else:
            yield key, value


def _plain(place: str, key: str, value: Any) -> Value:
    if isinstance(value, list):
        return [_plain(place, key, item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(place, key, item) for name, item in value.items()}
    if isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"{place}: {key} is a date or a time: write it as text, in quotes")


def _lines(text: str) -> dict[str, int]:
    """Find the line of each key by its look; good enough to point at."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w.\-]+)\s*\]", line):
            section = header[1] + "."
            found.setdefault(header[1], number)
        elif key := re.match(r"\s*([\w.\-]+)\s*=", line):
            found.setdefault(section + key[1], number)
    return found


def _line(lines: Mapping[str, int], key: str) -> int:
    return lines.get(key) or lines.get(key.partition(".")[0]) or 1
