"""How values print: what they are, and what is not as usual."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any


def shown(value: Any) -> str:
    """Print a dataclass with the fields that are not at their defaults.

    >>> from fedkeel.transforms import Centralise
    >>> Centralise(center_1d=True)
    Centralise(center_1d=True)
    """
    told = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}({', '.join(told)})"
