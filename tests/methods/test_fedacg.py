"""FedACG: what is sent, what is kept, what is tested; a loop with a look-ahead."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from math import inf

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.fedacg import FedACG
from fedkeel.part import Replies, Server
from fedkeel.testing.worlds import Lab, apart, replayed
from tests.methods.loops import averaged, looped, mirror, step


def test_the_contract() -> None:
    fk.testing.check_part(FedACG(0.7, 0.2), crossings="none")


def test_two_rounds_by_hand() -> None:
    """One weight: the mean updates 1 and 0.2 make steps of 1 and of .5 * 1 + .2."""
    task = mirror(1)
    part, w, m = FedACG(0.5, 0.0), torch.tensor([3.0]).double(), torch.zeros(1).double()
    sent, walked = [], []
    for update in (1.0, 0.2):
        server = Server(task, w, len(sent), 10)
        sent.append(part.brief(w, m, server)[0].item())
        rows = torch.tensor([[update]]).double()
        alone = torch.ones(1)
        replies = Replies(torch.tensor([0]), rows, alone, alone, (), ())
        moved, m, _ = part.merge(rows[0], m, replies, server)
        w = w - moved
        walked.append(w.item())
    assert sent == pytest.approx([3.0, 2.0 - 0.5 * 1.0])
    assert walked == pytest.approx([2.0, 2.0 - 0.7])


def test_the_pull_has_no_half() -> None:
    here = step(mirror(2), torch.zeros(1, 2).double(), torch.tensor([0]))
    here = here.at(here.params + 0.5)
    assert FedACG(beta=0.3).penalty(here).item() == pytest.approx(0.3 * 4 * 0.25)
    assert FedACG(beta=0.3).pull == 0.6


def accelerated(lam: float, beta: float, weighting: str) -> tuple[float, float]:
    """Run the loop; return how far it is, and the server's model from the mean of the clients'."""
    momentum: dict[str, Tensor] = {}
    sent: dict[str, Tensor] = {}
    far: list[float] = []

    def send(model: nn.Module) -> nn.Module:
        ahead = copy.deepcopy(model)
        with torch.no_grad():
            for name, w in ahead.named_parameters():
                w += lam * momentum.get(name, torch.zeros_like(w))
                sent[name] = w.detach().clone()
        return ahead

    def gradient(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
        pairs = zip(model.parameters(), start.parameters(), strict=True)
        pull = sum(((w - old.detach()) ** 2).sum() for w, old in pairs)
        (F.cross_entropy(model(x), y) + beta * pull).backward()

    def merge(model: nn.Module, visited: Sequence[nn.Module], weights: Tensor) -> nn.Module:
        mean = averaged(model, visited, weights)
        after = copy.deepcopy(mean)  # buffers are averaged, and have no momentum
        with torch.no_grad():
            for name, w in after.named_parameters():
                delta = mean.get_parameter(name) - sent[name]
                momentum[name] = lam * momentum.get(name, torch.zeros_like(w)) + delta
                w.copy_(model.get_parameter(name) + momentum[name])
        far.append(apart(dict(after.named_parameters()), dict(mean.named_parameters())))
        return after

    part = FedACG(lam, beta)
    ends = looped(part, gradient, net="batch", weighting=weighting, send=send, merge=merge)
    return apart(*ends), max(far)


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_a_plain_loop(weighting: str) -> None:
    far, from_mean = accelerated(0.85, 0.3, weighting)
    assert far < 1e-9
    assert from_mean < 1e-12  # w_{t+1} is the mean of the clients' models


def test_the_server_remembers_the_step_that_it_took() -> None:
    """The look-ahead and what the clients found there, together."""
    kept = Lab().kept(FedACG(0.9, 0.0))
    for before, after in pairwise(kept):
        moved = before.server.params - after.server.params
        assert torch.allclose(moved, after.server.part[0], atol=1e-14)
    assert (kept[1].server.part[0] != 0).any() and (kept[0].server.part[0] == 0).all()


def test_clients_start_ahead_of_the_model_that_is_tested() -> None:
    lab, anchors = Lab(), []
    session = lab.session(FedACG(0.9, 0.0))
    kept = lab.kept(FedACG(0.9, 0.0))
    for number, state in enumerate(kept[:-1]):
        server = session.world.server(state.server.params, number)
        anchors.append(session.world.method.brief(state.server, server).params)
    assert torch.equal(anchors[0], kept[0].server.params)
    ahead = kept[1].server.params + 0.9 * (kept[1].server.params - kept[0].server.params)
    assert torch.allclose(anchors[1], ahead, atol=1e-14)
    tested = replayed(session)[1].state_dict()
    assert apart(tested, session.world.task.layout.open(kept[-1].server.params)) < 1e-14


def test_without_momentum_it_is_fedprox_with_twice_the_strength() -> None:
    ends = [Lab().run(part)[-1].state_dict() for part in (FedACG(0.0, 0.2), fk.FedProx(0.4))]
    assert apart(*ends) < 1e-12


@pytest.mark.parametrize("options", [{"lam": 1.0}, {"lam": -0.1}, {"beta": -1.0}, {"beta": inf}])
def test_ranges(options: dict[str, float]) -> None:
    with pytest.raises(fk.InputError, match=f"^{next(iter(options))}=.* is out of range"):
        FedACG(**options)
