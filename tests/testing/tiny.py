"""Worlds that fit on a sheet of paper: a weight for each class, and the same in Python floats.

The model's logits are w_c x for one feature x, so that the gradient of the cross-entropy at one row
is (softmax_c - [c = y]) x. Everything below is lists of floats; torch has no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import Batch, Local, Round, Setting, Visit

Floats = list[float]
Rows = list[tuple[float, int]]
"""The rows (x, y) of one batch."""

START = [0.5, -0.25, 0.1]
HELD: list[list[Rows]] = [  # the batches of four clients: ragged, one of them with a single row
    [[(1.0, 0), (-2.0, 1)], [(0.5, 0)]],
    [[(2.0, 2), (1.0, 0)]],
    [[(-1.0, 1), (1.5, 0)], [(0.75, 1), (-0.5, 0)], [(2.0, 1)]],
    [[(1.25, 2)]],
]
COHORTS = [[0, 2], [1, 2], [0, 3], [2, 3]]
LOCAL = Local(lr=0.3, momentum=0.9, weight_decay=0.05)
PLAIN = Local(lr=0.3, momentum=0.0, weight_decay=0.0)


def sizes() -> list[int]:
    """n_k of the four clients."""
    return [sum(len(rows) for rows in batches) for batches in HELD]


def counts(client: int) -> list[int]:
    """How many rows of each class a client holds."""
    labels = [y for rows in HELD[client] for _, y in rows]
    return [labels.count(c) for c in range(len(START))]


def batch(rows: Rows) -> Batch:
    """The rows as tensors."""
    x = torch.tensor([[x] for x, _ in rows], dtype=torch.float64)
    return x, torch.tensor([y for _, y in rows])


def rounds(cohorts: Sequence[Sequence[int]] = COHORTS) -> list[Round]:
    """Rounds in which these clients pass over what they hold."""
    return [
        [Visit(k, sizes()[k], [batch(rows) for rows in HELD[k]], counts(k)) for k in cohort]
        for cohort in cohorts
    ]


def setting(local: Local = LOCAL, weighting: str = "samples", server_lr: float = 1.0) -> Setting:
    """The setting of the four clients."""
    return Setting(local, weighting, server_lr, population=sizes())


def layer(start: Sequence[float] = START) -> nn.Linear:
    """One weight for each class."""
    module = nn.Linear(1, len(start), bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight.copy_(torch.tensor(start, dtype=torch.float64)[:, None])
    return module


def weights(state: dict[str, Tensor]) -> Floats:
    """The weights as floats."""
    return [float(v) for v in state["weight"].flatten()]


def softmax(z: Sequence[float]) -> Floats:
    """Softmax of a few floats."""
    top = max(z)
    e = [math.exp(v - top) for v in z]
    return [v / sum(e) for v in e]


def slope(w: Floats, rows: Rows) -> Floats:
    """The gradient of the mean cross-entropy of the rows."""
    g = [0.0] * len(w)
    for x, y in rows:
        q = softmax([v * x for v in w])
        for c in range(len(w)):
            g[c] += (q[c] - (c == y)) * x / len(rows)
    return g


def loss(w: Floats, rows: Rows) -> float:
    """The mean cross-entropy of the rows."""
    return -sum(math.log(softmax([v * x for v in w])[y]) for x, y in rows) / len(rows)


def difference(f: Callable[[Floats], float], w: Floats, h: float = 1e-5) -> Floats:
    """The gradient of any function of the weights, by central differences."""
    g = []
    for c in range(len(w)):
        up, down = list(w), list(w)
        up[c] += h
        down[c] -= h
        g.append((f(up) - f(down)) / (2 * h))
    return g


Gradient = Callable[[Floats, Rows], Floats]


def path(
    w: Floats, batches: Sequence[Rows], local: Local, gradient: Gradient = slope
) -> list[Floats]:
    """Where SGD with momentum and coupled decay goes, the first point included."""
    points, v = [w], [0.0] * len(w)
    for rows in batches:
        g, w = gradient(points[-1], rows), points[-1]
        v = [local.momentum * v[c] + g[c] + local.weight_decay * w[c] for c in range(len(w))]
        points.append([w[c] - local.lr * v[c] for c in range(len(w))])
    return points


def shares(clients: Sequence[int], weighting: str) -> Floats:
    """The weights of these clients among themselves."""
    n = [float(sizes()[k]) if weighting == "samples" else 1.0 for k in clients]
    return [n_k / sum(n) for n_k in n]


def weighted(p: Sequence[float], vectors: Sequence[Floats]) -> Floats:
    """sum_k p_k v_k."""
    return [sum(p_k * v[c] for p_k, v in zip(p, vectors, strict=True)) for c in range(len(START))]


def minus(a: Floats, b: Floats) -> Floats:
    """a - b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def plus(a: Floats, b: Floats, factor: float = 1.0) -> Floats:
    """a + factor b."""
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def apart(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    """The largest difference between two state dicts."""
    assert a.keys() == b.keys()
    return max(float((a[name].double() - b[name].double()).abs().max()) for name in a)


# --- A network with a norm, for the laws ----------------------------------------------------------


def normed() -> nn.Sequential:
    """Dense layers around a BatchNorm, the same every time."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Sequential(
            nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 3)
        ).double()


def many(seed: int = 5) -> list[Round]:
    """Three rounds of three of five clients with one to three batches of two to four rows."""
    draw = torch.Generator().manual_seed(seed)

    def visit(k: int) -> Visit:
        x = [torch.randn(4 - (i == k), 2, generator=draw).double() for i in range(1 + k % 3)]
        y = [torch.randint(3, (len(x_i),), generator=draw) for x_i in x]
        return Visit(k, 3 + k, list(zip(x, y, strict=True)), (2, 1 + k, 1))

    return [[visit(k) for k in cohort] for cohort in ([0, 1, 2], [1, 3, 4], [0, 2, 4])]


MANY = many()
USUAL = Setting(Local(lr=0.1, weight_decay=0.05), population=[3, 4, 5, 6, 7])
EVENLY = USUAL._replace(weighting="uniform")
