"""Two engines, one result: sequential and stacked agree to 1e-9 in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.engines.tracing import compiler
from fedkeel.session import Round, Session, prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import LOCAL, NETS, Conv, Lab, apart, federation, network, untraced

METHODS = {
    "fedavg": fk.FedAvg(),
    "fedprox": fk.FedProx(0.5),
    "localgc": fk.local_gc(),
    "globalgc": fk.global_gc(),
    "gcfed": fk.gc_fed(),
    "fedzmg": fk.fed_zmg(),
    "fedavgm": fk.fed_avg_m(),
    "fedadam": fk.fed_adam(),
    "fedyogi": fk.fed_yogi(),
    "fedadagrad": fk.fed_adagrad(),
    "clip": fk.Clip(0.5),
    "clip at the server": fk.Clip(0.05, "server"),
    "fedntd": fk.FedNTD(0.5, 2.0),
    "fedlc": fk.FedLC(0.5),
    "feddecorr": fk.FedDecorr(0.05),
    "fedsol": fk.FedSOL(0.5),
    "fedsam": fk.FedSAM(0.1),
    "fedacg": fk.FedACG(0.5, 0.01),
    "scaffold": fk.Scaffold(),
    "scaffold velocity": fk.Scaffold("velocity"),
    "feddyn": fk.FedDyn(0.2),
    "fednova": fk.FedNova(),
    "fedvarp": fk.FedVARP(),
    "median": fk.Median(),
    "trimmed_mean": fk.TrimmedMean(0.3),
    "krum": fk.Krum(),
    "norm_bounded": fk.NormBounded(0.1),
}
MEANS = {"median", "trimmed_mean", "krum", "norm_bounded"}
CROSSINGS = [
    ("scaffold", "gcfed"),
    ("feddyn", "fedadam"),
    ("fednova", "fedprox"),
    ("fedlc", "gcfed"),
    ("fedsol", "globalgc"),
    ("fedprox", "gcfed"),
    ("clip", "gcfed"),
    ("gcfed", "clip"),
    ("fedzmg", "fedadam"),
    ("globalgc", "fedavgm"),
    ("fedprox", "fedyogi"),
    ("localgc", "fedadagrad"),
    ("clip", "fedprox"),
    ("fedzmg", "fedavgm"),
    ("gcfed", "fedadam"),
]
COMPILED = ["fedavg", "fedprox", "gcfed", "fedzmg", "clip", "fedadam"]
Runs = Callable[..., list[Round]]


@pytest.fixture(scope="session")
def reference() -> Runs:
    """Sequential runs, each made once."""
    made: dict[object, list[Round]] = {}

    def run(names: tuple[str, ...], net: str = "mlp", **local: str) -> list[Round]:
        key = (names, net, tuple(local.items()))
        if key not in made:
            made[key] = Lab(net, local).run(*(METHODS[n] for n in names))
        return made[key]

    return run


def ends(session: Session) -> dict[str, Tensor]:
    return list(session.rounds())[-1].state_dict()


@pytest.mark.parametrize("names", list(combinations_with_replacement(METHODS, 2)), ids="+".join)
def test_every_pair_untraced(names: tuple[str, ...], reference: Runs) -> None:
    if set(names) <= MEANS:
        with pytest.raises(fk.InputError, match="mean"):
            fk.compose(*(METHODS[n] for n in names))
        return
    lab = Lab(settings={"rounds": 2})
    session = untraced(lab.session(*(METHODS[n] for n in names), engine="stacked"))
    assert apart(ends(session), reference(names)[2].state_dict()) < 1e-9


@pytest.mark.parametrize("names", [*((n,) for n in METHODS), *CROSSINGS], ids="+".join)
@pytest.mark.parametrize("chunk", [1, 3, 0])
def test_methods_and_crossings_traced(names: tuple[str, ...], chunk: int, reference: Runs) -> None:
    parts = [METHODS[n] for n in names]
    lab = Lab(settings={"rounds": 2})
    stacked = lab.run(*parts, engine="stacked", chunk=chunk, compile=False)
    for a, b in zip(stacked, reference(names)[:3], strict=True):
        assert apart(a.state_dict(), b.state_dict()) < 1e-9
        counted = ("number", "cohort", "steps", "samples", "bytes_up", "bytes_down", "accuracy")
        assert all(getattr(a, name) == getattr(b, name) for name in counted)
        assert a.number == 0 or a.train_loss == pytest.approx(b.train_loss, rel=1e-9)
        assert a.loss == pytest.approx(b.loss, rel=1e-9)


LASTS = [("keep", 0), ("keep", 1), ("drop", 3), ("pad", 3)]


@pytest.mark.parametrize(("batches", "chunk"), LASTS)
@pytest.mark.parametrize("net", NETS)
def test_every_network_and_last_batch(net: str, batches: str, chunk: int, reference: Runs) -> None:
    lab = Lab(net, {"batches": batches}, {"rounds": 2})
    stacked = lab.run(fk.gc_fed(), engine="stacked", chunk=chunk, compile=False)[-1]
    expected = reference(("gcfed",), net, batches=batches)[2]
    assert apart(stacked.state_dict(), expected.state_dict()) < 1e-9


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_six_methods_compiled(name: str, reference: Runs) -> None:
    """Equal clients, so that one shape is compiled a method."""
    lab = Lab(sizes=(8,) * 6, settings={"rounds": 2, "cohort": 2})
    sequential = ends(lab.session(METHODS[name]))
    session = lab.session(METHODS[name], engine="stacked", compile=True)
    assert session.resolved["compile"] is True
    assert apart(ends(session), sequential) < 1e-9


@pytest.mark.parametrize(("policy", "chunk"), [("average", 0), ("local", 3), ("freeze", 1)])
def test_every_policy_of_buffers(policy: str, chunk: int) -> None:
    lab = Lab("batch", settings={"buffers": policy, "cohort": 6, "compile": False})
    one, other = lab.run(fk.FedAvg())[-1], lab.run(fk.FedAvg(), engine="stacked", chunk=chunk)[-1]
    assert apart(one.state_dict(), other.state_dict()) < 1e-9
    changed = not torch.equal(one.state_dict()["norm.running_mean"].float(), torch.zeros(4))
    assert changed == (policy == "average")
    assert one.state_dict()["norm.num_batches_tracked"].dtype == torch.int64


@pytest.mark.parametrize(
    ("net", "precision"),
    [("mlp", "tf32"), ("mlp", "bfloat16"), ("batch", "float32"), ("dropout", "bfloat16")],
)
def test_engines_agree_as_far_as_the_precision_goes(net: str, precision: str) -> None:
    lab = Lab(net, settings={"precision": precision, "rounds": 1, "compile": False})
    one, other = (ends(lab.session(fk.gc_fed(), engine=e)) for e in ("sequential", "stacked"))
    assert all(t.dtype == torch.float32 for t in one.values() if t.is_floating_point())
    assert apart(one, other) < (0.05 if precision == "bfloat16" else 1e-5)


def test_frozen_parameters_stay() -> None:
    model = network("group")
    assert isinstance(model, Conv)
    model.conv1.weight.requires_grad_(False)
    task, held = fk.Task(model), federation((2, 4, 4))
    method = fk.algorithm(fk.gc_fed(), batch_size=4, lr=0.1, weight_decay=0.1)
    one, other = (
        fk.train(method, task, held, rounds=2, cohort=4, precision="float64", engine=e).state_dict()
        for e in ("sequential", "stacked")
    )
    assert apart(one, other) < 1e-9
    assert torch.equal(one["conv1.weight"].float(), model.conv1.weight)
    assert not torch.equal(one["fc.weight"].float(), model.fc.weight)


class Tied(nn.Module):
    """One weight used twice, under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.fc = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.two.weight = self.one.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.two(self.one(x).tanh()).tanh())


