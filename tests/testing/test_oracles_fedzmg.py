"""FedZMG: the three scopes of its zero-mean projection, and its reading of embeddings."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import Local, Round, Setting, Visit, fedavg, fedzmg

PLAIN = Setting(Local(lr=0.5, momentum=0.0, weight_decay=0.0))
NO_DECAY = Setting(Local(lr=0.1, weight_decay=0.0))


def net() -> nn.Sequential:
    """A dense network, the same every time."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def rounds() -> list[Round]:
    """Two rounds of one client with three steps."""
    draw = torch.Generator().manual_seed(2)
    x = torch.randn(2, 3, 4, 4, generator=draw, dtype=torch.float64) + 1.0
    y = torch.randint(3, (2, 3, 4), generator=draw)
    return [[Visit(0, 1, list(zip(x[t], y[t], strict=True)))] for t in range(2)]


ROUNDS = rounds()


def zmg_step(scope: str, **options: Any) -> dict[str, Tensor]:
    """-lr Phi(g) of one step from a zero layer with bias: g = [-1/2, 1/2] x (1, 3) and -+1/2."""
    layer, x = nn.Linear(2, 2), torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
        layer.bias.copy_(torch.tensor([1.0, 0.0]))  # logits 1 and 1
    state = fedzmg(layer, [[Visit(0, 1, [(x, torch.tensor([0]))])]], PLAIN, scope=scope, **options)
    return {name: state[name] - layer.state_dict()[name] for name in state}


@pytest.mark.parametrize("scope", ["tensor", "vector"])
def test_the_classifiers_mean_is_zero_already(scope: str) -> None:
    step = zmg_step(scope)
    assert step["weight"].tolist() == [[0.25, 0.75], [-0.25, -0.75]]
    assert step["bias"].tolist() == [0.25, -0.25]


def test_the_row_scope_takes_out_each_rows_mean() -> None:
    assert zmg_step("row")["weight"].tolist() == [[-0.25, 0.25], [0.25, -0.25]]


@pytest.mark.parametrize("center_1d", [False, True])
def test_wider_scopes_keep_the_mean_over_what_is_centred(center_1d: bool) -> None:
    start = fedavg(net(), [], NO_DECAY)
    matrices = [name for name, w in net().named_parameters() if w.ndim > 1 or center_1d]
    by_tensor, by_vector = (
        fedzmg(net(), ROUNDS, NO_DECAY, scope=scope, center_1d=center_1d)
        for scope in ("tensor", "vector")
    )
    sums = {name: float((by_tensor[name] - start[name]).sum()) for name in matrices}
    assert max(map(abs, sums.values())) < 1e-13
    sums = {name: float((by_vector[name] - start[name]).sum()) for name in matrices}
    assert abs(sum(sums.values())) < 1e-13
    assert max(map(abs, sums.values())) > 1e-4


def test_fedzmg_reads_an_embedding_by_the_vocabulary() -> None:
    module = nn.Sequential(nn.Embedding(4, 2), nn.Flatten(), nn.Linear(2, 2))
    rounds = [[Visit(0, 1, [(torch.tensor([[1]]), torch.tensor([0]))])]]
    start = module.state_dict()["0.weight"].double()
    assert torch.allclose(fedzmg(module, rounds, PLAIN)["0.weight"].mean(0), start.mean(0))
    raw = fedzmg(module, rounds, PLAIN, embedding="none")["0.weight"]
    assert torch.equal(raw[[0, 2, 3]], start[[0, 2, 3]])
