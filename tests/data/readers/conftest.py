"""Tools to pack files as others do, and to see that what is wrong with them is one line."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fedkeel.errors import InputError

Files = Mapping[str, bytes]
Packer = Callable[[Path, Files], Path]


@pytest.fixture
def refused() -> Callable[..., str]:
    """Return a function that expects a call to end in one line with some words in it."""

    def check(call: Callable[[], object], *words: str) -> str:
        with pytest.raises(InputError) as caught:
            call()
        message = str(caught.value)
        assert "\n" not in message
        for word in words:
            assert word in message, message
        return message

    return check


def _folder(path: Path, files: Files) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def _zip(path: Path, files: Files) -> Path:
    path = path.with_name(path.name + ".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def _tar(path: Path, files: Files, mode: str = "w", suffix: str = ".tar") -> Path:
    path = path.with_name(path.name + suffix)
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def _tgz(path: Path, files: Files) -> Path:
    return _tar(path, files, "w:gz", ".tgz")


def _gzips(path: Path, files: Files) -> Path:
    return _folder(path, {f"{name}.gz": gzip.compress(data) for name, data in files.items()})


PACKERS: dict[str, Packer] = {
    "folder": _folder,
    "zip": _zip,
    "tar": _tar,
    "tgz": _tgz,
    "gzips": _gzips,
    "zip in folder": lambda path, files: _zip(_folder(path, {}) / "inner", files).parent,
    "gzips in zip": lambda path, files: _zip(
        path, {f"{name}.gz": gzip.compress(data) for name, data in files.items()}
    ),
}


@pytest.fixture(params=PACKERS)
def pack(request: pytest.FixtureRequest) -> Packer:
    """Return each way to pack files in turn."""
    return PACKERS[request.param]


@pytest.fixture
def packers() -> dict[str, Packer]:
    """Return all ways to pack files."""
    return PACKERS
