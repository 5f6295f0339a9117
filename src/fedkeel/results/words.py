"""Numbers and lists as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..notation import write_value

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
_SMALL = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def number(value: float, digits: int = 1) -> str:
    """Write a number with fixed digits and a true minus.

    >>> number(1.26, 1), number(12345.0, 0)
    ('1.3', '12,345')
    """
    return f"{value:,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 1) -> str:
    """Write a difference, always with its sign.

    >>> signed(3.14159)
    '+3.1'
    """
    return f"{value:+,.{digits}f}".replace("-", MINUS)


def digits_for(values: Sequence[float]) -> int:
    """Choose the digits after the point that show the largest value to four figures.

    >>> digits_for([0.1234]), digits_for([51.2]), digits_for([20480.0])
    (4, 2, 0)
    """
    size = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    return 4 if size == 0 else min(6, max(0, 3 - math.floor(math.log10(size))))


def spread(center: float, std: float | None, digits: int) -> str:
    """Write mean ± std, or the mean alone where there is no std."""
    return number(center, digits) + (f" ± {number(std, digits)}" if std is not None else "")


def p_value(p: float | None) -> str:
    """Write a p-value to two figures.

    >>> p_value(0.0421), p_value(0.00003), p_value(0.52)
    ('0.042', '< 0.001', '0.52')
    """
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Join words as a sentence does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    head, tail = ", ".join(items[:-1]), items[-1] if items else ""
    return f"{head} {last} {tail}" if head else tail


def counted(count: int, noun: str) -> str:
    """Write a count and its noun.

    >>> counted(1, "run"), counted(1200, "client")
    ('1 run', '1,200 clients')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def capital(count: int) -> str:
    """Write a small count as a word that begins a title.

    >>> capital(4), capital(12)
    ('Four', '12')
    """
    return _SMALL[count] if 0 <= count < len(_SMALL) else str(count)


def amount(size: float) -> str:
    """Write a number of bytes.

    >>> amount(512), amount(18_200_000)
    ('512 B', '18.2 MB')
    """
    units = ("B", "kB", "MB", "GB", "TB")
    power = 0
    while size >= 999.95 and power < len(units) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.0f} B" if power == 0 else f"{size:.1f} {units[power]}"


def duration(seconds: float) -> str:
    """Write a time span.

    >>> duration(2.34), duration(75), duration(7384)
    ('2.3 s', '1 min 15 s', '2 h 3 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def plain(value: object) -> str:
    """Write a value of a recipe as a reader expects it in running text.

    >>> plain(0.1), plain(True), plain([512, 256])
    ('0.1', 'true', '[512, 256]')
    """
    if value is None:
        return NONE
    if isinstance(value, bool | dict | list):
        return write_value(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
