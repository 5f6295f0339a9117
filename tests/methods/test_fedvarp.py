"""FedVARP beside a plain loop, its ledger, and where it is FedAvg."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor

import fedkeel as fk
from fedkeel.methods.feddyn import FedDyn
from fedkeel.methods.fednova import FedNova
from fedkeel.methods.fedvarp import FedVARP
from fedkeel.methods.robust import NormBounded
from fedkeel.methods.scaffold import Scaffold
from fedkeel.testing.worlds import Lab, apart
from tests.methods.walks import LABS, Played, agree, far, kept, total


def looped(played: Played) -> Tensor:
    w, y, held = played.begin, torch.zeros_like(played.begin), dict[int, Tensor]()
    for t, cohort in enumerate(played.visits):
        v, news = y, torch.zeros_like(w)
        for visit, p_k in zip(cohort, played.weights(cohort), strict=True):
            moved = w - played.walk(w, visit.batches, t, lambda g, _: g)
            y_k = held.get(visit.client, torch.zeros_like(w))
            v = v + p_k * (moved - y_k)
            news = news + played.share(visit.client) * (moved - y_k)
            held[visit.client] = moved
        w, y = w - played.server_lr * v, y + news
    return w


@pytest.mark.parametrize("place", LABS)
def test_it_is_the_loop(place: str) -> None:
    played = Played.of(LABS[place], FedVARP(), rounds=6)
    assert far(looped(played), played.end) < 1e-9


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_y_is_the_mean_of_what_all_clients_said_last(weighting: str) -> None:
    session, states = kept(Lab("mlp", {"weighting": weighting}), FedVARP())
    for before, after in pairwise(states):
        (y,) = after.server.part
        assert y.abs().max() > 0
        assert far(y, total(session, after.ledger, len(y))) < 1e-12
        absent = [k for k in before.ledger if after.ledger[k] is before.ledger[k]]
        assert len(after.ledger) - len(absent) == 4 and len(states[-1].ledger) < 12


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_with_every_client_it_is_fedavg(weighting: str) -> None:
    lab = Lab("batch", {"weighting": weighting}, {"cohort": 1.0})
    one, other = (lab.run(p)[-1].state_dict() for p in (FedVARP(), fk.FedAvg()))
    assert apart(one, other) < 1e-12


def test_the_first_round_is_fedavg() -> None:
    one, other = (Lab().run(p, rounds=1)[-1].state_dict() for p in (FedVARP(), fk.FedAvg()))
    assert apart(one, other) == 0


def test_what_is_remembered_is_what_was_sent() -> None:
    """Normalised by FedNova, the ledger is in its units, and y with it."""
    session, states = kept(Lab(), FedVARP(), FedNova())
    ledger = {k: row[:1] for k, row in states[-1].ledger.items()}
    y = states[-1].server.part[0]
    assert far(y, total(session, ledger, len(y))) < 1e-12


def test_engines_agree_on_all_that_control_the_drift_at_once() -> None:
    parts = (fk.FedProx(0.1), FedDyn(), Scaffold(), Scaffold("velocity"), FedVARP(), FedNova())
    assert agree(Lab("batch", {"nesterov": True}), *parts, NormBounded()) < 1e-9


def test_the_contract() -> None:
    fk.testing.check_part(FedVARP(), crossings="none")


def test_nothing_more_travels() -> None:
    one, other = (Lab().run(p)[-1] for p in (FedVARP(), fk.FedAvg()))
    assert (one.bytes_up, one.bytes_down) == (other.bytes_up, other.bytes_down)
