"""Random numbers by address: equal (seed, purpose, address), equal numbers, in any order.

The numbers are those of Philox 4x64 (Salmon et al., 2011) with key ``(seed, purpose)`` and counter
``(block, c, b, a)``, so that no generator has a state that could be shared, advanced or forgotten.
"""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import NDArray

from ..errors import unknown

PURPOSES = (
    "cohort",
    "batches",
    "noise",
    "split",
    "server",
    "owners",
    "init",
    "user",
    "augment",
    "label-noise",
    "open-set",
    "attribute",
    "feature",
)

Words = NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_Y = np.array([0xD2E7470EE14C6C93, 0xCA5A826395121157], dtype=np.uint64)[:, None, None]
_Y0, _Y1 = _Y & _LOW, _Y >> _HALF
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS = 10
_WRAP = 1 << 64


def key(seed: int, purpose: str) -> tuple[int, int]:
    """Return the two key words of a seed and a purpose."""
    if purpose not in PURPOSES:
        raise unknown("purpose", purpose, PURPOSES)
    return index(seed) % _WRAP, PURPOSES.index(purpose)


def generator(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """Return a NumPy generator that starts at an address of up to three integers.

    >>> generator(0, "split").integers(10) == generator(0, "split").integers(10)
    np.True_
    """
    a, b, c = (*address, 0, 0, 0)[:3]
    counter = np.array([0, c, b, a], dtype=np.uint64)
    bits = np.random.Philox(key=np.array(key(seed, purpose), dtype=np.uint64), counter=counter)
    return np.random.Generator(bits)


def words(
    seed: int, purpose: str, a: int, b: NDArray[np.int64], c: NDArray[np.int64], n: int
) -> Words:
    """Return the first ``n`` random words of every address ``(a, b[i], c[i])`` as ``(len(b), n)``.

    Equal to ``generator(seed, purpose, a, b[i], c[i]).bit_generator.random_raw(n)``, for many
    addresses at once: a generator object for each would cost more than its numbers.
    """
    blocks = -(-n // 4)
    shape = (len(b), blocks)
    counter = [
        np.broadcast_to(
            np.arange(1, blocks + 1, dtype=np.uint64), shape
        ),  # NumPy counts before it draws
        np.broadcast_to(c.astype(np.uint64)[:, None], shape),
        np.broadcast_to(b.astype(np.uint64)[:, None], shape),
        np.broadcast_to(np.uint64(a), shape),
    ]
    mixed = _philox(counter, key(seed, purpose))
    return np.stack(mixed, axis=-1).reshape(len(b), 4 * blocks)[:, :n]


def orders(draws: Words) -> NDArray[np.int64]:
    """Turn rows of random words into random permutations, the same on every machine.

    Two equal words of 64 bits would leave their order open; no run will see them.
    """
    return np.argsort(draws, axis=-1)


def _philox(counter: list[Words], start: tuple[int, int]) -> list[Words]:
    """Mix counters of any shape with a key, in ten rounds."""
    even, odd = np.stack(counter[::2]), np.stack(counter[1::2])  # words 0 and 2, words 1 and 3
    for turn in range(_ROUNDS):
        keys = [(k + turn * w) % _WRAP for k, w in zip(start, _WEYL, strict=True)]
        high, low = _products(even)
        even = high[::-1] ^ odd ^ np.array(keys, dtype=np.uint64)[:, None, None]
        odd = low[::-1]
    return [even[0], odd[0], even[1], odd[1]]


def _products(x: Words) -> tuple[Words, Words]:
    """Return high and low words of 128-bit products with the multipliers, from 64-bit ones."""
    x0, x1 = x & _LOW, x >> _HALF
    middle = x1 * _Y0 + ((x0 * _Y0) >> _HALF)
    carry = x0 * _Y1 + (middle & _LOW)
    return x1 * _Y1 + (middle >> _HALF) + (carry >> _HALF), x * _Y
