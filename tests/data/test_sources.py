"""Data sets by name and by path."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import fedkeel.data
from fedkeel.data import Natural, Preparation, load
from fedkeel.data.sets import store
from fedkeel.data.sets.catalogue import DATASETS
from fedkeel.data.sources import from_folder
from fedkeel.errors import InputError
from tests.data.raws import coarse, digits, idx_files, plays, save


def _save(path: Path, **changed: np.ndarray | None) -> str:
    images = np.arange(6 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(6, 28, 28)
    arrays = {
        "x_train": images,
        "y_train": np.arange(6) % 3,
        "x_test": images[:2],
        "y_test": np.arange(2),
    }
    kept = {name: array for name, array in (arrays | changed).items() if array is not None}
    np.savez(path, **kept)
    return str(path)


def test_public_names_are_sorted_and_there() -> None:
    names = fedkeel.data.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name.islower(), name))
    assert all(getattr(fedkeel.data, name) is not None for name in names)


def test_femnist_mini_is_what_the_table_says() -> None:
    source, entry = load("femnist-mini"), DATASETS["femnist-mini"]
    assert source.owner is not None
    assert len(source.train.y) == len(source.train.x) == len(source.owner) == entry.train
    assert len(source.test.y) == len(source.test.x) == entry.test
    assert source.train.x.shape[1:] == source.test.x.shape[1:] == entry.shape
    assert source.train.x.dtype == torch.uint8
    assert source.classes == len(source.labels) == entry.classes
    assert "".join(source.labels).startswith("0123456789ABC")
    assert len(set(source.owner.tolist())) == entry.owners


def test_femnist_mini_is_white_on_black_and_of_all_classes() -> None:
    source = load("femnist-mini")
    assert source.train.x.float().mean() < 64
    assert np.bincount(source.train.y.numpy()).min() > 50
    assert source.split(Natural()).sizes.min() > 80


def test_femnist_mini_is_small_with_its_notice_beside_it() -> None:
    folder = Path(fedkeel.data.__file__).parent
    assert (folder / "femnist_mini.npz").stat().st_size <= 4_000_000
    assert "NIST Special Database 19" in (folder / "NOTICE.femnist-mini.md").read_text()


def test_npz_with_grey_images_and_owners(tmp_path: Path) -> None:
    source = load(_save(tmp_path / "mine.npz", writer_train=np.array([4, 4, 1, 1, 1, 0])))
    assert source.name == "mine"
    assert source.train.x.shape == (6, 1, 28, 28)
    assert source.split(Natural()).sizes.tolist() == [1, 3, 2]
    assert load(tmp_path / "mine.npz").sha256 == source.sha256


def test_npz_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _save(tmp_path / "mine.npz")
    monkeypatch.chdir(tmp_path)
    assert load("mine.npz").classes == 3


def test_npz_with_floats_is_used_as_it_is(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(6, 5, 3))
    source = load(_save(tmp_path / "f.npz", x_train=x, x_test=x[:2]))
    assert torch.equal(source.train.x, torch.from_numpy(x))


def test_npz_without_a_test_part(tmp_path: Path) -> None:
    source = load(_save(tmp_path / "t.npz", x_test=None, y_test=None), test_share=0.5)
    assert (len(source.train.y), len(source.test.y)) == (3, 3)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y_train": None}, "has no array 'y_train'"),
        ({"y_test": None}, "no y_test"),
        ({"x_test": None}, "no x_test"),
        ({"y_train": np.arange(5)}, r"x_train of shape \(6,.* y_train of \(5,\)"),
        ({"y_train": np.array(list("abcdef"))}, "y_train is <U1"),
        ({"y_train": np.array([None] * 6)}, "Python objects, which are never read"),
        ({"coarse_train": np.array([0, 0, 0, 1, 0, 0])}, "class 0 lies in two coarse classes"),
        ({"writer_train": np.arange(5)}, "writer_train is int64"),
    ],
)
def test_npz_that_is_refused(tmp_path: Path, changed: dict, words: str) -> None:
    path = _save(tmp_path / "bad.npz", **changed)
    with pytest.raises(InputError, match=words) as caught:
        load(path)
    assert "bad.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


# --- by name ---


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Search a folder of this test alone."""
    monkeypatch.setenv("FEDKEEL_DATA", str(tmp_path / "sets"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "sets").mkdir()
    return tmp_path / "sets"


def test_a_stored_set_is_mapped_and_prepared(here: Path) -> None:
    store.write(here, "mnist", digits())
    source = load("mnist")
    assert torch.equal(source.train.x, torch.from_numpy(digits().x_train))
    assert (source.name, source.classes, source.labels[3]) == ("mnist", 10, "3")
    assert source.preparation == DATASETS["mnist"].preparation


def test_all_forms_of_a_set_are_the_same_set(here: Path) -> None:
    save(here / "mnist.npz", digits())
    arrays = load("mnist")
    (here / "mnist.npz").unlink()
    (here / "mnist").mkdir()
    for name, content in idx_files(digits()).items():
        (here / "mnist" / name).write_bytes(content)
    official = load("mnist")
    store.write(here, "mnist", digits())
    assert load("mnist").sha256 == arrays.sha256 == official.sha256


def test_official_files_are_said_to_be_slow(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    (here / "mnist").mkdir()
    for name, content in idx_files(digits()).items():
        (here / "mnist" / name).write_bytes(content)
    with caplog.at_level(logging.INFO, "fedkeel"):
        load("mnist")
    assert "'fedkeel data get mnist' makes that quick" in caplog.messages[0]


def test_a_part_of_a_set_is_said_to_be_one(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    store.write(here, "mnist", digits())
    with caplog.at_level(logging.INFO, "fedkeel"):
        load("mnist")
    (said,) = caplog.messages
    assert "mnist at" in said and "20 + 10 samples where 60,000 + 10,000" in said


def test_a_set_without_a_test_part_is_shared_out(here: Path) -> None:
    alone = digits()._replace(x_test=None, y_test=None, owner=np.arange(20) % 3)
    store.write(here, "femnist", alone)
    source = load("femnist", test_share=0.25, seed=1)
    assert (len(source.train.x), len(source.test.x)) == (15, 5)
    assert source.owner is not None and len(source.owner) == 15


def test_augmentation_can_be_left_out(here: Path) -> None:
    store.write(here, "cifar100", coarse())
    assert load("cifar100").preparation.augments
    still = load("cifar100", augment=False).preparation
    assert still == replace(DATASETS["cifar100"].preparation, crop=0, flip=False)


def test_coarse_and_fine_classes(here: Path) -> None:
    store.write(here, "cifar100", coarse())
    fine, rough = load("cifar100"), load("cifar100", labels="coarse")
    assert fine.parents == tuple(c // 5 for c in range(100)) and fine.classes == 100
    assert (rough.classes, rough.parents) == (20, ())
    assert rough.train.y.tolist() == [y // 5 for y in fine.train.y.tolist()]
    save(here / "cifar100.npz", coarse())
    by_path = load(here / "cifar100.npz", labels="coarse")
    assert by_path.classes == 20 and by_path.preparation == Preparation()
    assert load(here / "cifar100.npz").parents == fine.parents


def test_characters_become_tokens(here: Path) -> None:
    store.write(here, "shakespeare", plays())
    source = load("shakespeare")
    assert source.train.x.shape == source.train.y.shape == (3, 80)
    assert source.train.x.dtype == torch.int16 and source.classes == 80
    assert source.labels[int(source.train.x[0, 0])] == "a"
    assert (source.train.y[2, 39:] == -100).all() and (source.train.y[2, :39] >= 0).all()
    assert source.split(Natural()).sizes.tolist() == [2, 1]


def test_vocabulary_and_targets_of_characters(here: Path) -> None:
    store.write(here, "shakespeare", plays())
    source = load("shakespeare", vocab="tf66", targets="last")
    assert (source.train.x.shape, source.train.y.shape, source.classes) == ((2, 80), (2,), 66)
    assert source.owner is not None and source.owner.tolist() == [0, 0]


def test_damage_names_the_file(here: Path) -> None:
    save(here / "cifar10.npz", digits())
    with pytest.raises(InputError, match=r"cifar10.npz' cannot be cifar10: x_train is uint8"):
        load("cifar10")


# --- folders of images ---


def test_a_folder_of_class_folders(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for i, name in enumerate(["cat", "dog"]):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for k in range(5):
            pixels = np.full((6, 4), 100 * i + k, np.uint8)
            image.fromarray(pixels).save(tmp_path / "pets" / name / f"{k}.png")
    source = load(f"{tmp_path}/pets", test_share=0.2)
    assert (source.name, source.labels) == ("pets", ("cat", "dog"))
    assert (source.train.x.shape, source.test.x.shape) == ((8, 1, 6, 4), (2, 1, 6, 4))
    assert source.sha256 == from_folder(tmp_path / "pets").sha256
    assert from_folder(tmp_path / "pets", size=3).train.x.shape == (8, 1, 3, 3)
    with pytest.raises(InputError, match="pets: it has no coarse classes"):
        load(tmp_path / "pets", labels="coarse")


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": "corse"}, "unknown labels 'corse': did you mean 'coarse'? Allowed: fine"),
        ({"vocab": "tf"}, "unknown vocab 'tf': did you mean 'tf66'?"),
        ({"targets": "lst"}, "unknown targets 'lst': did you mean 'last'?"),
        ({"labels": "coarse"}, "femnist-mini: it has no coarse classes"),
    ],
)
def test_words_that_are_refused(options: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as caught:
        load("femnist-mini", **options)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("femnist_mini", "unknown data set 'femnist_mini': did you mean 'femnist-mini'?"),
        ("nonsense", "unknown data set 'nonsense': Allowed: femnist-mini, "),
        ("", "unknown data set ''"),
        ("cifar10", "data set 'cifar10' is not on this machine: run 'fedkeel data get cifar10'"),
        ("absent/x.npz", "there is no file 'absent/x.npz': its folder does not exist"),
    ],
)
def test_names_that_are_refused(here: Path, name: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value).startswith(words)
