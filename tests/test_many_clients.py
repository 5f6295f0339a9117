"""Ten thousand clients: two arrays, and nothing kept of those who were not there."""

from __future__ import annotations

import gc

import numpy as np
import torch

import fedkeel as fk
from fedkeel.loop import play, start
from fedkeel.session import prepare
from fedkeel.settings import Settings

CLIENTS = 10_000


def federation(partition: fk.data.Partition) -> fk.data.Federation:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20_000, 3)).astype(np.float32), rng.integers(0, 4, 20_000)
    return fk.data.from_arrays(x, y, x[:10], y[:10]).split(partition, CLIENTS, seed=0)


def test_every_sample_has_one_of_ten_thousand_owners() -> None:
    for partition in (fk.data.IID(), fk.data.Dirichlet(0.1, min_size=0)):
        held = federation(partition)
        assert held.clients == CLIENTS and held.sizes.sum() == 20_000
        assert sum(len(held.indices(k)) for k in range(0, CLIENTS, 500)) == held.sizes[::500].sum()


def test_a_run_keeps_nothing_of_a_client_that_was_not_there() -> None:
    held = federation(fk.data.Dirichlet(0.1, min_size=0))
    method = fk.algorithm(fk.gc_fed(), epochs=1)
    settings = Settings(rounds=3, cohort=5, compile=False)
    session = prepare(method, fk.Task(torch.nn.Linear(3, 4)), held, settings)
    kept, report = play(session.world, start(session.world), 0)
    assert all(held.sizes[k] for k in report.cohort)
    gc.collect()
    before = len(gc.get_objects())
    for number in (1, 2):
        kept, _ = play(session.world, kept, number)
    gc.collect()
    assert len(gc.get_objects()) - before < CLIENTS / 10
    assert not kept.memories and not kept.ledger and not kept.buffers
