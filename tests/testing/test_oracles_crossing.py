"""The general oracle: each method alone equals its own file, and sums keep their order."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import (
    ORACLES,
    Adagrad,
    Adam,
    Centre,
    Centring,
    Clip,
    HeavyBall,
    Local,
    Round,
    Setting,
    Slope,
    Step,
    Visit,
    Yogi,
    ZeroMean,
    crossing,
    fedavg,
    feddecorr_slope,
    fedlc_slope,
    fedntd_slope,
    fedprox,
    fedsam_slope,
    fedsol_slope,
    gcfed,
    globalgc,
    local_set,
    plain_slope,
)

SETTING = Setting(Local(lr=0.1, weight_decay=0.05))
NO_DECAY = Setting(Local(lr=0.1, weight_decay=0.0))
LOCAL = ["0.weight", "0.bias"]  # what lies outside the head "2"


def net() -> nn.Sequential:
    """A dense network, the same every time."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def rounds() -> list[Round]:
    """Three rounds of two clients of different size."""
    draw = torch.Generator().manual_seed(2)

    def visit(client: int, samples: int, steps: int) -> Visit:
        x = torch.randn(steps, 4, 4, generator=draw, dtype=torch.float64) + 1.0
        y = torch.randint(3, (steps, 4), generator=draw)
        return Visit(client, samples, list(zip(x, y, strict=True)), (3, 1, 2 + client))

    return [[visit(0, 5, 3), visit(1, 2, 2)] for _ in range(3)]


ROUNDS = rounds()


def gap(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    """The largest difference between two state dicts."""
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def run(
    setting: Setting = SETTING,
    slope: Slope = plain_slope,
    prox: float = 0.0,
    client: tuple[Step, ...] = (),
    server: tuple[Step, ...] = (),
) -> dict[str, Tensor]:
    """The sum on the small network."""
    steps: dict[str, Any] = {"client": client, "server": server}
    return crossing(net(), ROUNDS, setting, slope=slope, prox=prox, **steps)


ALONE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "fedavg": ({}, {}),
    "fedprox": ({"mu": 0.7}, {"prox": 0.7}),
    "fedavgm": ({"beta": 0.6}, {"server": (HeavyBall(0.6),)}),
    "fedavgm nesterov": (
        {"beta": 0.6, "nesterov": True},
        {"server": (HeavyBall(0.6, nesterov=True),)},
    ),
    "fedadam": ({"lr": 0.01}, {"server": (Adam(lr=0.01),)}),
    "fedadam corrected": (
        {"lr": 0.01, "bias_correction": True},
        {"server": (Adam(lr=0.01, bias_correction=True),)},
    ),
    "fedyogi": ({"b2": 0.5}, {"server": (Yogi(b2=0.5),)}),
    "fedyogi corrected": (
        {"b1": 0.5, "bias_correction": True},
        {"server": (Yogi(b1=0.5, bias_correction=True),)},
    ),
    "fedadagrad": ({"tau": 0.1}, {"server": (Adagrad(tau=0.1),)}),
    "localgc": ({}, {"client": (Centre(),)}),
    "localgc 1d": ({"center_1d": True}, {"client": (Centre(how=Centring(True)),)}),
    "globalgc": ({}, {"server": (Centre(),)}),
    "gcfed": ({"head": "2"}, {"client": (Centre(LOCAL),), "server": (Centre(),)}),
    "gcfed non_local": (
        {"head": "2", "scope": "non_local"},
        {"client": (Centre(LOCAL),), "server": (Centre(["2.weight"]),)},
    ),
    "gcfed clients": ({"head": "2", "server": False}, {"client": (Centre(LOCAL),)}),
    "fedzmg": ({}, {"client": (ZeroMean(),)}),
    "fedzmg vector": ({"scope": "vector"}, {"client": (ZeroMean("vector"),)}),
    "clip": ({"norm": 0.3}, {"client": (Clip(0.3),)}),
    "clip server": ({"norm": 0.02, "where": "server"}, {"server": (Clip(0.02),)}),
    "fedlc": ({"tau": 0.7}, {"slope": partial(fedlc_slope, tau=0.7)}),
    "fedntd": ({"beta": 2.0, "tau": 3.0}, {"slope": partial(fedntd_slope, beta=2.0, tau=3.0)}),
    "feddecorr": ({}, {"slope": feddecorr_slope}),
    "fedsol": ({"rho": 0.5}, {"slope": partial(fedsol_slope, rho=0.5)}),
    "fedsam": ({"rho": 0.5}, {"slope": partial(fedsam_slope, rho=0.5)}),
}
OF_THEIR_OWN = {"scaffold", "feddyn", "fednova", "fedvarp", "fedacg", "ecgr"}
MEANS = {"median", "trimmed_mean", "krum", "norm_bounded"}


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("decay", ["coupled", "coupled_before", "decoupled"])
def test_a_method_alone_equals_its_own_oracle(name: str, decay: str) -> None:
    setting = SETTING._replace(local=SETTING.local._replace(decay=decay))
    options, ingredients = ALONE[name]
    own = ORACLES[name.split()[0]](net(), ROUNDS, setting, **options)
    assert gap(own, run(setting, **ingredients)) < 1e-13


