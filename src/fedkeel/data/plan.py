"""Which samples a client sees in which step: drawn from (seed, round, client, epoch) alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..numerics.random import generator, orders, words

Rows = NDArray[np.int64]

# A generator for each stream is quicker than words side by side where streams are few or long.
_MANY, _LONG = 8, 512


def plan(
    chosen: Sequence[Rows],
    clients: Sequence[int],
    *,
    batch_size: int,
    epochs: int | None,
    steps: int | None,
    batches: str,
    seed: int,
    round: int,
    no_single_rows: bool = False,
) -> list[Rows]:
    """Shuffle each client's chosen samples into batches ``(T, B)``, afresh every epoch.

    What is missing from a short batch is -1.

    With ``steps`` the batches of successive passes are taken until there are enough. The short last
    batch of a pass is kept, dropped, or (``pad``) filled: the client's first samples are repeated
    before the shuffle, as the GC-Fed experiments do. With ``no_single_rows`` a last batch of one
    sample is dropped.
    """
    listed = [_padded(rows, batch_size) if batches == "pad" else rows for rows in chosen]
    alike: dict[int, list[int]] = {}
    for i, rows in enumerate(listed):
        alike.setdefault(len(rows), []).append(i)
    plans: list[Rows] = [np.empty((0, batch_size), dtype=np.int64)] * len(listed)
    for n, which in alike.items():
        dropped = batches == "drop" or (no_single_rows and n % batch_size == 1 % batch_size)
        per_pass = n // batch_size if dropped else -(-n // batch_size)
        passes = _passes(per_pass, epochs, steps)
        if passes and per_pass:
            order = _orders(n, passes, [clients[i] for i in which], seed, round)
            rows = np.stack([listed[i] for i in which])[:, None]  # (g, 1, n)
            cut = _cut(np.take_along_axis(rows, order, axis=2), per_pass, batch_size)
            for i, batch in zip(which, cut, strict=True):
                plans[i] = batch[:steps]
    return plans


def cohort(eligible: Rows, size: int, *, seed: int, round: int) -> Rows:
    """Draw the clients of a round without replacement, sorted."""
    draws = generator(seed, "cohort", round).bit_generator.random_raw(len(eligible))
    return np.sort(eligible[np.argsort(draws, kind="stable")[:size]])


def _padded(rows: Rows, batch_size: int) -> Rows:
    full = -(-len(rows) // batch_size) * batch_size
    return rows[np.arange(full) % max(len(rows), 1)]


def _passes(per_pass: int, epochs: int | None, steps: int | None) -> int:
    if epochs is not None:
        return epochs
    return -(-(steps or 0) // per_pass) if per_pass else 0


def _cut(order: Rows, per_pass: int, batch_size: int) -> Rows:
    """Cut every pass's order ``(g, E, n)`` into batches ``(g, E * per_pass, B)``."""
    group, passes, n = order.shape
    full = per_pass * batch_size
    if n < full:
        order = np.concatenate([order, np.full((group, passes, full - n), -1)], axis=2)
    return order[:, :, :full].reshape(group, passes * per_pass, batch_size)


def _orders(n: int, passes: int, clients: Sequence[int], seed: int, round: int) -> Rows:
    """Return an order of ``n`` for each pass of each client, ``(g, E, n)``."""
    who, epoch = np.repeat(clients, passes), np.tile(np.arange(passes), len(clients))
    if len(who) >= _MANY and n < _LONG:
        draws = words(seed, "batches", round, who, epoch, n)
    else:
        streams = [generator(seed, "batches", round, k, e) for k, e in zip(who, epoch, strict=True)]
        draws = np.array([s.bit_generator.random_raw(n) for s in streams], dtype=np.uint64)
    return orders(draws).reshape(len(clients), passes, n)
