"""Noise put on the clients' samples on purpose: wrong labels, foreign classes, corrupted images.

Which samples, which labels and which corruptions are drawn as integers, so they are equal on every
machine. Each client's draws have an address of their own and do not depend on the other clients.
At a higher rate a client keeps the noise of the lower one and gets more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import InputError
from ...numerics.random import generator
from ..federation import Federation, Owners, Rate, Samples, Source
from ..partitions.base import UNUSED
from .checks import check_choices, check_samples, foreign_classes
from .corruptions import corrupt
from .rates import Reals, count, plain, rates

Flags = NDArray[np.bool_]

_PICK, _PIXELS = 0, 2  # the first integer of an address; 1 is a client's rate


def add_noise(
    federation: Federation,
    *,
    label: Rate = 0.0,
    open_set: Rate = 0.0,
    attribute: Rate = 0.0,
    kind: str = "symmetric",
    foreign: Sequence[int | str] = (),
    corruptions: Sequence[str] = (),
    severity: int = 5,
    seed: int = 0,
) -> Federation:
    """Return a federation with noise on what its clients hold, and ``clean``, which says where.

    Open-set noise comes first, then label noise, then attribute noise. The server's samples, those
    of nobody and the test set get none; foreign classes are taken out of them. A rate is a number
    in [0, 1], a list of one a client, or ``{"low": a, "high": b}``: drawn uniformly for each.

    Args:
        federation: A split without noise; it stays as it is, and comes back if no noise is asked.
        label: The share of a client's samples that get a wrong label.
        open_set: The share of a client's foreign samples that stay, under a label of another class.
        attribute: The share of a client's samples whose image is corrupted.
        kind: "symmetric": uniform over the other classes; "pairwise": the next class.
        foreign: Classes that are foreign, by number or name; the others are numbered anew.
        corruptions: Names of corruptions to draw from; empty: all nine.
        severity: Of the corruptions, 1 to 5.
        seed: Equal seeds give equal noise.
    """
    names = check_choices(kind, corruptions, severity)
    strange = rates("open_set", open_set, federation.clients, seed, "open-set")
    wrong = rates("label", label, federation.clients, seed, "label-noise")
    spoilt = rates("attribute", attribute, federation.clients, seed, "attribute")
    red = foreign_classes(federation.source, foreign)
    check_samples(federation, red, strange, wrong, spoilt)
    said: dict[str, Any] = {}
    if len(red):
        federation = _mix_in(federation, red, strange, seed)
        said |= {"open_set_noise": plain(open_set), "foreign": red.tolist()}
    if wrong.any():
        federation = _mislabel(federation, wrong, kind, seed)
        said |= {"label_noise": plain(label), "label_noise_kind": kind}
    if spoilt.any():
        federation = _spoil(federation, spoilt, names, severity, seed)
        said |= {"attribute_noise": plain(attribute), "corruptions": list(names)}
        said["severity"] = int(severity)
    return replace(federation, noise=said) if said else federation


def _mix_in(federation: Federation, red: Owners, shares: Reals, seed: int) -> Federation:
    """Take foreign classes out, and leave clients a share of their samples under other labels."""
    source = _without(federation.source, red)
    y = source.train.y.numpy()  # a new array, with -1 for what is foreign
    strange = y < 0
    owner = np.where(strange, UNUSED, federation.owner)
    y[strange] = 0
    for client, rows, rng in _picked(federation, shares, seed, "open-set", strange):
        owner[rows] = client
        y[rows] = rng.integers(source.classes or 0, size=len(rows))
    dealt = federation.owner
    return replace(federation, source=source, owner=owner, clean=~strange, dealt=dealt)


def _mislabel(federation: Federation, shares: Reals, kind: str, seed: int) -> Federation:
    """Move labels on by some classes: by one, or by any number that does not lead round."""
    classes = federation.classes or 0
    y, clean = federation.train.y.numpy().copy(), _clean(federation)
    for _, rows, rng in _picked(federation, shares, seed, "label-noise"):
        on = 1 if kind == "pairwise" else rng.integers(1, classes, size=len(rows))
        y[rows] = (y[rows] + on) % classes
        clean[rows] = False
    return _trained_on(federation, federation.train._replace(y=torch.from_numpy(y)), clean)


def _spoil(
    federation: Federation, shares: Reals, names: Sequence[str], severity: int, seed: int
) -> Federation:
    """Corrupt images, each out of a generator at its own position in the training set."""
    x, clean = federation.train.x.numpy().copy(), _clean(federation)
    for _, rows, rng in _picked(federation, shares, seed, "attribute"):
        drawn = [names[i] for i in rng.integers(len(names), size=len(rows))]
        rngs = (generator(seed, "attribute", _PIXELS, int(row)) for row in rows)
        x[rows] = corrupt(x[rows], drawn, severity, rngs)
        clean[rows] = False
    return _trained_on(federation, federation.train._replace(x=torch.from_numpy(x)), clean)


def _picked(
    federation: Federation, shares: Reals, seed: int, purpose: str, among: Flags | None = None
) -> Iterator[tuple[int, Owners, np.random.Generator]]:
    """Yield the clients that have a rate, the samples that get noise, and where to draw it from.

    Args:
        federation: Who holds what.
        shares: The rates of the clients, ``(clients,)``.
        seed: With the purpose and the client, where a client's draws come from.
        purpose: Of the draws.
        among: The training samples that may be picked; None: all.
    """
    for client in np.flatnonzero(shares).tolist():
        rows = federation.indices(client)
        rows = rows if among is None else rows[among[rows]]
        rng = generator(seed, purpose, _PICK, client)
        yield client, rng.permutation(rows)[: count(shares[client], len(rows))], rng


def _without(source: Source, red: Owners) -> Source:
    """Return a source whose other classes are numbered from 0; foreign training samples get -1."""
    kept = np.setdiff1d(np.arange(source.classes or 0), red)
    renumbered = np.full(source.classes or 0, -1)
    renumbered[kept] = np.arange(len(kept))
    y, y_test = (
        torch.from_numpy(renumbered[part.y.numpy()]) for part in (source.train, source.test)
    )
    stay = y_test >= 0
    if not stay.any():
        raise InputError(f"all test samples of '{source.name}' are of foreign classes: keep others")
    return replace(
        source,
        train=Samples(source.train.x, y),
        test=Samples(source.test.x[stay], y_test[stay]),
        classes=len(kept),
        labels=tuple(source.labels[c] for c in kept) if source.labels else (),
        parents=tuple(source.parents[c] for c in kept) if source.parents else (),
    )


def _trained_on(federation: Federation, train: Samples, clean: Flags) -> Federation:
    return replace(federation, source=replace(federation.source, train=train), clean=clean)


def _clean(federation: Federation) -> Flags:
    """Return which samples are still clean, to be written to."""
    if federation.clean is None:
        return np.ones(len(federation.owner), dtype=np.bool_)
    return federation.clean.copy()
