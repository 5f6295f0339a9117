"""How different the clients are, by hand and against published figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from fedkeel.data import Federation, describe, from_arrays
from fedkeel.data import heterogeneity as measure
from fedkeel.errors import InputError

COUNTS = np.array([[4, 0], [1, 1], [1, 3]])


def test_entropy_by_hand() -> None:
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert measure.entropy(COUNTS).tolist() == pytest.approx([0, 1, quarter])
    assert measure.entropy(np.array([[7]])).tolist() == [0]


def test_entropy_is_over_all_classes_and_not_over_those_present() -> None:
    # A published client of CIFAR-100: 100 samples, 29 labels, 10 % in the largest, entropy .68.
    counts = np.zeros((1, 100), dtype=int)
    counts[0, :29] = [
        10,
        9,
        8,
        7,
        6,
        5,
        5,
        4,
        4,
        4,
        4,
        3,
        3,
        3,
        3,
        3,
        3,
        2,
        2,
        2,
        2,
        1,
        1,
        1,
        1,
        1,
        1,
        1,
        1,
    ]
    assert counts.sum() == 100
    assert measure.entropy(counts)[0] == pytest.approx(0.68, abs=0.01)
    assert measure.distinct(counts).tolist() == [29]
    assert measure.dominant(counts).tolist() == [0.1]


def test_gini_by_hand() -> None:
    # sum over ordered pairs |c_i - c_j| is 8, 0, 4; 2 C sum(c) is 16, 8, 16
    assert measure.gini(COUNTS).tolist() == pytest.approx([0.5, 0, 0.25])


def test_gini_by_its_definition() -> None:
    counts = np.random.default_rng(0).integers(0, 9, (5, 7))
    spread = np.abs(counts[:, :, None] - counts[:, None]).sum(axis=(1, 2))
    assert measure.gini(counts) == pytest.approx(spread / (2 * 7 * counts.sum(axis=1)))


def test_kl_by_hand() -> None:
    whole = COUNTS.sum(axis=0)  # 6 and 4
    two = 0.5 * math.log(0.5 / 0.6) + 0.5 * math.log(0.5 / 0.4)
    three = 0.25 * math.log(0.25 / 0.6) + 0.75 * math.log(0.75 / 0.4)
    assert measure.kl(COUNTS, whole).tolist() == pytest.approx([math.log(1 / 0.6), two, three])
    assert measure.kl(COUNTS[:1] * 0 + whole, whole).tolist() == [0]


def test_pairwise_by_hand() -> None:
    assert sorted(measure.pairwise(COUNTS)) == pytest.approx([0.25, 0.5, 0.75])
    assert len(measure.pairwise(COUNTS[:1])) == 0


def test_pairwise_takes_the_same_clients_of_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PAIRWISE_LIMIT", 10)
    counts = np.random.default_rng(0).integers(1, 9, (50, 4))
    first = measure.pairwise(counts)
    assert len(first) == 45
    assert np.array_equal(first, measure.pairwise(counts))


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
