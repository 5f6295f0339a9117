"""A run written down: keys, defaults, checks, TOML, KEY=VALUE, and what they stand for."""

from __future__ import annotations

from .job import Job, build
from .keys import KEYS, Key
from .resolution import resolve
from .written import Recipe

__all__ = ["KEYS", "Job", "Key", "Recipe", "build", "resolve"]
