"""``fedkeel run``, from the words to the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fedkeel.recipe import resolve
from tests.cli.conftest import QUICK, Call

FILES = {"recipe.toml", "rounds.jsonl", "summary.json", "model.safetensors", "partition.npz"}


def test_a_run_leaves_its_folder(call: Call, here: Path) -> None:
    said = call("run", *QUICK, "--out", "out")
    assert said.code == 0
    assert {path.name for path in (here / "out").iterdir()} == FILES
    assert said.out.splitlines()[-1] == "out"
    assert "2 rounds" in said.out
    assert said.err.splitlines()[0] == "writing to out"
    assert "round 2 of 2" in said.err


def test_json_is_the_summary_and_where_it_is(call: Call, here: Path) -> None:
    said = call("run", *QUICK, "--json", "--out", "out")
    summary = json.loads((here / "out" / "summary.json").read_text())
    assert json.loads(said.out) == {**summary, "out": "out"}
    assert summary["method"] == "gcfed"
    assert summary["method_resolved"].startswith("gcfed(scope=")


def test_the_default_folder_is_counted_up(call: Call, here: Path) -> None:
    names = [call("run", *QUICK, "rounds=0").out.splitlines()[-1] for _ in range(3)]
    assert names[0].startswith("runs/gcfed-tiny-s0-")
    assert names[1:] == [f"{names[0]}-2", f"{names[0]}-3"]
    assert all((here / name / "summary.json").is_file() for name in names)


def test_a_written_recipe_repeats_the_run(call: Call, here: Path) -> None:
    first = json.loads(call("run", *QUICK, "--json", "--out", "one").out)
    again = json.loads(call("run", "one/recipe.toml", "--json", "--out", "two").out)
    assert again["params_sha256"] == first["params_sha256"]
    assert again["data_sha256"] == first["data_sha256"]
    assert resolve(here / "two" / "recipe.toml") == resolve(here / "one" / "recipe.toml")


def test_a_partition_can_be_given_back(call: Call) -> None:
    first = json.loads(call("run", *QUICK, "--json", "--out", "one").out)
    words = [word for word in QUICK if not word.startswith("data.clients")]
    more = ["data.partition=file", "data.file=one/partition.npz"]
    again = json.loads(call("run", *words, *more, "--json", "--out", "two").out)
    assert again["params_sha256"] == first["params_sha256"]


def test_a_dry_run_writes_nothing_and_prints_a_recipe(call: Call, here: Path) -> None:
    before = set(here.iterdir())
    said = call("run", *QUICK, "--dry-run")
    assert said.code == 0
    assert set(here.iterdir()) == before
    assert "# centred    at the client: fc1.weight, fc2.weight" in said.out
    assert "# a round    2 of 4 clients" in said.out
    (here / "recipe.toml").write_text(said.out)
    assert resolve(here / "recipe.toml") == resolve(None, [*QUICK, "model.name=mlp"])


def test_a_dry_run_as_json(call: Call) -> None:
    facts = json.loads(call("run", *QUICK, "--dry-run", "--json").out)
    assert facts["recipe"]["cohort"] == 2
    assert facts["parameters"] == 36 * 4 + 4 + 4 * 4 + 4 + 4 * 3 + 3
    assert facts["bytes_down"] == facts["bytes_up"] == 2 * 4 * facts["parameters"]
    assert facts["centred"]["server"] == ["fc1.weight", "fc2.weight", "fc3.weight"]


def test_divergence_ends_with_3_and_everything_kept(call: Call, here: Path) -> None:
    said = call("run", *QUICK, "local.lr=1e30", "rounds=5", "--json", "--out", "out")
    assert said.code == 3
    assert "fedkeel: diverged in round 1" in said.err.splitlines()[-1]
    assert said.err.splitlines()[-1].endswith("is in out")
    assert json.loads(said.out)["failed"]["reason"] == "diverged"
    assert {path.name for path in (here / "out").iterdir()} == FILES


def test_initial_weights_depend_on_the_seed_alone(call: Call, here: Path) -> None:
    import torch

    def start(*words: str) -> str:
        torch.rand(3)
        return str(
            json.loads(call("run", *QUICK, "rounds=0", *words, "--json").out)["params_sha256"]
        )

    assert start("method=fedavg") == start("method=fedzmg", "local.lr=1")
    assert start("seed=1") != start("seed=0")


def test_a_users_own_data_model_and_method(call: Call, here: Path) -> None:
    (here / "mine_here.py").write_text(MINE)
    said = call(
        "run",
        "data.name=mine_here:load",
        "data.samples=30",
        "data.partition=iid",
        "data.clients=3",
        "model.name=mine_here:net",
        "model.width=5",
        "method=mine_here:Damped(strength=1) + gcfed",
        "cohort=1.0",
        "rounds=1",
        "run.compile=false",
        "--out",
        "out",
        "--json",
    )
    assert said.code == 0, said.err
    summary = json.loads(said.out)
    assert summary["method_resolved"].startswith("mine_here:Damped(strength=1.0) + gcfed(")
    recipe = (here / "out" / "recipe.toml").read_text()
    assert "samples = 30" in recipe and "width = 5" in recipe


MINE = '''
from dataclasses import dataclass

import torch
from torch import nn

from fedkeel import Part


def load(samples: int = 20):
    x = torch.linspace(-1, 1, samples * 4).reshape(samples, 4)
    y = torch.arange(samples) % 2
    return x, y, x, y


def net(classes: int, width: int = 3):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, classes))


@dataclass(frozen=True)
class Damped(Part):
    """Halve what is merged, or so."""

    strength: float = 0.5

    def merge(self, update, state, replies, server):
        return update * (1 - self.strength / 2), state, replies.ledger
'''


@pytest.mark.parametrize("cohort", ["1", "1.0", "0.5"])
def test_one_and_all(call: Call, here: Path, cohort: str) -> None:
    call("run", *QUICK, f"cohort={cohort}", "--out", "out")
    lines = (here / "out" / "rounds.jsonl").read_text().splitlines()
    assert len(json.loads(lines[1])["cohort"]) == {"1": 1, "1.0": 4, "0.5": 2}[cohort]
