"""A working directory of its own, small data in it, and the command line called in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from fedkeel.cli import main


class Said(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Said]

SMALL = (
    "data.name=tiny.npz",
    "data.clients=4",
    "data.partition=iid",
    "cohort=2",
    "model.hidden=[4, 4]",
)
QUICK = (*SMALL, "rounds=2", "local.epochs=1", "local.batch_size=10", "run.compile=false")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds a data set of 40 images."""
    rng = np.random.default_rng(0)
    arrays = {
        f"{kind}_{part}": array
        for part, n in (("train", 40), ("test", 10))
        for kind, array in (
            ("x", rng.integers(0, 256, (n, 6, 6), dtype=np.uint8)),
            ("y", np.arange(n) % 3),
        )
    }
    np.savez(tmp_path / "tiny.npz", **arrays)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def call(here: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line, and return its code and what it said."""

    def call(*words: str) -> Said:
        capsys.readouterr()
        code = main(list(words))
        return Said(code, *capsys.readouterr())

    return call
