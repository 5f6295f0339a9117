"""Means that a few false updates cannot drag away: they take the place of sum_k p_k D_k.

Yin et al. 2018, "Byzantine-Robust Distributed Learning" (median and trimmed mean, coordinate by
coordinate); Blanchard et al. 2017, "Machine Learning with Adversaries" (Krum); Sun et al. 2019,
"Can You Really Backdoor Federated Learning?" (norm bounding). The first three do not weigh: every
update of the cohort counts once. The clients are FedAvg's, buffers are averaged as in FedAvg.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn, stack

from .gcfed import floor_share
from .plain import (
    Round,
    Server,
    Setting,
    Tensors,
    client_update,
    cohort_weights,
    mean,
)

Mean = Callable[[Sequence[Tensors], Sequence[float]], Tensors]
"""From the cohort's updates and weights to one update."""


def fedavg_with(module: nn.Module, rounds: Sequence[Round], setting: Setting, of: Mean) -> Tensors:
    """Run FedAvg with another mean over the cohort."""
    server = Server(module, setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local) for v in cohort]
        server.take_buffers(cohort, models)
        p = cohort_weights(cohort, setting.weighting)
        server.step(of(server.updates(models), p))
    return server.state()


def ranked(updates: Sequence[Tensors], name: str) -> Tensor:
    """The clients' values of one tensor, from the smallest to the largest in every coordinate."""
    return stack([u[name] for u in updates]).sort(dim=0).values


def middle(updates: Sequence[Tensors], _p: Sequence[float]) -> Tensors:
    """The middle value of every coordinate; the mean of the two middle ones of an even cohort."""
    low, high = (len(updates) - 1) // 2, len(updates) // 2
    result = {}
    for name in updates[0]:
        values = ranked(updates, name)
        result[name] = (values[low] + values[high]) / 2
    return result


def trimmed(updates: Sequence[Tensors], _p: Sequence[float], share: float) -> Tensors:
    """The mean of every coordinate without its floor(share K) smallest and largest values."""
    cut = floor_share(share, len(updates))
    kept = slice(cut, len(updates) - cut)
    return {name: ranked(updates, name)[kept].mean(dim=0) for name in updates[0]}


def squared_gap(a: Tensors, b: Tensors) -> float:
    """||a - b||^2 over all tensors."""
    return sum(float(((a[name] - b[name]) ** 2).sum()) for name in a)


def krum_scores(updates: Sequence[Tensors], f: int) -> list[float]:
    """The sum of the squared distances of each update to its K - f - 2 nearest others."""
    near = len(updates) - f - 2
    scores = []
    for i, u in enumerate(updates):
        gaps = sorted(squared_gap(u, other) for j, other in enumerate(updates) if j != i)
        scores.append(sum(gaps[:near]))
    return scores


def nearest_ones(updates: Sequence[Tensors], _p: Sequence[float], f: int, m: int) -> Tensors:
    """The plain mean of the m updates with the lowest scores; ties go to the first client."""
    if len(updates) < 2 * f + 3 or m > len(updates):
        raise ValueError(f"krum with f={f}, m={m} needs a larger cohort than {len(updates)}")
    scores = krum_scores(updates, f)
    chosen = sorted(range(len(updates)), key=lambda i: (scores[i], i))[:m]
    return mean([1 / m] * m, [updates[i] for i in chosen])


def bounded(updates: Sequence[Tensors], p: Sequence[float], norm: float | str) -> Tensors:
    """The weighted mean of updates none of which is longer than the norm."""
    lengths = [math.sqrt(sum(float((u_i**2).sum()) for u_i in u.values())) for u in updates]
    by_length = sorted(lengths)
    low, high = (len(lengths) - 1) // 2, len(lengths) // 2
    bound = (by_length[low] + by_length[high]) / 2 if norm == "median" else float(norm)
    factors = [bound / length if length > bound else 1.0 for length in lengths]
    return mean([p_k * factor for p_k, factor in zip(p, factors, strict=True)], updates)


def median(module: nn.Module, rounds: Sequence[Round], setting: Setting) -> Tensors:
    """Run FedAvg with the coordinate-wise median."""
    return fedavg_with(module, rounds, setting, middle)


def trimmed_mean(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, *, share: float = 0.1
) -> Tensors:
    """Run FedAvg with the coordinate-wise trimmed mean."""
    return fedavg_with(module, rounds, setting, partial(trimmed, share=share))


def krum(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, *, f: int = 1, m: int = 1
) -> Tensors:
    """Run FedAvg with Krum, or with m > 1 multi-Krum."""
    return fedavg_with(module, rounds, setting, partial(nearest_ones, f=f, m=m))


def norm_bounded(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    norm: float | str = "median",
) -> Tensors:
    """Run FedAvg with bounded updates; "median" bounds by the cohort's median length."""
    return fedavg_with(module, rounds, setting, partial(bounded, norm=norm))
