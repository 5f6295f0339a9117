"""Where methods settle: client quadratics with their own curvatures and optima.

Client k has ``f_k(w) = h_k/2 (w - o_k)^2`` in each of two weights. The federation's optimum is
``sum p_k h_k o_k / sum p_k h_k``; of the stated weights, which are the run's. Clients take unequal
numbers of steps.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.data import Federation, from_arrays
from fedkeel.engines.choice import Graphs
from fedkeel.methods.feddyn import FedDyn
from fedkeel.methods.fednova import FedNova
from fedkeel.methods.fedvarp import FedVARP
from fedkeel.methods.scaffold import Scaffold
from fedkeel.session import prepare
from fedkeel.settings import Settings

Array = NDArray[np.float64]

SIZES = np.array([1, 2, 3, 4])  # batches of one: a client takes so many steps
CURVATURE = np.array([[1.0, 0.3], [4.0, 2.0], [0.5, 3.0], [2.0, 1.0]])
OPTIMUM = np.array([[3.0, -1.0], [-2.0, 4.0], [1.0, 0.5], [5.0, -6.0]])


class Valley(nn.Module):
    """A weight whose loss on a sample (h, o) is h/2 (w - o)^2."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([10.0, -10.0]))

    def forward(self, x: Tensor) -> Tensor:
        h, o = x[:, :2], x[:, 2:]
        return 0.5 * (h * (self.w - o).square()).sum(1)


def itself(loss: Tensor, _: Tensor) -> Tensor:
    return loss


def federation() -> Federation:
    """Each client holds one sample over and over, so that its loss is exact in every batch."""
    owner = np.repeat(np.arange(4), SIZES)
    x = np.concatenate([CURVATURE, OPTIMUM], axis=1)[owner]
    source = from_arrays(x, np.zeros(len(x)), x[:1], np.zeros(1))
    return Federation(source, owner, "file", 4)


FEDERATION = federation()
GRAPHS: Graphs = {}  # a step is traced once, whatever its numbers


def settled(*parts: fk.Part, rounds: int = 60, cohort: int = 4, **local: Any) -> Array:
    """Return where a method is after many rounds."""
    given = {"lr": 0.1, "momentum": 0.0, "weight_decay": 0.0, "batch_size": 1, "epochs": 1}
    method = fk.algorithm(*parts, **{**given, **local})
    task = fk.Task(Valley(), criterion=itself, metric=itself)
    chosen = Settings(rounds, cohort, precision="float64", engine="stacked", compile=False, chunk=4,
                      eval_every=rounds)  # fmt: skip
    session = prepare(method, task, FEDERATION, chosen, GRAPHS)
    return deque(session.rounds(), maxlen=1).pop().state_dict()["w"].numpy()


def shares(weighting: str) -> Array:
    return SIZES / SIZES.sum() if weighting == "samples" else np.full(4, 0.25)


def mean_of(weights: Array) -> Array:
    """The point at which ``sum_k weights_k (w - o_k)`` is zero."""
    return (weights * OPTIMUM).sum(0) / weights.sum(0)


def optimum(weighting: str) -> Array:
    return mean_of(shares(weighting)[:, None] * CURVATURE)


def moved(lr: float, rho: float) -> Array:
    """The share of its distance to o_k that each client covers in a visit, by a plain loop."""
    gap, v = np.ones_like(CURVATURE), np.zeros_like(CURVATURE)
    for step in range(SIZES.max()):
        going = (step < SIZES)[:, None]
        v = np.where(going, rho * v + CURVATURE * gap, v)
        gap = np.where(going, gap - lr * v, gap)
    return 1 - gap


def lengths(rho: float) -> Array:
    return np.array([sum((1 - rho**j) / (1 - rho) for j in range(1, n + 1)) for n in SIZES])


def far(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())


BOTH = pytest.mark.parametrize("weighting", ["samples", "uniform"])
EACH = pytest.mark.parametrize(
    ("weighting", "rho", "lr"), [("samples", 0.9, 0.05), ("uniform", 0.0, 0.1)]
)


