"""Which client stands on which lane at which turn.

A lane whose client is done takes the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .rules import lanes

Ints = NDArray[np.int64]


class Stretch(NamedTuple):
    """Turns through which no lane begins or ends a client."""

    clients: Ints  # (active,) who stands on each busy lane
    begins: Ints  # lanes that begin a client here
    ends: Ints  # lanes whose client is done after it
    step: Ints  # (active,) the step of its visit that each lane takes first
    turns: int
    width: int  # lanes that run, busy or not


def stretches(turns: Sequence[int], most: int) -> Iterator[Stretch]:
    """Lay visits of these lengths on lanes, and cut time where something begins or ends.

    As many lanes as the longest visit leaves work for: with more, some would stand idle while it
    goes on; with fewer, the round would take longer than it has to. The longest visits are laid
    first, each on the lane that is free the soonest.
    """
    busy = sorted((i for i, n in enumerate(turns) if n), key=lambda i: -turns[i])
    if not busy:
        return
    widths = lanes(min(most, len(busy)))
    if len(busy) <= most and turns[busy[0]] == turns[busy[-1]]:  # all alike: one stretch
        every = np.arange(len(busy))
        yield Stretch(np.array(busy), every, every, every * 0, turns[busy[0]], len(busy))
        return
    wanted = sum(turns) / max(turns)
    count = next((w for w in widths if w >= wanted), widths[-1])
    visits = _laid(busy, turns, count)
    ends = [np.cumsum([turns[i] for i in lane]) for lane in visits]
    cuts = sorted({0, *(int(end) for lane in ends for end in lane)})
    for start, stop in pairwise(cuts):
        active = sum(int(lane[-1]) > start for lane in ends)
        place = [int(np.searchsorted(lane, start, side="right")) for lane in ends[:active]]
        who = np.array([visits[lane][at] for lane, at in enumerate(place)])
        done = np.array([int(ends[lane][at]) for lane, at in enumerate(place)])
        step = np.array([turns[i] for i in who]) - (done - start)
        yield Stretch(
            who,
            np.flatnonzero(step == 0),
            np.flatnonzero(done == stop),
            step,
            stop - start,
            next(w for w in widths if w >= active),
        )


def _laid(busy: Sequence[int], turns: Sequence[int], count: int) -> list[list[int]]:
    """Return each lane's clients; the lane with the most turns comes first."""
    visits: list[list[int]] = [[] for _ in range(count)]
    load = [0] * count
    for i in busy:
        lane = load.index(min(load))
        visits[lane].append(i)
        load[lane] += turns[i]
    order = sorted(range(count), key=lambda lane: -load[lane])
    return [visits[lane] for lane in order if visits[lane]]
