"""Where runs with everyone end: SCAFFOLD and FedDyn at the common optimum, FedAvg beside it.

Two clients of unequal size hold labels that no weights can separate, so that the mean of their
losses has one optimum. They take one and three steps a round along the gradient of all they hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from fedkeel.testing.oracles import (
    Local,
    Round,
    Setting,
    Tensors,
    Visit,
    fedavg,
    feddyn,
    fednova,
    fedvarp,
    scaffold,
    scaffold_end,
)
from tests.testing import tiny
from tests.testing.tiny import Floats

HELD: list[tiny.Rows] = [[(1.0, 0), (2.0, 1), (1.5, 0)], [(-1.0, 0)]]
STEPS = [1, 3]
START = [0.2, -0.1]
PLAIN = Local(lr=0.5, momentum=0.0, weight_decay=0.0)


def rounds(number: int, steps: list[int] | None = None) -> list[Round]:
    """Rounds of both."""
    taken = STEPS if steps is None else steps
    cohort = [
        Visit(k, len(rows), [tiny.batch(rows)] * n)
        for k, (rows, n) in enumerate(zip(HELD, taken, strict=True))
    ]
    return [cohort] * number


def slope(w: Floats, weighting: str) -> float:
    """The length of the gradient of the mean objective."""
    p = [0.75, 0.25] if weighting == "samples" else [0.5, 0.5]
    g = [0.0, 0.0]
    for p_k, rows in zip(p, HELD, strict=True):
        g = tiny.plus(g, tiny.slope(w, rows), p_k)
    return math.hypot(*g)


def end(run: Callable[..., Tensors], weighting: str, local: Local, **options: object) -> float:
    """How steep the mean objective is where the run ends."""
    setting = Setting(local, weighting, population=[3, 1])
    number = 60
    return slope(
        tiny.weights(run(tiny.layer(START), rounds(number), setting, **options)), weighting
    )


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_scaffold_reaches_the_optimum_with_momentum_or_without(weighting: str) -> None:
    assert end(scaffold, weighting, PLAIN) < 1e-9
    assert end(scaffold, weighting, PLAIN._replace(lr=0.25, momentum=0.5)) < 1e-9
    assert end(scaffold, weighting, PLAIN, correction="velocity") < 1e-9


def test_a_velocity_correction_misses_it_with_momentum() -> None:
    local = PLAIN._replace(lr=0.25, momentum=0.5)
    assert end(scaffold, "uniform", local, correction="velocity") > 1e-4


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_feddyn_reaches_the_optimum(weighting: str) -> None:
    assert end(feddyn, weighting, PLAIN, alpha=0.5) < 1e-6


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_fedavg_and_fedvarp_do_not(weighting: str) -> None:
    """With everyone FedVARP is FedAvg: what it mends is the absence of clients."""
    assert end(fedavg, weighting, PLAIN) > 1e-2
    assert end(fedvarp, weighting, PLAIN) == pytest.approx(end(fedavg, weighting, PLAIN), rel=1e-6)


def test_fednova_comes_nearer_as_lr_falls_and_fedavg_does_not() -> None:
    """One step and three pull unequally; with a small lr nothing else is left of the drift."""
    small = PLAIN._replace(lr=0.1)
    assert end(fednova, "samples", small) < 0.2 * end(fedavg, "samples", small)


def test_control_variates_end_at_the_clients_own_gradients() -> None:
    setting = Setting(PLAIN, "uniform", population=[3, 1])
    at = scaffold_end(tiny.layer(START), rounds(60), setting)
    w = tiny.weights(at.state)
    for k, rows in enumerate(HELD):
        assert tiny.weights(at.c_k[k]) == pytest.approx(tiny.slope(w, rows), abs=1e-8)
    assert tiny.weights(at.c) == pytest.approx([0.0, 0.0], abs=1e-8)