@EACH
def test_fedavg_is_off_by_the_bias_that_is_predicted(weighting: str, rho: float, lr: float) -> None:
    """It settles where ``sum p_k m_k (w - o_k) = 0``; m_k is how much of its way client k goes."""
    biased = mean_of(shares(weighting)[:, None] * moved(lr, rho))
    found = settled(fk.FedAvg(), weighting=weighting, momentum=rho, lr=lr)
    assert far(found, biased) < 1e-9
    assert far(biased, optimum(weighting)) > 0.3


@EACH
def test_scaffold_reaches_the_optimum(weighting: str, rho: float, lr: float) -> None:
    found = settled(Scaffold(), weighting=weighting, momentum=rho, lr=lr)
    assert far(found, optimum(weighting)) < 1e-9


@EACH
def test_feddyn_reaches_the_optimum(weighting: str, rho: float, lr: float) -> None:
    found = settled(FedDyn(3.0), weighting=weighting, momentum=rho, lr=lr, rounds=100)
    assert far(found, optimum(weighting)) < 1e-6


@BOTH
@pytest.mark.parametrize("part", [Scaffold(), FedDyn(3.0)], ids=repr)
def test_they_reach_it_when_two_of_four_take_part(weighting: str, part: fk.Part) -> None:
    """With cohort weights where those of the population belong, it would be another point."""
    found = settled(part, weighting=weighting, cohort=2, rounds=120)
    assert far(found, optimum(weighting)) < 1e-6


def test_scaffold_at_velocity_level_is_exact_without_momentum_alone() -> None:
    assert far(settled(Scaffold("velocity")), optimum("samples")) < 1e-9
    heavy = settled(Scaffold("velocity"), momentum=0.9, lr=0.03)
    assert far(heavy, optimum("samples")) > 1e-2


def test_feddyn_with_the_released_server_settles_elsewhere() -> None:
    """By samples its h is no mean of the g_k, and comes to rest where the g_k do not cancel."""
    found = settled(FedDyn(3.0, "released"))
    assert far(found, optimum("samples")) > 0.1


@EACH
def test_fednova_settles_where_its_closed_form_says(weighting: str, rho: float, lr: float) -> None:
    """Where ``sum p_k m_k / a_k (w - o_k) = 0``."""
    normed = shares(weighting)[:, None] * moved(lr, rho) / lengths(rho)[:, None]
    found = settled(FedNova(), weighting=weighting, momentum=rho, lr=lr)
    assert far(found, mean_of(normed)) < 1e-9


@EACH
def test_fednova_reaches_the_optimum_as_its_steps_get_small(
    weighting: str, rho: float, lr: float
) -> None:
    """FedAvg does not: it weighs clients by how far they go."""
    small = {
        "lr": 1e-7,
        "server_lr": 5e5 * lr / 0.1,
        "momentum": rho,
        "weighting": weighting,
        "rounds": 80,
    }
    assert far(settled(FedNova(), **small), optimum(weighting)) < 1e-5
    biased = mean_of(shares(weighting)[:, None] * CURVATURE * lengths(rho)[:, None])
    assert far(settled(fk.FedAvg(), **small), biased) < 1e-5
    assert far(biased, optimum(weighting)) > 0.3


def test_counting_steps_leaves_the_bias_of_momentum() -> None:
    small = {"lr": 1e-7, "server_lr": 3e5, "momentum": 0.9}
    assert far(settled(FedNova("count"), **small), optimum("samples")) > 0.1


def test_fedvarp_settles_where_fedavg_would_with_every_client() -> None:
    """Two of four take part: FedAvg never comes to rest, FedVARP does, at FedAvg's own point."""
    local = {"weighting": "uniform", "cohort": 2, "server_lr": 0.5}
    biased = mean_of(moved(0.1, 0.0))
    assert far(settled(FedVARP(), rounds=150, **local), biased) < 1e-6
    assert far(settled(fk.FedAvg(), **local), biased) > 1e-2


def test_parts_that_control_the_drift_do_so_together() -> None:
    """In sums whose parts all rest at the optimum, the sum rests there too."""
    for parts in (
        (fk.FedProx(0.5), Scaffold(), FedNova()),
        (Scaffold(), FedVARP(), fk.fed_avg_m(0.5)),
        (FedNova(), FedDyn(3.0)),
    ):
        found = settled(*parts, rounds=80)
        assert far(found, optimum("samples")) < 1e-6, parts
