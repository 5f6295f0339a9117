"""The table of keys is true: none missing, none too many, defaults and words the same."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from fedkeel.notation import write_value
from fedkeel.recipe.keys import KEYS, Key
from tests.docs.pages import ROOT


class Row(NamedTuple):
    """A line of the table."""

    default: str
    allowed: str


def table() -> dict[str, Row]:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| `([\w.]+)` +\| (?:`(.+?)`)? *\| (.+?) +\|", re.M)
    return {name: Row(default, allowed) for name, default, allowed in row.findall(page)}


def test_every_key_has_its_line_in_order() -> None:
    assert list(table()) == [key.name for key in KEYS]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_line_is_true(key: Key) -> None:
    row = table()[key.name]
    assert row.default == ("" if key.default is None else write_value(key.default))
    words = [word.strip() for word in row.allowed.split(", ")]
    if key.kind.words:
        assert words == list(key.kind.words)


def test_the_models_named_are_those_there_are() -> None:
    from fedkeel.names import MODELS

    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("Built in are"))
    assert set(re.findall(r"`(\w+)`", line)) == {model.name for model in MODELS}
