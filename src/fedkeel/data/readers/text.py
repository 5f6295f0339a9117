"""Windows of characters as they are stored, and the vocabularies that make tokens of them."""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, unknown
from ..federation import IGNORED

LENGTH = 80
UNKNOWN = "\x1a"  # the control character "substitute", which no vocabulary knows

_UPPER, _LOWER = string.ascii_uppercase, string.ascii_lowercase
_DATA = "\n !\"&'(),-.0123456789:;>?" + _UPPER + "[]" + _LOWER + "}"
_TUTORIAL = "\n !$&',-.3:;?" + _UPPER + _LOWER


class _Vocabulary(NamedTuple):
    """Symbols by token, and the token of a character that is none of them, and of padding."""

    symbols: tuple[str, ...]
    other: int


_VOCABULARIES = {
    "data": _Vocabulary(tuple(_DATA), _DATA.index(" ")),
    "tf66": _Vocabulary(("<unknown>", *_TUTORIAL), 0),
}
_TARGETS = ("all", "last")


class Tokens(NamedTuple):
    """Inputs and targets of a token task.

    Attributes:
        x: int16 ``(m, T)``.
        y: int64 ``(m, T)``, every next symbol, -100 where there is none; or ``(m,)``, the last.
        kept: Which windows these are, ``(m,)`` int64.
    """

    x: NDArray[np.int16]
    y: NDArray[np.int64]
    kept: NDArray[np.int64]


def symbols(vocab: str) -> tuple[str, ...]:
    """Return the symbols of a vocabulary, by token.

    >>> len(symbols("data")), len(symbols("tf66"))
    (80, 66)

    Args:
        vocab: ``data``, the 80 of LEAF, or ``tf66``: a token for all unknown characters and the
            65 characters of TensorFlow's tutorial on text generation.
    """
    return _vocabulary(vocab).symbols


def tokens(windows: NDArray[np.uint8], vocab: str = "data", targets: str = "all") -> Tokens:
    """Return windows as inputs and targets.

    A character that ``tf66`` does not know is its token 0. One that ``data`` does not know becomes
    a space; LEAF's own code takes its last symbol there, since a search that fails gives -1.
    Padding is the same token in x, and -100 in y.

    Args:
        windows: Character codes ``(n, T + 1)``, at the right filled up with 0.
        vocab: As for ``symbols``.
        targets: ``all`` next symbols, or the ``last`` one, of full windows alone.
    """
    vocabulary = _vocabulary(vocab)
    if targets not in _TARGETS:
        raise unknown("targets", targets, _TARGETS)
    if windows.dtype != np.uint8 or windows.ndim != 2 or windows.shape[1] < 2:
        found = f"{windows.dtype} of shape {windows.shape}"
        raise InputError(
            f"windows of characters are {found}: they must be uint8 of (n, length + 1)"
        )
    last = targets == "last"
    kept = np.flatnonzero(windows[:, -1]) if last else np.arange(len(windows))
    rows = windows[kept] if last else windows
    coded = _codes(vocabulary)[rows]
    following = rows[:, -1:] if last else rows[:, 1:]
    y = np.where(following == 0, IGNORED, coded[:, -following.shape[1] :]).astype(np.int64)
    return Tokens(np.ascontiguousarray(coded[:, :-1]), y[:, 0] if last else y, kept)


def characters(text: str) -> NDArray[np.uint8]:
    """Return the codes of a text's characters.

    A character of no code up to 255, or of code 0, becomes one that no vocabulary knows.

    Args:
        text: The text.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return np.where((codes > 255) | (codes == 0), ord(UNKNOWN), codes).astype(np.uint8)


def cut(text: str) -> NDArray[np.uint8]:
    """Return a text as windows ``(n, 81)``, each with the first symbol of the next.

    The last is filled up with 0; it needs two characters at least.

    Args:
        text: The text.
    """
    codes = characters(text)
    if len(codes) < 2:
        return np.empty((0, LENGTH + 1), dtype=np.uint8)
    count = -(-(len(codes) - 1) // LENGTH)
    padded = np.zeros(count * LENGTH + 1, dtype=np.uint8)
    padded[: len(codes)] = codes
    return np.lib.stride_tricks.sliding_window_view(padded, LENGTH + 1)[::LENGTH].copy()


def joined(windows: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return windows of several texts one below the other, none included."""
    return np.concatenate([np.empty((0, LENGTH + 1), dtype=np.uint8), *windows])


def _vocabulary(vocab: str) -> _Vocabulary:
    if vocab not in _VOCABULARIES:
        raise unknown("vocab", vocab, _VOCABULARIES)
    return _VOCABULARIES[vocab]


def _codes(vocabulary: _Vocabulary) -> NDArray[np.int16]:
    """Return the token of every character code."""
    codes = np.full(256, vocabulary.other, dtype=np.int16)
    for token, symbol in enumerate(vocabulary.symbols):
        if len(symbol) == 1:
            codes[ord(symbol)] = token
    return codes
