"""Images that are cropped and flipped: the same in every engine, anew in every step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import fedkeel as fk
from fedkeel.data import Federation, Preparation, from_arrays
from fedkeel.engines.base import Pool
from fedkeel.errands import moves
from fedkeel.session import Session, prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import apart, network, untraced

SIZES = (5, 1, 7, 3)
MOVING = Preparation((0.5, 0.4), (0.2, 0.3), crop=1, flip=True)


def federation(preparation: Preparation) -> Federation:
    rng, n = np.random.default_rng(0), sum(SIZES)
    x = rng.integers(0, 256, (n + 4, 2, 4, 4), dtype=np.uint8)
    y = rng.integers(0, 3, n + 4)
    source = from_arrays(x[:n], y[:n], x[n:], y[n:], classes=3)
    source = replace(source, preparation=preparation)
    return Federation(source, np.repeat(np.arange(4), SIZES), "file", 4)


def session(engine: str, preparation: Preparation = MOVING, net: str = "conv") -> Session:
    method = fk.algorithm(fk.gc_fed(), lr=0.1, batch_size=3, epochs=2)
    settings = Settings(rounds=3, cohort=3, precision="float64", engine=engine, compile=False)
    return prepare(method, fk.Task(network(net)), federation(preparation), settings)


@pytest.mark.parametrize("net", ["conv", "batch", "dropout"])
def test_engines_agree(net: str) -> None:
    reference = list(session("sequential", net=net).rounds())[-1].state_dict()
    stacked = session("stacked", net=net)
    assert apart(list(stacked.rounds())[-1].state_dict(), reference) < 1e-9
    assert apart(list(untraced(stacked).rounds())[-1].state_dict(), reference) < 1e-9


def test_moving_changes_a_run_and_standing_still_is_plain() -> None:
    def end(preparation: Preparation) -> dict[str, torch.Tensor]:
        return list(session("sequential", preparation).rounds())[-1].state_dict()

    still = end(MOVING.still())
    assert apart(end(MOVING), still) > 1e-6

    floats = federation(MOVING)
    x, test = (MOVING.numbers(t, torch.float64) for t in (floats.train.x, floats.test.x))
    source = from_arrays(x, floats.train.y, test, floats.test.y, classes=3)
    held = replace(floats, source=source)
    method = fk.algorithm(fk.gc_fed(), lr=0.1, batch_size=3, epochs=2)
    settings = {"rounds": 3, "cohort": 3, "precision": "float64", "engine": "sequential"}
    played = fk.train(method, fk.Task(network("conv")), held, **settings)  # type: ignore[arg-type]
    assert apart(played.state_dict(), still) < 1e-12


def test_a_move_depends_on_its_address_alone() -> None:
    source = federation(MOVING).source
    pool = Pool.of(source.train, torch.device("cpu"), torch.float32, MOVING)
    rows = [np.zeros((2, 3), np.int64), np.zeros((4, 3), np.int64)]
    both = moves(rows, [7, 9], pool, seed=1, round=5)
    alone = moves(rows[1:], [9], pool, seed=1, round=5)
    assert both is not None and alone is not None
    assert np.array_equal(both[1], alone[0]) and [len(m) for m in both] == [2, 4]
    assert len(np.unique(np.concatenate([m.ravel() for m in both]))) == 18
    other = moves(rows, [7, 9], pool, seed=1, round=6)
    assert other is not None and not np.array_equal(both[0], other[0])
    still = replace(pool, preparation=MOVING.still())
    assert moves(rows, [7, 9], still, seed=1, round=5) is None


def test_the_test_set_is_never_moved() -> None:
    class Corner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(1, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.fc(x[:, 0, 0, :1])
            return logits

    model, held = Corner().double(), federation(MOVING)
    settings = {"rounds": 0, "cohort": 1, "precision": "float64"}
    found = fk.train(fk.algorithm(fk.FedAvg()), fk.Task(model), held, **settings)  # type: ignore[arg-type]
    said = model(MOVING.numbers(held.test.x, torch.float64))
    loss = nn.functional.cross_entropy(said, held.test.y)
    assert found.loss == pytest.approx(loss.item(), abs=1e-12)
