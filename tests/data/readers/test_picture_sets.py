"""Tiny ImageNet, LC25000 and Oxford's flowers in their official layouts, at a small scale."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.readers import Bundle, read_flowers, read_lc25000, read_tinyimagenet

Image = pytest.importorskip("PIL.Image")

Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]
Files = dict[str, bytes]


def jpeg(grey: int, size: tuple[int, int] = (64, 64), mode: str = "RGB") -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size, (grey,) * 3 if mode == "RGB" else grey).save(stream, "JPEG", quality=100)
    return stream.getvalue()


def levels(x: np.ndarray) -> list[int]:
    """Return one pixel of each image."""
    return [int(image[0, 1, 1]) for image in x]


# --- Tiny ImageNet ---


@pytest.fixture
def tiny() -> Files:
    top = "tiny-imagenet-200"
    files = {
        f"{top}/wnids.txt": b"n02\nn01\nn03\n",
        f"{top}/words.txt": b"n00\tentity\nn01\tcrane, bird\nn02\tcrane\nn03\tgoldfish, carp\n",
        f"{top}/val/val_annotations.txt": b"val_0.JPEG\tn03\t0\t0\t9\t9\nval_1.JPEG\tn01\t0\t0\n",
        f"{top}/val/images/val_0.JPEG": jpeg(100),
        f"{top}/val/images/val_1.JPEG": jpeg(110),
        f"{top}/test/images/test_0.JPEG": b"never read",
    }
    for i, wnid in enumerate(("n01", "n02", "n03")):
        files[f"{top}/train/{wnid}/{wnid}_boxes.txt"] = b"x"
        for j in range(2):
            mode = "L" if (i, j) == (0, 0) else "RGB"
            files[f"{top}/train/{wnid}/images/{wnid}_{j}.JPEG"] = jpeg(10 * i + j, mode=mode)
    return files


def test_tinyimagenet(pack: Packer, tiny: Files, tmp_path: Path) -> None:
    raw = read_tinyimagenet(Bundle.of(pack(tmp_path / "set", tiny)))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.x_train.shape == (6, 3, 64, 64)
    assert levels(raw.x_train) == [0, 1, 10, 11, 20, 21] and levels(raw.x_test) == [100, 110]
    assert raw.y_train.tolist() == [0, 0, 1, 1, 2, 2] and raw.y_test.tolist() == [2, 0]
    assert raw.labels == ("crane (n01)", "crane (n02)", "goldfish")


def test_tinyimagenet_without_words(
    tiny: Files, tmp_path: Path, packers: dict[str, Packer]
) -> None:
    del tiny["tiny-imagenet-200/words.txt"]
    assert read_tinyimagenet(Bundle.of(packers["folder"](tmp_path, tiny))).labels == (
        "n01", "n02", "n03",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("wnids.txt", None, "has no 'wnids.txt'"),
        ("wnids.txt", b"\n", "wnids.txt' is empty"),
        ("wnids.txt", b"n01\nn02\n", "is of class 'n03'"),
        ("wnids.txt", b"n01\nn02\nn03\nn04\n", "no images in train/n04/images"),
        ("val/val_annotations.txt", None, "has no 'val_annotations.txt'"),
        ("val/val_annotations.txt", b"val_0.JPEG\tn03\n", "val_1.JPEG' has no line in"),
        ("val/val_annotations.txt", b"val_0.JPEG\tn09\n", "has the line 'val_0.JPEG\\tn09'"),
        ("val/val_annotations.txt", b"val_0.JPEG\n", "has the line 'val_0.JPEG'"),
        ("val/val_annotations.txt", b"val_0.JPEG\tn01\n" * 2, "and its class, once"),
        ("val/images/val_1.JPEG", None, "names 'val_1.JPEG', which is not in val/images"),
        ("train/n01/images/n01_1.JPEG", jpeg(1, (32, 32)), "differ in size, 64x64 and 32x32"),
        ("train/n01/images/n01_1.JPEG", b"", "n01_1.JPEG' cannot be read"),
    ],
)
def test_broken_tinyimagenet(
    name: str,
    data: bytes | None,
    words: str,
    tiny: Files,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    path = f"tiny-imagenet-200/{name}"
    files = {key: value for key, value in tiny.items() if key != path}
    files |= {path: data} if data is not None else {}
    bundle = Bundle.of(packers["folder"](tmp_path, files))
    refused(lambda: read_tinyimagenet(bundle), words, str(tmp_path))


# --- LC25000 ---

TISSUES = {
    "colon_image_sets/colon_aca/colonca": 10,
    "colon_image_sets/colon_n/colonn": 20,
    "lung_image_sets/lung_aca/lungaca": 30,
    "lung_image_sets/lung_n/lungn": 40,
    "lung_image_sets/lung_scc/lungscc": 50,
}


def lung_and_colon(count: int = 11) -> Files:
    return {
        f"lung_colon_image_set/{stem}{i}.jpeg": jpeg(level + i, (8, 8))
        for stem, level in TISSUES.items()
        for i in range(1, count + 1)
    }


def test_lc25000(tmp_path: Path, packers: dict[str, Packer]) -> None:
    raw = read_lc25000(Bundle.of(packers["zip"](tmp_path / "set", lung_and_colon())))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.x_train.shape == (45, 3, 128, 128) and raw.x_test.shape == (10, 3, 128, 128)
    assert levels(raw.x_train)[:9] == list(range(11, 20))
    assert levels(raw.x_test) == [20, 21, 30, 31, 40, 41, 50, 51, 60, 61]  # 10 comes after 9
    assert raw.y_train.tolist() == [c for c in range(5) for _ in range(9)]
    assert raw.y_test.tolist() == [c for c in range(5) for _ in range(2)]
    assert raw.labels == ("colon_aca", "colon_n", "lung_aca", "lung_n", "lung_scc")


def test_lc25000_without_a_class(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    files = {name: data for name, data in lung_and_colon(5).items() if "lung_n/" not in name}
    bundle = Bundle.of(packers["folder"](tmp_path / "lungs", files))
    refused(lambda: read_lc25000(bundle), "lungs", "0 images in 'lung_n'")


# --- flowers ---


def mat(**vectors: list[int]) -> bytes:
    scipy_io = pytest.importorskip("scipy.io")
    stream = io.BytesIO()
    scipy_io.savemat(stream, {name: np.array([v], np.uint16) for name, v in vectors.items()})
    return stream.getvalue()


@pytest.fixture
def flowers() -> Files:
    files = {f"jpg/image_{i:05d}.jpg": jpeg(20 * i, (80, 70)) for i in range(1, 7)}
    return files | {
        "imagelabels.mat": mat(labels=[102, 1, 2, 2, 1, 3]),
        "setid.mat": mat(trnid=[5, 1], valid=[3], tstid=[6, 2, 4]),
    }


def test_flowers(tmp_path: Path, flowers: Files, packers: dict[str, Packer]) -> None:
    images = {name: data for name, data in flowers.items() if name.endswith(".jpg")}
    packers["tgz"](tmp_path / "102flowers", images)
    packers["folder"](tmp_path, {name: flowers[name] for name in ("imagelabels.mat", "setid.mat")})
    raw = read_flowers(Bundle.of(tmp_path))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.x_train.shape == (3, 3, 64, 64)
    assert levels(raw.x_train) == [20, 60, 100] and levels(raw.x_test) == [40, 80, 120]
    assert raw.y_train.tolist() == [101, 1, 0] and raw.y_test.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("imagelabels.mat", b"", "imagelabels.mat' cannot be read"),
        ("imagelabels.mat", b"MATLAB 5.0 MAT-file" * 20, "imagelabels.mat' cannot be read"),
        ("imagelabels.mat", "cut", "imagelabels.mat' cannot be read"),
        ("imagelabels.mat", {"others": [1]}, "imagelabels.mat' has no numbers 'labels'"),
        (
            "imagelabels.mat",
            {"labels": [0, 1, 2, 2, 1, 3]},
            "the label 0: it must be from 1 to 102",
        ),
        ("imagelabels.mat", {"labels": [103, 1, 2, 2, 1, 3]}, "the label 103"),
        ("imagelabels.mat", {"labels": [1, 2, 3]}, "the image 5: it must be from 1 to 3"),
        ("setid.mat", {"trnid": [1], "valid": [2]}, "setid.mat' has no numbers 'tstid'"),
        ("setid.mat", {"trnid": [1], "valid": [2], "tstid": [2]}, "an image in two parts"),
        ("setid.mat", {"trnid": [0], "valid": [2], "tstid": [3]}, "the image 0"),
        ("setid.mat", None, "has no 'setid.mat'"),
        ("jpg/image_00003.jpg", None, "has no 'image_00003.jpg'"),
        ("jpg/image_00003.jpg", b"\xff\xd8", "image_00003.jpg' cannot be read"),
    ],
)
def test_broken_flowers(
    name: str,
    data: bytes | str | dict[str, list[int]] | None,
    words: str,
    flowers: Files,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    whole = flowers.pop(name)
    if data is not None:
        bad = mat(**data) if isinstance(data, dict) else whole[:150] if data == "cut" else data
        assert isinstance(bad, bytes)
        flowers[name] = bad
    bundle = Bundle.of(packers["folder"](tmp_path, flowers))
    refused(lambda: read_flowers(bundle), words, str(tmp_path))
