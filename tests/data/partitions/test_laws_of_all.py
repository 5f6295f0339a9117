"""The laws of all partitions that deal samples out: once each, by the seed, or refused."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import IID, Facts, Partition
from fedkeel.data.partitions.classes import Classes
from fedkeel.data.partitions.dirichlet import Dirichlet
from fedkeel.data.partitions.dirichlet_ecgr import DirichletECGR
from fedkeel.data.partitions.dirichlet_gcfl import DirichletGCFL
from fedkeel.data.partitions.feature import Feature
from fedkeel.data.partitions.label_shards import Shards
from fedkeel.data.partitions.pachinko import Pachinko
from fedkeel.data.partitions.quantity import Quantity
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

RULES: list[Partition] = [
    IID(),
    Feature(),
    Quantity(),
    Dirichlet(min_size=0),
    Dirichlet(min_size=0, cap=False),
    DirichletECGR(fill=0),
    DirichletECGR(fill=1, drop_remainder=False),
    DirichletGCFL(),
    Pachinko(),
    Shards(),
    Classes(1),
    Classes(),
]
IDS = [f"{rule.name}-{i}" for i, rule in enumerate(RULES)]
BY_CLASS = [rule for rule in RULES if rule.name not in ("iid", "feature", "quantity")]
GIVES_ALL = ("iid", "feature", "quantity", "dirichlet", "dirichlet_gcfl", "shards")
PARENTS = (0, 1, 1, 0, 2, 2, 2, 4)


def _owners(rule: Partition, labels: np.ndarray, clients: int | None, seed: int = 0) -> np.ndarray:
    return rule.owners(Facts(labels, None, PARENTS), clients, generator(seed, "split"))


@st.composite
def _problems(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    counts = draw(st.lists(st.integers(0, 30), min_size=2, max_size=8).filter(lambda c: min(c[:2])))
    labels = np.random.default_rng(draw(st.integers(0, 9))).permutation(
        np.repeat(np.arange(len(counts)), counts)
    )
    return labels, draw(st.integers(1, len(labels))), draw(st.integers(0, 2**40))


def _left_over(rule: Partition, labels: np.ndarray, clients: int) -> range:
    """Say how many samples may be nobody's."""
    classes = len(np.unique(labels))
    if rule.name in GIVES_ALL or (isinstance(rule, DirichletECGR) and not rule.drop_remainder):
        return range(1)
    if rule.name == "pachinko":
        return range(len(labels) % clients, len(labels) % clients + 1)
    if rule.name == "dirichlet_ecgr":
        return range(classes * (clients - 1) + 1)
    assert isinstance(rule, Classes)
    whole = clients * rule.classes_per_client >= classes
    return range(1) if whole else range(1, len(labels))


@pytest.mark.parametrize("rule", RULES, ids=IDS)
@settings(deadline=None, max_examples=40)
@given(_problems())
def test_every_sample_has_one_client_or_is_nobodys(rule: Partition, problem: tuple) -> None:
    labels, clients, seed = problem
    try:
        owner = _owners(rule, labels, clients, seed)
    except InputError as error:
        assert rule.name == "shards"
        assert "need" in str(error)
        return
    assert owner.dtype == np.int64
    assert owner.shape == labels.shape
    assert owner.min() >= -1
    assert owner.max() < clients
    assert int((owner < 0).sum()) in _left_over(rule, labels, clients)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_the_seed_alone_decides(rule: Partition) -> None:
    labels = np.arange(400) % 8
    before = labels.copy()
    a, b, c = (_owners(rule, labels, 10, seed) for seed in (4, 4, 5))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    assert np.array_equal(labels, before)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_one_client_gets_what_there_is(rule: Partition) -> None:
    owner = _owners(rule, np.array([0, 1, 0, 1, 1]), 1)
    assert (owner == 0).sum() in ((2, 3) if rule == Classes(1) else (5,))


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_client_for_each_sample(rule: Partition) -> None:
    if rule.name == "shards":
        rule = Shards(1)
    owner = _owners(rule, np.arange(8), 8)
    assert owner.max() < 8
    if rule.name in ("iid", "feature", "quantity", "shards", "pachinko"):
        assert sorted(owner.tolist()) == list(range(8))


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_more_clients_than_samples_are_refused(rule: Partition) -> None:
    with pytest.raises(InputError, match=r"^clients=9 is more than the 8 samples .*: take fewer$"):
        _owners(rule, np.arange(8), 9)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_the_number_of_clients_is_needed(rule: Partition) -> None:
    with pytest.raises(InputError, match=f"^partition '{rule.name}' needs the number of clients$"):
        _owners(rule, np.arange(8), None)


@pytest.mark.parametrize("rule", BY_CLASS, ids=[rule.name for rule in BY_CLASS])
@pytest.mark.parametrize("labels", [np.linspace(0, 1, 20), np.zeros((20, 3), dtype=int)])
def test_rules_by_class_need_one_class_a_sample(rule: Partition, labels: np.ndarray) -> None:
    with pytest.raises(InputError, match=f"^partition '{rule.name}' needs one class a sample"):
        _owners(rule, labels, 2)


@pytest.mark.parametrize("rule", [IID(), Quantity(), Feature()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("labels", [np.linspace(0, 1, 20), np.zeros((20, 3), dtype=int)])
def test_the_others_take_any_target(rule: Partition, labels: np.ndarray) -> None:
    assert set(_owners(rule, labels, 4).tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_ten_thousand_clients(rule: Partition) -> None:
    if rule == DirichletECGR(fill=1, drop_remainder=False):
        rule = DirichletECGR(fill=0, drop_remainder=False)
    owner = _owners(rule, np.arange(20_000) % 8, 10_000)
    sizes = np.bincount(owner[owner >= 0], minlength=10_000)
    if rule.name in ("iid", "feature", "shards", "pachinko"):
        assert (sizes == 2).all()
    assert sizes.sum() == 20_000 or rule == DirichletECGR(fill=0)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_the_defaults_are_100_clients_and_rules_are_values(rule: Partition) -> None:
    assert rule.default_clients == 100
    assert rule == type(rule)(**vars(rule))
    assert hash(rule) == hash(type(rule)(**vars(rule)))


GOLDEN = {
    "iid-0": "e8a674d05f3a",
    "feature-1": "e8a674d05f3a",
    "quantity-2": "aa21c02e83ed",
    "dirichlet-3": "0a52826f1630",
    "dirichlet-4": "5c25d001f2f9",
    "dirichlet_ecgr-5": "316a4554b480",
    "dirichlet_ecgr-6": "190f1f51dad9",
    "dirichlet_gcfl-7": "0ffa07bfe431",
    "pachinko-8": "0186469d9102",
    "shards-9": "a0132a6bd8d7",
    "classes-10": "c36692ff6eed",
    "classes-11": "b8f30a6c2bd5",
}


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_splits_stay_what_they_were(rule: Partition) -> None:
    """A change here changes the splits of everyone who gave a seed."""
    owner = _owners(rule, np.arange(1000) % 8, 10, 7)
    digest = hashlib.sha256(owner.astype("<i8").tobytes()).hexdigest()[:12]
    assert digest == GOLDEN[IDS[RULES.index(rule)]]
