"""From what was given to a whole recipe, and back."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkeel.recipe import KEYS, Recipe, resolve

positive = st.floats(1e-12, 1e12)
EACH: dict[str, st.SearchStrategy[Any]] = {
    "method": st.sampled_from(
        ["fedavg", "clip(norm=3) + GCFed(head=fc2)", 'fedprox(mu=1) + gcfed(head=["fc1"])']
    ),
    "weighting": st.sampled_from(["samples", "uniform"]),
    "rounds": st.integers(0, 10**9),
    "cohort": st.integers(1, 10**6) | st.floats(1e-9, 1.0),
    "server_lr": positive,
    "seed": st.integers(0, 2**63 - 1),
    "data.clients": st.integers(1, 10**6),
    "data.alpha": st.floats(1e-6, 1e9),
    "data.min_size": st.integers(0, 99),
    "data.cap": st.booleans(),
    "data.seed": st.integers(-1, 99),
    "local.batch_size": st.integers(1, 10**6),
    "local.batches": st.sampled_from(["keep", "drop", "pad"]),
    "local.lr": positive | st.integers(1, 9),
    "local.schedule": st.sampled_from(
        ["constant", "exponential(0.998)", "halve(10)", "cosine(250)"]
    ),
    "local.momentum": st.floats(0, 0.999),
    "local.nesterov": st.booleans(),
    "local.weight_decay": st.floats(0, 10),
    "run.engine": st.sampled_from(["auto", "sequential", "stacked"]),
    "run.compile": st.sampled_from(["auto", True, False]),
    "run.target": st.floats(0, 1),
    "model.hidden": st.lists(st.integers(1, 99), min_size=2, max_size=2),
}
recipes = st.fixed_dictionaries({}, optional=EACH)
quiet = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def word(key: str, value: Any) -> str:
    from fedkeel.notation import write_value

    return f"{key}={write_value(value)}"


@quiet
@given(recipes)
def test_a_written_recipe_is_read_back(tmp_path: Path, given: dict[str, Any]) -> None:
    recipe = resolve(None, [word(*pair) for pair in given.items()])
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    again = resolve(path)
    assert again == recipe
    assert again.to_toml() == recipe.to_toml()
    assert again.digest == recipe.digest
    assert {key: recipe[key] for key in given} == given
    assert tomllib.loads(recipe.to_toml()) == recipe.nested()


@quiet
@given(recipes, st.randoms(use_true_random=False))
def test_order_says_nothing(given: dict[str, Any], random: Any) -> None:
    words = [word(*pair) for pair in given.items()]
    shuffled = random.sample(words, len(words))
    assert resolve(None, words).digest == resolve(None, shuffled).digest


def test_the_defaults_are_the_promised_ones() -> None:
    nested = resolve().nested()
    assert {key: value for key, value in nested.items() if not isinstance(value, dict)} == {
        "format": 1,
        "method": "gcfed",
        "weighting": "samples",
        "rounds": 100,
        "cohort": 10,
        "server_lr": 1.0,
        "seed": 0,
    }
    assert nested["data"] == {
        "name": "femnist-mini",
        "clients": 100,
        "partition": "dirichlet",
        "alpha": 0.1,
        "min_size": 1,
        "cap": True,
        "max_tries": 10000,
        "server": 0.0,
        "seed": -1,
        "label_noise": 0.0,
        "open_set_noise": 0.0,
        "attribute_noise": 0.0,
        "label_noise_kind": "symmetric",
        "foreign": [],
        "corruptions": [],
        "severity": 5,
    }
    assert nested["model"] == {"name": "mlp", "hidden": [512, 256]}
    assert nested["local"] == {
        "epochs": 5,
        "batch_size": 50,
        "batches": "keep",
        "lr": 0.01,
        "schedule": "constant",
        "momentum": 0.9,
        "nesterov": False,
        "weight_decay": 1e-5,
        "decay": "auto",
        "augment": True,
    }
    assert nested["run"] == {
        "engine": "auto",
        "device": "auto",
        "precision": "float32",
        "threads": 0,
        "compile": "auto",
        "chunk": 0,
        "buffers": "average",
        "on_nonfinite": "stop",
        "eval_every": 1,
        "checkpoint_every": 10,
        "target": 0.0,
    }


def test_keys_are_written_in_the_order_of_the_table() -> None:
    names = [key.name for key in KEYS]
    written = [key for key in resolve(None, ["seed=3", "data.alpha=1"]).values if key in names]
    assert written == sorted(written, key=names.index)


def test_the_command_line_wins_and_its_last_word(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("rounds = 1\nseed = 1\n")
    recipe = resolve(path, ["rounds=2", "rounds=3"])
    assert (recipe["rounds"], recipe["seed"]) == (3, 1)


def test_resolved_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("rounds = 1\n[resolved]\nengine = 'other'\nanything = 2020-01-01\n")
    assert resolve(path) == resolve(None, ["rounds=1"])


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("", ["local.steps=7"], {"steps": 7}),
        ("[local]\nsteps = 7\n", [], {"steps": 7}),
        ("[local]\nepochs = 2\n", ["local.steps=7"], {"steps": 7}),
        ("[local]\nsteps = 7\n", ["local.epochs=2"], {"epochs": 2}),
    ],
)
def test_epochs_or_steps(tmp_path: Path, text: str, words: list[str], left: dict[str, int]) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    local = resolve(path, words).table("local")
    assert {key: local[key] for key in ("epochs", "steps") if key in local} == left


ALWAYS = (
    *("name", "partition", "server", "seed", "label_noise", "open_set_noise", "attribute_noise"),
    *("label_noise_kind", "foreign", "corruptions", "severity"),
)


@pytest.mark.parametrize(
    ("words", "used"),
    [
        (["data.partition=iid"], {"clients"}),
        (["data.partition=natural"], set()),
        (["data.partition=natural", "data.clients=7"], {"clients"}),
        (["data.partition=file", "data.file=a.npz"], {"file"}),
        ([], {"clients", "alpha", "min_size", "cap", "max_tries"}),
        (["data.partition=dirichlet_ecgr"], {"clients", "alpha", "fill", "drop_remainder"}),
        (["data.partition=dirichlet_gcfl"], {"clients", "alpha"}),
        (["data.partition=pachinko"], {"clients", "alpha_coarse", "alpha_fine"}),
        (["data.partition=shards"], {"clients", "shards_per_client"}),
        (["data.partition=classes"], {"clients", "classes_per_client"}),
        (["data.partition=quantity"], {"clients", "quantity_alpha"}),
        (["data.partition=feature"], {"clients", "feature_noise", "feature_rotation"}),
    ],
)
def test_a_recipe_has_the_keys_that_its_partition_uses(words: list[str], used: set[str]) -> None:
    table = resolve(None, words).table("data")
    assert {key for key in table if key not in ALWAYS} == used


def test_paths_start_where_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / "recipe.toml"
    path.write_text("[data]\nname = 'a.npz'\npartition = 'file'\nfile = 'sub/b.npz'\n")
    monkeypatch.chdir(tmp_path)
    recipe = resolve(path, ["data.file=c.npz"])
    assert recipe["data.name"] == str(tmp_path / "deep" / "a.npz")
    assert recipe["data.file"] == str(tmp_path / "c.npz")
    assert resolve(path)["data.file"] == str(tmp_path / "deep" / "sub" / "b.npz")


def test_the_name_of_a_runs_folder() -> None:
    recipe = resolve(
        None, ["method=Clip(norm=1) + mine:Damped + gcfed", "seed=4", "data.name=./Scans.npz"]
    )
    assert recipe.folder_name() == f"clip+damped+gcfed-scans-s4-{recipe.digest}"
    assert len(recipe.digest) == 8


def test_the_digest_knows_an_integer_from_a_share() -> None:
    one, all_ = resolve(None, ["cohort=1"]), resolve(None, ["cohort=1.0"])
    assert one.digest != all_.digest
    assert resolve(None, ["local.lr=1"]).digest == resolve(None, ["local.lr=1.0"]).digest


def test_a_function_takes_the_further_keys() -> None:
    recipe = resolve(None, ["data.name=mine:load", "data.size=3", "data.alpha=1"])
    assert recipe.further("data") == {"size": 3}
    assert recipe["model.name"] == "auto"
    known = resolve(None, ["data.name=mine:load", "data.severity=3"])
    assert known.further("data") == {} and known["data.severity"] == 3


def test_a_recipe_is_a_value() -> None:
    assert isinstance(resolve(), Recipe)
    assert resolve() == resolve()
    with pytest.raises(AttributeError):
        resolve().values = {}  # type: ignore[misc]


def test_token_sets_go_to_their_natural_owners() -> None:
    recipe = resolve(None, ["data.name=shakespeare"])
    assert recipe["data.partition"] == "natural" and "data.clients" not in recipe.values
    assert recipe["model.name"] == "gru" and "model.targets" not in recipe.values
    assert (recipe["data.vocab"], recipe["data.targets"]) == ("data", "all")
    assert resolve(None, ["data.name=cifar10"])["data.partition"] == "dirichlet"


def test_keys_of_other_data_sets_are_left_out() -> None:
    recipe = resolve(None, ["data.name=cifar100", "data.partition=pachinko"])
    assert recipe["data.labels"] == "fine" and recipe["data.alpha_fine"] == 10.0
    for key in ("data.vocab", "data.targets", "data.alpha", "data.fill"):
        assert key not in recipe.values


def test_noise_survives_being_written_and_read(tmp_path: Path) -> None:
    words = ["data.label_noise={low=0.1,high=0.4}", "data.foreign=[5, 6]", "data.corruptions=[fog]"]
    recipe = resolve(None, words)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.to_toml())
    assert resolve(path) == recipe
    assert recipe["data.label_noise"] == {"low": 0.1, "high": 0.4}
