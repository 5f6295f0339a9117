"""Little worlds that train in milliseconds: ragged clients, four kinds of network, float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..data import Federation, from_arrays
from ..engines import Sequential, Stacked
from ..history import Round
from ..loop import Kept, play, start
from ..part import Part
from ..rounds import algorithm
from ..session import Session, prepare
from ..settings import Settings
from ..task import Task
from .oracles import plain

SIZES = (7, 12, 3, 5, 9, 1, 4, 10, 6, 8, 2, 11)
ROUNDS, COHORT = 3, 4
LOCAL: dict[str, Any] = {
    "lr": 0.05,
    "momentum": 0.9,
    "weight_decay": 1e-2,
    "batch_size": 4,
    "epochs": 2,
}


class MLP(nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        """Build them."""
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(6, 5), nn.Linear(5, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.fc3(self.fc2(self.fc1(x).relu()).tanh())
        return logits


class Conv(nn.Module):
    """Two convolutions, one of them in groups, a norm, dropout and a head."""

    def __init__(self, norm: nn.Module | None = None, dropout: float = 0.0) -> None:
        """Build them."""
        super().__init__()
        self.conv1 = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = norm or nn.Identity()
        self.conv2 = nn.Conv2d(4, 4, 3, groups=2)
        self.drop = nn.Dropout(dropout)
        self.fc = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        x = self.norm(self.conv1(x)).relu()
        logits: Tensor = self.fc(self.drop(self.conv2(x).relu().flatten(1)))
        return logits


NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (MLP, (6,)),
    "conv": (Conv, (2, 4, 4)),
    "group": (lambda: Conv(nn.GroupNorm(2, 4)), (2, 4, 4)),
    "batch": (lambda: Conv(nn.BatchNorm2d(4)), (2, 4, 4)),
    "dropout": (lambda: Conv(dropout=0.3), (2, 4, 4)),
}


def federation(shape: tuple[int, ...] = (6,), sizes: tuple[int, ...] = SIZES) -> Federation:
    """Return twelve clients of one to twelve samples, in three classes."""
    rng, total, test = np.random.default_rng(0), sum(sizes), 20
    x, y = rng.normal(size=(total + test, *shape)), rng.integers(0, 3, total + test)
    owner = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    source = from_arrays(x[:total], y[:total], x[total:], y[total:], classes=3)
    return Federation(source, owner, "file", len(sizes))


def network(name: str) -> nn.Module:
    """Build a network whose weights depend on nothing but its name, and draw from no generator."""
    with torch.device("meta"):
        model = NETS[name][0]()
    model.to_empty(device="cpu")
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.from_numpy(rng.normal(0.0, 0.5, parameter.shape)))
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
    return model


@dataclass(frozen=True)
class Lab:
    """A setting to try a method in."""

    net: str = "mlp"
    local: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    task: Task | None = None
    sizes: tuple[int, ...] = SIZES

    def session(self, *parts: Part, **changed: Any) -> Session:
        """Prepare a run of a method here."""
        base: dict[str, Any] = {
            "rounds": ROUNDS,
            "cohort": max(COHORT, *(part.quorum for part in parts), 1),
            "precision": "float64",
            "engine": "sequential",
        }
        task = self.task or Task(network(self.net))
        shape = NETS[self.net][1] if self.task is None else (6,)
        settings = Settings(**{**base, **self.settings, **changed})
        method = algorithm(*parts, **{**LOCAL, **self.local})
        return prepare(method, task, federation(shape, self.sizes), settings)

    def run(self, *parts: Part, **changed: Any) -> list[Round]:
        """Run a method here."""
        return list(self.session(*parts, **changed).rounds())

    def kept(self, *parts: Part) -> list[Kept]:
        """Return all that is carried from round to round."""
        world = self.session(*parts).world
        states = [start(world)]
        for number in range(ROUNDS):
            states.append(play(world, states[-1], number)[0])
        return states


def untraced(session: Session) -> Session:
    """Return a session whose stacked engine does not trace its step."""
    assert isinstance(session.world.engine, Stacked)
    engine = replace(session.world.engine, trace=False)
    return replace(session, world=replace(session.world, engine=engine))


def apart(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    """Return the largest difference between two models; NaN where one has a NaN."""
    gaps = [(one[k].detach().double() - other[k].detach().double()).abs().max() for k in one]
    return float(torch.stack(gaps).max())


def replayed(session: Session) -> tuple[list[plain.Round], Round]:
    """Play a session and return its visits as an oracle takes them, and its last round."""
    engine, visited = session.world.engine, list[plain.Round]()
    assert isinstance(engine, Sequential)
    preparation, train = session.federation.source.preparation, session.federation.train
    x, y = preparation.numbers(train.x, torch.float64), train.y
    sizes, counts = session.federation.sizes.tolist(), session.federation.label_counts.tolist()

    def visit(k: int, batches: Any) -> plain.Visit:
        seen = [(x[r[r >= 0]], y[r[r >= 0]]) for r in batches]
        return plain.Visit(k, sizes[k], seen, counts[k])

    class Watched:
        def visits(self, errand: Any) -> Any:
            paired = zip(errand.clients, errand.batches, strict=True)
            visited.append([visit(k, batches) for k, batches in paired])
            return engine.visits(errand)

    played = list(replace(session, world=replace(session.world, engine=Watched())).rounds())
    return visited, played[-1]
