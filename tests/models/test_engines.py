"""Every network trains two rounds in every engine, and the engines agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import fedkeel as fk
from fedkeel.data import Federation, from_arrays
from fedkeel.session import Session, prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import apart, untraced
from tests.models.nets import CLASSES, NETS

SIZES = (4, 2, 3)
SLACK = {"resnet18 stock": 1e-7}  # its norms see few values, and amplify rounding


def federation(name: str) -> Federation:
    shape, n = NETS[name][1], sum(SIZES) + 2
    rng = np.random.default_rng(0)
    tokens = len(shape) == 1
    x = rng.integers(0, CLASSES, (n, *shape)) if tokens else rng.random((n, *shape))
    y = rng.integers(0, CLASSES, (n, *shape) if name in ("gru", "gpt") else n)
    source = from_arrays(x[:-2], y[:-2], x[-2:], y[-2:], classes=CLASSES)
    return Federation(source, np.repeat(np.arange(3), SIZES), "file", 3)


def session(name: str, engine: str) -> Session:
    torch.manual_seed(1)
    task = fk.Task(NETS[name][0]().double())
    method = fk.algorithm(fk.gc_fed(), lr=0.05, batch_size=2, steps=2, batches="drop")
    settings = Settings(rounds=2, cohort=2, precision="float64", engine=engine, compile=False)
    return prepare(method, task, federation(name), settings)


@pytest.mark.parametrize("name", NETS)
def test_engines_agree(name: str) -> None:
    one = list(session(name, "sequential").rounds())
    stacked = session(name, "stacked")
    gap = SLACK.get(name, 1e-9)
    begun, ended = one[0].state_dict(), one[-1].state_dict()
    assert apart(begun, ended) > 1e-4
    assert apart(list(stacked.rounds())[-1].state_dict(), ended) < gap
    assert apart(list(untraced(stacked).rounds())[-1].state_dict(), ended) < gap
