"""ECGR's oracle: herding by numbers, the upload's length, its records, and where it is FedAvg."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from fedkeel.testing.oracles import Local, Regulation, Setting, ecgr, fedavg, fedprox
from fedkeel.testing.oracles.ecgr import herd, regulated, selected
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def vectors(*rows: tuple[float, ...]) -> list[Tensor]:
    """Steps."""
    return [torch.tensor(row, dtype=torch.float64) for row in rows]


def total(steps: list[Tensor]) -> Tensor:
    """Their sum."""
    return torch.stack(steps).sum(0)


def test_herding_takes_small_steps_first_and_then_those_that_cancel() -> None:
    """1 first; 3 would make 4, -4 makes -3, -2 makes -1."""
    steps = vectors((3.0,), (1.0,), (-4.0,), (-2.0,))
    assert herd(steps, 4) == [1, 3, 0, 2]
    assert herd(vectors((2.0,), (-2.0,), (2.0,)), 2) == [0, 1]  # ties: the earlier


def test_herding_equals_the_greedy_on_inner_products() -> None:
    """||S + d_i||^2 = ||S||^2 + 2 <S, d_i> + ||d_i||^2, for two hundred random visits."""
    draw = torch.Generator().manual_seed(1)
    for _ in range(200):
        tau = int(torch.randint(1, 12, (1,), generator=draw))
        steps = torch.randn(tau, 5, generator=draw, dtype=torch.float64) + 0.3
        q, taken = (steps @ steps.T).tolist(), list[int]()
        for _ in range(max(1, tau // 2)):
            left = [i for i in range(tau) if i not in taken]
            taken.append(min(left, key=lambda i: 2 * sum(q[i][j] for j in taken) + q[i][i]))
        assert herd(list(steps), max(1, tau // 2)) == taken


SELECTIONS: list[tuple[str, list[int]]] = [
    ("herd", [1, 2]),  # 1 and then -2, for 1 + 3/2 is longer than 1 - 2
    ("herd_centered", [0, 1]),  # less their mean 11/8 the steps are 1/8, -3/8, -27/8, 29/8
    ("topk_norm", [1, 0]),
    ("all", [0, 1, 2, 3]),
    ("random", [2, 0]),
]


@pytest.mark.parametrize(("select", "expected"), SELECTIONS)
def test_which_steps_count_in_full(select: str, expected: list[int]) -> None:
    steps = vectors((1.5,), (1.0,), (-2.0,), (5.0,))
    how = Regulation(select=select, draw=lambda t, client, tau, k: [tau - k, t * client])
    assert selected(steps, 2, how, 0, 7) == expected


def test_the_upload_by_numbers() -> None:
    """D = (3, 1); (1, 0) is taken; v = (1, 0) + .2 (2, 1) = (1.4, .2), as long as D."""
    steps = vectors((2.0, 1.0), (1.0, 0.0))
    upload = regulated(total(steps), steps, Regulation())
    stretch = math.sqrt(10) / math.hypot(1.4, 0.2)
    assert upload.tolist() == pytest.approx([1.4 * stretch, 0.2 * stretch])


@pytest.mark.parametrize(
    ("keep", "tau", "k"), [(0.5, 5, 2), (0.5, 4, 2), (0.1, 5, 1), (0.6, 5, 3), (1.0, 5, 5)]
)
def test_how_many_are_taken(keep: float, tau: int, k: int) -> None:
    """With beta 0 and one axis a step, the upload shows who was taken."""
    steps = [(1 + i / 10) * row for i, row in enumerate(torch.eye(tau, dtype=torch.float64))]
    upload = regulated(total(steps), steps, Regulation(beta=0.0, keep=keep))
    assert int((upload > 0).sum()) == k
    assert bool((upload[:k] > 0).all())


@pytest.mark.parametrize("select", ["herd", "herd_centered", "topk_norm", "all"])
def test_the_length_is_kept(select: str) -> None:
    draw = torch.Generator().manual_seed(3)
    for tau in (1, 2, 5, 8):
        steps = list(torch.randn(tau, 6, generator=draw, dtype=torch.float64))
        for beta in (0.0, 0.2, 1.0):
            upload = regulated(total(steps), steps, Regulation(beta, select=select))
            assert float(upload.norm()) == pytest.approx(float(total(steps).norm()), rel=1e-12)
            if beta == 1.0 or tau == 1 or select == "all":
                assert torch.allclose(upload, total(steps), rtol=1e-12)


def test_edges_of_the_length() -> None:
    opposite = vectors((1.0, 0.0), (-1.0, 0.0), (2.0, 0.0), (-2.0, 0.0), (5.0, 1.0))
    upload = regulated(total(opposite), opposite, Regulation(beta=0.0, keep=0.8))
    assert torch.equal(upload, total(opposite))  # v = 0: D goes up
    closed = vectors((1.0, 0.0), (-3.0, 0.0), (2.0, 0.0))
    assert regulated(total(closed), closed, Regulation()).tolist() == [0.0, 0.0]
    assert regulated(torch.ones(2), [], Regulation()).tolist() == [1.0, 1.0]


def test_momentum_alone_selects_the_first_half() -> None:
    """Along a constant gradient displacements grow, 1, 1.9, 2.71, ...: quiet means early."""
    v, steps = 0.0, list[Tensor]()
    for _ in range(9):
        v = 0.9 * v + 1
        steps.append(torch.tensor([v], dtype=torch.float64))
    assert sorted(herd(steps, 4)) == [0, 1, 2, 3]


def test_alignment_may_fall() -> None:
    """Steps at +30 and -40 degrees of the mean direction: their plain sum is better aligned."""
    a, b = math.radians(30), math.radians(-40)
    steps = vectors((math.cos(a), math.sin(a)), (math.cos(b), math.sin(b)))
    along = []
    for beta in (0.0, 0.2, 1.0):
        v = steps[0] + beta * steps[1]
        along.append(float(v[0] / v.norm()))
    assert along == pytest.approx([0.866, 0.940, 0.996], abs=5e-4)


# --- Whole runs -----------------------------------------------------------------------------------


def upload_in_floats(steps: list[Floats], moved: Floats, beta: float) -> Floats:
    """Herding and the upload with lists of floats."""
    taken, running = list[int](), [0.0] * len(moved)
    for _ in range(max(1, len(steps) // 2)):
        left = [i for i in range(len(steps)) if i not in taken]
        best = min(left, key=lambda i: math.hypot(*plus(running, steps[i])))
        taken.append(best)
        running = plus(running, steps[best])
    v = [0.0] * len(moved)
    for i, step in enumerate(steps):
        v = plus(v, step, 1.0 if i in taken else beta)
    return [v_c * math.hypot(*moved) / math.hypot(*v) for v_c in v]


def by_hand(weighting: str, record: str, mu: float, lrs: list[float]) -> Floats:
    """Four rounds."""
    w = list(tiny.START)
    for cohort, lr in zip(tiny.COHORTS, lrs, strict=True):
        local, sent = tiny.LOCAL._replace(lr=lr), []
        for k in cohort:

            def pulled(u: Floats, rows: tiny.Rows, w_t: Floats = w) -> Floats:
                return plus(tiny.slope(u, rows), minus(u, w_t), mu)

            points = tiny.path(w, tiny.HELD[k], local, pulled)
            steps = [minus(a, b) for a, b in pairwise(points)]
            if record == "gradient":
                visited = zip(points, tiny.HELD[k], strict=False)
                steps = [[lr * g for g in pulled(u, rows)] for u, rows in visited]
            sent.append(upload_in_floats(steps, minus(w, points[-1]), 0.3))
        w = plus(w, tiny.weighted(tiny.shares(cohort, weighting), sent), -0.9)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("record", ["displacement", "gradient"])
@pytest.mark.parametrize("mu", [0.0, 0.6])
def test_four_rounds_by_hand(weighting: str, record: str, mu: float) -> None:
    setting = tiny.setting(weighting=weighting, server_lr=0.9)
    for lrs in ([0.3] * 4, [0.3, 0.2, 0.1, 0.05]):
        got = ecgr(tiny.layer(), tiny.rounds(), setting, beta=0.3, record=record, prox=mu, lrs=lrs)
        assert tiny.weights(got) == pytest.approx(by_hand(weighting, record, mu, lrs), abs=1e-12)


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
@pytest.mark.parametrize("options", [{"beta": 1.0}, {"keep": 1.0}, {"select": "all"}])
def test_where_it_is_the_base(setting: Setting, options: dict[str, Any]) -> None:
    got = ecgr(tiny.normed(), tiny.MANY, setting, **options)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, setting)) < 1e-12
    got = ecgr(tiny.normed(), tiny.MANY, setting, prox=0.5, **options)
    assert tiny.apart(got, fedprox(tiny.normed(), tiny.MANY, setting, mu=0.5)) < 1e-12


def test_one_step_a_visit_is_fedavg_and_training_is_untouched() -> None:
    once = [[v._replace(batches=v.batches[:1]) for v in cohort] for cohort in tiny.MANY]
    got = ecgr(tiny.normed(), once, tiny.USUAL)
    assert tiny.apart(got, fedavg(tiny.normed(), once, tiny.USUAL)) < 1e-12
    first = ecgr(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    plain = fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert torch.equal(first["1.running_mean"], plain["1.running_mean"])
    assert tiny.apart(first, plain) > 1e-4


def test_without_momentum_and_decay_the_two_records_are_one() -> None:
    setting = tiny.USUAL._replace(local=Local(0.1, 0.0, False, 0.0))
    a, b = (ecgr(tiny.normed(), tiny.MANY, setting, record=r) for r in
            ("displacement", "gradient"))  # fmt: skip
    assert tiny.apart(a, b) < 1e-12


def test_the_selections_differ_and_words_are_checked() -> None:
    long = [[v._replace(batches=list(v.batches) * 3) for v in cohort] for cohort in tiny.MANY]
    ends = [
        ecgr(tiny.normed(), long, tiny.USUAL, select=select, draw=lambda *_: [0])
        for select in ("herd", "herd_centered", "topk_norm", "random", "all")
    ]
    assert min(tiny.apart(a, b) for i, a in enumerate(ends) for b in ends[:i]) > 1e-6
    with pytest.raises(ValueError, match="select is 'herding'"):
        ecgr(tiny.normed(), long, tiny.USUAL, select="herding")
    with pytest.raises(ValueError, match="record is 'step'"):
        ecgr(tiny.normed(), long, tiny.USUAL, record="step")
    with pytest.raises(ValueError, match="needs a draw"):
        ecgr(tiny.normed(), long, tiny.USUAL, select="random")
