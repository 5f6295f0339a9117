"""A recipe as a value: its keys in order, as TOML, as a name for a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..names import method_names
from ..notation import Value, write_toml
from .keys import BY_NAME, KEYS, SECTIONS


@dataclass(frozen=True)
class Recipe:
    """A run written down: every key that it uses, in the order of the page, with its value."""

    values: Mapping[str, Value]
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key, as ``recipe["data.alpha"]``."""
        return self.values[key]

    def get(self, key: str, default: Value | None = None) -> Any:
        """Return the value of a key that this recipe may not use."""
        return self.values.get(key, default)

    def table(self, section: str) -> dict[str, Value]:
        """Return one table, without its name before the keys."""
        start = f"{section}."
        return {k.removeprefix(start): v for k, v in self.values.items() if k.startswith(start)}

    def further(self, section: str) -> dict[str, Value]:
        """Return the keys of a table that are not the recipe's own: a function takes them."""
        return {k: v for k, v in self.table(section).items() if f"{section}.{k}" not in BY_NAME}

    def nested(self) -> dict[str, Any]:
        """Return the recipe as the TOML document holds it."""
        top = {
            key: value for key, value in self.values.items() if key in BY_NAME and "." not in key
        }
        return {**top, **{section: self.table(section) for section in SECTIONS}}

    def to_toml(self) -> str:
        """Return the recipe as TOML: reading it gives this recipe again."""
        return write_toml(self.nested())

    @cached_property
    def digest(self) -> str:
        """The first 8 hex digits of the SHA-256 of :meth:`to_toml` in UTF-8."""
        return hashlib.sha256(self.to_toml().encode()).hexdigest()[:8]

    def folder_name(self) -> str:
        """Return what a run's folder is called by default."""
        names = "+".join(method_names(self["method"]))
        data = Path(self["data.name"].rpartition(":")[2]).stem.lower()
        return f"{names}-{data}-s{self['seed']}-{self.digest}"

    def error(self, key: str, message: object) -> InputError:
        """Build an error about a key, with the place that it was written at."""
        return InputError(f"{self.places.get(key, '')}{message}")


def ordered(values: Mapping[str, Any]) -> dict[str, Value]:
    """Put keys in the order of the page, a section's further keys behind its own."""
    ranks = {key.name: rank for rank, key in enumerate(KEYS)}
    sections = ["", *SECTIONS]

    def rank(key: str) -> tuple[int, int, str]:
        section = key.partition(".")[0] if "." in key else ""
        return sections.index(section), ranks.get(key, len(ranks)), key

    return {key: values[key] for key in sorted(values, key=rank)}


def is_path(name: str) -> bool:
    """Say whether a data set's name is a path.

    >>> is_path("scans.npz"), is_path("femnist-mini")
    (True, False)
    """
    return "/" in name or name.endswith(".npz")


def is_function(name: str) -> bool:
    """Say whether a data set's name is a user's ``module:function``."""
    return ":" in name and not is_path(name)
