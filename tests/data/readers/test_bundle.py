"""Files wherever they lie: found by the end of their path, and nothing hostile or broken read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fedkeel.data.readers import LIMIT, Bundle

FILES = {"top/a/one.txt": b"1" * 3000, "top/b/two.txt": b"22", "top/three.bin": b""}
Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]


# --- finding ---


def test_all_files_are_read_however_they_are_packed(pack: Packer, tmp_path: Path) -> None:
    bundle = Bundle.of(pack(tmp_path / "set", FILES))
    assert len(bundle.names()) == 3
    for name, data in FILES.items():
        for suffix in (name, name.removeprefix("top/"), name.rpartition("/")[2]):
            assert bundle.has(suffix)
            assert bundle.read(suffix) == data
    walked = bundle.walk(lambda name: True)
    assert {piece.path.rpartition("/")[2]: piece.data for piece in walked} == {
        name.rpartition("/")[2]: data for name, data in FILES.items()
    }


def test_matching_walks_what_a_condition_holds_for(pack: Packer, tmp_path: Path) -> None:
    bundle = Bundle.of(pack(tmp_path / "set", FILES))
    paths = bundle.matching(lambda path: path.endswith(".txt"))
    assert [path.rpartition("/")[2] for path in paths] == ["one.txt", "two.txt"]
    assert tuple(piece.path for piece in bundle.walk(paths.__contains__)) == paths
    assert bundle.matching(lambda path: False) == ()
    assert list(bundle.walk(lambda path: False)) == []


def test_paths_end_on_whole_components(tmp_path: Path, packers: dict[str, Packer]) -> None:
    bundle = Bundle.of(packers["folder"](tmp_path, {"cifar/data_batch_1": b"x"}))
    assert bundle.has("data_batch_1") and not bundle.has("batch_1")


def test_inner_paths_of_an_archive_stand_alone_and_in_a_folder_below_its_name(
    tmp_path: Path, packers: dict[str, Packer]
) -> None:
    archive = packers["zip"](tmp_path / "set", {"a/b.txt": b"x"})
    assert Bundle.of(archive).names() == ("a/b.txt",)
    assert Bundle.of(tmp_path).names() == ("set.zip/a/b.txt",)


def test_an_archive_in_an_archive(tmp_path: Path, packers: dict[str, Packer]) -> None:
    inner = packers["tgz"](tmp_path / "inner", {"x/deep.txt": b"deep"}).read_bytes()
    zipped = packers["zip"](tmp_path / "inner", {"y/flat.txt": b"flat"}).read_bytes()
    outer = packers["zip"](tmp_path / "outer", {"in/i.tgz": inner, "in/i.zip": zipped})
    bundle = Bundle.of(outer)
    assert set(bundle.names()) == {"in/i.tgz/x/deep.txt", "in/i.zip/y/flat.txt"}
    assert bundle.read("deep.txt") == b"deep" and bundle.read("flat.txt") == b"flat"


@pytest.mark.parametrize(("suffix", "pack_"), [("gz", gzip), ("xz", lzma), ("bz2", bz2)])
def test_a_lone_packed_file(tmp_path: Path, suffix: str, pack_: object) -> None:
    path = tmp_path / f"plays.jsonl.{suffix}"
    path.write_bytes(pack_.compress(b"{}\n"))  # type: ignore[attr-defined]
    bundle = Bundle.of(path)
    assert bundle.names() == (path.name,)
    assert bundle.read("plays.jsonl") == bundle.read(path.name) == b"{}\n"
    assert bundle.matching(lambda name: name.endswith(".jsonl")) == ("plays.jsonl",)


def test_several_paths_are_one_bundle(tmp_path: Path, packers: dict[str, Packer]) -> None:
    archive = packers["tgz"](tmp_path / "jpg", {"jpg/1.jpg": b"1"})
    (tmp_path / "setid.mat").write_bytes(b"2")
    bundle = Bundle.of(archive, tmp_path / "setid.mat")
    assert set(bundle.names()) == {"jpg/1.jpg", "setid.mat"}
    assert bundle.read("setid.mat") == b"2"


def test_loose_before_packed_and_plain_before_gz(
    tmp_path: Path, packers: dict[str, Packer]
) -> None:
    packers["tgz"](tmp_path / "x", {"data/one": b"archive"})
    packers["folder"](tmp_path, {"data/one.gz": gzip.compress(b"gz"), "data/one": b"loose"})
    bundle = Bundle.of(tmp_path)
    assert bundle.read("one") == b"loose"
    assert bundle.read("one.gz") == b"gz"
    (piece,) = bundle.walk(lambda name: name.endswith("one"))
    assert piece.path == "data/one" and piece.data == b"loose" and "/data/one'" in piece.called
    (tmp_path / "data" / "one").unlink()
    assert Bundle.of(tmp_path).read("one") == b"gz"
    (tmp_path / "data" / "one.gz").unlink()
    assert Bundle.of(tmp_path).read("one") == b"archive"


def test_loose_files_are_found_without_opening_archives(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK no zip")
    (tmp_path / "one").write_bytes(b"1")
    assert Bundle.of(tmp_path).has("one")
    assert Bundle.of(tmp_path).read("one") == b"1"


def test_hidden_files_are_not_seen(pack: Packer, tmp_path: Path) -> None:
    hidden = {"__MACOSX/a/._one.txt": b"x", "a/.DS_Store": b"x", ".git/one.txt": b"x"}
    bundle = Bundle.of(pack(tmp_path / "set", {"a/one.txt": b"1", **hidden}))
    assert len(bundle.names()) == 1
    assert bundle.read("one.txt") == b"1"


def test_names_with_a_dot_in_front(tmp_path: Path, packers: dict[str, Packer]) -> None:
    bundle = Bundle.of(packers["tar"](tmp_path / "set", {"./a/one.txt": b"1"}))
    assert bundle.names() == ("a/one.txt",)


def test_closing_a_file_closes_its_archive(pack: Packer, tmp_path: Path) -> None:
    path = pack(tmp_path / "set", FILES)
    with Bundle.of(path).open("one.txt") as stream:
        assert stream.read(4) == b"1111"
    assert stream.closed


def test_a_folder_that_links_to_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(b"1")
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    assert Bundle.of(tmp_path).read("a/one") == b"1"


# --- what is not there ---


def test_missing_ambiguous_and_unknown(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    archive = packers["zip"](tmp_path / "set", {"a/train": b"1", "b/train": b"2", "c/labels": b""})
    bundle = Bundle.of(archive)
    refused(lambda: bundle.read("train"), "set.zip", "'a/train' and 'b/train'")
    assert bundle.read("a/train") == b"1" and bundle.has("train")
    refused(lambda: bundle.read("lables"), "set.zip", "has no 'lables'", "did you mean 'labels'?")
    refused(lambda: bundle.open("zzz"), "it holds 'labels', 'train'")
    refused(lambda: Bundle.of(tmp_path / "sets.zip"), "did you mean", "set.zip")
    refused(lambda: Bundle.of(tmp_path / "no" / "where"), "there is no file or folder")


def test_a_whole_path_is_meant_exactly(tmp_path: Path, packers: dict[str, Packer]) -> None:
    bundle = Bundle.of(packers["folder"](tmp_path, {"train/x": b"1", "data/train/x": b"2"}))
    assert bundle.read("train/x") == b"1"
    assert bundle.read("data/train/x") == b"2"


def test_empty(tmp_path: Path, packers: dict[str, Packer], refused: Refused) -> None:
    for kind in ("folder", "zip", "tar", "tgz"):
        bundle = Bundle.of(packers[kind](tmp_path / kind, {}))
        assert bundle.names() == ()
        refused(lambda bundle=bundle: bundle.read("x"), kind, "it is empty")


# --- damage ---


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
@pytest.mark.parametrize("keep", [0, 1, 10, 512, 0.3, 0.6, -1, -1024])
def test_cut_archives(
    kind: str, keep: float, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    noise = bytes((i * i * 7919 >> 3) % 256 for i in range(4096))
    path = packers[kind](tmp_path / "set", {"a": noise, "b": noise[::-1]})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    if kind == "tar" and keep == -1:  # what is cut there is filling
        assert Bundle.of(path).read("a") == noise
    else:
        refused(lambda: Bundle.of(path).read("a"), path.name, "cannot be read")


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_a_changed_byte_is_seen(
    kind: str, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    noise = bytes((i * i * 7919 >> 3) % 256 for i in range(4096))
    path = packers[kind](tmp_path / "set", {"a": noise})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    refused(lambda: Bundle.of(path).read("a"), path.name, "cannot be read")


@pytest.mark.parametrize("keep", [3, 12, 0.5, -1])
def test_cut_gz(keep: float, tmp_path: Path, refused: Refused) -> None:
    whole = gzip.compress(bytes(range(256)) * 50)
    path = tmp_path / "one.gz"
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    refused(lambda: Bundle.of(path).read("one"), "one.gz'", "cannot be read")
    refused(lambda: list(Bundle.of(path).walk(lambda name: True)), "one.gz'", "cannot be read")


def test_a_header_that_breaks_off_a_tar_is_no_end(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    path = packers["tar"](tmp_path / "set", {"a": b"1", "b": b"2"})
    data = bytearray(path.read_bytes())
    data[1024 + 150] ^= 1  # the check sum of b's header
    path.write_bytes(data)
    refused(lambda: Bundle.of(path).names(), "set.tar", "cannot be read")


def test_encrypted(tmp_path: Path, packers: dict[str, Packer], refused: Refused) -> None:
    path = packers["zip"](tmp_path / "set", {"a": b"1"})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    refused(lambda: Bundle.of(path).read("a"), "'a' in", "set.zip", "cannot be read")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_without_permission(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "one").chmod(0)
    refused(lambda: Bundle.of(tmp_path / "one").read("one"), "one", "permission denied")


# --- hostility ---


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "c:evil", "a\\..\\..\\evil", "\\evil",
     "a/..", "../two\nlines"],
)  # fmt: skip
def test_paths_that_lead_out(
    kind: str, name: str, tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    path = packers[kind](tmp_path / "set", {"good": b"1", name: b"2"})
    message = refused(lambda: Bundle.of(path).read("good"), path.name, "refused as hostile")
    assert repr(name) in message


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO])
def test_links_and_devices_in_a_zip(kind: int, tmp_path: Path, refused: Refused) -> None:
    info = zipfile.ZipInfo("a/link")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    refused(lambda: Bundle.of(tmp_path / "set.zip").names(), "set.zip", "'a/link'", "a link or")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar(kind: bytes, tmp_path: Path, refused: Refused) -> None:
    info = tarfile.TarInfo("a/link")
    info.type, info.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "set.tar", "w") as archive:
        archive.addfile(info)
    refused(lambda: Bundle.of(tmp_path / "set.tar").names(), "set.tar", "'a/link'", "a link or")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_the_same_name_twice(kind: str, tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / f"set.{kind}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "zip":
            with zipfile.ZipFile(path, "w") as zipped:
                zipped.writestr("a", "1")
                zipped.writestr("./a", "2")
        else:
            with tarfile.open(path, "w") as tarred:
                for name in ("a", "./a"):
                    tarred.addfile(tarfile.TarInfo(name), io.BytesIO())
    refused(lambda: Bundle.of(path).names(), path.name, "'a' twice")


def test_what_unpacks_to_more_than_the_limit(
    pack: Packer, tmp_path: Path, refused: Refused
) -> None:
    path = pack(tmp_path / "set", {"bomb": bytes(2_000_000), "small": b"1"})
    bundle = Bundle.of(path, limit=1_000_000)
    refused(lambda: bundle.read("bomb"), "larger than 1000000 bytes", "bomb")
    refused(lambda: list(bundle.walk(lambda name: True)), "larger than 1000000 bytes", "bomb")
    assert bundle.read("small") == b"1"
    assert Bundle.of(path, limit=2_000_000).read("bomb") == bytes(2_000_000)
    assert LIMIT == 4 * 1024**3


def test_a_size_that_is_only_claimed(tmp_path: Path, refused: Refused) -> None:
    info = tarfile.TarInfo("huge")
    info.size = 1 << 50
    (tmp_path / "set.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    refused(lambda: Bundle.of(tmp_path / "set.tar").read("huge"), "set.tar", "cannot be read")


def test_a_name_of_millions_of_letters_is_not_read(tmp_path: Path, refused: Refused) -> None:
    """tarfile reads such a header as a whole, and zeros pack a thousand times."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2 << 20
    path = tmp_path / "set.tgz"
    with gzip.open(path, "wb") as file:
        file.write(header.tobuf() + bytes(2 << 20))
    refused(lambda: Bundle.of(path).names(), "set.tgz")
