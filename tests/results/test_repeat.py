"""Commands that repeat a run: exact, and as short as they can be."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedkeel.results
from fedkeel.notation import read_value
from fedkeel.recipe import KEYS, resolve
from fedkeel.results import repeat
from fedkeel.results.folders import RunFolder, read

MODULES = [m.name for m in pkgutil.iter_modules(fedkeel.results.__path__, "fedkeel.results.")]


def test_the_defaults_are_those_of_the_recipe():
    assert {key.name: key.default for key in KEYS if key.default is not None} == repeat.DEFAULTS


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1))
def test_a_word_is_read_back_as_it_was_through_the_shell(value):
    (word,) = shlex.split(shlex.quote(repeat.word(value)))
    assert read_value(word) == value


@pytest.mark.parametrize(
    "value", [1, 0.1, 1e-5, True, [1, 2], ["a", "b"], "clip + gcfed(head=fc2)"]
)
def test_other_values_are_read_back_as_they_were(value):
    assert read_value(repeat.word(value)) == value


@pytest.mark.parametrize(
    "words",
    [
        ["method=gcfed(head=fc2)", "model.hidden=[128, 128]", "cohort=1.0"],
        ["data.partition=natural", "local.steps=7", "model.name=cnn", "cohort=1"],
        ["data.partition=natural", "data.clients=100"],
        ["method=clip + fedprox(mu=0.2)", "run.target=0.5", "local.schedule=exponential(0.998)"],
    ],
)
def test_the_command_resolves_to_the_same_recipe(words):
    recipe = resolve(None, words).to_toml()
    run = RunFolder(Path("run"), tomllib.loads(recipe), [], {})
    command = shlex.split(repeat.from_keys(run))
    assert command[:2] == ["fedkeel", "run"]
    assert resolve(None, command[2:]).to_toml() == recipe


def test_all_clients_is_not_one_client(write_run):
    path = write_run("one", recipe={"cohort": 10.0})
    assert "cohort=10.0" in repeat.from_keys(read(path)[0])


def test_a_path_with_a_space_is_quoted(write_run):
    assert repeat.from_recipe(read(write_run("my run"))[0]).endswith("my run/recipe.toml'")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_neither_torch_nor_an_engine_is_imported():
    code = (
        f"import importlib, sys\nfor name in {MODULES}: importlib.import_module(name)\n"
        "heavy = {'torch', 'scipy', 'rich', 'matplotlib', 'fedkeel.engines'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