def test_every_oracle_is_crossed_with_its_own_file() -> None:
    assert {name.split()[0] for name in ALONE} == ORACLES.keys() - OF_THEIR_OWN - MEANS


CROSSINGS: dict[str, dict[str, Any]] = {
    "clip + gcfed": {"client": (Clip(0.3), Centre(LOCAL)), "server": (Centre(),)},
    "gcfed + clip": {"client": (Centre(LOCAL), Clip(0.3)), "server": (Centre(),)},
    "fedprox + gcfed": {"prox": 0.5, "client": (Centre(LOCAL),), "server": (Centre(),)},
    "fedprox + fedadam": {"prox": 0.5, "server": (Adam(),)},
    "fedzmg + fedadam": {"client": (ZeroMean(),), "server": (Adam(),)},
    "localgc + fedyogi": {"client": (Centre(),), "server": (Yogi(),)},
    "fedavgm + globalgc": {"server": (HeavyBall(), Centre())},
    "globalgc + fedadam": {"server": (Centre(), Adam())},
    "fedadam + globalgc": {"server": (Adam(), Centre())},
    "clip(server) + fedavgm": {"server": (Clip(0.02), HeavyBall())},
    "fedavgm + clip(server)": {"server": (HeavyBall(), Clip(0.02))},
    "clip(server) + globalgc": {"server": (Clip(0.02), Centre())},
    "globalgc + clip(server)": {"server": (Centre(), Clip(0.02))},
    "fedprox + fedzmg + fedadagrad": {
        "prox": 0.5,
        "client": (ZeroMean(),),
        "server": (Adagrad(),),
    },
    "gcfed + fedavgm": {"client": (Centre(LOCAL),), "server": (Centre(), HeavyBall())},
}
SLOPES: dict[str, dict[str, Any]] = {
    "fedprox": {"prox": 0.5},
    "fedlc": {"slope": partial(fedlc_slope, tau=0.7)},
    "fedntd": {"slope": partial(fedntd_slope, beta=2.0)},
    "feddecorr": {"slope": feddecorr_slope},
    "fedsol": {"slope": fedsol_slope},
}
ENDS: dict[str, dict[str, Any]] = {
    "globalgc": {"server": (Centre(),)},
    "gcfed": {"client": (Centre(LOCAL),), "server": (Centre(),)},
}
TABLE = {f"{a} + {b}": SLOPES[a] | ENDS[b] for a in SLOPES for b in ENDS}
CROSSINGS |= TABLE


