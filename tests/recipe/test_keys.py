"""The table of keys, and what each may be."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fedkeel.errors import InputError
from fedkeel.recipe import KEYS
from fedkeel.recipe.keys import BY_NAME, LATER_KEYS, PARTITIONS, unknown_key


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_default_is_allowed(key: Any) -> None:
    assert key.help
    if key.default is not None:
        found = key.kind.check(key.name, key.default)
        assert found == key.default and type(found) is type(key.default)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
@pytest.mark.parametrize("value", [{}, [{}], [2.5], float("nan"), float("inf"), -(10**400)])
def test_what_no_key_is(key: Any, value: Any) -> None:
    with pytest.raises(InputError, match="must be"):
        key.kind.check(key.name, value)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("cohort", 1, 1),
        ("cohort", 1.0, 1.0),
        ("local.lr", 1, 1.0),
        ("run.compile", False, False),
        ("data.seed", -1, -1),
        ("local.schedule", "exponential(0.5)", "exponential(0.5)"),
        ("data.label_noise", 1, 1.0),
        ("data.label_noise", [0, 0.5], [0.0, 0.5]),
        ("data.attribute_noise", {"low": 0, "high": 0.4}, {"low": 0.0, "high": 0.4}),
        ("data.foreign", [5, 6], [5, 6]),
        ("data.corruptions", ["fog", "jpeg"], ["fog", "jpeg"]),
        ("data.feature_rotation", 30, 30.0),
    ],
)
def test_types_are_kept_or_made(name: str, value: Any, found: Any) -> None:
    checked = BY_NAME[name].kind.check(name, value)
    assert checked == found and type(checked) is type(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cohort", 0),
        ("cohort", 0.0),
        ("cohort", 1.01),
        ("cohort", True),
        ("rounds", 1.0),
        ("rounds", False),
        ("local.nesterov", 1),
        ("run.compile", 1),
        ("local.momentum", 1.0),
        ("local.schedule", "exponential"),
        ("local.schedule", "halve(x)"),
        ("local.schedule", "cosine(-1)"),
        ("local.schedule", 1),
        ("data.test_share", 1),
        ("data.label_noise", [0.5, 2]),
        ("data.label_noise", []),
        ("data.open_set_noise", {"low": 0.5}),
        ("data.open_set_noise", {"low": 0.5, "high": 0.2}),
        ("data.open_set_noise", {"low": 0.1, "high": 0.2, "mid": 0.1}),
        ("data.foreign", [-1]),
        ("data.foreign", [True]),
        ("data.corruptions", ["snow"]),
        ("data.corruptions", "fog"),
        ("data.severity", 0),
        ("data.server", 1.0),
        ("data.feature_rotation", 181),
    ],
)
def test_what_is_not_allowed(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name}=.*must be "):
        BY_NAME[name].kind.check(name, value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("alpha", "did you mean 'data.alpha'"),
        ("lr", "did you mean 'local.lr'"),
        ("data.alhpa", "did you mean 'data.alpha'"),
        ("locl.lr", "did you mean 'local.lr'"),
        ("local.alpha", "did you mean 'data.alpha'"),
        ("run", "is a table"),
        ("zzz.zzz", "unknown table 'zzz'"),
        ("qqqqqq", "unknown key 'qqqqqq'.*Allowed: format, method"),
        ("run.state_memory", "not in this version"),
    ],
)
def test_unknown_keys(name: str, says: str) -> None:
    assert re.search(says, str(unknown_key(name)))


def test_no_key_is_both_here_and_later() -> None:
    assert not LATER_KEYS & BY_NAME.keys()
    assert {name for key in KEYS for name in key.partitions} <= set(PARTITIONS)
