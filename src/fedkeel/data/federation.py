"""What a run trains on: samples, a data set with its parts, and a data set given to clients."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import InputError, require
from ..numerics.random import generator
from .partitions import Facts, Feature, Partition, check_split
from .partitions.base import SERVER, UNUSED
from .preparation import AS_STORED, Preparation

IGNORED = -100  # a place of a sequence that has no target, as PyTorch's cross-entropy has it

Rate = float | Sequence[float] | Mapping[str, float]
Owners = NDArray[np.int64]


class Samples(NamedTuple):
    """Inputs and targets, row by row.

    Attributes:
        x: ``(n, ...)`` as stored: uint8, which batches scale to [0, 1]; floating, used as it is; or
            tokens ``(n, T)`` of another integer type.
        y: ``(n,)`` int64 classes; ``(n, T)`` of them for sequences, -100 where there is no target;
            or ``(n, ...)`` floating targets.
    """

    x: Tensor
    y: Tensor

    @property
    def tokens(self) -> bool:
        """Whether the inputs are sequences of tokens."""
        return self.x.dtype != torch.uint8 and not self.x.is_floating_point()


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
        parents: The coarse class of each class, if there are coarse ones.
        preparation: How its images are normalised, and moved about in training.
    """

    name: str
    train: Samples
    test: Samples
    classes: int | None
    owner: Owners | None = None
    labels: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    preparation: Preparation = AS_STORED

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
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        require(whole, "seed", seed, "an integer")
        clients = partition.default_clients if clients is None else clients
        labels = self.train.y.numpy()
        owner = _server_first(len(labels), server, seed)
        rest = np.flatnonzero(owner != SERVER)
        facts = Facts(labels[rest], None if self.owner is None else self.owner[rest], self.parents)
        owner[rest] = partition.owners(facts, clients, generator(seed, "split"))
        count = clients or int(owner.max()) + 1
        source = self
        if isinstance(partition, Feature):
            x = partition.skewed(self.train.x, owner, count, seed)
            source = replace(self, train=self.train._replace(x=x))
        return Federation(source, owner, partition.name, count, partition, seed)

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
        seed: What the split was drawn from.
        noise: What was made wrong on purpose, as the keys of a recipe say it.
        clean: For every training sample whether it is as it came; None: all are.
        dealt: The owners before open-set noise took samples away; None: nothing did.
    """

    source: Source
    owner: Owners
    partition: str
    clients: int
    rule: Partition | None = None
    seed: int = 0
    noise: Mapping[str, Any] = field(default_factory=dict)
    clean: NDArray[np.bool_] | None = None
    dealt: Owners | None = None

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
        labels = self.train.y.numpy().reshape(len(self.owner), -1)  # of a sequence, several
        counted = (self.owner >= 0)[:, None] & (labels >= 0)
        cell = (self.owner[:, None] * self.classes + labels)[counted]
        counts = np.bincount(cell, minlength=self.clients * self.classes)
        return counts.reshape(self.clients, self.classes)

    @cached_property
    def server(self) -> Samples | None:
        """The samples that the server keeps, if it keeps any."""
        kept = torch.from_numpy(np.flatnonzero(self.owner == SERVER))
        return Samples(self.train.x[kept], self.train.y[kept]) if len(kept) else None

    def with_noise(
        self,
        label: Rate = 0.0,
        open_set: Rate = 0.0,
        attribute: Rate = 0.0,
        *,
        kind: str = "symmetric",
        foreign: Sequence[int | str] = (),
        corruptions: Sequence[str] = (),
        severity: int = 5,
        seed: int | None = None,
    ) -> Federation:
        """Return this with some of the clients' samples made wrong, and known to be so.

        A rate is a number in [0, 1], a list of one a client, or ``{"low": a, "high": b}``, drawn
        for each client.

        Args:
            label: The share of a client's samples that get a wrong label.
            open_set: The share of a client's samples of foreign classes that stay, under a label
                of another class; the rest of them are taken away.
            attribute: The share of a client's samples whose image is corrupted.
            kind: Wrong labels are any others ("symmetric"), or the next one ("pairwise").
            foreign: The classes that are foreign, by number or name; the others are numbered anew,
                from 0.
            corruptions: The corruptions to draw from; empty: all nine.
            severity: Of the corruptions, 1 to 5.
            seed: Draws the noise; None: what drew the split.
        """
        from .noise import add_noise

        return add_noise(
            self,
            label=label,
            open_set=open_set,
            attribute=attribute,
            kind=kind,
            foreign=foreign,
            corruptions=corruptions,
            severity=severity,
            seed=self.seed if seed is None else seed,
        )

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
