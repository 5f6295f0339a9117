"""Label skew by shards of sorted samples, as in the first experiments with FedAvg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InputError
from .base import Facts, Owners, classes_of, enough
from .dealing import by_class, whole


@dataclass(frozen=True)
class Shards:
    """Samples sorted by class are cut into equal shards, and each client is dealt some of them.

    Samples of a class are shuffled. Shards differ by one sample at most, so that every sample is
    given. (McMahan et al., 2017.)

    Attributes:
        shards_per_client: How many shards each client gets.
    """

    shards_per_client: int = 2
    name: ClassVar[str] = "shards"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        whole("shards_per_client", self.shards_per_client, 1)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Sort, cut and deal."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        shards = self._shards(count, len(labels))
        cuts = np.arange(shards + 1) * len(labels) // shards
        owner = np.empty(len(labels), dtype=np.int64)
        order = by_class(labels, rng)
        owner[order] = np.repeat(rng.permutation(shards) % count, np.diff(cuts))
        return owner

    def _shards(self, clients: int, samples: int) -> int:
        shards = clients * self.shards_per_client
        if shards > samples:
            raise InputError(
                f"clients={clients} of shards_per_client={self.shards_per_client} need {shards} "
                f"samples and there are {samples}: take fewer clients or fewer shards"
            )
        return shards
