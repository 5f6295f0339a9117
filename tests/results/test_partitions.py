"""How a run's data were split: read back, measured, and said on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

import fedkeel as fk
from fedkeel.errors import InputError
from fedkeel.results import page, partitions
from fedkeel.results.folders import read
from fedkeel.results.partitions import Split

COUNTS = np.array([[3, 1], [0, 0], [0, 2]])
OWNER = np.array([0, 0, 0, 0, 2, 2, -1, -2])


@pytest.fixture
def write_split(write_run):
    def write(**arrays: Any):
        path = write_run(f"run{len(arrays)}")
        np.savez(path / "partition.npz", **arrays)
        (run,) = read(path)
        return run

    return write


def whole(**changes: Any) -> Mapping[str, Any]:
    kept = {"owner": OWNER, "label_counts": COUNTS, "labels": ["a", "b"], "totals": [4, 4]}
    return {**kept, **changes}


def cells(split: Split) -> dict[str, tuple[str, ...]]:
    return {row.title: row.cells for row in partitions.told(split)}


def test_what_a_folder_holds_is_read(write_split):
    clean = np.array([True, False, False, True, True, True, False, False])
    split = partitions.read_split(write_split(**whole(clean=clean)))
    assert split.labels == ("a", "b")
    assert split.sizes.tolist() == [4, 0, 2]
    assert split.totals.tolist() == [4, 4]
    assert split.noisy.tolist() == [2, 0, 0]
    said = "3 clients, 1 of them without samples, 6 samples, 2 noisy (33.3 %)"
    assert partitions.size_of(split) == said


def test_what_a_run_writes_is_read(tmp_path):
    x, y = np.zeros((8, 2), np.float32), np.array([0, 0, 0, 1, 1, 1, 0, 1])
    source = fk.data.from_arrays(x, y, x, y)
    federation = fk.data.Federation(source, OWNER, "file", 3, clean=OWNER != 2)
    task = fk.Task(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    fk.train(fk.algorithm(), task, federation, rounds=0, cohort=1, out=tmp_path / "run")
    (run,) = read(tmp_path / "run")
    split = partitions.read_split(run)
    assert split.counts.tolist() == [[3, 1], [0, 0], [0, 2]]
    assert split.sizes.tolist() == [4, 0, 2]
    assert split.totals.tolist() == [4, 4]
    assert split.noisy.tolist() == [0, 0, 2]


def test_measures_are_over_the_clients_that_hold_samples(write_split):
    told = cells(partitions.read_split(write_split(**whole())))
    assert list(told) == [
        "samples", "entropy of labels", "distinct labels", "Gini of labels", "KL to the whole",
        "largest label", "distance of two",
    ]  # fmt: skip
    assert told["samples"] == ("3.0", "3.0", "2", "4")
    assert told["distinct labels"] == ("1.5", "1.5", "1", "2")
    assert told["largest label"] == ("0.875", "0.875", "0.750", "1.000")
    assert told["KL to the whole"][3] == "0.693"  # log 2: half of the whole set is b
    assert told["distance of two"] == ("0.750",) * 4


def test_an_old_folder_is_measured_against_its_clients_and_says_so(write_split):
    kept = {name: array for name, array in whole().items() if name not in ("totals", "owner")}
    split = partitions.read_split(write_split(**kept))
    assert cells(split)["KL to the whole"][3] == "0.693"  # 3 of 6 are b here too
    assert split.sizes.tolist() == [4, 0, 2]


def test_a_page_says_which_folder_is_old(write_split, write_run, tmp_path):
    for name, more in (("a", {}), ("b", {"totals": [4, 4]})):
        path = write_run(f"all/{name}", recipe={"data.alpha": 0.1 + len(more)})
        np.savez(path / "partition.npz", label_counts=COUNTS, **more)
    text = page.render(read(tmp_path / "all"))
    assert text.count("Here q is that of all clients together") == 1
    assert text.count("q that of the whole training set") == 1


def test_the_share_of_noisy_samples_is_a_measure():
    split = Split(COUNTS, (), COUNTS.sum(1), None, np.array([1, 0, 2]))
    assert cells(split)["noisy samples"] == ("0.625", "0.625", "0.250", "1.000")
    assert "noisy samples" in dict(partitions.meanings(split, ["noisy samples"]))


def test_of_sequences_symbols_are_counted():
    split = Split(np.array([[30, 50], [80, 0]]), (), np.array([1, 1]))
    told = cells(split)
    assert told["samples"] == ("1.0", "1.0", "1", "1")
    assert told["symbols to predict"] == ("80.0", "80.0", "80", "80")
    assert "entropy of symbols" in told and "largest symbol" in told
    assert partitions.size_of(split) == "2 clients, 2 samples, 160 symbols to predict"
    assert all("label" not in " ".join(line) for line in partitions.meanings(split, list(told)))


def test_nothing_but_sizes_is_said_of_clients_without_samples():
    split = Split(np.zeros((2, 3), int), (), np.zeros(2, int), np.array([1, 1, 1]))
    assert partitions.told(split) == []
    assert partitions.size_of(split) == "2 clients, 2 of them without samples, 0 samples"


@pytest.mark.parametrize(
    "wrong",
    [
        {"totals": [4, 4, 4]},
        {"owner": np.array([0, 1, 2, 3])},
        {"clean": np.array([True])},
        {"label_counts": np.array([1, 2])},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_does_not_fit_together_is_damaged(write_split, wrong):
    with pytest.raises(InputError, match=r"partition\.npz' is damaged: repeat the run"):
        partitions.read_split(write_split(**whole(**wrong)))


def test_a_split_without_classes_has_no_picture(write_split):
    split = whole(label_counts=np.zeros((3, 0), int), totals=np.zeros(0, int))
    assert partitions.read_split(write_split(**split)) is None


def test_the_page_has_the_measures_and_each_definition_once(write_split, write_run, tmp_path):
    for name, changes in (("a", {}), ("b", {"data.alpha": 0.5})):
        path = write_run(f"all/{name}", recipe=changes)
        np.savez(path / "partition.npz", **whole())
    text = page.render(read(tmp_path / "all"))
    assert text.count('<table class="skew">') == 2
    assert len(re.findall("<dt>Gini of labels</dt>", text)) == 1
    assert text.count("q that of the whole training set") == 1
    assert "3 clients, 1 of them without samples, 6 samples." in text
