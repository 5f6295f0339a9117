"""Even, natural and filed partitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.data import IID, Facts, File, Natural
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

LABELS = np.array([0, 1, 2, 0, 1, 2])
NATURAL = np.array([7, 3, 7, 9, 3, 9])


def _owners(rule, labels=LABELS, natural=None, clients=None, seed=0):
    return rule.owners(Facts(np.asarray(labels), natural), clients, generator(seed, "split"))


@given(st.integers(1, 300), st.data())
def test_iid_sizes_differ_by_one_at_most(samples: int, data: st.DataObject) -> None:
    clients = data.draw(st.integers(1, samples))
    sizes = np.bincount(_owners(IID(), np.zeros(samples, int), None, clients), minlength=clients)
    assert sizes.sum() == samples
    assert sizes.max() - sizes.min() <= 1


def test_iid_is_shuffled_by_the_seed() -> None:
    labels = np.zeros(60, dtype=int)
    a, b, c = (_owners(IID(), labels, None, 6, seed) for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_iid_needs_a_sample_for_each() -> None:
    with pytest.raises(InputError, match="clients=7 is more than the 6 samples"):
        _owners(IID(), clients=7)


def test_natural_numbers_all_owners_from_0() -> None:
    assert _owners(Natural(), natural=NATURAL).tolist() == [1, 0, 1, 2, 0, 2]
    assert _owners(Natural(), natural=NATURAL, clients=3).tolist() == [1, 0, 1, 2, 0, 2]


@given(st.integers(1, 8), st.integers(0, 5))
def test_natural_draws_whole_owners(clients: int, seed: int) -> None:
    natural = np.repeat(np.arange(10, 18), [1, 2, 3, 4, 5, 6, 7, 8])
    owner = _owners(Natural(), np.zeros(36, int), natural, clients, seed)
    pairs = set(zip(natural.tolist(), owner.tolist(), strict=True))
    assert len(pairs) == 8  # nobody's samples were torn apart
    assert sorted(k for _, k in pairs if k >= 0) == list(range(clients))


def test_natural_draws_by_the_seed() -> None:
    natural = np.arange(50)
    a, b, c = (_owners(Natural(), np.zeros(50, int), natural, 10, seed) for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_natural_refuses_what_is_not_there() -> None:
    with pytest.raises(InputError, match="clients=4 is more than the 3 natural owners"):
        _owners(Natural(), natural=NATURAL, clients=4)
    with pytest.raises(InputError, match="these have none"):
        _owners(Natural())


def test_file_is_taken_as_it_is(tmp_path: Path) -> None:
    owner = np.array([0, 2, -1, -2, 1, 0], dtype=np.int16)
    np.savez(tmp_path / "p.npz", owner=owner, labels=np.array(["a", "b"]))
    assert _owners(File(tmp_path / "p.npz")).tolist() == owner.tolist()
    assert _owners(File(str(tmp_path / "p.npz")), clients=3).tolist() == owner.tolist()


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        ([0, 1, 0], "has 3 entries: it must hold one for each of 6 training samples"),
        ([0.0, 1, 0, 1, 0, 1], "is float64 of shape"),
        ([[0, 1, 0, 1, 0, 1]], r"of shape \(1, 6\)"),
        ([0, 1, 0, -3, 0, 1], "holds -3"),
        ([0, 1, 0, 10**9, 0, 1], "holds 1000000000"),
        ([-1, -1, -2, -1, -1, -1], "gives no client any sample"),
    ],
)
def test_file_with_wrong_owners(tmp_path: Path, owner: list, words: str) -> None:
    np.savez(tmp_path / "p.npz", owner=np.array(owner))
    with pytest.raises(InputError, match=words) as caught:
        _owners(File(tmp_path / "p.npz"))
    assert "\n" not in str(caught.value)
    assert "p.npz" in str(caught.value)


def test_file_with_another_number_of_clients(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", owner=np.array([0, 1, 0, 1, 0, 1]))
    with pytest.raises(InputError, match=r"clients=3, but .*p.npz' has 2"):
        _owners(File(tmp_path / "p.npz"), clients=3)


def test_file_without_owner(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", owners=np.zeros(6, int))
    with pytest.raises(InputError, match="has no array 'owner': it holds owners"):
        _owners(File(tmp_path / "p.npz"))
