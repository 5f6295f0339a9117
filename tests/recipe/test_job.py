"""From a recipe to the objects of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from fedkeel.errors import InputError
from fedkeel.recipe import Job, build, resolve


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A recipe on 30 colour images."""
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "colour.npz",
        x_train=rng.integers(0, 256, (30, 8, 8, 3), dtype=np.uint8),
        y_train=np.arange(30) % 5,
        x_test=rng.integers(0, 256, (5, 8, 8, 3), dtype=np.uint8),
        y_test=np.arange(5),
    )
    return [f"data.name={tmp_path}/colour.npz", "data.partition=iid", "data.clients=3", "cohort=2"]


def job(*words: str) -> Job:
    return build(resolve(None, words))


def test_the_objects_say_what_the_recipe_says(words: list[str]) -> None:
    made = job(
        *words,
        "method=fedprox(mu=2)",
        "weighting=uniform",
        "local.lr=1",
        "local.steps=7",
        "rounds=9",
    )
    assert "FedProx(mu=2.0)" in repr(made.algorithm.part)
    assert (made.algorithm.weighting, made.algorithm.local.lr) == ("uniform", 1.0)
    assert (made.algorithm.local.steps, made.algorithm.local.epochs) == (7, None)
    assert (made.settings.rounds, made.settings.cohort) == (9, 2)
    assert (made.federation.clients, made.federation.partition) == (3, "iid")
    assert made.task.classes == 5
    assert made.method_resolved == "fedprox(mu=2.0)"


def test_auto_looks_at_data_it_does_not_know(words: list[str]) -> None:
    made = job(*words)
    assert made.recipe["model.name"] == "cnn"
    assert made.task.head == "fc2"


def test_keys_of_a_model_that_is_chosen_late_are_checked(words: list[str]) -> None:
    with pytest.raises(InputError, match=r"cnn.*hidden"):
        job(*words, "model.hidden=[3, 3]")
    assert job(*words, "model.name=mlp", "model.hidden=[3, 3]").task.layout.names[0] == "fc1.weight"


def test_the_decay_that_a_method_prefers(words: list[str]) -> None:
    assert job(*words, "method=fedzmg").algorithm.local.decay == "decoupled"
    assert job(*words, "method=localgc").algorithm.local.decay == "coupled"
    assert job(*words, "method=fedzmg", "local.decay=coupled").algorithm.local.decay == "coupled"


def test_the_split_has_a_seed_of_its_own(words: list[str]) -> None:
    def split(*more: str) -> str:
        return job(*words, *more).federation.sha256

    assert split("seed=1") != split("seed=2")
    assert split("seed=1", "data.seed=5") == split("seed=2", "data.seed=5") == split("seed=5")


def test_initial_weights_are_of_the_seed_and_nothing_else_is_touched(words: list[str]) -> None:
    before = torch.get_rng_state()
    one, same = job(*words).task.initial(), job(*words, "method=clip", "rounds=1").task.initial()
    other = job(*words, "seed=1").task.initial()
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_errors_name_the_place(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("method = 'gcfed(head=nowhere)'\n")
    with pytest.raises(InputError, match=r"recipe.toml:1: method=.*'nowhere'"):
        build(resolve(path, words))
    path.write_text("[model]\nname = 'lenet'\n")
    with pytest.raises(InputError, match=r"recipe.toml:2: .*lenet"):
        build(resolve(path, words))


def test_a_model_function_that_fails(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nets_of_mine.py").write_text(
        "def bad(classes):\n    raise KeyError('oh')\n\ndef none():\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"nets_of_mine:bad.*KeyError"):
        job(*words, "model.name=nets_of_mine:bad")
    with pytest.raises(InputError, match=r"nets_of_mine:none.*torch.nn.Module"):
        job(*words, "model.name=nets_of_mine:none")
