"""Label skew by the number of classes that a client knows."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InputError
from .base import Facts, Owners, classes_of, enough
from .dealing import Sizes, deal, whole

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Classes:
    """Each client is given some classes, and shares each with the others that were given it.

    Classes are spread evenly: the numbers of their holders differ by one at most. A class is split
    evenly among its holders, by one sample; where it has fewer samples than holders, some of them
    get none of it. Where there are more classes than the clients can hold together, those without a
    holder are drawn at random, their samples are nobody's, and a message says how many.

    Attributes:
        classes_per_client: How many different classes each client holds.
    """

    classes_per_client: int = 2
    name: ClassVar[str] = "classes"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        whole("classes_per_client", self.classes_per_client, 1)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Give classes to clients, then split each class among its holders."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        counts = np.bincount(labels)
        present = np.flatnonzero(counts)
        self._check(count, len(present))
        sizes = np.zeros((len(counts), count), dtype=np.int64)
        held = hands(count, len(present), self.classes_per_client, rng)
        sizes[present] = _split(counts[present], held, rng)
        return deal(labels, sizes, rng)

    def _check(self, clients: int, classes: int) -> None:
        if self.classes_per_client > classes:
            raise InputError(
                f"classes_per_client={self.classes_per_client} is more than the {classes} classes "
                f"there are: take {classes} at most"
            )
        left = classes - clients * self.classes_per_client
        if left > 0:
            log.warning(
                "clients=%d of classes_per_client=%d leave %d of %d classes without a client",
                *(clients, self.classes_per_client, left, classes),
            )


def hands(clients: int, classes: int, each: int, rng: np.random.Generator) -> Owners:
    """Return the classes of each client ``(clients, each)``: those with fewest holders so far.

    Of classes with equally many, chance decides. Numbers of holders that differ by one at most do
    so after every client.
    """
    holders = np.zeros(classes, dtype=np.int64)
    held = np.empty((clients, each), dtype=np.int64)
    for hand in held:
        hand[:] = np.lexsort((rng.random(classes), holders))[:each]
        holders[hand] += 1
    return held


def _split(counts: Owners, held: Owners, rng: np.random.Generator) -> Sizes:
    """Split each class evenly; who gets one more than the others is drawn."""
    sizes = np.zeros((len(counts), len(held)), dtype=np.int64)
    client = np.repeat(np.arange(len(held)), held.shape[1])
    for row, count, c in zip(sizes, counts, range(len(counts)), strict=True):
        holders = rng.permutation(client[held.ravel() == c])
        turns = np.arange(len(holders))
        row[holders] = (count + len(holders) - 1 - turns) // max(1, len(holders))
    return sizes
