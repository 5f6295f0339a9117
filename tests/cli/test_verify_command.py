"""``fedkeel verify``: what it prints and how it ends."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence

import pytest

from fedkeel.testing.conformance import Check
from tests.cli.conftest import Call

GOOD = Check("fedprox", "mu = 0 is FedAvg", "law", True, 0.0, "")
WORSE = Check("gcfed", "oracle", "oracle", False, 1e-3, "too far")
BROKEN = Check("clip", "law", "law", False, None, "RuntimeError: oh")


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Replace the suite by three checks, and note what it is asked for."""
    asked: list[Sequence[str]] = []

    def verify(methods: Sequence[str]) -> Iterator[Check]:
        asked.append(methods)
        yield from (check for check in (GOOD, WORSE, BROKEN) if check.method in methods)

    monkeypatch.setattr(importlib.import_module("fedkeel.testing.conformance"), "verify", verify)
    return asked


def test_a_line_a_check(call: Call, suite: list[Sequence[str]]) -> None:
    said = call("verify")
    assert said.code == 1
    first, second, third, last = said.out.splitlines()
    assert first.split() == ["ok", "fedprox", *["mu", "=", "0", "is", "FedAvg"], "0.0e+00"]
    assert second.split() == ["FAIL", "gcfed", "oracle", "1.0e-03", "too", "far"]
    assert third.split() == ["FAIL", "clip", "law", "RuntimeError:", "oh"]
    assert last == "1 passed, 2 failed"


def test_all_is_well(call: Call, suite: list[Sequence[str]]) -> None:
    said = call("verify", "FedProx")
    assert (said.code, said.err) == (0, "")
    assert said.out.endswith("\n1 passed, 0 failed\n")
    assert suite == [["fedprox"]]


def test_json(call: Call, suite: list[Sequence[str]]) -> None:
    said = call("verify", "--json")
    assert said.code == 1
    assert json.loads(said.out) == {
        "passed": 1,
        "failed": 2,
        "checks": [check._asdict() for check in (GOOD, WORSE, BROKEN)],
    }