class Recurrent(nn.Module):
    """A GRU over a few steps."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.fc = nn.GRU(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.gru(x)[0][:, -1])


class Odd(nn.Module):
    """A transposed and a one-dimensional convolution, a LayerNorm, and a bare parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.conv = nn.Conv1d(4, 4, 3, padding=1, groups=2)
        self.back = nn.ConvTranspose1d(4, 6, 2, stride=2, groups=2)
        self.norm, self.fc = nn.LayerNorm(6), nn.Linear(36, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.back((self.scale * self.conv(x.mT)).relu())
        return self.fc(self.norm(x.mT).flatten(1))


@pytest.mark.parametrize(
    ("build", "shape"), [(Tied, (6,)), (Recurrent, (3, 4)), (Odd, (3, 4))], ids=str
)
def test_other_modules(build: Callable[[], nn.Module], shape: tuple[int, ...]) -> None:
    task, held = fk.Task(build()), federation(shape)
    method = fk.algorithm(fk.FedProx(0.1), fk.gc_fed(), **LOCAL)
    one, other = (
        fk.train(method, task, held, rounds=2, cohort=4, precision="float64", engine=e)
        for e in ("sequential", "stacked")
    )
    assert apart(one.state_dict(), other.state_dict()) < 1e-9
    assert apart(one.state_dict(), task.model.state_dict()) > 1e-4
    one.module().load_state_dict(other.state_dict())


def prepared(model: nn.Module, x: Tensor | None = None) -> Session:
    held = federation((2, 4, 4))
    if x is not None:
        source = replace(held.source, train=held.train._replace(x=x))
        held = replace(held, source=source)
    settings = Settings(cohort=4, precision="float64")
    return prepare(fk.algorithm(fk.FedAvg(), **LOCAL), fk.Task(model), held, settings)


@pytest.mark.parametrize("net", ["mlp", "conv", "group", "dropout"])
def test_rows_do_not_meet_in_these(net: str) -> None:
    assert not Lab(net).session(fk.FedAvg()).world.rows_meet


def test_batch_norm_is_found() -> None:
    assert prepared(network("batch")).world.rows_meet


def test_batch_norm_is_found_before_a_head_of_zeros() -> None:
    model = network("batch")
    nn.init.zeros_(model.get_parameter("fc.weight"))
    assert prepared(model).world.rows_meet


def test_batch_norm_is_found_behind_strong_dropout() -> None:
    model = Conv(nn.Sequential(nn.Dropout(0.6), nn.BatchNorm2d(4)))
    assert prepared(model).world.rows_meet


def test_batch_norm_is_found_where_the_first_samples_are_equal() -> None:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(78, 2, 4, 4)))
    x[:5] = x[0]
    assert prepared(network("batch"), x).world.rows_meet


def test_batch_norm_with_frozen_statistics_lets_rows_be() -> None:
    assert not Lab("batch", settings={"buffers": "freeze"}).session(fk.FedAvg()).world.rows_meet
