"""What becomes of buffers: averaged, kept by the client, or frozen; counters are never averaged."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import ORACLES, Batch, Local, Setting, Visit, fedavg
from fedkeel.testing.oracles.plain import Server

PLAIN = Local(lr=0.5, momentum=0.0, weight_decay=0.0)


def normed() -> nn.Sequential:
    """One BatchNorm feature, two classes; weights by hand, so that no generator is drawn from."""
    layer = nn.Linear(1, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.5], [-0.25]]))
        layer.bias.zero_()
    return nn.Sequential(nn.BatchNorm1d(1), layer)


def pair(low: float, high: float) -> Batch:
    """A batch of two rows: mean (low+high)/2, unbiased variance (high-low)^2 / 2."""
    return torch.tensor([[low], [high]], dtype=torch.float64), torch.tensor([0, 1])


COHORT = [Visit(0, 1, [pair(0.0, 2.0)]), Visit(1, 3, [pair(2.0, 6.0), pair(3.0, 3.0)])]


def test_batchnorm_statistics_are_averaged_and_counters_take_the_largest() -> None:
    state = fedavg(normed(), [COHORT], Setting(PLAIN))
    mean = [0.1 * 1.0, 0.9 * (0.1 * 4.0) + 0.1 * 3.0]
    var = [0.9 + 0.1 * 2.0, 0.9 * (0.9 + 0.1 * 8.0)]
    assert state["0.running_mean"].item() == pytest.approx(0.25 * mean[0] + 0.75 * mean[1])
    assert state["0.running_var"].item() == pytest.approx(0.25 * var[0] + 0.75 * var[1])
    assert state["0.num_batches_tracked"].item() == 2


def test_averaged_statistics_are_where_the_next_visit_starts() -> None:
    state = fedavg(normed(), [COHORT[:1], COHORT[:1]], Setting(PLAIN))
    assert state["0.running_mean"].item() == pytest.approx(0.9 * 0.1 + 0.1)
    assert state["0.num_batches_tracked"].item() == 2


def test_server_lr_does_not_touch_buffers() -> None:
    full, none = (fedavg(normed(), [COHORT], Setting(PLAIN, server_lr=s)) for s in (1.0, 0.0))
    assert torch.equal(full["0.running_mean"], none["0.running_mean"])
    assert none["1.weight"].tolist() == [[0.5], [-0.25]]


def test_local_statistics_stay_with_the_client() -> None:
    setting = Setting(PLAIN, buffers="local")
    state = fedavg(normed(), [COHORT, COHORT], setting)
    assert state["0.running_mean"].item() == 0.0
    assert state["0.num_batches_tracked"].item() == 0


def test_local_statistics_are_there_at_the_next_visit_alone() -> None:
    server = Server(normed(), Setting(PLAIN, buffers="local"))
    w_k = server.send(COHORT[0])
    w_k(COHORT[0].batches[0][0])
    server.collect(COHORT[:1], [w_k])
    assert server.send(COHORT[0]).get_buffer("0.running_mean").item() == pytest.approx(0.1)
    assert server.send(COHORT[1]).get_buffer("0.running_mean").item() == 0.0


def test_frozen_statistics_normalise_in_eval_mode() -> None:
    row = (torch.tensor([[2.0]], dtype=torch.float64), torch.tensor([0]))
    single = [Visit(0, 1, [row])]  # one row: training mode would refuse it
    state = fedavg(normed(), [single], Setting(PLAIN, buffers="freeze"))
    z = 2.0 / math.sqrt(1 + 1e-5)
    s = 1 / (1 + math.exp(0.75 * z))
    assert state["1.weight"][0].item() == pytest.approx(0.5 + 0.5 * z * s, abs=1e-12)
    assert state["0.running_mean"].item() == 0.0
    assert state["0.num_batches_tracked"].item() == 0


class Flags(nn.Module):
    """A network with a boolean buffer that a client raises."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 2)
        self.seen: Tensor
        self.register_buffer("seen", torch.zeros(2, dtype=torch.bool))

    def forward(self, x: Tensor) -> Tensor:
        self.seen[0] = True
        logits: Tensor = self.layer(x)
        return logits


def test_boolean_buffers_take_the_largest() -> None:
    cohort = [Visit(0, 1, [pair(0.0, 1.0)]), Visit(1, 1, [])]
    state = fedavg(Flags(), [cohort], Setting(PLAIN))
    assert state["seen"].tolist() == [True, False]


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_every_oracle_leaves_the_module_alone_and_is_repeatable(name: str) -> None:
    options = {"head": "1"} if name == "gcfed" else {}
    cohort = [visit._replace(client=k, counts=(1, 1)) for k, visit in enumerate(COHORT * 3)]
    setting = Setting(Local(), population=(1,) * len(cohort))
    module = normed()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    first, second = (ORACLES[name](module, [cohort, cohort], setting, **options) for _ in range(2))
    assert all(torch.equal(before[key], value) for key, value in module.state_dict().items())
    assert first.keys() == before.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)
