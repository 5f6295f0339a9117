"""What the stacked engine costs: steps counted, not timed; rules without a clock."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import fedkeel as fk
from fedkeel.engines.rules import (
    COPIES,
    MEMORY,
    chunk_width,
    compiles,
    cost,
    lanes,
)
from fedkeel.engines.stacked import Stacked
from fedkeel.engines.timetable import stretches
from fedkeel.session import Session, prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import Lab, untraced

BAR = 1.25  # lane-steps executed for a step needed


@pytest.fixture(scope="module")
def skewed() -> fk.data.Federation:
    """A hundred clients, Dirichlet(0.1) over ten classes, six thousand samples."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6100, 2)).astype(np.float32), rng.integers(0, 10, 6100)
    source = fk.data.from_arrays(x[:6000], y[:6000], x[6000:], y[6000:])
    return source.split(fk.data.Dirichlet(0.1), clients=100, seed=0)


@pytest.mark.parametrize("cohort", [5, 50])
def test_lane_steps_follow_the_sum_of_the_clients_steps(
    skewed: fk.data.Federation, cohort: int
) -> None:
    method = fk.algorithm(fk.FedAvg(), epochs=2, batch_size=50)
    settings = Settings(rounds=6, cohort=cohort, engine="stacked", compile=False)
    session = untraced(prepare(method, fk.Task(nn.Linear(2, 10)), skewed, settings))
    played = list(session.rounds())
    engine = session.world.engine
    assert isinstance(engine, Stacked)
    assert engine.tally.needed == sum(r.steps for r in played)
    assert engine.tally.needed <= engine.tally.executed <= BAR * engine.tally.needed


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 40), max_size=14), st.integers(1, 14))
def test_a_timetable_gives_every_client_its_steps_in_order(turns: list[int], most: int) -> None:
    taken: dict[int, list[int]] = {i: [] for i, n in enumerate(turns) if n}
    begun: list[int] = []
    ended: list[int] = []
    for stretch in stretches(turns, most):
        assert 0 < len(stretch.clients) <= stretch.width <= most and stretch.turns > 0
        assert len(set(stretch.clients.tolist())) == len(stretch.clients)
        for who, step in zip(stretch.clients.tolist(), stretch.step.tolist(), strict=True):
            taken[who].extend(range(step, step + stretch.turns))
        begun += stretch.clients[stretch.begins].tolist()
        ended += stretch.clients[stretch.ends].tolist()
    assert taken == {i: list(range(n)) for i, n in enumerate(turns) if n}
    assert sorted(begun) == sorted(ended) == sorted(taken)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 1000), st.sampled_from([5, 10, 20, 50]), st.floats(0.5, 2.5))
def test_the_bar_holds_for_skewed_cohorts_of_any_seed(
    seed: int, cohort: int, spread: float
) -> None:
    """On average over rounds: one client far longer than all others together has no cure."""
    rng = np.random.default_rng(seed)
    needed = executed = 0
    for _ in range(20):
        turns = np.ceil(rng.lognormal(2.0, spread, cohort)).clip(max=400).astype(int).tolist()
        for stretch in stretches(turns, cohort):
            needed += stretch.turns * len(stretch.clients)
            executed += stretch.turns * stretch.width
        assert sum(turns) <= needed
    assert executed <= BAR * needed


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.integers(1, 400))
def test_lanes_are_few_ascending_and_reach_the_width(width: int) -> None:
    allowed = lanes(width)
    assert allowed == tuple(sorted(set(allowed)))
    assert allowed[0] == 1 and allowed[-1] == width and len(allowed) <= 8


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    st.floats(0, 1e12), st.integers(1, 10**9), st.sampled_from([4, 8]), st.integers(0, 5000),
    st.integers(1, 500),
)  # fmt: skip
def test_memory_is_bounded_by_the_chunk(
    step: float, size: int, itemsize: int, trail: int, cohort: int
) -> None:
    width = chunk_width(step, size, itemsize, trail, cohort)
    assert 1 <= width <= cohort
    assert width == 1 or width * size * itemsize * (COPIES + trail) <= MEMORY
    assert width == chunk_width(step, size, itemsize, trail, cohort)
    assert chunk_width(step, size, itemsize, trail + 1, cohort) <= width


def engine_of(session: Session) -> Stacked:
    assert isinstance(session.world.engine, Stacked)
    return session.world.engine


def test_the_width_is_what_was_asked_for_and_never_more_than_the_cohort() -> None:
    lab = Lab(settings={"engine": "stacked", "compile": False})
    assert engine_of(lab.session(fk.FedAvg(), chunk=3)).width == 3
    assert engine_of(lab.session(fk.FedAvg(), chunk=30)).width == 4
    assert engine_of(lab.session(fk.FedAvg())).width == 4
    assert lab.session(fk.FedAvg(), chunk=3).resolved["chunk"] == 3


def test_no_more_lanes_than_the_width_are_ever_run() -> None:
    session = untraced(Lab(settings={"engine": "stacked", "chunk": 3}).session(fk.FedAvg()))
    list(session.rounds())
    counts = {key[1] for key in engine_of(session).programs if key[0] == "walk"}
    assert counts and max(counts) <= 3


@pytest.mark.parametrize("cohort", [4, 12])
def test_a_run_traces_few_shapes(cohort: int) -> None:
    lab = Lab(settings={"engine": "stacked", "cohort": cohort, "rounds": 4, "compile": False})
    session = lab.session(fk.FedAvg())
    list(session.rounds())
    engine = engine_of(session)
    walks = [key for key in engine.programs if key[0] == "walk" and key[2] == engine.batch_rows]
    assert len(walks) <= 8


def test_whether_to_compile_does_not_look_at_the_rounds() -> None:
    chosen = [
        Lab(settings={"rounds": n, "engine": "auto"}).session(fk.FedAvg()).resolved for n in (1, 99)
    ]
    assert chosen[0] == chosen[1] and chosen[0]["compile"] is False
    assert not compiles(1e9, 30) and compiles(1e12, 30) and not compiles(1e12, 1000)


def test_operations_are_counted_from_shapes() -> None:
    task, x = fk.Task(nn.Linear(20, 10)), torch.zeros(1, 20)
    assert cost(task, x).step == 3 * 2 * 20 * 10
    assert cost(task, x + 1).step == cost(task, x).step
    assert cost(task, x).calls == cost(task, x + 1).calls < 20
