"""What must hold of each method, whatever the data: reductions, projections, closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..layout import Layout
from ..methods.clip import Clip
from ..methods.fed_zmg import fed_zmg
from ..methods.fedacg import FedACG
from ..methods.fedavg import FedAvg
from ..methods.feddecorr import FedDecorr
from ..methods.feddyn import FedDyn
from ..methods.fedlc import FedLC
from ..methods.fednova import FedNova
from ..methods.fedntd import FedNTD
from ..methods.fedopt import fed_adagrad, fed_adam, fed_avg_m, fed_yogi
from ..methods.fedprox import FedProx
from ..methods.fedsam import FedSAM
from ..methods.fedsol import FedSOL
from ..methods.fedvarp import FedVARP
from ..methods.gc_fed import gc_fed, global_gc, local_gc
from ..methods.robust import Krum, Median, NormBounded, TrimmedMean
from ..methods.scaffold import Scaffold
from ..part import Part, Point
from ..transforms import Adaptive, Centralise, Momentum, Transform
from .worlds import Conv, Lab, apart


class Law(NamedTuple):
    """A statement, and how far it is from holding."""

    method: str
    statement: str
    error: Callable[[], float]
    bound: float = 1e-9


def same(one: Part, other: Part, lab: Lab | None = None) -> float:
    """Return how far apart two methods end."""
    lab = lab or Lab()
    ends = [lab.run(part)[-1].state_dict() for part in (one, other)]
    return apart(*ends)


def _reductions() -> Iterator[Law]:
    plain, undecayed = FedAvg(), Lab(local={"weight_decay": 0.0})
    whole = gc_fed(tensors=1.0)
    yield Law("fedavg", "a federation of equal clients weighs them alike", _equal_weights)
    yield Law("fedprox", "mu = 0 is FedAvg", lambda: same(FedProx(0.0), plain))
    yield Law(
        "localgc",
        "gcfed(tensors=1) at weight decay 0 is LocalGC",
        lambda: same(whole, local_gc(), undecayed),
    )
    yield Law(
        "globalgc",
        "gcfed(tensors=0) is GlobalGC, bit for bit",
        lambda: same(gc_fed(tensors=0.0), global_gc()),
        0.0,
    )
    yield Law(
        "gcfed",
        "tensors=0, server=false centres nothing: FedAvg",
        lambda: same(gc_fed(tensors=0.0, server=False), plain),
        0.0,
    )
    yield Law(
        "gcfed",
        "tensors=1, server=false is LocalGC",
        lambda: same(gc_fed(tensors=1.0, server=False), local_gc()),
        0.0,
    )
    yield Law(
        "gcfed",
        "both scopes agree at weight decay 0",
        lambda: same(gc_fed(), gc_fed(scope="non_local"), undecayed),
    )
    yield Law(
        "fedzmg",
        "with coupled decay it is LocalGC",
        lambda: same(fed_zmg(), local_gc(), Lab(local={"decay": "coupled"})),
    )
    yield Law("fedavgm", "beta = 0 is FedAvg", lambda: same(fed_avg_m(0.0), plain))
    yield Law("clip", "an infinite norm is FedAvg", lambda: same(Clip(float("inf")), plain), 0.0)
    yield Law("clip", "at the server too", lambda: same(Clip(float("inf"), "server"), plain), 0.0)


def _strengths() -> Iterator[Law]:
    plain = FedAvg()
    alone = Lab(sizes=(9,), settings={"cohort": 1})
    alike = Lab(sizes=(6,) * 12)
    everyone = Lab(settings={"cohort": 12})
    uniform = Lab(local={"weighting": "uniform"})
    yield Law("fedntd", "beta = 0 is FedAvg", lambda: same(FedNTD(0.0), plain))
    yield Law("fedlc", "tau = 0 is FedAvg", lambda: same(FedLC(0.0), plain))
    yield Law("feddecorr", "beta = 0 is FedAvg", lambda: same(FedDecorr(0.0), plain))
    yield Law("fedsol", "rho = 0 is FedAvg", lambda: same(FedSOL(0.0), plain))
    yield Law("fedsam", "rho = 0 is FedAvg", lambda: same(FedSAM(0.0), plain))
    yield Law("fedacg", "lam = beta = 0 is FedAvg", lambda: same(FedACG(0.0, 0.0), plain))
    yield Law("scaffold", "a single client is FedAvg", lambda: same(Scaffold(), plain, alone))
    yield Law("feddyn", "alpha = 0 is FedAvg", lambda: same(FedDyn(0.0), plain))
    yield Law("fednova", "visits of one length are FedAvg", lambda: same(FedNova(), plain, alike))
    yield Law("fedvarp", "full participation is FedAvg", lambda: same(FedVARP(), plain, everyone))
    yield Law("median", "a single client is FedAvg", lambda: same(Median(), plain, alone))
    yield Law("trimmed_mean", "share = 0 is the mean", lambda: same(TrimmedMean(0), plain, uniform))
    yield Law("krum", "f = 0, m = all is the mean", lambda: same(Krum(0, 4), plain, uniform))
    yield Law("norm_bounded", "a large norm is FedAvg", lambda: same(NormBounded(1e9), plain))


def _equal_weights() -> float:
    """Clients of one size weigh alike by samples and uniformly."""
    alike = [Lab(local={"weighting": how}, sizes=(6,) * 12) for how in ("samples", "uniform")]
    return apart(*(lab.run(FedAvg())[-1].state_dict() for lab in alike))


def _opened() -> tuple[Layout, Tensor, Tensor]:
    with torch.device("meta"):  # shapes alone: no generator is read
        model = nn.Sequential(
            Conv(nn.GroupNorm(2, 4)), nn.ConvTranspose2d(4, 6, 2, groups=2), nn.Embedding(5, 3)
        )
    layout = Layout.of(model)
    numbers = torch.linspace(-1, 1, 2 * layout.size, dtype=torch.float64).sin().reciprocal().tanh()
    return layout, numbers[: layout.size], numbers[layout.size :]


def _applied(transform: Transform, layout: Layout, *vectors: Tensor) -> list[Tensor]:
    """Apply a transform to vectors one after another."""
    state, out = transform.init(vectors[0]), []
    for vector in vectors:
        moved, state = transform.update(vector, state, Point(torch.zeros_like(vector), layout))
        out.append(moved)
    return out


def _projections() -> Iterator[Law]:
    layout, g, h = _opened()
    p = Centralise(embedding="vocab")

    def once(vector: Tensor, by: Transform = p) -> Tensor:
        return _applied(by, layout, vector)[0]

    def gap(one: Tensor, other: Tensor) -> float:
        return float((one - other).abs().max())

    def rows() -> float:
        opened = layout.open(once(g))
        sums = [
            opened["0.conv1.weight"].sum((1, 2, 3)),
            opened["0.fc.weight"].sum(1),
            opened["2.weight"].sum(0),
        ]
        turned = opened["1.weight"].view(2, 2, 3, 2, 2).sum((1, 3, 4))
        return max(float(s.abs().max()) for s in (*sums, turned))

    def untouched() -> float:
        before, after = layout.open(g), layout.open(once(g))
        return max(gap(after[n], before[n]) for n in before if before[n].dim() < 2)

    for method in ("localgc", "globalgc", "gcfed", "fedzmg"):
        yield Law(
            method, "P is idempotent: P P g = P g", lambda: gap(once(once(g)), once(g)), 1e-12
        )
        yield Law(
            method,
            "P is symmetric: <P g, h> = <g, P h>",
            lambda: abs(float(once(g) @ h - g @ once(h))),
            1e-9,
        )
        yield Law(method, "every centred row sums to zero", rows, 1e-12)
        yield Law(method, "1-D tensors are left alone", untouched, 0.0)
        yield Law(method, "P commutes with momentum", lambda: _commutes(p, layout, g, h), 1e-9)
    yield Law(
        "globalgc", "row means stay what they were, for ever", lambda: _row_means(global_gc()), 1e-9
    )
    yield Law(
        "gcfed", "row means stay what they were, for ever", lambda: _row_means(gc_fed()), 1e-9
    )


def _commutes(p: Transform, layout: Layout, g: Tensor, h: Tensor) -> float:
    after = [_applied(p, layout, u)[0] for u in _applied(Momentum(0.9), layout, g, h)]
    before = _applied(Momentum(0.9), layout, *(_applied(p, layout, v)[0] for v in (g, h)))
    return max(float((a - b).abs().max()) for a, b in zip(after, before, strict=True))


def _row_means(part: Part) -> float:
    played = Lab("conv").run(part)
    first, last = played[0].state_dict(), played[-1].state_dict()
    centred = [n for n, t in first.items() if t.dim() > 1]
    return max(
        float((last[n].flatten(1).mean(1) - first[n].flatten(1).mean(1)).abs().max())
        for n in centred
    )


def _closed_forms() -> Iterator[Law]:
    layout, g, _ = _opened()
    tau, b1, b2, lr = 1e-3, 0.9, 0.99, 0.1
    start = torch.full_like(g, tau**2)
    squares = {
        "fedadam": (b1, b2 * start + (1 - b2) * g**2),
        "fedyogi": (b1, start - (1 - b2) * g**2 * (start - g**2).sign()),
        "fedadagrad": (0.0, start + g**2),
    }
    for method, (first, v) in squares.items():
        rule = Adaptive(method.removeprefix("fed"), b1=first)
        expected = lr * (1 - first) * g / (v.sqrt() + tau)
        yield Law(
            method,
            "the first step is lr (1 - b1) D / (sqrt(v) + tau), with v from tau^2",
            partial(_first_step, rule, layout, g, expected),
            1e-12,
        )
    wide = {
        "fedadam": fed_adam(1e9, 0.0, 0.0, 1e9, True),
        "fedyogi": fed_yogi(1e9, 0.0, 0.0, 1e9, True),
        "fedadagrad": fed_adagrad(2e9, 0.0, 1e9),
    }
    for method, part in wide.items():
        yield Law(method, "a tau beyond all updates is FedAvg", partial(same, part, FedAvg()), 1e-6)


def _first_step(rule: Transform, layout: Layout, g: Tensor, expected: Tensor) -> float:
    return float((_applied(rule, layout, g)[0] - expected).abs().max())


def laws() -> list[Law]:
    """Return all laws, in the order of the methods' pages."""
    return [*_reductions(), *_strengths(), *_projections(), *_closed_forms()]
