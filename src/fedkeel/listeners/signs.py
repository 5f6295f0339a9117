"""Numbers as signs for a terminal: a curve in one line, a clock."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int, top: float) -> str:
    """Draw numbers from 0 to ``top`` as blocks, thinned to a width.

    >>> sparkline([0.0, 0.25, 0.5], 8, 0.5)
    '▁▅█'
    """
    if not values or top <= 0:
        return ""
    step = max(1.0, len(values) / width)
    thinned = [values[min(int(i * step), len(values) - 1)] for i in range(min(width, len(values)))]
    return "".join(
        _BLOCKS[min(int(max(v, 0.0) / top * len(_BLOCKS)), len(_BLOCKS) - 1)] for v in thinned
    )


def clock(seconds: float) -> str:
    """Write a duration as a clock would.

    >>> clock(75), clock(7322)
    ('1:15', '2:02:02')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
