"""Where the commands write: results to standard output, and nothing wider than is pleasant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def output(most: int | None = None) -> Console:
    """Return a console on standard output, at most so many columns wide."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    if most is not None and console.width > most:
        return Console(file=sys.stdout, width=most)
    return console
