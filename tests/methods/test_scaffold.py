"""SCAFFOLD beside a plain loop, its memory, and where it is FedAvg."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor

import fedkeel as fk
from fedkeel.methods.scaffold import Scaffold
from fedkeel.part import zeros
from fedkeel.testing.worlds import Lab, apart
from tests.methods.walks import LABS, Played, far, kept, total


def looped(played: Played, correction: str) -> Tensor:
    w, c, held = played.begin, torch.zeros_like(played.begin), dict[int, Tensor]()
    for t, cohort in enumerate(played.visits):
        lr, ends, news = played.local.rate(t), [], torch.zeros_like(w)
        for visit in cohort:
            c_k = held.get(visit.client, torch.zeros_like(w))
            steps = len(visit.batches)
            if correction == "gradient":
                end = played.walk(w, visit.batches, t, lambda g, _, c=c, c_k=c_k: g - c_k + c)
                divisor = lr * played.reach(steps)
            else:
                end = played.walk(w, visit.batches, t, lambda g, _: g, c - c_k)
                divisor = lr * steps
            ends.append(end)
            if steps:
                held[visit.client] = c_k - c + (w - end) / divisor
                news = news + played.share(visit.client) * (held[visit.client] - c_k)
        p = played.weights(cohort)
        w = w - played.server_lr * sum(a * (w - e) for a, e in zip(p, ends, strict=True))
        c = c + news
    return w


@pytest.mark.parametrize("correction", ["gradient", "velocity"])
@pytest.mark.parametrize("place", LABS)
def test_it_is_the_loop(place: str, correction: str) -> None:
    played = Played.of(LABS[place], Scaffold(correction), rounds=4)
    assert far(looped(played, correction), played.end) < 1e-9


@pytest.mark.parametrize("correction", ["gradient", "velocity"])
@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_c_is_the_mean_of_all_clients_variates(weighting: str, correction: str) -> None:
    """With population weights, under partial participation, and a client that is absent stays."""
    lab = Lab("mlp", {"weighting": weighting})
    session, states = kept(lab, Scaffold(correction))
    for before, after in pairwise(states):
        (c,) = after.server.part
        assert c.abs().max() > 0
        assert far(c, total(session, after.memories, len(c))) < 1e-12
        visited = [k for k in after.memories if k not in before.memories]
        same = [k for k in before.memories if after.memories[k] is before.memories[k]]
        assert len(visited) + len(before.memories) - len(same) == 4
    assert len(states[-1].memories) < 12


def test_the_first_round_is_fedavg() -> None:
    one, other = (Lab().run(p, rounds=1)[-1].state_dict() for p in (Scaffold(), fk.FedAvg()))
    assert apart(one, other) == 0


def test_clients_who_are_alike_are_fedavg() -> None:
    """One client alone has nothing to correct: c and c_0 are the same."""
    lab = Lab("mlp", sizes=(6,), settings={"cohort": 1})
    for correction in ("gradient", "velocity"):
        one, other = (lab.run(p)[-1].state_dict() for p in (Scaffold(correction), fk.FedAvg()))
        assert apart(one, other) < 1e-12


def test_without_momentum_both_corrections_are_one() -> None:
    lab = Lab("mlp", {"momentum": 0.0})
    one, other = (lab.run(Scaffold(how))[-1].state_dict() for how in ("gradient", "velocity"))
    assert apart(one, other) < 1e-12


def test_a_client_without_a_step_keeps_what_it_had() -> None:
    lab = Lab("mlp", {"batches": "drop", "batch_size": 10}, {"cohort": 1.0})
    session, states = kept(lab, Scaffold(), rounds=2)
    for k, size in enumerate(session.federation.sizes):
        assert (states[-1].memories[k][0].abs().max() > 0) == (size >= 10)


def test_the_contract() -> None:
    fk.testing.check_part(Scaffold("velocity"), crossings="none")


def test_with_a_spring_the_variate_is_the_gradient_without_it() -> None:
    """FedProx pulls back to the anchor, and the divisor knows: c_k is the mean gradient alone."""
    lab = Lab("mlp", {"weight_decay": 0.0, "batch_size": 50, "epochs": 3}, {"rounds": 1})
    played = Played.of(lab, fk.FedProx(2.0), Scaffold())
    session, states = kept(lab, fk.FedProx(2.0), Scaffold(), rounds=1)
    for visit in played.visits[0]:
        end = played.walk(played.begin, visit.batches, 0, lambda g, w: g + 2 * (w - played.begin))
        expected = (played.begin - end) / (played.local.lr * played.reach(3, mu=2.0))
        assert far(states[1].memories[visit.client][1], expected) < 1e-12
    assert len(session.method.part.parts) == 2


def test_what_travels() -> None:
    """c down and the change of c_k up: four bytes a weight each, besides the model."""
    one, other = (Lab().run(p)[-1] for p in (Scaffold(), fk.FedAvg()))
    assert one.bytes_up == 2 * other.bytes_up and one.bytes_down == 2 * other.bytes_down


def test_the_state_begins_at_zero_and_the_word_is_checked() -> None:
    task = Lab().session().task
    server = fk.Server(task, task.initial(), 0, 3)
    assert torch.equal(Scaffold().server_state(server), zeros(task))
    assert torch.equal(Scaffold().client_state(task, 5), zeros(task))
    with pytest.raises(fk.InputError, match="did you mean 'velocity'"):
        Scaffold("velocty")
