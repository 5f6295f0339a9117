"""Which runs are the same experiment under other seeds, and which experiment is the baseline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import unknown
from . import Refused
from .folders import RunFolder

_APART = ("format", "method", "seed", "run", "resolved")
_TASK = ("data.", "model.", "rounds", "cohort")
_NOISE = {
    "data.label_noise_kind": "data.label_noise",
    "data.corruptions": "data.attribute_noise",
    "data.severity": "data.attribute_noise",
}


@dataclass(frozen=True)
class Group:
    """One method under one setting: runs that differ in nothing but their seed.

    Attributes:
        method: The method, as written.
        keys: Every resolved key that belongs to the setting, flat.
        varying: The part of ``keys`` that is not the same in every group.
        runs: One run per seed, by rising seed.
    """

    method: str
    keys: dict[str, Any]
    varying: dict[str, Any]
    runs: tuple[RunFolder, ...]


def flatten(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Write the keys of a recipe's tables as dotted keys.

    >>> flatten({"rounds": 3, "data": {"alpha": 0.1}})
    {'rounds': 3, 'data.alpha': 0.1}
    """
    flat: dict[str, Any] = {}
    for key, item in recipe.items():
        inner = isinstance(item, Mapping)
        flat.update({f"{key}.{name}": v for name, v in item.items()} if inner else {key: item})
    return flat


def setting(run: RunFolder) -> dict[str, Any]:
    """Return the keys that say what was trained on what: not the method, the seed, or [run].

    What says how noise is made counts only where there is noise of that kind.
    """
    keys = flatten({key: item for key, item in run.recipe.items() if key not in _APART})
    idle = {key for key, rate in _NOISE.items() if not keys.get(rate)}
    return {key: item for key, item in keys.items() if key not in idle}


def identity(run: RunFolder) -> str:
    """Return what two runs share exactly if they differ in nothing but their seed and [run]."""
    return _same({"method": _method(run), **setting(run)})


def group(runs: Sequence[RunFolder]) -> list[Group]:
    """Gather runs of one method and one setting: by setting, methods in the order they come in.

    The method is compared with every option written out, so ``GCFed`` and ``gcfed()`` are one. A
    seed counts once: of two runs with the same seed, the first is kept.
    """
    members: dict[str, list[RunFolder]] = {}
    for run in runs:
        members.setdefault(identity(run), []).append(run)
    varying = varying_keys([setting(first) for first, *_ in members.values()])
    names = _names([first for first, *_ in members.values()])
    found = [_group(name, varying, m) for name, m in zip(names, members.values(), strict=True)]
    return sorted(found, key=lambda one: [_rank(item) for item in one.varying.values()])


def varying_keys(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the keys that are not the same everywhere, in the order of the recipes."""
    keys = dict.fromkeys(key for setting in settings for key in setting)
    return [key for key in keys if len({_same(s.get(key)) for s in settings}) > 1]


def repeats(runs: Sequence[RunFolder]) -> list[tuple[RunFolder, RunFolder]]:
    """Find the runs that ``group`` leaves out, each with the earlier run that it repeats."""
    first: dict[tuple[str, int], RunFolder] = {}
    pairs = [(run, first.setdefault((identity(run), run.seed), run)) for run in runs]
    return [(run, earlier) for run, earlier in pairs if run is not earlier]


def find_baseline(groups: Sequence[Group], wanted: str | None) -> str | None:
    """Return the method (as written) that the others are measured against.

    Raises:
        InputError: When a method was asked for that no group has.
    """
    methods = list(dict.fromkeys(group.method for group in groups))
    wrote = {
        _plain(run.summary.get("method_resolved", g.method)): g.method
        for g in groups
        for run in g.runs
    }
    names = wrote | {_plain(method): method for method in methods}
    if wanted is None:
        return names.get("fedavg")
    if wanted not in methods and _plain(wanted) not in names:
        raise unknown("baseline", wanted, methods)
    return wanted if wanted in methods else names[_plain(wanted)]


def counterpart(group: Group, groups: Sequence[Group], baseline: str | None) -> Group | None:
    """Return the group of the baseline that a group is measured against.

    It is the one with the same setting. Where methods were tuned apart there may be none; then it
    is the only one that did the same task (data, model, rounds, cohort), if there is only one.
    """
    if group.method == baseline:
        return None
    others = [other for other in groups if other.method == baseline]
    exact = [other for other in others if _same(other.keys) == _same(group.keys)]
    alike = [other for other in others if _task(other) == _task(group)]
    return (exact or alike)[0] if exact or len(alike) == 1 else None


def check_data(runs: Sequence[RunFolder]) -> None:
    """Refuse runs of one experiment that did not see the same data.

    With ``data.seed = -1`` the seed of a run draws its split, so the hash of data and split differs
    from seed to seed as it should; runs of one group are held to one hash for each seed that
    draws a split: the run's own, or ``data.seed`` where that is fixed.

    Raises:
        Refused: When two runs that must have had the same data and split had not.
    """
    first: dict[tuple[str, int], RunFolder] = {}
    for run in runs:
        earlier = first.setdefault((identity(run), split_seed(run)), run)
        _require_same_data(earlier, run)


def check_pair(group: Group, other: Group) -> None:
    """Refuse a pair of the same seed that did not see the same data and split."""
    by_seed = {run.seed: run for run in other.runs}
    for run in group.runs:
        if run.seed in by_seed:
            _require_same_data(by_seed[run.seed], run)


def split_seed(run: RunFolder) -> int:
    """Return the seed that drew the split: ``data.seed``, or the run's where that is -1."""
    fixed = run.recipe.get("data", {}).get("seed", -1)
    return fixed if isinstance(fixed, int) and fixed >= 0 else run.seed


def _require_same_data(one: RunFolder, two: RunFolder) -> None:
    if one.summary.get("data_sha256") != two.summary.get("data_sha256"):
        raise Refused(
            f"'{one.path}' and '{two.path}' did not see the same data (data_sha256 differs): "
            "repeat one of them on the data of the other, or compare them apart"
        )


def _group(method: str, varying: Sequence[str], members: Iterable[RunFolder]) -> Group:
    once: dict[int, RunFolder] = {}
    for run in members:
        once.setdefault(run.seed, run)
    runs = tuple(once[seed] for seed in sorted(once))
    keys = setting(runs[0])
    return Group(method, keys, {key: keys.get(key) for key in varying}, runs)


def _names(runs: Sequence[RunFolder]) -> list[str]:
    """Name each group by its method as first written, or in full where two write one alike."""
    wrote: dict[str, str] = {}
    meant: dict[str, set[str]] = {}
    for run in runs:
        meant.setdefault(wrote.setdefault(_method(run), run.method), set()).add(_method(run))
    names = [wrote[_method(run)] for run in runs]
    return [n if len(meant[n]) == 1 else _method(r) for n, r in zip(names, runs, strict=True)]


def _method(run: RunFolder) -> str:
    return str(run.summary.get("method_resolved") or run.method)


def _task(group: Group) -> str:
    return _same({key: item for key, item in group.keys.items() if key.startswith(_TASK)})


def _rank(item: object) -> tuple[int, float, str]:
    """Order values: what is absent, numbers by size, all else by its text."""
    if isinstance(item, int | float):
        return (1, item, "")
    return (0, 0.0, "") if item is None else (2, 0.0, _same(item))


def _same(item: object) -> str:
    """Write a value so that equal values, and no others, are equal texts; 1 is not 1.0."""
    return json.dumps(item, sort_keys=True, default=str)


def _plain(method: str) -> str:
    return method.lower().replace(" ", "").replace("()", "")
