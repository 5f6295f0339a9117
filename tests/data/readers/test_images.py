"""Folders of images: whatever their kinds and layout, and what cannot be one data set."""

from __future__ import annotations

import io
import struct
import sys
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.readers import Bundle, read_folders
from fedkeel.data.readers.pictures import decode

Image = pytest.importorskip("PIL.Image")

Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]


def picture(
    colour: object = 0, size: tuple[int, int] = (4, 3), mode: str = "RGB", kind: str = "PNG"
) -> bytes:
    """Return a file of a picture of one colour, width first."""
    stream = io.BytesIO()
    Image.new(mode, size, colour).save(
        stream, kind, **({"lossless": True} if kind == "WEBP" else {})
    )
    return stream.getvalue()


RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
CLASSES = {
    "pets/dog/b.png": picture(GREEN),
    "pets/dog/a.png": picture(RED),
    "pets/cat/z.bmp": picture(BLUE, kind="BMP"),
}


# --- layouts ---


def test_class_folders(pack: Packer, tmp_path: Path) -> None:
    raw = read_folders(Bundle.of(pack(tmp_path / "set", CLASSES)))
    assert raw.labels == ("cat", "dog") and raw.y_train.tolist() == [0, 1, 1]
    assert raw.x_train.shape == (3, 3, 3, 4) and raw.x_train.dtype == np.uint8
    assert raw.x_train[:, :, 0, 0].tolist() == [list(BLUE), list(RED), list(GREEN)]
    assert raw.x_test is None and raw.y_test is None and raw.owner is None


def test_a_path_will_do(tmp_path: Path, packers: dict[str, Packer]) -> None:
    path = packers["folder"](tmp_path / "set", CLASSES)
    assert read_folders(path).labels == read_folders(str(path / "pets")).labels == ("cat", "dog")


@pytest.mark.parametrize("parts", [("test",), ("val",), ("val", "test"), ("valid",)])
def test_train_and_test(parts: tuple[str, ...], tmp_path: Path, packers: dict[str, Packer]) -> None:
    files = {"train/a/1.png": picture(RED), "train/b/1.png": picture(GREEN)}
    for part in parts:
        files[f"{part}/b/1.png"] = picture(BLUE if part == parts[-1] else RED)
    raw = read_folders(Bundle.of(packers["zip"](tmp_path / "set", files)))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.y_train.tolist() == [0, 1] and raw.y_test.tolist() == [1]
    assert raw.x_test[0, :, 0, 0].tolist() == list(BLUE)


def test_a_train_part_alone(tmp_path: Path, packers: dict[str, Packer]) -> None:
    raw = read_folders(packers["folder"](tmp_path, {"train/a/1.png": picture()}))
    assert raw.labels == ("a",) and raw.x_test is None


def test_other_files_hidden_ones_and_empty_folders_do_not_matter(
    tmp_path: Path, packers: dict[str, Packer]
) -> None:
    more = {"pets/readme.txt": b"x", "pets/dog/.hidden.png": b"x", "pets/dog/list.csv": b"x"}
    path = packers["folder"](tmp_path, CLASSES | more)
    (tmp_path / "pets" / "empty").mkdir()
    assert read_folders(path).labels == ("cat", "dog")


def test_the_order_is_that_of_names(tmp_path: Path, packers: dict[str, Packer]) -> None:
    names = ["b/2", "a/10", "b/1", "a/9", "B/1"]
    files = {f"{name}.png": picture(i, mode="L") for i, name in enumerate(names)}
    raw = read_folders(Bundle.of(packers["tgz"](tmp_path / "set", files)))
    assert raw.labels == ("B", "a", "b")
    assert raw.x_train[:, 0, 0, 0].tolist() == [names.index(name) for name in sorted(names)]


# --- kinds ---


def test_all_grey_is_one_channel(tmp_path: Path, packers: dict[str, Packer]) -> None:
    files = {"a/1.png": picture(7, mode="L"), "a/2.png": picture((9, 255), mode="LA"),
             "a/3.png": picture(1, mode="1"), "a/4.jpg": picture(50, mode="L", kind="JPEG"),
             "a/5.png": picture(0x1234, mode="I;16")}  # fmt: skip
    raw = read_folders(packers["folder"](tmp_path, files))
    assert raw.x_train.shape == (5, 1, 3, 4)
    assert raw.x_train[:, 0, 0, 0].tolist() == [7, 9, 255, 50, 0x12]


def test_grey_among_colours_becomes_three_channels(
    tmp_path: Path, packers: dict[str, Packer]
) -> None:
    files = {
        "a/1.png": picture(7, mode="L"),
        "a/2.png": picture(RED),
        "a/3.png": picture(9, mode="L"),
    }
    raw = read_folders(packers["folder"](tmp_path, files))
    assert raw.x_train[:, :, 1, 1].tolist() == [[7] * 3, list(RED), [9] * 3]


