"""The conformance suite: what it covers, and that it tells right from wrong."""

from __future__ import annotations

import math
from importlib import import_module

import pytest
import torch

import fedkeel as fk
from fedkeel.testing import Check, verify
from fedkeel.testing.cases import ALONE, AXES, CROSSINGS, Case, case_error
from fedkeel.testing.conformance import LABS, METHODS
from fedkeel.testing.laws import laws
from fedkeel.testing.oracles import ORACLES
from fedkeel.testing.worlds import Lab, apart, network


@pytest.fixture(scope="module")
def checks() -> list[Check]:
    """A method with few checks: all of the suite is played in tests/methods."""
    before = torch.get_rng_state()
    done = list(verify(["FedProx"]))
    assert torch.equal(before, torch.get_rng_state())
    return done


def test_every_check_passes_and_says_what_it_is(checks: list[Check]) -> None:
    assert checks and all(check.passed for check in checks)
    assert {check.kind for check in checks} == {"law", "oracle"}
    assert all(check.check and isinstance(check.error, float) for check in checks)
    assert all(check.error is not None and check.error <= 1e-6 for check in checks)


def test_a_method_brings_its_laws_its_oracle_and_its_crossings(checks: list[Check]) -> None:
    oracles = [(c.method, c.check) for c in checks if c.kind == "oracle"]
    assert all(("fedprox", f"{place}: mu=0.5") in oracles for place in LABS)
    assert {"fedprox + gcfed", "fedprox + fedadam"} <= {method for method, _ in oracles}
    assert any(c.kind == "law" and "mu = 0" in c.check for c in checks)


def test_checks_come_one_by_one() -> None:
    first = next(verify(["fedavg"]))
    assert first.method == "fedavg" and first.passed


def test_every_method_has_a_law_an_oracle_and_a_case() -> None:
    assert set(METHODS) == set(ORACLES) == {law.method for law in laws()}
    assert set(METHODS) == {case.method for case in ALONE}
    named = {name for case in CROSSINGS for name in case.method.split(" + ")}
    assert named <= set(METHODS) and len(CROSSINGS) >= 10
    assert {case.method for case in AXES} == {"localgc"}


def test_the_places_cover_all_networks_and_last_batches() -> None:
    assert {lab.net for lab in LABS.values()} == {"mlp", "conv", "group", "batch"}
    assert {lab.local.get("batches", "keep") for lab in LABS.values()} == {"keep", "drop", "pad"}
    weightings = {lab.local.get("weighting", "samples") for lab in LABS.values()}
    assert weightings == {"samples", "uniform"}


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(fk.InputError, match="did you mean 'fedprox'"):
        list(verify(["fedproxx"]))


def test_what_is_wrong_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Case("fedprox", (fk.FedProx(0.4),), ALONE[1].oracle)
    assert case_error(wrong, Lab()) > 1e-6

    def broken(*_: object) -> float:
        raise ArithmeticError("of all things")

    module = import_module("fedkeel.testing.conformance")
    for replaced, detail in ((lambda *_: math.nan, ""), (lambda *_: 1.0, ""), (broken, "of all")):
        monkeypatch.setattr(module, "_oracle", replaced)
        failed = [check for check in verify(["fedavg"]) if check.kind == "oracle"]
        assert failed and not any(check.passed for check in failed)
        assert all(detail in check.detail for check in failed)


def test_a_difference_that_is_not_a_number_is_never_small() -> None:
    one, other = network("mlp").state_dict(), network("mlp").state_dict()
    assert apart(one, other) == 0
    other["fc2.bias"] = other["fc2.bias"] * math.nan
    assert math.isnan(apart(one, other)) and not apart(one, other) <= 1e-9
