"""Every method, and the crossings of methods, beside the plain loop that it must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import nn

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
from ..part import Part
from ..session import Session
from . import oracles as o
from .worlds import Lab, apart, replayed

_Steps = Sequence[o.Step | str]


class Case(NamedTuple):
    """A method with its options, and the same said to its oracle."""

    method: str
    parts: tuple[Part, ...]
    oracle: Callable[..., Any]
    detail: str = ""


def _case(method: str, part: Part, oracle: Callable[..., Any], **options: Any) -> Case:
    detail = ", ".join(f"{key}={value}" for key, value in options.items())
    return Case(method, (part,), partial(oracle, **options), detail)


ALONE = [
    _case("fedavg", FedAvg(), o.fedavg),
    _case("fedprox", FedProx(0.5), o.fedprox, mu=0.5),
    _case("localgc", local_gc(), o.localgc),
    _case("localgc", local_gc(center_1d=True), o.localgc, center_1d=True),
    _case("globalgc", global_gc(), o.globalgc),
    _case("globalgc", global_gc(center_1d=True), o.globalgc, center_1d=True),
    _case("gcfed", gc_fed(tensors=0.6), o.gcfed, tensors=0.6),
    _case("gcfed", gc_fed(modules=0.5), o.gcfed, modules=0.5),
    _case("gcfed", gc_fed(modules=0.5, scope="non_local"), o.gcfed, modules=0.5, scope="non_local"),
    _case("gcfed", gc_fed(modules=0.5, server=False), o.gcfed, modules=0.5, server=False),
    _case("fedzmg", fed_zmg(), o.fedzmg),
    _case("fedzmg", fed_zmg(scope="tensor"), o.fedzmg, scope="tensor"),
    _case("fedzmg", fed_zmg(scope="vector"), o.fedzmg, scope="vector"),
    _case("fedavgm", fed_avg_m(), o.fedavgm),
    _case("fedavgm", fed_avg_m(0.7, True), o.fedavgm, beta=0.7, nesterov=True),
    _case("fedadam", fed_adam(), o.fedadam),
    _case("fedadam", fed_adam(bias_correction=True), o.fedadam, bias_correction=True),
    _case("fedyogi", fed_yogi(), o.fedyogi),
    _case("fedyogi", fed_yogi(bias_correction=True), o.fedyogi, bias_correction=True),
    _case("fedadagrad", fed_adagrad(), o.fedadagrad),
    _case("clip", Clip(0.5), o.clip, norm=0.5),
    _case("clip", Clip(0.05, "server"), o.clip, norm=0.05, where="server"),
    _case("fedntd", FedNTD(0.7, 2.0), o.fedntd, beta=0.7, tau=2.0),
    _case("fedlc", FedLC(0.5), o.fedlc, tau=0.5),
    _case("feddecorr", FedDecorr(0.1), o.feddecorr, beta=0.1),
    _case("feddecorr", FedDecorr(0.1, "paper"), o.feddecorr, beta=0.1, scale="paper"),
    _case("fedsol", FedSOL(0.5), o.fedsol, rho=0.5),
    _case("fedsol", FedSOL(0.1, 2.0, "plain"), o.fedsol, rho=0.1, tau=2.0, perturbation="plain"),
    _case("fedsam", FedSAM(0.3), o.fedsam, rho=0.3),
    _case("fedacg", FedACG(0.6, 0.05), o.fedacg, lam=0.6, beta=0.05),
    _case("scaffold", Scaffold(), o.scaffold),
    _case("scaffold", Scaffold("velocity"), o.scaffold, correction="velocity"),
    _case("feddyn", FedDyn(0.2), o.feddyn, alpha=0.2),
    _case("feddyn", FedDyn(0.2, "released"), o.feddyn, alpha=0.2, server="released"),
    _case("fednova", FedNova(), o.fednova),
    _case("fednova", FedNova("count"), o.fednova, steps="count"),
    _case("fedvarp", FedVARP(), o.fedvarp),
    _case("median", Median(), o.median),
    _case("trimmed_mean", TrimmedMean(0.3), o.trimmed_mean, share=0.3),
    _case("krum", Krum(), o.krum),
    _case("krum", Krum(1, 3), o.krum, f=1, m=3),
    _case("norm_bounded", NormBounded(), o.norm_bounded),
    _case("norm_bounded", NormBounded(0.1), o.norm_bounded, norm=0.1),
]
# The nets of these cases have their head at the share of modules of one half.
_WHERE = 0.5


def _crossing(
    method: str,
    *parts: Part,
    prox: float = 0.0,
    slope: Any = None,
    client: _Steps = (),
    server: _Steps = (),
) -> Case:
    def oracle(module: nn.Module, rounds: Sequence[o.Round], setting: o.Setting) -> o.Tensors:
        where = o.local_set(module, modules=_WHERE)
        named = [o.Centre(where) if step == "local" else step for step in client]
        given: dict[str, Any] = {"client": named, "server": server, "prox": prox}
        if slope is not None:
            given["slope"] = slope
        return o.crossing(module, rounds, setting, **given)

    return Case(method, parts, oracle)


def _sloped(name: str, part: Part, slope: Callable[..., Any], **options: Any) -> list[Case]:
    """Cross a method that is in the loss or the probe with GC-Fed and with GlobalGC."""
    tilted, both = partial(slope, **options), [o.Centre()]
    local: _Steps = ["local"]
    return [
        _crossing(
            f"{name} + gcfed",
            *(part, gc_fed(modules=_WHERE)),
            slope=tilted,
            client=local,
            server=both,
        ),
        _crossing(f"{name} + globalgc", part, global_gc(), slope=tilted, server=both),
    ]


CROSSINGS = [
    _crossing(
        "clip + gcfed",
        Clip(0.5),
        gc_fed(modules=_WHERE),
        client=[o.Clip(0.5), "local"],
        server=[o.Centre()],
    ),
    _crossing(
        "gcfed + clip",
        gc_fed(modules=_WHERE),
        Clip(0.5),
        client=["local", o.Clip(0.5)],
        server=[o.Centre()],
    ),
    _crossing(
        "fedprox + gcfed",
        FedProx(0.5),
        gc_fed(modules=_WHERE),
        prox=0.5,
        client=["local"],
        server=[o.Centre()],
    ),
    _crossing("fedprox + globalgc", FedProx(0.5), global_gc(), prox=0.5, server=[o.Centre()]),
    _crossing("fedprox + fedadam", FedProx(0.5), fed_adam(), prox=0.5, server=[o.Adam()]),
    _crossing("localgc + fedyogi", local_gc(), fed_yogi(), client=[o.Centre()], server=[o.Yogi()]),
    _crossing("fedzmg + fedadam", fed_zmg(), fed_adam(), client=[o.ZeroMean()], server=[o.Adam()]),
    _crossing("fedavgm + globalgc", fed_avg_m(), global_gc(), server=[o.HeavyBall(), o.Centre()]),
    _crossing("globalgc + fedavgm", global_gc(), fed_avg_m(), server=[o.Centre(), o.HeavyBall()]),
    _crossing(
        "gcfed + fedavgm",
        gc_fed(modules=_WHERE),
        fed_avg_m(),
        client=["local"],
        server=[o.Centre(), o.HeavyBall()],
    ),
    _crossing(
        "clip + fedavgm", Clip(0.05, "server"), fed_avg_m(), server=[o.Clip(0.05), o.HeavyBall()]
    ),
    _crossing(
        "clip + globalgc", Clip(0.05, "server"), global_gc(), server=[o.Clip(0.05), o.Centre()]
    ),
    _crossing(
        "fedprox + fedzmg + fedadagrad",
        FedProx(0.5),
        fed_zmg(),
        fed_adagrad(),
        prox=0.5,
        client=[o.ZeroMean()],
        server=[o.Adagrad()],
    ),
]
CROSSINGS += [
    *_sloped("fedlc", FedLC(0.5), o.fedlc_slope, tau=0.5),
    *_sloped("fedntd", FedNTD(0.7, 2.0), o.fedntd_slope, beta=0.7, tau=2.0),
    *_sloped("feddecorr", FedDecorr(0.1), o.feddecorr_slope, beta=0.1),
    *_sloped("fedsol", FedSOL(0.5), o.fedsol_slope, rho=0.5),
    Case("fedprox + fednova", (FedProx(0.5), FedNova()), partial(o.fednova, prox=0.5)),
]
AXES = [
    _case("localgc", local_gc(axes=axes), o.localgc, axes=axes) for axes in ("23", "1", "2", "0")
]


def error(session: Session, oracle: Callable[..., Any]) -> float:
    """Return how far a run is from its oracle."""
    visited, last = replayed(session)
    method, local = session.method, session.method.local
    steps = o.Local(local.lr, local.momentum, local.nesterov, local.weight_decay, local.decay)
    everyone = session.federation.sizes.tolist()
    setting = o.Setting(
        steps, method.weighting, method.server_lr, session.settings.buffers, everyone
    )
    return apart(oracle(session.task.model, visited, setting), last.state_dict())


def case_error(case: Case, lab: Lab) -> float:
    """Return how far a method is from its oracle in a setting."""
    return error(lab.session(*case.parts), case.oracle)
