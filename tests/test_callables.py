"""Options held against signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from fedkeel.callables import defaults, fitting, options
from fedkeel.errors import InputError


def build(
    classes: int,
    mu: float = 0.1,
    on: bool = True,
    steps: int = 3,
    where: Literal["point", "int"] = "point",
    names: str | Sequence[str] | None = None,
    odd: Any = (1, 2),
    *rest: int,
    only: str = "a",
    **more: int,
) -> None: ...


def test_options_have_names() -> None:
    assert list(options(build)) == ["classes", "mu", "on", "steps", "where", "names", "odd", "only"]


def test_defaults_can_be_written() -> None:
    found = defaults(build, but=("only",))
    assert found == {"mu": 0.1, "on": True, "steps": 3, "where": "point", "odd": [1, 2]}


@pytest.mark.parametrize(
    ("name", "value", "fitted"),
    [
        ("mu", 1, 1.0),
        ("mu", 0.5, 0.5),
        ("on", False, False),
        ("steps", 4, 4),
        ("where", "int", "int"),
        ("names", "fc", "fc"),
        ("names", ["fc"], ["fc"]),
        ("odd", {"a": 1}, {"a": 1}),
    ],
)
def test_what_fits(name: str, value: Any, fitted: Any) -> None:
    found = fitting("it", build, {name: value})[name]
    assert found == fitted and type(found) is type(fitted)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("mu", True, "a number"),
        ("mu", "x", "a number"),
        ("on", 1, "true or false"),
        ("steps", 1.0, "an integer"),
        ("steps", True, "an integer"),
        ("names", 1, "text or a list"),
    ],
)
def test_what_does_not(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InputError, match=f"it: {name}=.* must be {allowed}$"):
        fitting("it", build, {name: value})


def test_unknown_options() -> None:
    with pytest.raises(InputError, match="did you mean 'steps'"):
        fitting("it", build, {"step": 1})
    with pytest.raises(InputError, match="unknown option of it: 'classes'"):
        fitting("it", build, {"classes": 1}, but=("classes",))
    with pytest.raises(InputError, match="takes no options"):
        fitting("it", lambda: None, {"x": 1})
