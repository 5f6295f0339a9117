"""Which colour each experiment has, in every figure and table of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import groups
from .folders import RunFolder
from .groups import Group


class Palette(NamedTuple):
    """The number of the colour of every group of runs."""

    numbers: dict[str, int]

    def of(self, group: Group) -> int:
        """Return the colour of a group."""
        return self.of_run(group.runs[0])

    def of_run(self, run: RunFolder) -> int:
        """Return the colour of a run."""
        return self.numbers[groups.identity(run)]


def choose(runs: Sequence[RunFolder], baseline: str | None) -> Palette:
    """Give each method a colour, the baseline grey; a single method, one to each setting."""
    grouped = groups.group(runs)
    methods = list(dict.fromkeys(one.method for one in grouped))
    if len(methods) == 1:
        return Palette({_key(one): number for number, one in enumerate(grouped, 1)})
    others = [method for method in methods if method != baseline]
    numbers = {method: number for number, method in enumerate(others, 1)}
    return Palette({_key(one): numbers.get(one.method, 0) for one in grouped})


def _key(group: Group) -> str:
    return groups.identity(group.runs[0])
