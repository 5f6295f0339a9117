"""What is said of a federation: how labels lie across its clients, and which samples are noisy."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from fedkeel.data import Federation, describe, from_arrays
from fedkeel.data.heterogeneity import noisy_samples, totals
from fedkeel.errors import InputError


def _federation(owner: list[int], clients: int) -> Federation:
    x, y = np.zeros((6, 2), dtype=np.float32), np.array([0, 0, 1, 1, 1, 0])
    return Federation(from_arrays(x, y, x, y, name="six"), np.array(owner), "file", clients)


def test_describe_has_the_promised_shape() -> None:
    federation = _federation([0, 0, 1, 0, 1, -1], 3)
    told = json.loads(json.dumps(describe(federation), allow_nan=False))
    assert list(told) == [
        "name", "partition", "clients", "samples", "classes", "hash", "metrics", "per_client",
        "label_counts",
    ]  # fmt: skip
    assert (told["name"], told["partition"], told["hash"]) == ("six", "file", federation.sha256)
    assert (told["clients"], told["samples"], told["classes"]) == (3, 5, 2)
    assert told["label_counts"] == [[2, 1], [0, 2], [0, 0]]
    each = told["per_client"]
    assert list(each) == ["size", "entropy", "distinct", "gini", "kl", "dominant"]
    assert each["size"] == [3, 2, 0]
    assert each["distinct"] == [2, 1, None]
    assert each["dominant"] == [pytest.approx(2 / 3), 1.0, None]
    assert each["entropy"][2] is each["gini"][2] is each["kl"][2] is None
    assert list(told["metrics"]) == ["entropy", "distinct", "gini", "kl", "dominant", "pairwise"]
    assert told["metrics"]["distinct"] == 1.5
    assert told["metrics"]["kl"] == pytest.approx(sum(each["kl"][:2]) / 2)
    assert told["metrics"]["pairwise"] == {
        key: pytest.approx(2 / 3) for key in ("mean", "min", "max")
    }


def test_kl_is_against_the_whole_training_set() -> None:
    # Half of all six samples are of class 0, whatever the clients hold of them.
    told = describe(_federation([0, 0, 1, 0, 1, -1], 2))
    assert told["per_client"]["kl"][1] == pytest.approx(math.log(2))


def test_describe_one_client_and_none() -> None:
    assert describe(_federation([0] * 6, 1))["metrics"]["pairwise"]["mean"] is None
    assert describe(_federation([-1] * 6, 1))["metrics"]["entropy"] is None


def test_describe_needs_classes() -> None:
    x = np.zeros((6, 2), dtype=np.float32)
    source = from_arrays(x, x[:, 0], x, x[:, 0])
    with pytest.raises(InputError, match="no classes to count"):
        describe(Federation(source, np.zeros(6, dtype=np.int64), "iid", 1))


def test_of_sequences_sizes_are_samples_and_labels_are_targets() -> None:
    x = np.ones((3, 4), dtype=np.int16)
    y = np.array([[0, 1, 1, -100], [2, 2, 2, 2], [0, -100, -100, -100]])
    source = from_arrays(x, y, x, y, name="lines", classes=3)
    federation = Federation(source, np.array([0, 0, -1]), "file", 1)
    told = describe(federation)
    assert (told["samples"], told["per_client"]["size"]) == (2, [2])
    assert told["label_counts"] == [[1, 2, 4]]
    assert totals(federation).tolist() == [2, 2, 4]


def test_the_whole_set_counts_what_nobody_holds_and_what_the_server_keeps() -> None:
    assert totals(_federation([0, -1, -2, 0, 1, -1], 2)).tolist() == [3, 3]


def test_noisy_samples_are_counted_by_client() -> None:
    federation = _federation([0, 0, 1, 0, 1, -1], 3)
    assert noisy_samples(federation) is None
    clean = np.array([True, False, False, False, True, False])
    found = noisy_samples(replace(federation, clean=clean))
    assert found is not None and found.tolist() == [2, 1, 0]


def test_foreign_samples_that_were_taken_away_are_of_no_class() -> None:
    x, y = np.zeros((8, 2), dtype=np.float32), np.array([0, 0, 0, 1, 1, 2, 2, 2])
    split = Federation(from_arrays(x, y, x, y), np.array([0, 0, 1, 0, 1, 0, 1, -1]), "file", 2)
    kept = split.with_noise(open_set=0.5, foreign=[0])
    held = kept.label_counts.sum(axis=0)
    assert held.sum() == 5  # one of client 0's two foreign samples stays, and none of client 1's
    assert totals(kept).tolist() == [held[0], held[1] + 1]  # and one sample that nobody held
