"""Data sets by name, by path and by function: everything that ``load`` understands."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, unknown
from .arrays import from_arrays
from .federation import Source
from .function import from_function
from .raw import Raw
from .sets.catalogue import DATASETS, known
from .sets.conformity import published_counts
from .sets.entry import Entry
from .sets.places import absent, arrays, find, shown

LABELS = ("fine", "coarse")
VOCABULARIES = ("data", "tf66")
TARGETS = ("all", "last")

_NO_COARSE = "it has no coarse classes, and labels='coarse' needs them, as cifar100 has"

_log = logging.getLogger(__name__)


def load(
    name: str | Path,
    options: Mapping[str, Any] | None = None,
    *,
    test_share: float = 0.2,
    seed: int = 0,
    labels: str = "fine",
    vocab: str = "data",
    targets: str = "all",
    augment: bool = True,
) -> Source:
    """Load a data set. Nothing is ever fetched here: ``fedkeel data get`` does that.

    Args:
        name: A name of ``fedkeel data list``, a path (it contains ``/`` or ends in ``.npz``) of an
            ``.npz`` or of a folder of class folders, or ``"mymodule:function"``.
        options: What the function is called with.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
        labels: Where there are coarse classes as well, which are learned: "fine" or "coarse".
        vocab: What characters become: "data", LEAF's 80 symbols, or "tf66", 65 and an unknown.
        targets: What a sequence is to tell: "all", each next symbol, or "last", the last alone.
        augment: Whether the data set's usual augmentation is kept; a user's data have none.
    """
    _check_words(labels=labels, vocab=vocab, targets=targets)
    text = str(name)
    if isinstance(name, Path) or "/" in text or text.endswith(".npz"):
        read = from_folder if Path(text).is_dir() else from_file
        return read(text, test_share=test_share, seed=seed, labels=labels)
    if ":" in text:
        if labels == "coarse":
            raise InputError(f"{text}: {_NO_COARSE}")
        return from_function(text, options or {}, test_share=test_share, seed=seed)
    if text and text not in DATASETS and Path(text).is_dir():
        raise InputError(f"'{text}' is no data set's name but a folder: write it as './{text}'")
    entry = known(text, "a path", "mymodule:function")
    raw = _symbols(_read(entry), vocab, targets) if entry.tokens else _read(entry)
    source = _source(raw, text, entry.classes, labels, test_share, seed)
    kept = entry.preparation if augment else entry.preparation.still()
    return replace(source, preparation=kept)


def from_file(
    path: str | Path, *, test_share: float = 0.2, seed: int = 0, labels: str = "fine"
) -> Source:
    """Load an ``.npz`` with x_train and y_train, x_test and y_test, or MedMNIST's names of them.

    Images of uint8 with the channels last are turned to channels first; floating x stays as it is.
    ``writer_train`` says who owns each sample, ``coarse_train`` its coarse class, ``classes`` what
    the classes are called. Without a test part a share is held out.

    Args:
        path: The file.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
        labels: Which classes are learned where there are coarse ones as well: "fine" or "coarse".
    """
    from .readers.arrays import read_arrays

    return _own(read_arrays(path), Path(path), labels, test_share, seed)


def from_folder(
    path: str | Path,
    *,
    size: int | None = None,
    test_share: float = 0.2,
    seed: int = 0,
    labels: str = "fine",
) -> Source:
    """Load a folder with a folder of images for each class, in ``train/`` and ``test/`` or not.

    Args:
        path: The folder.
        size: Height and width that images are brought to; None: all must have the same.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
        labels: Folders have no coarse classes: only "fine" is allowed.
    """
    from .readers.images import read_folders

    return _own(read_folders(path, size), Path(path), labels, test_share, seed)


def _check_words(**words: str) -> None:
    allowed = {"labels": LABELS, "vocab": VOCABULARIES, "targets": TARGETS}
    for key, word in words.items():
        if word not in allowed[key]:
            raise unknown(key, word, allowed[key])


def _read(entry: Entry) -> Raw:
    """Read a named data set from wherever it lies on this machine."""
    place = find(entry)
    if place is None:
        raise absent(entry)
    raw, where = arrays(entry, place), shown(place.path)
    if place.kind == "official":
        _log.info("read %s; 'fedkeel data get %s' makes that quick", where, entry.name)
    if differs := published_counts(entry, raw):
        _log.warning("%s at %s has %s", entry.name, where, differs)
    return raw


def _own(raw: Raw, path: Path, labels: str, test_share: float, seed: int) -> Source:
    """Make a data set of a user's arrays; errors name their path."""
    try:
        return _source(raw, path.stem, None, labels, test_share, seed)
    except InputError as error:
        raise InputError(f"'{path}': {error}") from error


def _source(
    raw: Raw, name: str, classes: int | None, labels: str, test_share: float, seed: int
) -> Source:
    """Make a data set of arrays; ``classes`` counts where they have no names."""
    parents = () if labels == "coarse" else _parents(raw)
    if labels == "coarse":
        raw, classes = _coarse(raw, name), None
    source = from_arrays(
        raw.x_train,
        raw.y_train,
        raw.x_test,
        raw.y_test,
        classes=len(raw.labels) or classes,
        owner=raw.owner,
        name=name,
        test_share=test_share,
        seed=seed,
    )
    return replace(source, labels=raw.labels, parents=parents)


def _symbols(raw: Raw, vocab: str, targets: str) -> Raw:
    """Turn characters into tokens, and what follows them into targets."""
    from .readers.text import symbols, tokens

    x, y, kept = tokens(raw.x_train, vocab, targets)
    owner = None if raw.owner is None else raw.owner[kept]
    turned = raw._replace(x_train=x, y_train=y, owner=owner, labels=symbols(vocab))
    if raw.x_test is None:
        return turned
    x, y, _ = tokens(raw.x_test, vocab, targets)
    return turned._replace(x_test=x, y_test=y)


def _coarse(raw: Raw, name: str) -> Raw:
    """Return arrays whose classes are the coarse ones."""
    if raw.coarse_train is None:
        raise InputError(f"{name}: {_NO_COARSE}")
    return raw._replace(y_train=raw.coarse_train, y_test=raw.coarse_test, labels=raw.coarse_labels)


def _parents(raw: Raw) -> tuple[int, ...]:
    """Return the coarse class of each class, of which all samples have to agree."""
    pairs = ((raw.y_train, raw.coarse_train), (raw.y_test, raw.coarse_test))
    known = [(fine, coarse) for fine, coarse in pairs if fine is not None and coarse is not None]
    if not known:
        return ()
    fine, coarse = (np.concatenate(columns) for columns in zip(*known, strict=True))
    parents = np.zeros(len(raw.labels) or int(fine.max()) + 1, np.int64)
    parents[fine] = coarse
    wrong = np.flatnonzero(parents[fine] != coarse)
    if len(wrong):
        label = int(fine[wrong[0]])
        raise InputError(f"class {label} lies in two coarse classes: each must lie in one")
    return tuple(parents.tolist())