@pytest.mark.parametrize("name", TABLE)
def test_every_centred_sum_keeps_its_row_means(name: str) -> None:
    """What the server adds has no row means, whatever the clients descend."""
    start, end = net().double().state_dict(), run(**TABLE[name])
    for tensor in ("0.weight", "2.weight"):
        assert torch.allclose(start[tensor].mean(1), end[tensor].mean(1), rtol=0.0, atol=1e-14)
        assert not torch.allclose(start[tensor], end[tensor], rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("end", ENDS)
def test_at_strength_zero_a_sum_is_its_other_part(end: str) -> None:
    alone = globalgc(net(), ROUNDS, SETTING) if end == "globalgc" else gcfed(
        net(), ROUNDS, SETTING, head="2"
    )  # fmt: skip
    for slope in (
        partial(fedlc_slope, tau=0.0),
        partial(fedntd_slope, beta=0.0),
        partial(feddecorr_slope, beta=0.0),
        partial(fedsol_slope, rho=0.0),
        partial(fedsam_slope, rho=0.0),
    ):
        assert gap(run(slope=slope, **ENDS[end]), alone) < 1e-12


def test_a_slope_and_a_proximal_pull_add() -> None:
    assert gap(run(prox=0.5), fedprox(net(), ROUNDS, SETTING, mu=0.5)) < 1e-13

    def nothing(w_k: nn.Module, *_: object) -> dict[str, Tensor]:
        return {name: torch.zeros_like(w) for name, w in w_k.named_parameters()}

    plain = SETTING._replace(local=Local(0.1, 0.0, False, 0.0))
    still = run(plain, slope=nothing, prox=0.5)  # at w_t the pull is nothing
    assert gap(still, fedavg(net(), [], plain)) == 0.0


def test_the_second_gradient_of_fedsol_is_what_is_centred() -> None:
    """One visit: every step the client takes in a local tensor has no row means."""
    plain = SETTING._replace(local=Local(0.1, 0.9, False, 0.0))
    start = net().double().state_dict()
    end = crossing(net(), ROUNDS[:1], plain, slope=fedsol_slope, client=(Centre(),))
    for tensor in ("0.weight", "2.weight"):
        assert torch.allclose(start[tensor].mean(1), end[tensor].mean(1), rtol=0.0, atol=1e-14)


def test_sums_differ_from_one_another_and_from_fedavg() -> None:
    ends = {name: run(**ingredients) for name, ingredients in CROSSINGS.items()}
    ends["fedavg"] = run()
    for name, end in ends.items():
        closest = min(gap(end, other) for word, other in ends.items() if word != name)
        assert closest > 1e-6, name


def test_centring_and_server_momentum_commute() -> None:
    before, after = run(server=(Centre(), HeavyBall())), run(server=(HeavyBall(), Centre()))
    assert gap(before, after) < 1e-13


def test_a_projected_clip_never_needs_a_second_one() -> None:
    """P shortens: an update clipped and then centred fits; centred and then clipped is longer."""
    start = net().double().state_dict()
    first = crossing(net(), ROUNDS[:1], SETTING, server=(Clip(0.02), Centre()))
    second = crossing(net(), ROUNDS[:1], SETTING, server=(Centre(), Clip(0.02)))
    lengths = [
        sum(float(((end[name] - start[name]) ** 2).sum()) for name in start) ** 0.5
        for end in (first, second)
    ]
    assert lengths[0] < lengths[1]
    assert lengths[1] == pytest.approx(0.02)


def test_prox_is_inside_the_gradient_that_is_centred_and_clipped() -> None:
    """With every step clipped far below the prox pull, a visit is lr * norm long at most."""
    plain = Setting(Local(lr=0.1, momentum=0.0, weight_decay=0.0))
    start = net().double().state_dict()
    visit = [[ROUNDS[0][0]]]
    end = crossing(net(), visit, plain, prox=1e6, client=(Clip(1e-3),))
    length = sum(float(((end[name] - start[name]) ** 2).sum()) for name in start) ** 0.5
    assert length <= 3 * 0.1 * 1e-3 * (1 + 1e-9)


def test_steps_start_afresh_at_every_call() -> None:
    momentum, adam = HeavyBall(), Adam()
    first, second = (run(server=(adam, momentum)) for _ in range(2))
    assert gap(first, second) == 0.0
    assert momentum.u == {}
    assert adam.t == 0


def test_a_neutral_server_part_leaves_the_method_as_it_is() -> None:
    names = local_set(net(), head="2")
    assert names == LOCAL
    own = gcfed(net(), ROUNDS, NO_DECAY, head="2")
    with_neutral = run(
        NO_DECAY, client=(Centre(names), Clip(1e9)), server=(Centre(), HeavyBall(0.0))
    )
    assert gap(own, with_neutral) < 1e-13


def test_a_users_own_function_is_a_step() -> None:
    def halve(_: nn.Module, delta: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: d / 2 for name, d in delta.items()}

    half = SETTING._replace(server_lr=0.5)
    assert gap(run(server=(halve,)), run(half)) < 1e-15
