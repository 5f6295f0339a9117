"""What a run trains on: samples, a data set with its parts, and a data set given to clients."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import InputError, require
from ..numerics.random import generator
from .partition import Partition, check_split

UNUSED = -1
SERVER = -2

Owners = NDArray[np.int64]


class Samples(NamedTuple):
    """Inputs and targets, row by row.

    Attributes:
        x: ``(n, ...)`` as stored: uint8, which batches scale to [0, 1], or floating, used as it is.
        y: ``(n,)`` int64 classes, or ``(n, ...)`` floating targets.
    """

    x: Tensor
    y: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A data set before anybody owns a part of it.

    Attributes:
        name: What it is called in a recipe.
        train: The samples that clients train on.
        test: The samples that the global model is judged on.
        classes: How many classes there are; None for floating targets.
        owner: The natural owner of every training sample (a writer, a hospital), if there are any.
        labels: The names of the classes; may be empty.
    """

    name: str
    train: Samples
    test: Samples
    classes: int | None
    owner: Owners | None = None
    labels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Say what one looks for."""
        rows = f"{len(self.train.x)} + {len(self.test.x)} samples"
        return f"Source({self.name!r}, {rows}, {self.classes} classes)"

    def split(
        self, partition: Partition, clients: int | None = None, seed: int = 0, server: float = 0.0
    ) -> Federation:
        """Give every training sample an owner.

        Args:
            partition: The rule.
            clients: How many; None is what the rule does by itself: 100, or every owner there is.
            seed: Equal seeds give equal splits.
            server: The share of the training set that the server keeps, taken first.
        """
        check_split(partition, clients, server)
        clients = partition.default_clients if clients is None else clients
        labels = self.train.y.numpy()
        owner = _server_first(len(labels), server, seed)
        rest = np.flatnonzero(owner != SERVER)
        natural = None if self.owner is None else self.owner[rest]
        owner[rest] = partition.owners(labels[rest], natural, clients, generator(seed, "split"))
        count = clients or int(owner.max()) + 1
        return Federation(self, owner, partition.name, count, partition)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of all samples: their numbers, shapes and types."""
        digest = hashlib.sha256()
        for tensor in (*self.train, *self.test):
            digest.update(f"{tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(_memory(tensor).data)
        return digest.hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Federation:
    """A data set and who holds which of its training samples.

    Nothing here is kept once per client as an object, so ten thousand clients cost two arrays.

    Attributes:
        source: The data set.
        owner: For every training sample 0 .. clients-1, -1 (nobody's) or -2 (the server's).
        partition: The name of the rule that split it.
        clients: How many clients there are, those without samples included.
        rule: The partition that split it, with its numbers, if one did.
    """

    source: Source
    owner: Owners
    partition: str
    clients: int
    rule: Partition | None = None

    def __repr__(self) -> str:
        """Say what one looks for."""
        return f"Federation({self.name!r}, {self.clients} clients, {self.partition})"

    def __post_init__(self) -> None:
        """Refuse owners that do not fit the samples."""
        have, need = len(self.owner), len(self.source.train.x)
        if have != need:
            raise InputError(
                f"owner has {have} entries: it must have one for each of {need} samples"
            )
        if self.owner.min() < SERVER or self.owner.max() >= self.clients:
            raise InputError(f"owner must hold -2, -1 or a client from 0 to {self.clients - 1}")

    @property
    def name(self) -> str:
        """The data set's name."""
        return self.source.name

    @property
    def train(self) -> Samples:
        """All training samples, whoever holds them."""
        return self.source.train

    @property
    def test(self) -> Samples:
        """The test samples."""
        return self.source.test

    @property
    def classes(self) -> int | None:
        """How many classes there are; None for floating targets."""
        return self.source.classes

    @cached_property
    def sizes(self) -> Owners:
        """How many samples each client holds, ``(clients,)``."""
        return np.diff(self._rows[1])

    def indices(self, client: int) -> Owners:
        """Return the positions of a client's samples in the training set, ascending."""
        if not 0 <= client < self.clients:  # said only where it is wrong: rounds ask often
            require(False, "client", client, f"from 0 to {self.clients - 1}")
        positions, starts = self._rows
        return positions[starts[client] : starts[client + 1]]

    @cached_property
    def label_counts(self) -> Owners:
        """How many samples of each class each client holds, ``(clients, classes)``."""
        if self.classes is None:
            raise InputError(f"'{self.name}' has floating targets: there are no classes to count")
        held = self.owner >= 0
        cell = self.owner[held] * self.classes + self.train.y.numpy()[held]
        counts = np.bincount(cell, minlength=self.clients * self.classes)
        return counts.reshape(self.clients, self.classes)

    @cached_property
    def server(self) -> Samples | None:
        """The samples that the server keeps, if it keeps any."""
        kept = torch.from_numpy(np.flatnonzero(self.owner == SERVER))
        return Samples(self.train.x[kept], self.train.y[kept]) if len(kept) else None

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the data and of who holds what."""
        owner = np.ascontiguousarray(self.owner, dtype="<i8").tobytes()
        return hashlib.sha256(self.source.sha256.encode() + owner).hexdigest()

    @cached_property
    def _rows(self) -> tuple[Owners, Owners]:
        """Positions sorted by client, and where each client's begin."""
        order = np.argsort(self.owner, kind="stable")
        starts = np.searchsorted(self.owner[order], np.arange(self.clients + 1))
        return order, starts


def _server_first(samples: int, share: float, seed: int) -> Owners:
    owner = np.full(samples, UNUSED)
    kept = max(1, round(share * samples)) if share else 0
    if kept >= samples:
        raise InputError(f"server={share} leaves the clients none of {samples} samples: take less")
    owner[generator(seed, "server").permutation(samples)[:kept]] = SERVER
    return owner


def _memory(tensor: Tensor) -> NDArray[np.uint8]:
    """Return the bytes of a tensor in row-major order, of types that NumPy does not know too."""
    rows: NDArray[np.uint8] = tensor.contiguous().reshape(-1).view(torch.uint8).numpy()
    return rows