@pytest.mark.parametrize(
    ("suffix", "kind", "mode", "colour"),
    [
        ("jpeg", "JPEG", "RGB", (10, 10, 10)),
        ("JPG", "JPEG", "L", 10),
        ("jpg", "JPEG", "CMYK", (245, 245, 245, 0)),
        ("gif", "GIF", "L", 10),
        ("webp", "WEBP", "RGB", (10, 10, 10)),
        ("tif", "TIFF", "RGB", (10, 10, 10)),
        ("ppm", "PPM", "RGB", (10, 10, 10)),
        ("pgm", "PPM", "L", 10),
        ("png", "PNG", "RGBA", (10, 10, 10, 0)),
        ("png", "PNG", "P", 0),
    ],
)
def test_every_kind_and_mode(
    suffix: str, kind: str, mode: str, colour: object, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / f"1.{suffix}").write_bytes(picture(colour, mode=mode, kind=kind))
    value = int(read_folders(tmp_path).x_train[0, 0, 0, 0])
    assert value == (0 if mode == "P" else 10)


def test_the_first_frame_is_taken() -> None:
    stream = io.BytesIO()
    frames = [Image.new("L", (2, 2), i) for i in (40, 200)]
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:])
    assert int(decode(stream.getvalue(), "it")[0, 0, 0]) == 40


# --- sizes ---


def test_sizes_that_differ(tmp_path: Path, packers: dict[str, Packer], refused: Refused) -> None:
    files = {"a/1.png": picture(), "b/2.png": picture(size=(5, 6))}
    path = packers["folder"](tmp_path, files)
    refused(
        lambda: read_folders(path), "1.png", "2.png", "4x3 and 5x6", "from_folder(PATH, size=64)"
    )
    assert read_folders(path, size=2).x_train.shape == (2, 3, 2, 2)
    refused(lambda: read_folders(path, size=0), "size=0")


def test_the_shorter_side_is_fitted_and_the_centre_kept() -> None:
    wide = np.zeros((4, 12, 3), np.uint8)
    wide[:, 4:8] = 200
    stream = io.BytesIO()
    Image.fromarray(wide).save(stream, "PNG")
    assert (decode(stream.getvalue(), "it", size=4) == 200).all()
    stream = io.BytesIO()
    Image.fromarray(wide.transpose(1, 0, 2)).save(stream, "PNG")
    assert (decode(stream.getvalue(), "it", size=4) == 200).all()
    half = decode(stream.getvalue(), "it", size=2)
    assert half.shape == (3, 2, 2) and int(half.min()) > 150


def test_a_long_strip_is_cut_before_it_is_enlarged() -> None:
    """Enlarged first, it would have taken gigabytes."""
    stream = io.BytesIO()
    Image.fromarray(np.full((1, 400_000), 7, np.uint8)).save(stream, "PNG")
    assert (decode(stream.getvalue(), "it", size=8) == 7).all()


def test_a_size_that_it_has_changes_nothing() -> None:
    noise = (np.arange(48) * 37 % 256).astype(np.uint8).reshape(4, 4, 3)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG")
    assert (decode(stream.getvalue(), "it", size=4) == noise.transpose(2, 0, 1)).all()


# --- what is no data set ---


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "holds no images"),
        ({"a/readme.txt": b""}, "holds no images"),
        ({"1.png": b""}, "1.png' lies in no folder of a class"),
        ({"train/1.png": b"", "test/1.png": b""}, "no folders of classes"),
        ({"a/1.png": b"", "x/b/1.png": b""}, "lie at different depths"),
        ({"x/a/1.png": b"", "y/b/1.png": b""}, "lie at different depths"),
        ({"train/a/1.png": b"", "b/1.png": b""}, "lie at different depths"),
        ({"test/a/1.png": b""}, "test/ and no images in train/"),
        ({"train/a/1.png": b"", "test/b/1.png": b""}, "of class 'b', which train/ has no image of"),
    ],
)
def test_what_cannot_be_one(
    files: dict[str, bytes],
    words: str,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    path = packers["folder"](tmp_path, files)
    refused(lambda: read_folders(path), words, str(tmp_path))


def _png(width: int, height: int) -> bytes:
    """Return a small file that says it is a picture of any size."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(100))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


NOISE = picture(RED, size=(40, 40), kind="JPEG")
BROKEN = {
    "empty": b"",
    "text": b"<html></html>",
    "cut": NOISE[: len(NOISE) // 2],
    "a png cut": picture(RED)[:48],
    "a header alone": picture(RED)[:30],
    "too large": _png(9_000, 9_000),
    "a bomb": _png(15_000, 15_000),
    "a larger bomb": _png(100_000, 100_000),
    "no size": _png(0, 5),
    "32 bits": picture(5, mode="I", kind="TIFF"),
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 2 2\nshowpage\n%%EOF\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_images(
    data: bytes, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    path = packers["zip"](tmp_path / "set", {"a/good.png": picture(), "a/poor.png": data})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(lambda: read_folders(Bundle.of(path)), "'a/poor.png' in", "set.zip")


def test_without_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packers: dict[str, Packer], refused: Refused
) -> None:
    path = packers["folder"](tmp_path, CLASSES)
    monkeypatch.setitem(sys.modules, "PIL", None)
    refused(lambda: read_folders(path), "pip install 'fedkeel[images]'")
