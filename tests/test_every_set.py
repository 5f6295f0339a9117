"""Every data set that has a name trains its own model for two rounds in every engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fedkeel.cli import main
from fedkeel.data.raw import Raw
from fedkeel.data.sets import store
from fedkeel.data.sets.catalogue import DATASETS
from tests.data.raws import plays

SMALL = {"gru": ["model.hidden=8", "model.embed=4"], "mlp": ["model.hidden=[8, 8]"], "cnn": []}
NAMES = [name for name in DATASETS if name != "femnist-mini"]


def raw(name: str) -> Raw:
    """Return a few samples in the form in which a set is stored."""
    if name == "shakespeare":
        return plays()
    entry, rng = DATASETS[name], np.random.default_rng(0)
    x = rng.integers(0, 256, (8, *entry.shape), dtype=np.uint8)
    y = np.arange(8) % 5
    coarse = (y[:6] // 5, y[6:] // 5) if name == "cifar100" else (None, None)
    owner = np.arange(6) % 3 if name == "femnist" else None
    return Raw(
        x[:6], y[:6], x[6:], y[6:], owner, coarse_train=coarse[0], coarse_test=coarse[1]
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
@pytest.mark.parametrize("name", NAMES)
def test_two_rounds(
    name: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDKEEL_DATA", str(tmp_path))
    store.write(tmp_path, name, raw(name))
    model = "gru" if name == "shakespeare" else "cnn" if DATASETS[name].shape[0] == 3 else "mlp"
    words = ["data.partition=iid", "data.clients=2", "cohort=2", "rounds=2", "local.steps=1"]
    words += ["local.batch_size=2", f"run.engine={engine}", "run.compile=false", *SMALL[model]]
    out = tmp_path / "run"
    assert main(["run", f"data.name={name}", *words, "--out", str(out)]) == 0
    lines = [json.loads(line) for line in (out / "rounds.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines] == [0, 2, 2]
    assert f'name = "{model}"' in (out / "recipe.toml").read_text()
