"""How a run's data were split, as partition.npz has it, and the numbers that say how unevenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import skew
from ..errors import InputError
from . import words
from .folders import RunFolder, repeat_hint


class Split(NamedTuple):
    """Which client holds what.

    Attributes:
        counts: Labels per client and class; of sequences, the symbols to predict.
        labels: The classes' names; may be empty.
        sizes: Samples per client.
        totals: Labels per class of the whole training set; None where a folder does not say.
        noisy: Noisy samples per client; None where none are known.
    """

    counts: np.ndarray
    labels: tuple[str, ...]
    sizes: np.ndarray
    totals: np.ndarray | None = None
    noisy: np.ndarray | None = None

    @property
    def noun(self) -> str:
        """What is counted: samples, or symbols where a sample has several."""
        return "sample" if self.counts.sum() == self.sizes.sum() else "symbol"


class Row(NamedTuple):
    """One measure over the clients, as text: its title, and mean, median, least and most."""

    title: str
    cells: tuple[str, str, str, str]


COLUMNS = ("mean", "median", "least", "most")


def read_split(run: RunFolder) -> Split | None:
    """Return how a run's data were split; None where its folder does not say."""
    path = run.path / "partition.npz"
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            return _split({name: file[name] for name in file.files})
    except Exception as error:
        # A damaged archive raises whatever its first broken byte happens to mean to zipfile.
        raise InputError(f"'{path}' is damaged: {repeat_hint(run.path)}") from error


def told(split: Split) -> list[Row]:
    """Return the measures of a split, over the clients that hold samples."""
    whole = split.counts.sum(axis=0) if split.totals is None else split.totals
    values = skew.summary(split.counts, whole)["per_client"]
    return list(rows(split, values))


def rows(split: Split, values: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the measures that are defined, the plain counts first.

    Args:
        split: Which client holds what.
        values: A list over the clients for each measure; None where it is not defined.
    """
    held = split.sizes > 0
    yield from _row("samples", split.sizes[held], whole=True)
    if split.noun == "symbol":
        yield from _row("symbols to predict", split.counts.sum(axis=1)[held], whole=True)
    if split.noisy is not None:
        yield from _row(skew.MEASURES["noisy"].title, split.noisy[held] / split.sizes[held])
    for key, measure in skew.MEASURES.items():
        defined = np.array([v for v in values.get(key, ()) if v is not None])
        yield from _row(_said(measure.title, split), defined, whole=key == "distinct")
    yield from _row(skew.MEASURES["pairwise"].title, skew.pairwise(split.counts))


def meanings(split: Split, titles: Sequence[str]) -> list[tuple[str, str]]:
    """Return the titles of measures that were shown, each with its definition in a line."""
    found = {_said(m.title, split): _said(m.meaning, split) for m in skew.MEASURES.values()}
    return [(title, found[title]) for title in titles if title in found]


def letters(split: Split) -> str:
    """Say what the letters of the definitions stand for, and which clients count."""
    said = (
        "Over the clients that hold samples. c is how often a client has each of the C labels, p "
        "its share of each, q that of the whole training set."
    )
    return _said(said, split)


def size_of(split: Split) -> str:
    """Say how much there is, who has nothing of it, and how much of it is noisy."""
    samples, empty = int(split.sizes.sum()), int((split.sizes == 0).sum())
    said = [words.counted(len(split.sizes), "client"), words.counted(samples, "sample")]
    if empty:
        said.insert(1, f"{words.number(empty, 0)} of them without samples")
    if split.noun == "symbol":
        said.append(words.counted(int(split.counts.sum()), "symbol") + " to predict")
    if split.noisy is not None and samples:
        wrong = int(split.noisy.sum())
        said.append(f"{words.number(wrong, 0)} noisy ({words.number(100 * wrong / samples)} %)")
    return ", ".join(said)


def _split(stored: Mapping[str, np.ndarray]) -> Split | None:
    """Make a split of what a file holds, and refuse what does not fit together."""
    counts = stored.get("label_counts")
    if counts is None or not counts.size:
        return None
    owner, totals, clean = (stored.get(name) for name in ("owner", "totals", "clean"))
    clients, classes = counts.shape
    sizes, noisy = counts.sum(axis=1), None
    if owner is not None:
        sizes = np.bincount(owner[owner >= 0], minlength=clients)
        noisy = None if clean is None else skew.noisy(owner, clean.reshape(owner.shape), clients)
    if len(sizes) != clients or (totals is not None and totals.shape != (classes,)):
        raise ValueError("what is kept does not fit together")
    return Split(counts, tuple(map(str, stored.get("labels", ()))), sizes, totals, noisy)


def _said(text: str, split: Split) -> str:
    """Call what is counted by its name."""
    return text.replace("label", "symbol") if split.noun == "symbol" else text


def _row(title: str, values: np.ndarray, whole: bool = False) -> Iterator[Row]:
    """Write one row, if there is anything to say."""
    found = skew.spread(values)
    if found is None:
        return
    least, most = (words.number(v, 0 if whole else 3) for v in (found.least, found.most))
    middle = 1 if whole and found.mean < 100 else 0 if whole else 3
    mean, median = (words.number(v, middle) for v in (found.mean, found.median))
    yield Row(title, (mean, median, least, most))
