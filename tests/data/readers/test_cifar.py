"""CIFAR's pickles and binary files: plain data alone are read, and nothing in them is run."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.readers import Bundle, read_cifar10, read_cifar100

Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]
Files = dict[str, bytes]

PARTS = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def pixels(count: int, first: int) -> np.ndarray:
    return (first + np.arange(count * 3072).reshape(count, 3072) % 251).astype(np.uint8)


def ten(protocol: int = 2, **changed: object) -> Files:
    """Return CIFAR-10 of two images a batch, of which ``data_batch_2`` is changed."""
    files = {}
    for i, name in enumerate(PARTS):
        stored = {"batch_label": name, "labels": [i, 9 - i], "data": pixels(2, i)}
        stored |= changed if name == "data_batch_2" else {}
        files[f"cifar-10-batches-py/{name}"] = pickle.dumps(stored, protocol)
    files["cifar-10-batches-py/batches.meta"] = pickle.dumps({"label_names": NAMES}, protocol)
    return files


def hundred(protocol: int = 2) -> Files:
    files = {}
    for i, name in enumerate(("train", "test")):
        stored = {"fine_labels": [99, i], "coarse_labels": [19, i], "data": pixels(2, i)}
        files[f"cifar-100-python/{name}"] = pickle.dumps(stored, protocol)
    return files


def python2(count: int, label: int) -> bytes:
    """Return a batch opcode by opcode as Python 2 wrote the official ones."""
    data = bytes(count * 3072)
    return b"".join(
        (
            b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03",
            b"U\x06labelsq\x04]q\x05(",
            b"K" + bytes((label,)),
            b"K" + bytes((label,)),
            b"eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00",
            b"\x85U\x01b\x87Rq\x09(K\x01K",
            bytes((count,)),
            b"M\x00\x0c\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNN",
            b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T",
            len(data).to_bytes(4, "little"),
            data,
            b"tbU\tfilenamesq\x0c]q\x0d(U\x05a.pngq\x0eU\x05b.pngq\x0feu.",
        )
    )


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol(
    protocol: int, tmp_path: Path, packers: dict[str, Packer]
) -> None:
    raw = read_cifar10(Bundle.of(packers["folder"](tmp_path, ten(protocol))))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.x_train.shape == (10, 3, 32, 32) and raw.x_train.dtype == np.uint8
    assert (raw.x_train.reshape(10, -1)[2:4] == pixels(2, 1)).all()
    assert (raw.x_test.reshape(2, -1) == pixels(2, 5)).all()
    assert raw.y_train.tolist() == [0, 9, 1, 8, 2, 7, 3, 6, 4, 5]
    assert raw.y_test.tolist() == [5, 4] and raw.y_test.dtype == np.int64
    assert raw.labels == tuple(NAMES)
    assert raw.x_train.flags.writeable and raw.x_test.flags.writeable


def test_batches_as_python_2_wrote_them(tmp_path: Path, packers: dict[str, Packer]) -> None:
    files = {name: python2(2, i) for i, name in enumerate(PARTS)}
    raw = read_cifar10(Bundle.of(packers["tgz"](tmp_path / "set", files)))
    assert raw.x_train.shape == (10, 3, 32, 32) and not raw.x_train.any()
    assert raw.y_train.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert raw.labels == tuple(NAMES)


def test_cifar_100(pack: Packer, tmp_path: Path) -> None:
    raw = read_cifar100(Bundle.of(pack(tmp_path / "set", hundred())))
    assert raw.coarse_test is not None
    assert raw.y_train.tolist() == [99, 0] and raw.coarse_test.tolist() == [19, 1]
    assert len(raw.labels) == 100 and len(raw.coarse_labels) == 20
    assert raw.labels[0] == "apple" and raw.coarse_labels[-1] == "vehicles_2"


def test_names_are_what_the_files_say(tmp_path: Path, packers: dict[str, Packer]) -> None:
    names = {
        "fine_label_names": [f"f{i}" for i in range(100)],
        "coarse_label_names": list("a" * 20),
    }
    files = hundred() | {"cifar-100-python/meta": pickle.dumps(names)}
    raw = read_cifar100(Bundle.of(packers["zip"](tmp_path / "set", files)))
    assert raw.labels[99] == "f99" and raw.coarse_labels == ("a",) * 20


def test_the_binary_version(pack: Packer, tmp_path: Path) -> None:
    files = {
        f"cifar-10-batches-bin/{name}.bin": b"".join(
            bytes((i,)) + row.tobytes() for row in pixels(2, i)
        )
        for i, name in enumerate(PARTS)
    }
    files["cifar-10-batches-bin/batches.meta.txt"] = "\n".join(NAMES).upper().encode() + b"\n\n"
    raw = read_cifar10(Bundle.of(pack(tmp_path / "set", files)))
    assert raw.y_train.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert (raw.x_train.reshape(10, -1)[2:4] == pixels(2, 1)).all()
    assert raw.labels[0] == "AIRPLANE"


def test_the_binary_version_of_cifar_100(tmp_path: Path, packers: dict[str, Packer]) -> None:
    row = bytes((3, 42)) + bytes(3072)
    files = {"train.bin": row * 2, "test.bin": row}
    raw = read_cifar100(Bundle.of(packers["folder"](tmp_path, files)))
    assert raw.coarse_train is not None
    assert raw.y_train.tolist() == [42, 42] and raw.coarse_train.tolist() == [3, 3]


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, ("touch pickle_was_run",))


class _Exits:
    def __reduce__(self) -> tuple[object, ...]:
        return (eval, ("__import__('os')._exit(9)",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("bomb", [_Bomb(), _Exits()])
def test_code_is_not_run(
    bomb: object,
    protocol: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = Bundle.of(packers["zip"](tmp_path / "set", ten(protocol, labels=bomb)))
    refused(lambda: read_cifar10(bundle), "data_batch_2", "set.zip", "holds code ('")
    assert not (tmp_path / "pickle_was_run").exists()


@pytest.mark.parametrize(
    "code",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'true'\no.",  # OBJ
        b"\x80\x02cnumpy\nndarray\n)\x81.",  # NEWOBJ
        b"\x80\x02cnumpy\ndtype\n}b.",  # BUILD on a name
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}R.",
        b"\x80\x02}(U\x04datacnumpy\ndtype\n(U\x02O8tRu.",
        b"\x80\x02}(U\x04datac_codecs\nencode\n(U\x02abU\x06rot_13tRu.",
        b"\x80\x02\x82\x01.",  # EXT1
        b"Pid\n.",  # PERSID
        b"\x80\x02}r\xff\xff\xff\xff.",  # a memo that would fill the memory
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x00.",  # bytes that are not there
        b"h\x05.",
        b"u.",
        b".",
        b"",
        b"\xff\xfe\xfd",
        b"]" * 50 + b"a" * 49 + b".",
        pickle.dumps([1, 2])[:-1],
        pickle.dumps([1, 2]),
    ],
)
def test_strange_pickles(
    code: bytes, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    bundle = Bundle.of(
        packers["folder"](tmp_path, ten() | {"cifar-10-batches-py/data_batch_3": code})
    )
    refused(lambda: read_cifar10(bundle), "data_batch_3")


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "fewer labels": ({"labels": [1]}, "1 labels"),
    "a label out of range": ({"labels": [1, 10]}, "the label 10"),
    "a negative label": ({"labels": [1, -1]}, "the label -1"),
    "an enormous label": ({"labels": [1, 1 << 70]}, "the label 1180591620717411303424"),
    "labels of text": ({"labels": ["cat", "dog"]}, "no list of integers"),
    "other pixels": ({"data": np.zeros((2, 3071), np.uint8)}, "3072"),
    "floats": ({"data": np.zeros((2, 3072))}, "3072"),
    "a list of pixels": ({"data": [1, 2]}, "3072"),
    "no images": ({"data": np.zeros((0, 3072), np.uint8), "labels": []}, "no samples"),
    "objects": ({"data": np.array([None, {}], dtype=object)}, "cannot be read"),
}


@pytest.mark.parametrize(("changed", "words"), WRONG.values(), ids=WRONG)
def test_wrong_batches(
    changed: dict[str, object],
    words: str,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    bundle = Bundle.of(packers["folder"](tmp_path, ten(**changed)))
    refused(lambda: read_cifar10(bundle), "data_batch_2", words)


def test_missing_keys_and_files(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    coarse = hundred() | {"cifar-100-python/test": pickle.dumps({"data": pixels(1, 0)})}
    path = packers["tgz"](tmp_path / "hundred", coarse)
    refused(lambda: read_cifar100(Bundle.of(path)), "'cifar-100-python/test'", "'coarse_labels'")
    files = ten()
    del files["cifar-10-batches-py/data_batch_5"]
    path = packers["tgz"](tmp_path / "ten", files)
    refused(lambda: read_cifar10(Bundle.of(path)), "ten.tgz", "has no 'data_batch_5'")
    files = ten() | {"old/test_batch": b""}
    path = packers["tgz"](tmp_path / "both", files)
    refused(lambda: read_cifar10(Bundle.of(path)), "both.tgz", "'old/test_batch'")


def test_cut_files(tmp_path: Path, packers: dict[str, Packer], refused: Refused) -> None:
    files = ten()
    whole = files["cifar-10-batches-py/test_batch"]
    for keep in (0, 2, 50, len(whole) // 2, len(whole) - 1):
        files["cifar-10-batches-py/test_batch"] = whole[:keep]
        bundle = Bundle.of(packers["folder"](tmp_path, files))
        refused(lambda bundle=bundle: read_cifar10(bundle), "test_batch'", "cannot be read")
    binary = {f"{name}.bin": bytes(3073) for name in PARTS} | {"data_batch_4.bin": bytes(3072)}
    bundle = Bundle.of(packers["folder"](tmp_path / "bin", binary))
    refused(lambda: read_cifar10(bundle), "data_batch_4.bin", "3072 bytes")


def test_a_key_that_would_take_for_ever_to_hash_is_refused(
    tmp_path: Path, refused: Refused
) -> None:
    """Sixty tuples, each of the one before twice: their hash would take 2^60 steps."""
    nested = b")q\x00" + b"".join(b"h%c\x86q%c" % (i, i + 1) for i in range(60))
    path = tmp_path / "data_batch_1"
    path.write_bytes(b"\x80\x02}" + nested + b"K\x01s.")
    refused(lambda: read_cifar10(Bundle.of(path)), "data_batch_1")
