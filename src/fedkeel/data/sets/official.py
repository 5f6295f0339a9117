"""How the official files of each data set are read; a reader is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..raw import Raw

if TYPE_CHECKING:
    from ..readers.bundle import Bundle

Reader = Callable[["Bundle"], Raw]


def idx(prefix: str = "") -> Reader:
    """Return the reader of MNIST's kind of files, whose names may have a prefix."""

    def read(bundle: Bundle) -> Raw:
        from ..readers.idx import read_idx

        return read_idx(bundle, prefix)

    return read


def cifar10(bundle: Bundle) -> Raw:
    """Read CIFAR-10."""
    from ..readers.cifar import read_cifar10

    return read_cifar10(bundle)


def cifar100(bundle: Bundle) -> Raw:
    """Read CIFAR-100."""
    from ..readers.cifar import read_cifar100

    return read_cifar100(bundle)


def femnist(bundle: Bundle) -> Raw:
    """Read what LEAF's scripts make of FEMNIST."""
    from ..readers.leaf import read_femnist

    return read_femnist(bundle)


def shakespeare(bundle: Bundle) -> Raw:
    """Read what LEAF's scripts make of Shakespeare, or a file of plays."""
    if any(name.endswith((".jsonl", ".jsonl.xz")) for name in bundle.names()):
        from ..readers.plays import read_plays

        return read_plays(bundle)
    from ..readers.leaf import read_shakespeare

    return read_shakespeare(bundle)


def tinyimagenet(bundle: Bundle) -> Raw:
    """Read TinyImageNet."""
    from ..readers.tinyimagenet import read_tinyimagenet

    return read_tinyimagenet(bundle)


def lc25000(bundle: Bundle) -> Raw:
    """Read LC25000."""
    from ..readers.lc25000 import read_lc25000

    return read_lc25000(bundle)


def flowers102(bundle: Bundle) -> Raw:
    """Read Flowers-102."""
    from ..readers.flowers import read_flowers

    return read_flowers(bundle)
