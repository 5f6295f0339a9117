"""FedNova beside a plain loop, its lengths, and where it is FedAvg."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import fedkeel as fk
from fedkeel.methods.fednova import FedNova
from fedkeel.methods.robust import Median
from fedkeel.testing.worlds import Lab, apart
from tests.methods.walks import LABS, Played, far


def looped(played: Played, steps: str, mu: float = 0.0) -> Tensor:
    w = played.begin
    for t, cohort in enumerate(played.visits):
        walked = [visit for visit in cohort if visit.batches]  # the others are left out
        if not walked:
            continue
        ends = [played.walk(w, v.batches, t, lambda g, x, w=w: g + mu * (x - w)) for v in walked]
        a = [float(len(v.batches)) for v in walked]
        a = [played.reach(int(n), mu) for n in a] if steps == "momentum" else a
        p = played.weights(walked)
        tau_eff = sum(p_k * a_k for p_k, a_k in zip(p, a, strict=True))
        d = sum(p_k * (w - end) / a_k for p_k, end, a_k in zip(p, ends, a, strict=True))
        w = w - played.server_lr * tau_eff * d
    return w


@pytest.mark.parametrize("steps", ["momentum", "count"])
@pytest.mark.parametrize("place", LABS)
def test_it_is_the_loop(place: str, steps: str) -> None:
    played = Played.of(LABS[place], FedNova(steps), rounds=4)
    assert far(looped(played, steps), played.end) < 1e-9
    assert len({len(v.batches) for cohort in played.visits for v in cohort}) > 2


@pytest.mark.parametrize("steps", ["momentum", "count"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_with_a_spring_the_lengths_are_those_of_the_sprung_walk(
    steps: str, momentum: float
) -> None:
    played = Played.of(Lab("mlp", {"momentum": momentum}), fk.FedProx(3.0), FedNova(steps))
    assert far(looped(played, steps, mu=3.0), played.end) < 1e-9


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("steps", ["momentum", "count"])
def test_equal_lengths_are_fedavg(steps: str, weighting: str) -> None:
    """Under partial participation too: with weights of the population it would shrink."""
    lab = Lab("batch", {"steps": 3, "epochs": None, "weighting": weighting}, sizes=(3, 5, 9, 4) * 3)
    one, other = (lab.run(p)[-1].state_dict() for p in (FedNova(steps), fk.FedAvg()))
    assert apart(one, other) < 1e-12


@pytest.mark.parametrize(("steps", "a"), [("momentum", 6.0), ("count", 4.0)])
def test_what_a_client_sends(steps: str, a: float) -> None:
    """d_k and a_k, which is how far the visit travelled in steps of lr, or its number of steps."""
    lr, nothing = torch.tensor(0.5), torch.zeros(0)
    visit = fk.Visit(None, nothing, lr, nothing, {}, nothing, nothing, (), ())
    taken = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0])
    walked = fk.Trajectory(nothing, nothing, torch.tensor(3.0), taken, nothing)
    update, note, memory = FedNova(steps).finish(torch.tensor([12.0]), walked, visit)
    assert (update.item(), note.item(), memory) == (12 / a, a, ())


def test_without_momentum_the_two_lengths_are_one() -> None:
    lab = Lab("mlp", {"momentum": 0.0})
    one, other = (lab.run(FedNova(how))[-1].state_dict() for how in ("momentum", "count"))
    assert apart(one, other) < 1e-12


def test_the_buffers_are_fedavgs() -> None:
    """Averaged with the plain weights, so no variance can be negative."""
    one, other = (
        Lab("batch", settings={"rounds": 1}).run(p)[-1].state_dict()
        for p in (FedNova(), fk.FedAvg())
    )
    names = [name for name in one if "running" in name]
    assert names and all(torch.equal(one[n], other[n]) for n in names)
    last = Lab("batch", settings={"rounds": 6}).run(FedNova())[-1].state_dict()
    assert all((last[n] > 0).all() for n in names if "var" in n)


def test_where_nobody_takes_a_step_the_model_stays() -> None:
    lab = Lab("mlp", {"batches": "drop", "batch_size": 50})
    played = lab.run(FedNova())
    assert apart(played[0].state_dict(), played[-1].state_dict()) == 0


def test_a_robust_mean_is_of_the_normalised_updates() -> None:
    """Every client the same batches over and over: tau_eff times the median of the d_k."""
    played = Played.of(Lab(settings={"rounds": 1}), Median(), FedNova())
    (cohort,) = played.visits
    ends = [played.walk(played.begin, v.batches, 0, lambda g, _: g) for v in cohort]
    a = [played.reach(len(v.batches)) for v in cohort]
    d = torch.stack([(played.begin - e) / a_k for e, a_k in zip(ends, a, strict=True)])
    tau_eff = sum(p * a_k for p, a_k in zip(played.weights(cohort), a, strict=True))
    middle = d.sort(0).values[1:3].mean(0)
    assert far(played.begin - tau_eff * middle, played.end) < 1e-12


def test_the_contract() -> None:
    fk.testing.check_part(FedNova(), crossings="none")


def test_one_number_more_goes_up() -> None:
    one, other = (Lab().run(p)[-1] for p in (FedNova(), fk.FedAvg()))
    assert (one.bytes_up, one.bytes_down) == (other.bytes_up + 4 * 4, other.bytes_down)


def test_the_word_is_checked() -> None:
    with pytest.raises(fk.InputError, match="did you mean 'momentum'"):
        FedNova("momentun")
