"""Every method and the crossings beside plain PyTorch loops: float64, at most 1e-9 apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import fedkeel as fk
from fedkeel.testing import oracles as o
from fedkeel.testing.cases import ALONE, AXES, CROSSINGS, Case, case_error
from fedkeel.testing.worlds import Lab, apart, replayed

# Each place has its own net, last batch, weighting, optimiser and server: together they cover all.
PLACES = {
    "mlp": Lab("mlp", {"batches": "keep", "weighting": "samples"}),
    "conv": Lab(
        "conv",
        {"batches": "drop", "weighting": "uniform", "nesterov": True, "server_lr": 0.7},
    ),
    "group": Lab("group", {"batches": "pad", "weighting": "samples", "decay": "coupled_before"}),
    "batch": Lab("batch", {"batches": "keep", "weighting": "uniform", "decay": "decoupled"}),
}
COVERED = [
    *((case, place) for case in ALONE for place in PLACES),
    *((case, place) for case in AXES for place in ("conv", "batch")),
    *((case, list(PLACES)[i % 2 :: 2][k]) for i, case in enumerate(CROSSINGS) for k in (0, 1)),
]


@pytest.mark.parametrize(
    ("case", "place"), COVERED, ids=[f"{c.method} {c.detail} {place}" for c, place in COVERED]
)
def test_every_case(case: Case, place: str) -> None:
    assert case_error(case, PLACES[place]) < 1e-9


FEDAVG, GCFED, ZEROMEAN = ALONE[0], ALONE[7], ALONE[10]
VARIED: list[tuple[Case, str, dict[str, Any], dict[str, Any]]] = [
    *((case, "mlp", {"batches": b}, {}) for case in (FEDAVG, GCFED) for b in ("drop", "pad")),
    *((FEDAVG, "batch", {"batches": b}, {}) for b in ("drop", "pad")),
    *((FEDAVG, "batch", {}, {"buffers": b}) for b in ("local", "freeze")),
    *((GCFED, "batch", {"batches": "pad"}, {"buffers": b}) for b in ("local", "freeze")),
    *((FEDAVG, net, {"steps": 7, "epochs": None}, {}) for net in ("mlp", "batch")),
    *((FEDAVG, "mlp", {"decay": d}, {}) for d in ("coupled", "coupled_before", "decoupled")),
    *((ZEROMEAN, "conv", {"decay": d}, {}) for d in ("coupled", "coupled_before")),
    (FEDAVG, "mlp", {"momentum": 0.0}, {}),
    (FEDAVG, "mlp", {"momentum": 0.0, "weight_decay": 0.0}, {}),
    (FEDAVG, "mlp", {"batch_size": 1}, {}),
    (FEDAVG, "mlp", {"batch_size": 50, "server_lr": 1.7}, {}),
    (GCFED, "conv", {}, {"cohort": 1.0}),
    (GCFED, "conv", {}, {"cohort": 1, "rounds": 5}),
    (FEDAVG, "mlp", {"batches": "drop", "batch_size": 6}, {"cohort": 1.0}),
]


@pytest.mark.parametrize("varied", VARIED, ids=lambda v: f"{v[0].method} {v[1]} {v[2]} {v[3]}")
def test_every_option(varied: tuple[Case, str, dict[str, Any], dict[str, Any]]) -> None:
    case, net, local, settings = varied
    assert case_error(case, Lab(net, local, settings)) < 1e-9


def test_the_clients_are_ragged_and_few() -> None:
    visits, last = replayed(Lab("mlp").session(fk.FedAvg()))
    sizes = {visit.client: visit.samples for cohort in visits for visit in cohort}
    assert len(visits) == 3 and {len(cohort) for cohort in visits} == {4}
    assert len(set(sizes.values())) > 3 and len(sizes) < 12
    assert any(len(y) < 4 for cohort in visits for v in cohort for _, y in v.batches)
    assert last.steps == sum(len(visit.batches) for visit in visits[-1])
    assert last.samples == sum(len(y) for visit in visits[-1] for _, y in visit.batches)


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [
        ("exponential(0.5)", (1, 0.5, 0.25)),
        ("halve(2)", (1, 1, 0.5)),
        ("cosine(4)", (1, (1 + 0.5**0.5) / 2, 0.5)),
    ],
)
def test_a_schedule_changes_from_round_to_round(schedule: str, factors: tuple[float, ...]) -> None:
    """The oracle plays one round at a time, each from what the one before left, at its own rate."""
    lab = Lab("mlp", {"schedule": schedule})
    session = lab.session(fk.FedProx(0.5))
    visits, last = replayed(session)
    model: nn.Module = session.task.model
    for cohort, factor in zip(visits, factors, strict=True):
        local = o.Local(0.05 * factor, 0.9, False, 1e-2)
        state = o.fedprox(model, [cohort], o.Setting(local), mu=0.5)
        model = lab.session(fk.FedAvg()).task.model.double()
        model.load_state_dict(state)
    assert apart(dict(model.state_dict()), last.state_dict()) < 1e-9


def test_an_oracle_that_is_told_something_else_is_far_away() -> None:
    """The bound means something: a wrong coefficient shows."""
    session = Lab("mlp").session(fk.FedProx(0.5))
    visits, last = replayed(session)
    setting = o.Setting(o.Local(0.05, 0.9, False, 1e-2))
    wrong = o.fedprox(session.task.model, visits, setting, mu=0.51)
    assert apart(wrong, last.state_dict()) > 1e-6


def test_train_loss_is_the_mean_over_rows_at_the_weights_before_the_step() -> None:
    """One client, plain SGD: the loss of every batch as a loop reports it, the penalty with it."""
    mu = 0.5
    session = Lab("mlp", settings={"cohort": 1, "rounds": 1}).session(fk.FedProx(mu))
    visits, last = replayed(session)
    ((visit,),) = visits
    model = Lab("mlp").session(fk.FedAvg()).task.model.double()
    start = [p.detach().clone() for p in model.parameters()]
    sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-2)
    total = rows = 0.0
    for x, y in visit.batches:
        pull = sum(((p - s) ** 2).sum() for p, s in zip(model.parameters(), start, strict=True))
        loss = nn.functional.cross_entropy(model(x), y) + 0.5 * mu * pull
        sgd.zero_grad()
        torch.autograd.backward(loss)
        sgd.step()
        total, rows = total + loss.item() * len(y), rows + len(y)
    assert last.train_loss == pytest.approx(total / rows, rel=1e-9)
