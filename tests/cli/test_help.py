"""Help pages: whole at any width, and silent about what is not there."""

from __future__ import annotations

import re

import pytest

from fedkeel.recipe import KEYS
from tests.cli.conftest import Call

COMMANDS = ["demo", "methods", "run", "compare", "report", "data", "verify"]
PAGES = [[], *([command] for command in COMMANDS), ["data", "show"], ["data", "list"]]


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_pages_fit(
    call: Call, monkeypatch: pytest.MonkeyPatch, page: list[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = call(*page, "--help")
    assert (said.code, said.err) == (0, "")
    assert max(map(len, said.out.splitlines())) <= min(columns, 100)
    assert "Show this page." in " ".join(said.out.split())


def test_every_command_is_listed(call: Call) -> None:
    out = call("--help").out
    assert all(re.search(rf"^    {command} ", out, re.MULTILINE) for command in COMMANDS)


def test_nothing_later_is_listed(call: Call) -> None:
    text = "".join(call(*page, "--help").out for page in PAGES)
    for word in ("sweep", "reproduce", "bench", "flower", "resume", "streamed", "state_memory"):
        assert word not in text


def test_run_lists_every_key_with_its_default(call: Call) -> None:
    out = call("run", "--help").out
    assert all(re.search(rf"^    {re.escape(key.name)} ", out, re.MULTILINE) for key in KEYS)
    assert re.search(r"cohort +10 ", out)


def test_the_data_command_alone_says_what_it_has(call: Call) -> None:
    out = call("data", "--help").out
    assert "list" in out and "show" in out
