"""Rules that say which client holds which training sample: evenly, by natural owner, by a file."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, require
from ..npz import read_npz

Owners = NDArray[np.int64]

UNUSED = -1  # who holds a sample that nobody holds
SERVER = -2  # and one that the server keeps


class Facts(NamedTuple):
    """What a rule may look at.

    Attributes:
        labels: The labels of the samples to deal out, ``(n, ...)``.
        natural: Their natural owners, if the data have any.
        parents: The coarse class of each class, if the data have any.
    """

    labels: NDArray[Any]
    natural: Owners | None = None
    parents: tuple[int, ...] = ()


class Partition(Protocol):
    """A rule that gives every sample it is shown an owner.

    Attributes:
        name: What the rule is called in a recipe.
        default_clients: How many clients it makes when nobody says; None: as many as it finds.
    """

    @property
    def name(self) -> str:
        """What the rule is called in a recipe."""
        ...

    @property
    def default_clients(self) -> int | None:
        """How many clients it makes when nobody says."""
        ...

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Return the owner of every sample.

        Args:
            facts: The samples' labels, and what else is known of them.
            clients: How many clients to make; None: what the rule does by itself.
            rng: Where all of its draws come from.
        """
        ...


@dataclass(frozen=True)
class IID:
    """Shuffled and dealt out: sizes differ by one sample at most."""

    name: ClassVar[str] = "iid"
    default_clients: ClassVar[int | None] = 100

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Deal the samples out."""
        count = enough(self.name, clients, len(facts.labels))
        return rng.permutation(np.arange(len(facts.labels)) % count)


@dataclass(frozen=True)
class Natural:
    """A client is whoever made the samples; all of them, or as many as wanted, drawn at random."""

    name: ClassVar[str] = "natural"
    default_clients: ClassVar[int | None] = None

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Number the natural owners from 0, and give the samples of those not drawn to nobody."""
        if facts.natural is None:
            raise InputError(
                "partition 'natural' needs data whose samples have owners: these have none"
            )
        names, owner = np.unique(facts.natural, return_inverse=True)
        if clients is None or clients == len(names):
            return owner.astype(np.int64)
        if clients > len(names):
            raise InputError(
                f"clients={clients} is more than the {len(names)} natural owners there are"
            )
        number = np.full(len(names), -1)
        number[np.sort(rng.choice(len(names), clients, replace=False))] = np.arange(clients)
        return number[owner]


@dataclass(frozen=True)
class File:
    """The owners that a file says: what a run left in its folder, or another program made.

    Attributes:
        path: An ``.npz`` with ``owner``: an integer for every sample of the whole training set,
            0 to clients-1, -1 not used, -2 the server's.
    """

    path: str | Path
    name: ClassVar[str] = "file"

    @property
    def default_clients(self) -> int | None:
        """How many clients a run's own file counts, those without samples included."""
        counts = read_npz(self.path, [], ["label_counts"]).get("label_counts")
        return len(counts) if counts is not None and counts.ndim == 2 else None

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Read the file, and refuse what cannot be right."""
        owner = self._read(len(facts.labels))
        found = max(int(owner.max()) + 1, self.default_clients or 0)
        if clients not in (None, found):
            raise InputError(f"clients={clients}, but '{self.path}' has {found}: leave clients out")
        return owner

    def _read(self, samples: int) -> Owners:
        owner = read_npz(self.path, ["owner"])["owner"]
        if owner.ndim != 1 or owner.dtype.kind not in "iu":
            raise self._wrong(f"is {owner.dtype} of shape {owner.shape}", "integers, one a sample")
        if len(owner) != samples:
            raise self._wrong(
                f"has {len(owner)} entries", f"one for each of {samples} training samples"
            )
        low, high = int(owner.min()), int(owner.max())
        if low < -2 or high >= samples:
            beyond = low if low < -2 else high
            raise self._wrong(
                f"holds {beyond}", f"-2, -1 or a client from 0 to {samples - 1} at most"
            )
        if high < 0:
            raise self._wrong(
                "gives no client any sample", "a client's number, from 0, for some sample"
            )
        return owner.astype(np.int64)

    def _wrong(self, found: str, allowed: str) -> InputError:
        return InputError(f"'owner' in '{self.path}' {found}: it must hold {allowed}")


def enough(rule: str, clients: int | None, samples: int) -> int:
    """Return the number of clients, if there are so many samples at least."""
    if clients is None:
        raise InputError(f"partition '{rule}' needs the number of clients")
    if clients > samples:
        raise InputError(
            f"clients={clients} is more than the {samples} samples to give them: take fewer"
        )
    return clients


def classes_of(rule: str, facts: Facts) -> NDArray[np.integer[Any]]:
    """Return the class of each sample, where a sample has one."""
    labels = facts.labels
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(f"partition '{rule}' needs one class a sample: use 'iid' or 'natural'")
    return labels


def check_split(partition: Partition, clients: int | None, server: float) -> None:
    """Refuse what no rule could do."""
    if isinstance(partition, str | type):
        raise InputError(
            f"partition={partition!r} must be an object such as fk.data.Dirichlet(0.1)"
        )
    if clients is not None:
        whole = isinstance(clients, int | np.integer) and not isinstance(clients, bool)
        require(whole and clients >= 1, "clients", clients, "an integer >= 1")
    share = isinstance(server, Real) and 0 <= server < 1
    require(share, "server", server, "a share of the training set in [0, 1)")
    if server and partition.name == "file":
        raise InputError(
            f"server={server} cannot go with partition='file': in the file, -2 is the server's"
        )
