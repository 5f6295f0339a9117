"""What was compared, said in a title and one sentence, from the recipes alone."""

from __future__ import annotations

from collections.abc import Sequence

from . import groups, words
from .folders import RunFolder


class Facts:
    """What recipes say about a key: one value, or several where runs differ."""

    def __init__(self, runs: Sequence[RunFolder]) -> None:
        """Gather the values of every key."""
        self.methods = list(dict.fromkeys(run.method for run in runs))
        self.seeds = sorted({run.seed for run in runs})
        self._settings = [groups.flatten(run.recipe) for run in runs]

    def values(self, key: str) -> list[object]:
        """Return the different values of a key, as first met; runs without it do not count."""
        found = [setting[key] for setting in self._settings if key in setting]
        return list({repr(value): value for value in found}.values())

    def said(self, key: str) -> str:
        """Return the values of a key in words, empty when no run has it."""
        return words.listed(
            [words.plain(value) for value in sorted(self.values(key), key=_size)], "or"
        )


def title(runs: Sequence[RunFolder]) -> str:
    """Name the page: the methods while they are few, and the data."""
    facts = Facts(runs)
    few = len(facts.methods) <= 2
    named = words.listed(facts.methods) if few else f"{words.capital(len(facts.methods))} methods"
    return f"{named} on {data(facts)}"


def data(facts: Facts) -> str:
    """Name the data; of a path, its last part."""
    names = [str(name).rpartition("/")[2] or str(name) for name in facts.values("data.name")]
    return words.listed(names) or "unnamed data"


def what(runs: Sequence[RunFolder]) -> str:
    """Say in one sentence what was compared, with whatever differs named as such."""
    facts = Facts(runs)
    subject = words.listed(facts.methods)
    verb = "trains" if len(facts.methods) == 1 else "train"
    where = f"{_model(facts)} on {data(facts)}, {_split(facts)}"
    return f"{subject} {verb} {where}, for {_budget(facts)}{_local(facts)}, with {_seeds(facts)}."


def _model(facts: Facts) -> str:
    return f"the model {facts.said('model.name') or 'of the user'}"


def _split(facts: Facts) -> str:
    clients = facts.said("data.clients")
    alpha = facts.said("data.alpha")
    how = facts.said("data.partition") + (f", alpha {alpha}" if alpha else "")
    return f"split over {clients or 'its'} clients" + (f" ({how})" if how else "")


def _budget(facts: Facts) -> str:
    cohort = words.listed([_share(value) for value in facts.values("cohort")], "or")
    return f"{facts.said('rounds')} rounds of {cohort}"


def _share(cohort: object) -> str:
    if isinstance(cohort, float):
        return f"{100 * cohort:g} % of the clients"
    return words.counted(cohort, "client") if isinstance(cohort, int) else str(cohort)


def _local(facts: Facts) -> str:
    work = [
        words.listed(
            [words.counted(n, noun) for n in facts.values(key) if isinstance(n, int)], "or"
        )
        for key, noun in (("local.epochs", "local epoch"), ("local.steps", "local step"))
    ]
    rates = ", ".join(
        f"{name} {facts.said(key)}"
        for key, name in (("local.lr", "learning rate"), ("local.momentum", "momentum"))
        if facts.said(key)
    )
    done = words.listed([w for w in work if w], "or")
    return (f" and {done} each" if done else "") + (f" ({rates})" if rates else "")


def _size(value: object) -> tuple[bool, float]:
    """Order numbers by size, and leave all else as it came."""
    return (False, float(value)) if isinstance(value, int | float) else (True, 0.0)


def _seeds(facts: Facts) -> str:
    noun = "seed" if len(facts.seeds) == 1 else "seeds"
    if len(facts.seeds) > 8:
        return f"{len(facts.seeds)} seeds from {facts.seeds[0]} to {facts.seeds[-1]}"
    return f"{noun} {words.listed([str(seed) for seed in facts.seeds])}"
