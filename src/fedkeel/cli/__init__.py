"""The command line: one file per command that parses, calls and prints."""

from __future__ import annotations

from .entry import main, script

__all__ = ["main", "script"]
