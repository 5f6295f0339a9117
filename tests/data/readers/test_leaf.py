"""LEAF's JSON: who has what, however it was spread over files, and every miscount seen."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkeel.data.readers import Bundle, read_femnist, read_shakespeare

Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]
Users = dict[str, dict[str, list[Any]]]


def leaf(users: Users, /, **changed: object) -> bytes:
    stored = {
        "users": list(users),
        "num_samples": [len(has["y"]) for has in users.values()],
        "user_data": users,
    }
    return json.dumps(stored | changed).encode()


def writer(*labels: int, ink: float = 0.0) -> dict[str, list[Any]]:
    """Return white images but for one pixel, which has some ink."""
    return {"x": [[1.0 - ink] + [1.0] * 783 for _ in labels], "y": list(labels)}


def role(*texts: str) -> dict[str, list[Any]]:
    return {"x": [text[:80] for text in texts], "y": [text[80:] for text in texts]}


TRAIN = {"w2": writer(0, 61, ink=1.0), "w1": writer(5, ink=51 / 255)}
TEST = {"w1": writer(7), "w2": writer(8)}


def test_femnist(pack: Packer, tmp_path: Path) -> None:
    files = {"data/train/all_data_0.json": leaf(TRAIN), "data/test/all_data_0.json": leaf(TEST)}
    raw = read_femnist(Bundle.of(pack(tmp_path / "femnist", files)))
    assert raw.x_test is not None and raw.y_test is not None and raw.owner is not None
    assert raw.x_train.shape == (3, 1, 28, 28) and raw.x_train.dtype == np.uint8
    assert raw.x_train[:, 0, 0, 0].tolist() == [51, 255, 255]
    assert not raw.x_train[:, 0, 1:].any()
    assert raw.y_train.tolist() == [5, 0, 61] and raw.owner.tolist() == [0, 1, 1]
    assert raw.y_test.tolist() == [7, 8]
    assert "".join(raw.labels) == string.digits + string.ascii_uppercase + string.ascii_lowercase


def test_every_byte_comes_back_exactly(tmp_path: Path, packers: dict[str, Packer]) -> None:
    stored = np.arange(784) % 256
    user = {"x": [((255 - stored) / 255).tolist()], "y": [1]}
    path = packers["folder"](tmp_path, {"train/a.json": leaf({"u": user})})
    raw = read_femnist(Bundle.of(path))
    assert raw.x_train.reshape(-1).tolist() == stored.tolist()
    assert raw.x_test is None and raw.y_test is None


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 2), min_size=5, max_size=5), st.permutations(range(5)))
def test_the_cut_into_files_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    packers: dict[str, Packer],
    files: list[int],
    order: list[int],
) -> None:
    users = {f"u{i}": role(*[f"{i}{j}" * 40 + "x" for j in range(i + 1)]) for i in range(5)}
    spread = {
        f"train/{file}.json": leaf({f"u{i}": users[f"u{i}"] for i in order if files[i] == file})
        for file in range(3)
    }
    raw = read_shakespeare(Bundle.of(packers["folder"](tmp_path_factory.mktemp("leaf"), spread)))
    assert raw.owner is not None
    assert raw.owner.tolist() == [i for i in range(5) for _ in range(i + 1)]
    assert [bytes(row[:2]).decode() for row in raw.x_train] == [
        f"{i}{j}" for i in range(5) for j in range(i + 1)
    ]


def test_shakespeare(pack: Packer, tmp_path: Path) -> None:
    train = {"PLAY_A": role("a" * 80 + "b", "é" * 80 + "\n"), "PLAY_B": role("\u2019" * 80 + "cd")}
    files = {
        "shakespeare/train/t.json": leaf(train),
        "shakespeare/test/t.json": leaf({"PLAY_B": role("z" * 80 + ".")}),
    }
    raw = read_shakespeare(Bundle.of(pack(tmp_path / "set", files)))
    assert raw.x_test is not None and raw.y_test is not None and raw.owner is not None
    assert raw.x_train.dtype == np.uint8 and raw.y_train.shape == (3, 0)
    assert bytes(raw.x_train[0]) == b"a" * 80 + b"b"
    assert bytes(raw.x_train[1]) == b"\xe9" * 80 + b"\n"
    assert bytes(raw.x_train[2]) == b"\x1a" * 80 + b"c"
    assert raw.owner.tolist() == [0, 0, 1]
    assert raw.x_test.shape == (1, 81) and raw.y_test.shape == (1, 0)


def test_files_of_one_folder_are_for_training(tmp_path: Path, packers: dict[str, Packer]) -> None:
    files = {"all_data/a.json": leaf({"a": writer(1)}), "all_data/b.json": leaf({"b": writer(2)})}
    raw = read_femnist(Bundle.of(packers["folder"](tmp_path, files)))
    assert raw.y_train.tolist() == [1, 2] and raw.x_test is None


def test_users_without_samples_are_left_out(tmp_path: Path, packers: dict[str, Packer]) -> None:
    users = {"a": {"x": [], "y": []}, "b": writer(1)}
    raw = read_femnist(Bundle.of(packers["folder"](tmp_path, {"train/a.json": leaf(users)})))
    assert raw.owner is not None and raw.owner.tolist() == [0]


ONE = {"u": writer(1)}
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "cannot be read"),
    "cut in half": (leaf(ONE)[: len(leaf(ONE)) // 2], "cannot be read"),
    "not text": (b"\xff\xfe\x00\x01\x02", "cannot be read"),
    "nested without end": (b"[" * 100_000, "cannot be read"),
    "a list": (b"[1]", "lacks users"),
    "no users": (leaf(ONE, users=None), "lacks users"),
    "another count of users": (leaf(ONE, users=["u", "v"]), "2 users, 1 num_samples"),
    "another count of samples": (
        leaf(ONE, num_samples=[2]),
        "has 1 samples where num_samples says",
    ),
    "a count that is text": (leaf(ONE, num_samples=["1"]), "where num_samples says"),
    "another name": (leaf(ONE, users=["v"]), "no lists x and y of user 'v'"),
    "no y": (leaf(ONE, user_data={"u": {"x": []}}), "no lists x and y of user 'u'"),
    "x a number": (leaf(ONE, user_data={"u": {"x": 1, "y": [1]}}), "no lists x and y"),
    "fewer labels": (leaf({"u": writer(1) | {"y": []}}, num_samples=[1]), "0 labels"),
    "fewer pixels": (leaf({"u": {"x": [[1.0] * 783], "y": [1]}}), "784 numbers"),
    "ragged": (leaf({"u": {"x": [[1.0] * 784, [1.0]], "y": [1, 2]}}), "784 numbers"),
    "pixels of text": (leaf({"u": {"x": [["a"] * 784], "y": [1]}}), "784 numbers"),
    "too bright": (leaf({"u": {"x": [[2.0] * 784], "y": [1]}}), "not from 0 to 1"),
    "NaN": (leaf({"u": {"x": [[float("nan")] * 784], "y": [1]}}), "not from 0 to 1"),
    "a label out of range": (leaf({"u": writer(62)}), "the label 62"),
    "an enormous label": (leaf({"u": writer(1 << 70)}), "the label 1180591620717411303424"),
    "a label of text": (leaf({"u": {"x": [[1.0] * 784], "y": ["a"]}}), "not an integer"),
    "nobody": (leaf({}), "no samples"),
}


@pytest.mark.parametrize(("data", "words"), BROKEN.values(), ids=BROKEN)
def test_broken_femnist(
    data: bytes, words: str, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    bundle = Bundle.of(packers["folder"](tmp_path, {"train/bad.json": data}))
    refused(lambda: read_femnist(bundle), words, str(tmp_path))


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (role("a" * 79), "a text of 80 characters"),
        ({"x": [80], "y": ["a"]}, "a text of 80 characters"),
        (role("a" * 80), "the character that follows"),
        ({"x": ["a" * 80], "y": [1]}, "the character that follows"),
    ],
)
def test_broken_shakespeare(
    user: dict[str, list[Any]],
    words: str,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    bundle = Bundle.of(packers["zip"](tmp_path / "set", {"train/bad.json": leaf({"me": user})}))
    refused(lambda: read_shakespeare(bundle), words, "'train/bad.json'", "user 'me'")


def test_users_that_do_not_match(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    other = {"train/a.json": leaf({"a": writer(1)}), "test/b.json": leaf({"b": writer(1)})}
    bundle = Bundle.of(packers["folder"](tmp_path / "other", other))
    refused(lambda: read_femnist(bundle), "other", "user 'b' is in test and not in train")
    twice = {"train/a.json": leaf({"a": writer(1)}), "train/b.json": leaf({"a": writer(1)})}
    bundle = Bundle.of(packers["folder"](tmp_path / "twice", twice))
    refused(lambda: read_femnist(bundle), "b.json", "user 'a', and so does a file before it")


def test_no_train_folder(tmp_path: Path, packers: dict[str, Packer], refused: Refused) -> None:
    for files in (
        {},
        {"test/a.json": leaf(ONE)},
        {"x/a.json": leaf(ONE), "y/a.json": leaf(ONE)},
    ):
        bundle = Bundle.of(packers["folder"](tmp_path / str(len(files)), files))
        refused(lambda bundle=bundle: read_femnist(bundle), "has no train/*.json")
