"""What the shell may offer while a word is typed; where nothing fits, it offers files."""

from __future__ import annotations

from ..names import DATA, METHODS


def keys(incomplete: str) -> list[str]:
    """Offer a recipe's keys.

    >>> keys("data.min")
    ['data.min_size=']
    """
    from ..recipe.keys import KEYS

    return [f"{key.name}=" for key in KEYS if incomplete and key.name.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """Offer the methods' names.

    >>> methods("gc")
    ['gcfed']
    """
    return [method.name for method in METHODS if method.name.startswith(incomplete)]


def data(incomplete: str) -> list[str]:
    """Offer the data sets' names.

    >>> data("cif")
    ['cifar10', 'cifar100']
    """
    return [entry.name for entry in DATA if entry.name.startswith(incomplete)]
