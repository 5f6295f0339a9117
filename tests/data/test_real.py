"""The real sets, whole: FEDKEEL_REAL_DATA=FOLDER python -m pytest tests/data/test_real.py.

The folder holds what is there to be tested: cifar10.npz, cifar100.npz, mnist.npz, fmnist.npz,
femnist_writers.npz, shakespeare_moby_by_role.jsonl.xz. A set that is not there is skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from fedkeel.cli import main
from fedkeel.data import Dirichlet, Natural, Pachinko, Source, load
from fedkeel.data.sets import store
from fedkeel.data.sets.catalogue import DATASETS

FOLDER = os.environ.get("FEDKEEL_REAL_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="FEDKEEL_REAL_DATA names no folder")
FILES = {
    "mnist": "mnist.npz",
    "fmnist": "fmnist.npz",
    "cifar10": "cifar10.npz",
    "cifar100": "cifar100.npz",
    "femnist": "femnist_writers.npz",
    "shakespeare": "shakespeare_moby_by_role.jsonl.xz",
}
COUNTS = {
    "mnist": (60_000, 10_000, 10, (1, 28, 28)),
    "fmnist": (60_000, 10_000, 10, (1, 28, 28)),
    "cifar10": (50_000, 10_000, 10, (3, 32, 32)),
    "cifar100": (50_000, 10_000, 100, (3, 32, 32)),
    "femnist": (28_243, 3_222, 62, (1, 28, 28)),
    "shakespeare": (44_249, 10_937, 80, (80,)),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stored")


def source(name: str, stored: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """Store a set by ``data get --from``, which checks its content, and load it."""
    file = Path(FOLDER) / FILES[name]
    if not file.exists():
        pytest.skip(f"{file} is not there")
    monkeypatch.setenv("FEDKEEL_DATA", str(stored))
    if not (stored / name).exists():
        assert main(["data", "get", name, "--from", str(file)]) == 0
    return load(name)


@pytest.mark.parametrize("name", FILES)
def test_counts_and_content(name: str, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = source(name, stored, monkeypatch)
    train, test, classes, shape = COUNTS[name]
    assert (len(found.train.x), len(found.test.x), found.classes) == (train, test, classes)
    assert tuple(found.train.x.shape[1:]) == shape
    known = DATASETS[name].digests
    if known:
        digests = store.digests(store.read(stored / name))
        assert {key: digests[key] for key in known} == dict(known)
    again = load(name, augment=False)
    assert again.sha256 == found.sha256 and not again.preparation.augments


def test_the_writers_and_roles_are_owners(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert source("femnist", stored, monkeypatch).split(Natural()).clients == 192
    plays = source("shakespeare", stored, monkeypatch)
    assert plays.owner is not None and int(plays.owner.max()) + 1 == 1_346
    assert load("shakespeare", vocab="tf66").classes == 66
    last = load("shakespeare", targets="last")
    assert last.train.y.dim() == 1 and len(last.train.x) < len(plays.train.x)


def test_cifar_100_has_twenty_coarse_classes(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = source("cifar100", stored, monkeypatch)
    coarse = load("cifar100", labels="coarse")
    assert coarse.classes == 20 and np.bincount(fine.parents).tolist() == [5] * 20
    assert (np.array(fine.parents)[fine.train.y.numpy()] == coarse.train.y.numpy()).all()
    split = fine.split(Pachinko(), clients=500)
    assert split.sizes.tolist() == [100] * 500


def test_two_hundred_clients_at_alpha_a_twentieth(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = source("cifar10", stored, monkeypatch)
    for seed in range(5):
        assert found.split(Dirichlet(0.05), clients=200, seed=seed).sizes.min() >= 1
