"""FedDyn beside a plain loop, its memory, and where it is FedAvg."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import fedkeel as fk
from fedkeel.methods.feddyn import FedDyn
from fedkeel.methods.fednova import FedNova
from fedkeel.testing.worlds import Lab, apart
from tests.methods.walks import LABS, Played, far, kept, total


def looped(played: Played, alpha: float, released: bool = False) -> Tensor:
    w, h, held = played.begin, torch.zeros_like(played.begin), dict[int, Tensor]()
    for t, cohort in enumerate(played.visits):
        ends, moved = [], torch.zeros_like(w)
        for visit in cohort:
            g_k = held.get(visit.client, torch.zeros_like(w))
            end = played.walk(
                w, visit.batches, t, lambda g, v, g_k=g_k, w=w: g - g_k + alpha * (v - w)
            )
            ends.append(end)
            held[visit.client] = g_k - alpha * (end - w)
            weight = 1 / len(cohort) ** 2 if released else played.share(visit.client)
            moved = moved + weight * (end - w)
        h = h - alpha * moved
        mean = sum(p * e for p, e in zip(played.weights(cohort), ends, strict=True))
        w = w + played.server_lr * (mean - h / alpha - w)
    return w


@pytest.mark.parametrize("server", ["paper", "released"])
@pytest.mark.parametrize("place", LABS)
def test_it_is_the_loop(place: str, server: str) -> None:
    played = Played.of(LABS[place], FedDyn(0.3, server), rounds=4)
    assert far(looped(played, 0.3, server == "released"), played.end) < 1e-9


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_h_is_the_mean_of_all_clients_g(weighting: str) -> None:
    session, states = kept(Lab("mlp", {"weighting": weighting}), FedDyn())
    for after in states[1:]:
        (h,) = after.server.part
        assert h.abs().max() > 0
        assert far(h, total(session, after.memories, len(h))) < 1e-12


def test_the_papers_coefficient_is_over_all_clients() -> None:
    """Uniform weights: alpha / N. The released code's alpha / K^2 is that at K = 10, N = 100."""
    lab = Lab("mlp", {"weighting": "uniform"}, sizes=(4,) * 16)
    for server, factor in (("paper", 1 / 16), ("released", 1 / 4**2)):
        _, states = kept(lab, FedDyn(0.5, server), rounds=1)
        g = sum(memory[0] for memory in states[1].memories.values())
        assert far(states[1].server.part[0], factor * g) < 1e-12
    _, states = kept(Lab("mlp"), FedDyn(0.5, "released"), rounds=1)  # whatever the weighting
    g = sum(memory[0] for memory in states[1].memories.values())
    assert far(states[1].server.part[0], g / 16) < 1e-12


def test_without_strength_it_is_fedavg() -> None:
    for server in ("paper", "released"):
        one, other = (Lab().run(p)[-1] for p in (FedDyn(0.0, server), fk.FedAvg()))
        assert apart(one.state_dict(), other.state_dict()) == 0
        assert FedDyn(0.2, server).neutral() == FedDyn(0.0, server)


def test_the_first_visits_are_fedprox() -> None:
    """Before anything is remembered, a client has the spring alone; the server adds h / alpha."""
    lab = Lab(settings={"rounds": 1, "cohort": 1.0})
    begin, one, other = (
        torch.cat([t.flatten() for t in state.values()])
        for state in (
            lab.run(fk.FedAvg())[0].state_dict(),
            lab.run(FedDyn(0.5))[-1].state_dict(),
            lab.run(fk.FedProx(0.5))[-1].state_dict(),
        )
    )
    assert far(one - begin, 2 * (other - begin)) < 1e-12  # mean_S w_k - w_t, twice


def test_the_linear_term_is_in_the_gradient_but_not_in_the_loss_that_is_told() -> None:
    """One client, one round after another: the loss is criterion and spring, batch by batch."""
    alpha, sizes = 0.5, (8,)
    lab = Lab("mlp", sizes=sizes, settings={"cohort": 1, "rounds": 2})
    session = lab.session(FedDyn(alpha))
    played = Played.of(lab, FedDyn(alpha))
    first = Played.of(Lab("mlp", sizes=sizes, settings={"cohort": 1, "rounds": 1}), FedDyn(alpha))
    told = [r.train_loss for r in session.rounds()]
    w, lr, rho = first.end, played.local.lr, played.local.momentum
    g_k = -alpha * (looped_end(first) - first.begin)
    v, losses = torch.zeros_like(w), []
    model = session.task.model.double()
    for x, y in played.visits[1][0].batches:
        at = w.clone().requires_grad_()
        torch.nn.utils.vector_to_parameters(at.detach(), model.parameters())
        loss = torch.nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        g = torch.cat([p.grad.flatten() for p in model.parameters()])
        losses.append(loss.item() + 0.5 * alpha * float((w - first.end).square().sum()))
        g = g - g_k + alpha * (w - first.end) + played.local.weight_decay * w
        v = rho * v + g
        w = w - lr * v
    assert told[2] == pytest.approx(sum(losses) / len(losses), rel=1e-9)
    assert g_k.abs().max() > 1e-3


def looped_end(played: Played) -> Tensor:
    """Where the one client went in the first round."""
    (visit,) = played.visits[0]
    begin = played.begin
    return played.walk(begin, visit.batches, 0, lambda g, v: g + 0.5 * (v - begin))


def test_its_terms_are_in_the_gradient_before_a_part_that_edits_it() -> None:
    """As those of every loss: the order written does not matter beside a clip."""
    one, other = (
        Lab().run(*parts)[-1].state_dict()
        for parts in ((FedDyn(0.5), fk.Clip(0.2)), (fk.Clip(0.2), FedDyn(0.5)))
    )
    assert apart(one, other) < 1e-12


def test_with_normalised_updates_h_follows_where_fednova_stands_first() -> None:
    session, states = kept(Lab(), FedNova(), FedDyn())
    h = states[-1].server.part[1]
    memories = {k: memory[1:] for k, memory in states[-1].memories.items()}
    assert far(h, total(session, memories, len(h))) < 1e-12


def test_the_contract() -> None:
    fk.testing.check_part(FedDyn(), crossings="none")


def test_nothing_more_travels() -> None:
    one, other = (Lab().run(p)[-1] for p in (FedDyn(), fk.FedAvg()))
    assert (one.bytes_up, one.bytes_down) == (other.bytes_up, other.bytes_down)


@pytest.mark.parametrize(
    "wrong", [lambda: FedDyn(-0.1), lambda: FedDyn(float("inf")), lambda: FedDyn(True)]
)
def test_what_is_out_of_range_is_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(fk.InputError, match="a number >= 0"):
        wrong()
    with pytest.raises(fk.InputError, match="did you mean 'released'"):
        FedDyn(server="release")
