"""The laws that tie the methods together, on a network with every kind of tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import (
    Batch,
    Local,
    Round,
    Setting,
    Visit,
    clip,
    fedadam,
    fedavg,
    fedavgm,
    fedprox,
    fedzmg,
    gcfed,
    globalgc,
    localgc,
)

USUAL = Setting(Local(lr=0.1, weight_decay=0.05))
NO_DECAY = Setting(Local(lr=0.1, weight_decay=0.0))


class Net(nn.Module):
    """Every kind of tensor in few numbers: convolutions, a norm, two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 2)
        self.up = nn.ConvTranspose2d(2, 2, 2, groups=2)
        self.norm = nn.BatchNorm2d(2)
        self.fc1 = nn.Linear(18, 3)
        self.fc10 = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.up(torch.tanh(self.conv1(x))))
        logits: Tensor = self.fc10(torch.tanh(self.fc1(x.flatten(1))))
        return logits


def net() -> Net:
    """The same network every time, whatever the global generator has seen."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return Net()


def batch(draw: torch.Generator, rows: int) -> Batch:
    """Images of 3 by 3 and three classes."""
    x = torch.randn(rows, 1, 3, 3, generator=draw, dtype=torch.float64)
    return x, torch.randint(3, (rows,), generator=draw)


def images(rounds: int = 3) -> list[Round]:
    """Clients of different size; one of them without batches."""
    draw = torch.Generator().manual_seed(5)
    return [
        [
            Visit(0, 6, [batch(draw, 4), batch(draw, 2), batch(draw, 4)]),
            Visit(2, 3, [batch(draw, 3)]),
            Visit(3 + t, 1, []),
        ]
        for t in range(rounds)
    ]


ROUNDS = images()


def same(a: dict[str, Tensor], b: dict[str, Tensor], atol: float = 0.0) -> bool:
    """Whether two state dicts agree in names and numbers."""
    return a.keys() == b.keys() and all(
        torch.allclose(a[name].double(), b[name].double(), rtol=0.0, atol=atol) for name in a
    )


# --- FedProx --------------------------------------------------------------------------------------


def test_fedprox_at_mu_zero_is_fedavg() -> None:
    assert same(fedprox(net(), ROUNDS, USUAL, mu=0.0), fedavg(net(), ROUNDS, USUAL))


def test_fedprox_does_nothing_in_the_first_step_of_a_visit() -> None:
    one_step = [[Visit(0, 1, [ROUNDS[0][0].batches[0]])]] * 2
    assert same(fedprox(net(), one_step, USUAL, mu=5.0), fedavg(net(), one_step, USUAL))


# --- The server's optimisers ----------------------------------------------------------------------


@pytest.mark.parametrize("nesterov", [False, True])
def test_fedavgm_without_momentum_is_fedavg(nesterov: bool) -> None:
    got = fedavgm(net(), ROUNDS, USUAL, beta=0.0, nesterov=nesterov)
    assert same(got, fedavg(net(), ROUNDS, USUAL))


def test_fedopt_leaves_buffers_to_the_average() -> None:
    first = ROUNDS[:1]
    adam, plain = fedadam(net(), first, USUAL), fedavg(net(), first, USUAL)
    assert torch.equal(adam["norm.running_var"], plain["norm.running_var"])
    assert not torch.equal(adam["fc1.weight"], plain["fc1.weight"])


# --- Centring -------------------------------------------------------------------------------------


def row_means(state: dict[str, Tensor]) -> list[Tensor]:
    """The means that P takes out, layer by layer."""
    up = state["up.weight"].reshape(2, 1, 1, 2, 2)  # groups, in/g, out/g, kernel
    return [
        state["conv1.weight"].mean((1, 2, 3)),
        up.mean((1, 3, 4)),
        state["fc1.weight"].mean(1),
        state["fc10.weight"].mean(1),
    ]


def constant(run: Callable[..., dict[str, Tensor]], setting: Setting, **options: Any) -> bool:
    """Whether the row means are where they started, after all rounds."""
    start, end = fedavg(net(), [], setting), run(net(), ROUNDS, setting, **options)
    moved = not torch.equal(start["fc1.weight"], end["fc1.weight"])
    pairs = zip(row_means(start), row_means(end), strict=True)
    return moved and all(torch.allclose(a, b, rtol=0.0, atol=1e-13) for a, b in pairs)


def test_row_means_never_move_under_globalgc_whatever_the_clients_do() -> None:
    assert constant(globalgc, USUAL)
    assert constant(gcfed, USUAL, head="fc10")
    assert not constant(fedavg, USUAL)


@pytest.mark.parametrize(("decay", "kept"), [("coupled", False), ("coupled_before", True)])
def test_row_means_under_localgc_depend_on_the_place_of_the_decay(decay: str, kept: bool) -> None:
    setting = Setting(Local(lr=0.1, weight_decay=0.05, decay=decay))
    assert constant(localgc, setting) is kept
    assert constant(localgc, NO_DECAY)


def test_decoupled_decay_shrinks_row_means_by_one_factor_a_step() -> None:
    setting = Setting(Local(lr=0.1, weight_decay=0.05, decay="decoupled"))
    visits = [[Visit(0, 3, ROUNDS[0][0].batches)]]
    start = row_means(fedavg(net(), [], setting))
    end = row_means(fedzmg(net(), visits, setting))
    for a, b in zip(start, end, strict=True):
        assert torch.allclose((1 - 0.1 * 0.05) ** 3 * a, b, rtol=0.0, atol=1e-14)


def test_localgc_by_hand_on_one_layer() -> None:
    layer, x = nn.Linear(2, 2, bias=False), torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    nn.init.zeros_(layer.weight)
    plain = Setting(Local(lr=0.5, momentum=0.0, weight_decay=0.0))
    state = localgc(layer, [[Visit(0, 1, [(x, torch.tensor([0]))])]], plain)
    assert state["weight"].tolist() == [[-0.25, 0.25], [0.25, -0.25]]  # -lr (-+1/2) (x - 2)


def test_momentum_and_centring_commute_without_decay() -> None:
    """One client: centring every gradient or the whole update is the same when g does not move."""
    layer, x = nn.Linear(2, 2, bias=False), torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    nn.init.zeros_(layer.weight)
    tiny = Setting(Local(lr=1e-9, weight_decay=0.0))
    rounds = [[Visit(0, 1, [(x, torch.tensor([0]))] * 4)]]
    a, b = localgc(layer, rounds, tiny), globalgc(layer, rounds, tiny)
    assert same(a, b, atol=1e-16)


def test_localgc_and_globalgc_are_the_same_for_one_step_without_decay() -> None:
    rounds = [[Visit(0, 1, [ROUNDS[0][0].batches[0]]), Visit(1, 2, [ROUNDS[0][1].batches[0]])]] * 3
    for center_1d in (False, True):
        a = localgc(net(), rounds, NO_DECAY, center_1d=center_1d)
        b = globalgc(net(), rounds, NO_DECAY, center_1d=center_1d)
        assert same(a, b, atol=1e-13)


def test_center_1d_keeps_the_means_of_vectors() -> None:
    start = fedavg(net(), [], USUAL)
    for one_d in (False, True):
        end = globalgc(net(), ROUNDS, USUAL, center_1d=one_d)
        kept = [
            torch.allclose(start[name].mean(), end[name].mean(), rtol=0.0, atol=1e-13)
            for name in ("fc1.bias", "norm.weight", "norm.bias")
        ]
        assert all(kept) if one_d else not any(kept)


def test_globalgc_leaves_buffers_alone() -> None:
    a, b = globalgc(net(), ROUNDS[:1], USUAL), fedavg(net(), ROUNDS[:1], USUAL)
    assert torch.equal(a["norm.running_mean"], b["norm.running_mean"])


# --- GC-Fed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["tensors", "modules"])
def test_gcfed_at_zero_is_globalgc_and_at_one_is_localgc(rule: str) -> None:
    none: dict[str, Any] = {rule: 0.0}
    everything: dict[str, Any] = {rule: 1.0}
    ways: list[dict[str, Any]] = [{}, {"center_1d": True}, {"axes": "23"}]
    for how in ways:
        global_gc = globalgc(net(), ROUNDS, USUAL, **how)
        assert same(gcfed(net(), ROUNDS, USUAL, **none, **how), global_gc)
        local_gc = localgc(net(), ROUNDS, NO_DECAY, **how)
        assert same(gcfed(net(), ROUNDS, NO_DECAY, **everything, **how), local_gc, atol=1e-13)


def test_gcfed_without_its_server_is_fedavg_to_localgc() -> None:
    ends = [gcfed(net(), ROUNDS, USUAL, tensors=share, server=False) for share in (0.0, 1.0)]
    assert same(ends[0], fedavg(net(), ROUNDS, USUAL))
    assert same(ends[1], localgc(net(), ROUNDS, USUAL))


def test_the_two_scopes_agree_without_decay_alone() -> None:
    def gap(setting: Setting) -> float:
        ends = [gcfed(net(), ROUNDS, setting, head="fc10", scope=s) for s in ("all", "non_local")]
        return max(float((ends[0][name] - ends[1][name]).abs().max()) for name in ends[0])

    assert gap(NO_DECAY) < 1e-13
    assert gap(USUAL) > 1e-6


def test_gcfed_lies_between_its_ends() -> None:
    ends = [gcfed(net(), ROUNDS, USUAL, head="fc10"), globalgc(net(), ROUNDS, USUAL)]
    assert not same(ends[0], ends[1], atol=1e-6)
    assert not same(ends[0], localgc(net(), ROUNDS, USUAL), atol=1e-6)


# --- FedZMG ---------------------------------------------------------------------------------------


def test_fedzmg_by_row_is_localgc() -> None:
    for one_d in (False, True):
        a = fedzmg(net(), ROUNDS, USUAL, center_1d=one_d)
        assert same(a, localgc(net(), ROUNDS, USUAL, center_1d=one_d))


# --- Clip -----------------------------------------------------------------------------------------


def test_the_servers_update_is_clipped_over_all_parameters_as_one_vector() -> None:
    start = fedavg(net(), [], USUAL)
    plain = fedavg(net(), ROUNDS[:1], USUAL)
    clipped = clip(net(), ROUNDS[:1], USUAL, norm=1e-3, where="server")
    names = [name for name, _ in net().named_parameters()]
    length = math.sqrt(sum(float(((plain[n] - start[n]) ** 2).sum()) for n in names))
    for name in names:
        moved = (plain[name] - start[name]) * (1e-3 / length)
        assert torch.allclose(clipped[name] - start[name], moved, rtol=0.0, atol=1e-15)
    assert torch.equal(clipped["norm.running_mean"], plain["norm.running_mean"])


@pytest.mark.parametrize("where", ["client", "server"])
def test_a_wide_clip_is_fedavg(where: str) -> None:
    assert same(clip(net(), ROUNDS, USUAL, norm=1e9, where=where), fedavg(net(), ROUNDS, USUAL))


def test_misspelt_options_are_refused() -> None:
    with pytest.raises(ValueError, match="allowed are"):
        clip(net(), ROUNDS, USUAL, where="clients")
    with pytest.raises(ValueError, match="allowed are"):
        fedzmg(net(), ROUNDS, USUAL, scope="rows")
    with pytest.raises(ValueError, match="allowed are"):
        gcfed(net(), ROUNDS, USUAL, head="fc1", scope="local")
