"""Label skew by a Dirichlet distribution, as in the GC-Fed experiments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InputError, flag
from .base import Facts, Owners, classes_of, enough
from .dealing import Sizes, concentration, cut, deal, shares, whole

_LOOKS = (20, 200)
_HOPELESS = 0.1


@dataclass(frozen=True)
class Dirichlet:
    """Each class is dealt to the clients in shares drawn from Dirichlet(alpha).

    Class after class: shares q of the clients, 0 for those that already hold the mean size
    (``cap``), and cuts at int(cumsum(q) n_c). A draw in which a client has fewer than ``min_size``
    samples is thrown away as a whole. Shares of the clients below the cap are drawn as a Dirichlet
    of their own, which is the distribution of the others renormalised; the last of them
    takes what rounding left. Sizes alone decide, so samples are shuffled once, after them.

    Attributes:
        alpha: Concentration; 0.1 is strong skew, 1000 nearly none.
        min_size: Samples that every client must hold; 0 keeps empty clients.
        cap: Whether a client that holds the mean size gets nothing of later classes.
        max_tries: How many draws to make before giving up.
    """

    alpha: float = 0.1
    min_size: int = 1
    cap: bool = True
    max_tries: int = 10_000
    name: ClassVar[str] = "dirichlet"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        concentration("alpha", self.alpha)
        whole("min_size", self.min_size, 0)
        flag("cap", self.cap)
        whole("max_tries", self.max_tries, 1)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Draw sizes until they are accepted, then who gets which sample."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        if count * self.min_size > len(labels):
            raise InputError(
                f"clients={count} of min_size={self.min_size} need {count * self.min_size} samples "
                f"and there are {len(labels)}: take fewer clients or a smaller min_size"
            )
        sizes = self.accepted(np.bincount(labels), count, rng)
        return deal(labels, sizes, rng)

    def accepted(self, counts: Owners, clients: int, rng: np.random.Generator) -> Sizes:
        """Return the first draw ``(classes, clients)`` in which every client holds enough.

        Args:
            counts: Samples of each class.
            clients: How many clients.
            rng: Where the draws come from.
        """
        small: list[int] = []
        for sizes in self.draws(counts, clients, rng):
            small.append(int((sizes.sum(axis=0) < self.min_size).sum()))
            if not small[-1]:
                return sizes
            if len(small) == self.max_tries or self._hopeless(small):
                break
        raise self._refusal(small, clients)

    def draws(self, counts: Owners, clients: int, rng: np.random.Generator) -> Iterator[Sizes]:
        """Yield one draw of sizes ``(classes, clients)`` after another, accepted or not."""
        while True:
            yield self._draw(counts, clients, rng)

    def _draw(self, counts: Owners, clients: int, rng: np.random.Generator) -> Sizes:
        sizes = np.zeros((len(counts), clients), dtype=np.int64)
        held = np.zeros(clients, dtype=np.int64)
        total = int(counts.sum())
        for row, count in zip(sizes, counts, strict=True):
            open_ = np.flatnonzero(held * clients < total) if self.cap else np.arange(clients)
            if count:
                row[open_] = cut(int(count), shares(self.alpha, len(open_), rng))
                held += row
        return sizes

    def _hopeless(self, small: list[int]) -> bool:
        """Tell whether all the tries allowed would hardly give one accepted draw.

        With m too-small clients in a draw on average and variance v, a draw has none with a chance
        of about exp(-m^2 / max(m, v)): Poisson, and more when draws vary more. What was measured is
        a little below that (1 in 900 for 1 in 600), and m is taken three standard errors low.
        """
        if len(small) not in _LOOKS:
            return False
        v = float(np.var(small))
        m = max(0.0, float(np.mean(small)) - 3 * math.sqrt(v / len(small)))
        return self.max_tries * math.exp(-m * m / max(m, v, 1.0)) < _HOPELESS

    def _refusal(self, small: list[int], clients: int) -> InputError:
        share = float(np.mean(small)) / clients
        what = "are empty" if self.min_size == 1 else f"hold fewer than {self.min_size} samples"
        return InputError(
            f"dirichlet(alpha={self.alpha}) over clients={clients}: {len(small)} draws of "
            f"max_tries={self.max_tries} were made, and in none did every client hold "
            f"min_size={self.min_size}; on average {share:.2%} of the clients {what}: "
            "use data.min_size=0, a larger alpha or fewer clients"
        )
