"""Where data sets are looked for, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fedkeel.data.sets import store
from fedkeel.data.sets.catalogue import DATASETS, known
from fedkeel.data.sets.places import absent, arrays, at, find, folders, shown, writable
from fedkeel.errors import InputError
from tests.data.raws import digits, save


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Search two folders, the second of which is the home's."""
    first, home = tmp_path / "first", tmp_path / "home"
    (home / ".cache" / "fedkeel").mkdir(parents=True)
    monkeypatch.setenv("FEDKEEL_DATA", str(first))
    monkeypatch.setenv("HOME", str(home))
    return first, home / ".cache" / "fedkeel"


def test_the_search_path(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders() == two
    monkeypatch.setenv("FEDKEEL_DATA", "a::~/b")
    assert folders() == (Path("a"), two[1].parents[1] / "b", two[1])
    monkeypatch.delenv("FEDKEEL_DATA")
    assert folders() == (two[1],)
    assert shown(two[1] / "x") == "~/.cache/fedkeel/x" and shown(Path("/y/x")) == "/y/x"


def test_the_first_that_is_writable_is_made(two: tuple[Path, Path]) -> None:
    assert writable() == two[0] and two[0].is_dir()


def test_a_file_in_the_way_is_passed_by(two: tuple[Path, Path]) -> None:
    two[0].touch()
    assert writable() == two[1]
    two[1].rmdir()
    two[1].touch()
    with pytest.raises(InputError, match=f"no folder .*'{two[0]}', '{two[1]}'.*FEDKEEL_DATA"):
        writable()


def test_a_folder_that_may_not_be_written_is_passed_by(two: tuple[Path, Path]) -> None:
    two[0].mkdir(mode=0o500)
    if os.access(two[0], os.W_OK):
        pytest.skip("root may write anywhere")
    assert writable() == two[1]


def test_nothing_is_found_where_nothing_is(two: tuple[Path, Path]) -> None:
    assert [name for name, entry in DATASETS.items() if find(entry)] == ["femnist-mini"]


def test_the_quickest_to_read_is_found_first(two: tuple[Path, Path]) -> None:
    first, second = two
    first.mkdir()
    mnist = known("mnist")
    (first / "mnist").mkdir()
    assert find(mnist) is None
    (first / "mnist" / "raw").mkdir()
    assert find(mnist) == ("official", first / "mnist")
    save(first / "mnist.npz", digits())
    assert find(mnist) == ("arrays", first / "mnist.npz")
    store.write(second, "mnist", digits())
    assert find(mnist) == ("arrays", first / "mnist.npz")  # folder by folder
    store.write(first, "mnist", digits())
    assert find(mnist) == ("stored", first / "mnist")


@pytest.mark.parametrize(
    ("name", "file", "kind"),
    [
        ("cifar10", "cifar-10-python.tar.gz", "official"),
        ("cifar10", "cifar-10-batches-py/data_batch_1", "official"),
        ("cifar100", "cifar-100-binary.tar.gz", "official"),
        ("emnist-letters", "gzip.zip", "official"),
        ("tinyimagenet", "tiny-imagenet-200/wnids.txt", "official"),
        ("lc25000", "lung_colon_image_set/colon_image_sets/x", "official"),
        ("flowers102", "flowers102/jpg/image_00001.jpg", "official"),
        ("femnist", "femnist_writers.npz", "arrays"),
        ("femnist", "femnist/train/all.json", "official"),
        ("shakespeare", "shakespeare_moby_by_role.jsonl.xz", "official"),
    ],
)
def test_official_files_are_found(two: tuple[Path, Path], name: str, file: str, kind: str) -> None:
    path = two[1] / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert find(known(name)) == (kind, two[1] / Path(file).parts[0])


def test_what_was_fetched_so_far_is_not_a_data_set(two: tuple[Path, Path]) -> None:
    mnist, folder = known("mnist"), two[1] / "mnist"
    folder.mkdir()
    (two[1] / "cifar-10-python.tar.gz.part").touch()
    assert find(known("cifar10")) is None
    names = [remote.file for remote in mnist.files]
    (folder / f"{names[0]}.part").touch()
    for name in names:
        assert find(mnist) is None
        (folder / name).touch()
    assert find(mnist) == ("official", folder)


def test_what_a_path_is(tmp_path: Path) -> None:
    mnist = known("mnist")
    file = save(tmp_path / "any.npz", digits())
    assert at(mnist, file) == ("arrays", file)
    assert at(mnist, tmp_path) == ("official", tmp_path)
    save(tmp_path / "mnist.npz", digits())
    assert at(mnist, tmp_path) == ("arrays", tmp_path / "mnist.npz")
    folder = store.write(tmp_path, "other", digits())
    assert at(mnist, folder) == ("stored", folder)
    with pytest.raises(InputError, match=r"there is no '.*anny.npz': did you mean '.*any.npz'"):
        at(mnist, tmp_path / "anny.npz")
    with pytest.raises(InputError, match="its folder does not exist"):
        at(mnist, tmp_path / "nowhere" / "any.npz")


def test_arrays_are_read_and_checked(tmp_path: Path) -> None:
    mnist = known("mnist")
    raw = arrays(mnist, at(mnist, save(tmp_path / "any.npz", digits())))
    assert raw.x_train.shape == (20, 1, 28, 28) and len(raw.labels) == 10
    with pytest.raises(InputError, match=r"any.npz' cannot be cifar10"):
        arrays(known("cifar10"), at(known("cifar10"), tmp_path / "any.npz"))


def test_the_line_for_what_is_not_here(two: tuple[Path, Path]) -> None:
    assert str(absent(known("cifar10"))) == (
        "data set 'cifar10' is not on this machine: run 'fedkeel data get cifar10', or put "
        f"cifar10.npz or cifar-10-python.tar.gz into {two[0]}"
    )
    assert "put mnist.npz into" in str(absent(known("mnist")))
    assert "LC25000.zip" in str(absent(known("lc25000")))
    leaf = str(absent(known("shakespeare")))
    assert "preprocess.sh" in leaf and "shakespeare_moby_by_role.jsonl.xz into" in leaf
    assert f"{two[0]}/shakespeare" in leaf and "{" not in leaf
