"""Data sets by a function of the user's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fedkeel.data import from_function, load
from fedkeel.errors import InputError

MODULE = """
import numpy as np

ones = np.ones((4, 2), dtype=np.float32)
labels = np.array([0, 1, 0, 1])
number = 3

def pairs(scale=1.0, *, flip=False):
    import {name}_beside
    return ones * scale * {name}_beside.factor, 1 - labels if flip else labels, ones, labels

def whole():
    return ones, labels, None, None

def three():
    return ones, labels, ones

def nothing():
    return None

def spoilt():
    return ones * np.nan, labels, ones, labels
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = "user_" + "".join(c for c in request.node.name if c.isalnum())
    (tmp_path / f"{name}.py").write_text(MODULE.format(name=name))
    (tmp_path / f"{name}_beside.py").write_text("factor = 2.0\n")
    monkeypatch.chdir(tmp_path)
    return name


def test_the_function_is_called_with_its_options(module: str) -> None:
    before = list(sys.path)
    source = from_function(f"{module}:pairs", {"scale": 3.0, "flip": True})
    assert source.train.x[0].tolist() == [6.0, 6.0]
    assert source.train.y.tolist() == [1, 0, 1, 0]
    assert source.name == f"{module}:pairs"
    assert sys.path == before


def test_load_knows_functions(module: str) -> None:
    assert load(f"{module}:pairs", {"scale": 0.5}).train.x[0].tolist() == [1.0, 1.0]
    assert len(load(f"{module}:whole", test_share=0.5).test.y) == 2


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        ("pair", {}, "has no 'pair': did you mean 'pairs'?"),
        ("qqqq", {}, "has no 'qqqq': define it there"),
        ("number", {}, "is of type int: it must be a function"),
        ("three", {}, "returned 3 values: it must return"),
        ("nothing", {}, "returned NoneType"),
        ("spoilt", {}, "x holds 8 values that are NaN"),
        ("pairs", {"scales": 1}, "unexpected keyword argument 'scales'; it takes scale, flip"),
        ("pairs:more", {}, "not of the form mymodule:function"),
        ("", {}, "not of the form mymodule:function"),
    ],
)
def test_what_is_refused(module: str, function: str, options: dict, words: str) -> None:
    before = list(sys.path)
    with pytest.raises(InputError) as caught:
        from_function(f"{module}:{function}", options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sys.path == before


def test_modules_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "user_broken.py").write_text("def f(:\n")
    (tmp_path / "user_raising.py").write_text("raise RuntimeError('two\\nlines')\n")
    for name, reason in (
        ("user_absent", "ModuleNotFoundError"),
        ("user_broken", "SyntaxError"),
        ("user_raising", "RuntimeError: two"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            from_function(f"{name}:f")
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="did you mean 'user_broken'"):
        from_function("user_brokn:f")


def test_the_functions_own_errors_are_named(module: str) -> None:
    with pytest.raises(InputError, match=r":pairs' failed with \w*TypeError"):
        from_function(f"{module}:pairs", {"scale": "wide"})
