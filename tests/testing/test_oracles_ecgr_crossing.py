"""SCAFFOLD + ECGR and FedNova + ECGR in Python floats, and their reductions to either."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from fedkeel.testing.oracles import (
    Regulation,
    ecgr,
    fednova,
    fednova_ecgr,
    scaffold,
    scaffold_ecgr,
    scaffold_ecgr_end,
    scaffold_end,
)
from tests.testing import tiny
from tests.testing.test_oracles_ecgr import upload_in_floats
from tests.testing.test_oracles_fednova import way
from tests.testing.tiny import Floats, minus, plus

HOW = Regulation(beta=0.3)


def scaffold_by_hand(weighting: str) -> tuple[Floats, Floats]:
    """Four rounds with correction at the gradient; w and c at the end."""
    w, c = list(tiny.START), [0.0] * 3
    c_k = {k: [0.0] * 3 for k in range(4)}
    everyone = tiny.shares(range(4), weighting)
    for cohort in tiny.COHORTS:
        sent, change = [], [0.0] * 3
        for k in cohort:
            shift = minus(c, c_k[k])

            def corrected(u: Floats, rows: tiny.Rows, shift: Floats = shift) -> Floats:
                return plus(tiny.slope(u, rows), shift)

            points = tiny.path(w, tiny.HELD[k], tiny.LOCAL, corrected)
            steps = [minus(a, b) for a, b in pairwise(points)]
            moved = minus(w, points[-1])
            sent.append(upload_in_floats(steps, moved, 0.3))
            new = plus(minus(c_k[k], c), moved, 1 / (0.3 * way(len(steps), tiny.LOCAL)))
            change = plus(change, minus(new, c_k[k]), everyone[k])
            c_k[k] = new
        w = plus(w, tiny.weighted(tiny.shares(cohort, weighting), sent), -1.0)
        c = plus(c, change)
    return w, c


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_scaffold_and_ecgr_by_hand(weighting: str) -> None:
    w, c = scaffold_by_hand(weighting)
    setting = tiny.setting(weighting=weighting)
    end = scaffold_ecgr_end(tiny.layer(), tiny.rounds(), setting, how=HOW)
    assert tiny.weights(end.state) == pytest.approx(w, abs=1e-12)
    assert tiny.weights(end.c) == pytest.approx(c, abs=1e-12)


def nova_by_hand(weighting: str, steps: str, mu: float) -> Floats:
    """Four rounds."""
    w = list(tiny.START)
    for cohort in tiny.COHORTS:
        d, a = [], []
        for k in cohort:

            def pulled(u: Floats, rows: tiny.Rows, w_t: Floats = w) -> Floats:
                return plus(tiny.slope(u, rows), minus(u, w_t), mu)

            points = tiny.path(w, tiny.HELD[k], tiny.LOCAL, pulled)
            moves = [minus(x, y) for x, y in pairwise(points)]
            upload = upload_in_floats(moves, minus(w, points[-1]), 0.3)
            a.append(float(len(moves)) if steps == "count" else way(len(moves), tiny.LOCAL, mu))
            d.append([v / a[-1] for v in upload])
        p = tiny.shares(cohort, weighting)
        tau_eff = sum(p_k * a_k for p_k, a_k in zip(p, a, strict=True))
        w = plus(w, tiny.weighted(p, d), -tau_eff)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("steps", ["momentum", "count"])
@pytest.mark.parametrize("mu", [0.0, 0.6])
def test_fednova_and_ecgr_by_hand(weighting: str, steps: str, mu: float) -> None:
    setting = tiny.setting(weighting=weighting)
    got = fednova_ecgr(tiny.layer(), tiny.rounds(), setting, steps=steps, prox=mu, how=HOW)
    assert tiny.weights(got) == pytest.approx(nova_by_hand(weighting, steps, mu), abs=1e-12)


SCAFFOLDS: list[dict[str, Any]] = [
    {},
    {"correction": "velocity"},
    {"lrs": [0.1, 0.05, 0.02]},
]


@pytest.mark.parametrize("options", SCAFFOLDS)
def test_at_beta_one_ecgr_leaves_scaffold_alone(options: dict[str, Any]) -> None:
    base = scaffold(tiny.normed(), tiny.MANY, tiny.USUAL, **options)
    one = scaffold_ecgr(tiny.normed(), tiny.MANY, tiny.USUAL, how=Regulation(beta=1.0), **options)
    assert tiny.apart(one, base) < 1e-12
    both = scaffold_ecgr(tiny.normed(), tiny.MANY, tiny.USUAL, **options)
    assert tiny.apart(both, base) > 1e-5


@pytest.mark.parametrize("options", [{}, {"steps": "count"}, {"prox": 0.5}])
def test_at_beta_one_ecgr_leaves_fednova_alone(options: dict[str, Any]) -> None:
    base = fednova(tiny.normed(), tiny.MANY, tiny.USUAL, **options)
    one = fednova_ecgr(tiny.normed(), tiny.MANY, tiny.USUAL, how=Regulation(beta=1.0), **options)
    assert tiny.apart(one, base) < 1e-12
    both = fednova_ecgr(tiny.normed(), tiny.MANY, tiny.USUAL, **options)
    assert tiny.apart(both, base) > 1e-5


def test_equal_lengths_and_a_first_round_are_ecgr_alone() -> None:
    equal = [[v._replace(batches=list(v.batches) * 6) for v in tiny.MANY[0][:1]]]
    a = fednova_ecgr(tiny.normed(), equal, tiny.USUAL)
    assert tiny.apart(a, ecgr(tiny.normed(), equal, tiny.USUAL)) < 1e-12
    b = scaffold_ecgr(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert tiny.apart(b, ecgr(tiny.normed(), tiny.MANY[:1], tiny.USUAL)) < 1e-12


def test_control_variates_come_from_where_the_client_ended() -> None:
    """In the first round both train alike, so both learn the same c, whatever is uploaded."""
    a = scaffold_ecgr_end(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    b = scaffold_end(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert tiny.apart(a.c, b.c) < 1e-15
    assert tiny.apart(a.state, b.state) > 1e-4
