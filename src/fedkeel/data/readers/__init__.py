"""Readers: official files of a data set become plain arrays."""

from __future__ import annotations

from .arrays import channels_first, read_arrays
from .bundle import LIMIT, Bundle
from .cifar import read_cifar10, read_cifar100
from .flowers import read_flowers
from .idx import read_idx
from .images import read_folders
from .lc25000 import read_lc25000
from .leaf import read_femnist, read_shakespeare
from .plays import read_plays
from .text import Tokens, symbols, tokens
from .tinyimagenet import read_tinyimagenet

__all__ = [
    "LIMIT",
    "Bundle",
    "Tokens",
    "channels_first",
    "read_arrays",
    "read_cifar10",
    "read_cifar100",
    "read_femnist",
    "read_flowers",
    "read_folders",
    "read_idx",
    "read_lc25000",
    "read_plays",
    "read_shakespeare",
    "read_tinyimagenet",
    "symbols",
    "tokens",
]
