"""The table of data sets: complete, true to itself, and nothing is asked of the network."""

from __future__ import annotations

import re

import pytest

from fedkeel.data.sets.catalogue import DATASETS, known
from fedkeel.data.sets.entry import Entry
from fedkeel.data.sets.published import DIGESTS, FILES
from fedkeel.errors import InputError

ENTRIES = list(DATASETS.values())
NAMES = (
    "femnist-mini mnist fmnist emnist-byclass emnist-digits emnist-letters femnist cifar10 "
    "cifar100 tinyimagenet lc25000 flowers102 shakespeare"
)


def test_all_are_there() -> None:
    assert list(DATASETS) == NAMES.split()
    assert all(entry.name == name for name, entry in DATASETS.items())
    assert set(FILES) | set(DIGESTS) <= set(DATASETS)


@pytest.mark.parametrize("entry", ENTRIES, ids=list(DATASETS))
def test_an_entry_is_complete(entry: Entry) -> None:
    assert len(entry.title) <= 62 and entry.licence
    assert (entry.train is None) == (entry.test is None)
    assert len(entry.shape) in (1, 3) and entry.classes > 1
    assert len(entry.labels) in (0, entry.classes)
    assert len(set(entry.labels)) == len(entry.labels)
    assert entry.packaged or bool(entry.files) != bool(entry.by_hand)
    assert "{folder}" in entry.by_hand or not entry.by_hand


@pytest.mark.parametrize("entry", ENTRIES, ids=list(DATASETS))
def test_preparations_fit_the_images(entry: Entry) -> None:
    made = entry.preparation
    assert len(made.mean) == len(made.std) and len(made.mean) in (0, entry.shape[0])
    assert all(0 < value < 1 for value in (*made.mean, *made.std))
    if entry.tokens:
        assert made.mean == () and not made.augments


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_an_address_and_a_checksum(name: str) -> None:
    files = FILES[name]
    assert len({remote.file for remote in files}) == len(files)
    for remote in files:
        assert re.fullmatch(r"https?://[^ ]+", remote.url)
        assert remote.url.endswith("/" + remote.file)
        assert re.fullmatch(r"[0-9a-f]{32}", remote.md5)


def test_digests_are_of_the_arrays_there_are() -> None:
    for name, found in DIGESTS.items():
        coarse = {"coarse_train", "coarse_test"} if name == "cifar100" else set()
        assert set(found) == {"x_train", "y_train", "x_test", "y_test"} | coarse
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in found.values())
        assert DATASETS[name].digests == found


def test_the_papers_preparations() -> None:
    assert known("cifar10").preparation == known("cifar100").preparation
    assert (known("cifar10").preparation.crop, known("tinyimagenet").preparation.crop) == (4, 8)
    assert known("emnist-byclass").preparation.flip and not known("femnist").preparation.augments
    assert known("lc25000").preparation.flip and known("lc25000").preparation.crop == 0
    assert known("femnist-mini").preparation.mean == ()


def test_a_wrong_name_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown data set 'CIFAR-10': did you mean 'cifar10'"):
        known("CIFAR-10")
    with pytest.raises(InputError, match=r"shakespeare, a path$"):
        known("zzz", "a path")
