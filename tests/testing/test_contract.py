"""The contract: every built-in part keeps it, and one that breaks it is told how, in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.session import Session
from fedkeel.testing import PartError, check_part
from fedkeel.testing.contract import BUILT_IN
from fedkeel.testing.worlds import Lab, apart, replayed, untraced

State = Any

NEUTRAL: dict[str, fk.Part] = {
    "FedProx": fk.FedProx(0.0),
    "fed_avg_m": fk.fed_avg_m(0.0),
    "Clip": fk.Clip(float("inf")),
    "FedAvg": fk.FedAvg(),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_part(name: str) -> None:
    said: list[str] = []
    check_part(BUILT_IN[name], neutral=NEUTRAL.get(name), crossings="none", log=said.append)
    known = name in NEUTRAL or getattr(BUILT_IN[name], "neutral", None) is not None
    assert any("skipped" in line for line in said) != known


# --- good parts, one hook or many ---


@dataclass(frozen=True)
class Everything(fk.Part):
    """Uses every hook there is, and keeps all four kinds of state."""

    strength: float = 0.1

    def neutral(self) -> fk.Part:
        return Everything(0.0)

    def server_state(self, server: fk.Server) -> State:
        return {"mean": torch.zeros_like(server.params), "count": server.params.new_zeros(())}

    def client_state(self, task: fk.Task, capacity: int) -> State:
        return fk.zeros(task), fk.zeros(task)[:1]

    def ledger_state(self, task: fk.Task) -> State:
        return fk.zeros(task)

    def brief(self, params: Tensor, state: State, server: fk.Server) -> tuple[Tensor, State]:
        return params - 0.1 * self.strength * state["mean"], (state["mean"],)

    def select(self, weights: Tensor, shard: fk.Shard, visit: fk.Visit) -> Tensor:
        far = shard.x.flatten(1).square().mean(1)
        return weights * (1 + self.strength * far / (1 + far))

    def begin(self, visit: fk.Visit) -> State:
        return {"sum": torch.zeros_like(visit.anchor)}

    def probe(self, params: Tensor, step: fk.Step) -> Tensor:
        return params + self.strength * (params - step.visit.anchor)

    def logits(self, logits: Tensor, step: fk.Step) -> Tensor:
        share = step.visit.label_counts / step.visit.label_counts.sum().clamp_min(1)
        return logits + self.strength * share

    def penalty(self, step: fk.Step) -> Tensor:
        gap = (step.output.logits - step.teacher.logits.detach()).square().mean(1)
        return self.strength * step.mean(gap)

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        total = step.local["sum"] + grad
        pull = step.visit.memory[0] + step.visit.note[0]
        return grad + self.strength * (0.01 * total + pull), {"sum": total}

    def digest(self, weights: Tensor, trajectory: fk.Trajectory) -> Tensor:
        lengths = trajectory.gram.diagonal(dim1=-2, dim2=-1).clamp_min(0).sqrt()
        return weights * (1 + self.strength * lengths.to(weights.dtype))

    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        mean = update / trajectory.travel.clamp_min(1e-12)
        seen = visit.memory[1] + trajectory.steps.sum()
        return update * (1 + self.strength), (trajectory.travel,), (mean, seen)

    def weigh(self, weights: Tensor, replies: fk.Replies) -> Tensor:
        return weights * (1 + self.strength * replies.note[0].to(weights.dtype))

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        kept = {"mean": 0.5 * state["mean"] + 0.5 * update, "count": state["count"] + 1}
        moved = update + self.strength * (kept["mean"] - replies.ledger.mean(0))
        return moved, kept, replies.updates


def test_a_part_with_every_hook_and_all_crossings() -> None:
    said: list[str] = []
    check_part(Everything(), log=said.append)
    assert sum(line.startswith("with ") for line in said) == len(BUILT_IN) + 0
    assert not any("skipped" in line for line in said)


@pytest.mark.parametrize(
    ("net", "chunk"), [("mlp", 1), ("mlp", 3), ("mlp", 0), ("batch", 3), ("dropout", 3)]
)
def test_a_part_with_every_hook_where_batches_are_short(net: str, chunk: int) -> None:
    """All clients, batches of five: the largest client too has a short last batch."""
    lab = Lab(net, {"batch_size": 5}, {"cohort": 1.0, "rounds": 2})
    one = lab.run(Everything())[-1]
    session = lab.session(Everything(), engine="stacked", chunk=chunk, compile=False)
    for other in (list(session.rounds())[-1], list(untraced(session).rounds())[-1]):
        assert apart(one.state_dict(), other.state_dict()) < 1e-9
        assert one.train_loss == pytest.approx(other.train_loss, rel=1e-9)


def test_a_part_is_tried_on_a_users_task() -> None:
    torch.manual_seed(0)
    task = fk.Task(nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3)))
    check_part(fk.FedProx(0.1), task=task, crossings=["gc_fed"])


def test_what_is_asked_wrongly() -> None:
    with pytest.raises(fk.InputError, match="did you mean 'gc_fed'"):
        check_part(fk.FedAvg(), crossings=["gcfed"])
    with pytest.raises(PartError, match=r"was given .* as neutral"):
        check_part(fk.FedProx(), neutral=fk.FedAvg(), crossings="none")


def test_two_means_are_refused_with_their_reason() -> None:
    @dataclass(frozen=True)
    class Middle(fk.Part):
        @property
        def mean(self) -> Any:
            return lambda rows, weights: rows.median(0).values

    with pytest.raises(fk.InputError, match="only one part"):
        fk.compose(Middle(), Middle())
    median = Lab().run(Middle())[-1].state_dict()
    assert apart(median, Lab().run(fk.FedAvg())[-1].state_dict()) > 1e-6


# --- parts that break it ---


@dataclass(frozen=True)
class Base(fk.Part):
    strength: float = 0.1


class Plain(fk.Part):
    """Not a dataclass."""


@dataclass
class Thawed(fk.Part):
    """Not frozen."""

    mu: float = 0.1


@dataclass(frozen=True)
class Listed(fk.Part):
    """Not hashable."""

    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Secret(fk.Part):
    """Not to be pickled."""

    rule: Callable[[Tensor], Tensor] = field(default=lambda t: t)


@dataclass(frozen=True, eq=False)
class Unequal(fk.Part):
    """Does not equal its copy."""

    mu: float = 0.1


@dataclass(frozen=True, repr=False)
class Nameless(fk.Part):
    """Does not print."""

    def __repr__(self) -> str:
        return "a part"


class Misspelt(Base):
    pass


@dataclass(frozen=True)
class Gradients(Base):
    def gradients(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad, step.local


@dataclass(frozen=True)
class InPlace(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad.mul_(1 + self.strength), step.local


@dataclass(frozen=True)
class InPlaceLocal(Base):
    def begin(self, visit: fk.Visit) -> State:
        return torch.zeros_like(visit.anchor)

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad + step.local.add_(grad), step.local


@dataclass(frozen=True)
class Shaking(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad + 0.01 * torch.randn_like(grad), step.local


DIARY: list[float] = []


@dataclass(frozen=True)
class Diary(Base):
    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        DIARY.append(1.0)
        return update * (1 + 0.01 * len(DIARY)), (), visit.memory


@dataclass(frozen=True)
class Branching(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        if grad.norm() > self.strength:
            grad = grad * 0.5
        return grad, step.local


@dataclass(frozen=True)
class NumberBranching(Base):
    def penalty(self, step: fk.Step) -> Tensor | float:
        if self.strength == 0:
            return 0.0
        return self.strength * step.params.square().sum()


@dataclass(frozen=True)
class Replacing(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        task = step.visit.task
        fresh = step.gradient_of(
            lambda s: s.mean(task.losses(s.output.logits, s.batch.y)) * (1 + self.strength)
        )
        return fresh, step.local


@dataclass(frozen=True)
class Averaging(Base):
    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        return replies.updates.mean(0), state, replies.ledger


@dataclass(frozen=True)
class Overweight(Base):
    def weigh(self, weights: Tensor, replies: fk.Replies) -> Tensor:
        return torch.ones_like(weights)


@dataclass(frozen=True)
class Deaf(Base):
    def logits(self, logits: Tensor, step: fk.Step) -> Tensor:
        return step.output.logits * (1 + self.strength)


@dataclass(frozen=True)
class Short(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> Any:
        return grad


@dataclass(frozen=True)
class Two(Base):
    def finish(self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit) -> Any:
        return update, ()


@dataclass(frozen=True)
class Cut(Base):
    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        return update[:-1], (), visit.memory


@dataclass(frozen=True)
class PerSample(Base):
    def penalty(self, step: fk.Step) -> Tensor:
        return self.strength * step.output.logits.square().mean(1)


@dataclass(frozen=True)
class Padded(Base):
    def penalty(self, step: fk.Step) -> Tensor:
        return self.strength * step.output.logits.square().mean()


@dataclass(frozen=True)
class Counting(Base):
    def server_state(self, server: fk.Server) -> State:
        return 0

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        return update, state + 1, replies.ledger


@dataclass(frozen=True)
class Growing(Base):
    def server_state(self, server: fk.Server) -> State:
        return server.params.new_zeros(0)

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        return update, torch.cat([state, update[:1]]), replies.ledger


@dataclass(frozen=True)
class Forgetting(Base):
    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        return update, (), (update,)


@dataclass(frozen=True)
class Halved(Base):
    def ledger_state(self, task: fk.Task) -> State:
        return fk.zeros(task)

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        return update, state, replies.ledger[:1]


@dataclass(frozen=True)
class Wordy(Base):
    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        return update, {"name": "client"}, visit.memory


@dataclass(frozen=True)
class CountingShapes(Base):
    def digest(self, weights: Tensor, trajectory: fk.Trajectory) -> Tensor:
        return weights * (1 + self.strength * len(weights))


@dataclass(frozen=True)
class Strong(Base):
    """Is not FedAvg at the strength it calls neutral."""

    def neutral(self) -> fk.Part:
        return Strong(0.0)

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad * (1.01 + self.strength), step.local


@dataclass(frozen=True)
class Double(Base):
    """Runs in float64 alone."""

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        turned = torch.eye(len(update), dtype=torch.float64) @ update
        return update + self.strength * turned, state, replies.ledger


@dataclass(frozen=True)
class Exploding(Base):
    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad * 1e200, step.local


@dataclass(frozen=True)
class Crashing(Base):
    def begin(self, visit: fk.Visit) -> State:
        return visit.memory["nothing"]


BROKEN: dict[str, tuple[Any, str]] = {
    "a class": (fk.FedProx, "is not a Part.*instance"),
    "something else": (nn.Linear(1, 1), "is not a Part: inherit fedkeel.Part"),
    "not a dataclass": (Plain(), r"not a dataclass.*@dataclass\(frozen=True\)"),
    "inherits a dataclass": (Misspelt(), "not a dataclass"),
    "not frozen": (Thawed(), r"can be changed.*frozen=True"),
    "not hashable": (Listed(), "hashed.*tuples"),
    "not to be pickled": (Secret(), "pickled.*top of a module"),
    "not equal": (Unequal(), "equal its own pickled copy"),
    "not printed": (Nameless(), "print its own name"),
    "a misspelt hook": (Gradients(), "'gradients'.*did you mean the hook 'gradient'"),
    "in place": (InPlace(), r"in place in gradient\(\).*return a new one"),
    "in place, its own state": (InPlaceLocal(), r"in place in gradient\(\)"),
    "random": (Shaking(), "global generator"),
    "a side effect": (Diary(), "repeated.*arguments alone"),
    "branches": (Branching(), "torch.where"),
    "branches on its number": (NumberBranching(), "number of the method.*torch.where"),
    "replaces the gradient": (Replacing(), "erases .* to the gradient"),
    "replaces the update": (Averaging(), "erases .* to the update"),
    "replaces the weights": (Overweight(), "erases .* to the weights"),
    "replaces the logits": (Deaf(), "erases .* to the logits"),
    "forgets its state": (Short(), r"from gradient\(\): it must return grad, local"),
    "returns two of three": (Two(), r"2 values from finish\(\).*update, note, memory"),
    "another shape": (Cut(), r"from finish\(\).*shape and type must stay"),
    "a penalty a sample": (PerSample(), r"penalty\(\).*one number.*step.mean"),
    "padding": (Padded(), "padded row.*step.mean.*rows_meet"),
    "a number for a state": (Counting(), "int in its server state.*tensors"),
    "a growing state": (Growing(), r"changes .* server state in merge\(\)"),
    "a memory from nowhere": (Forgetting(), r"changes .* memory in finish\(\)"),
    "rows lost": (Halved(), r"changes .* ledger in merge\(\)"),
    "a word in a note": (Wordy(), "str in its note.*tensors"),
    "the shape of the padding": (CountingShapes(), "one client only.*trajectory.steps"),
    "not neutral": (Strong(), "neutral strength.*FedAvg"),
    "one precision": (Double(), "float64 but not in float32"),
    "explodes": (Exploding(), "not finite|finite numbers"),
    "crashes": (Crashing(), "fails in a plain run with TypeError"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_part_is_told_how(name: str) -> None:
    part, said = BROKEN[name]
    with pytest.raises(PartError, match=f"(?s){said}") as error:
        check_part(part, crossings="none")
    assert isinstance(error.value, AssertionError)
    sentence = str(error.value)
    assert "\n" not in sentence and sentence.startswith(
        part.__name__ if isinstance(part, type) else type(part).__name__
    )


# --- stateful methods beside plain loops ---


def both(lab: Lab, *parts: fk.Part) -> tuple[Session, dict[str, Tensor]]:
    """Run one client at a time; check that many at once and traced end the same."""
    last = lab.run(*parts)[-1].state_dict()
    traced = lab.session(*parts, engine="stacked", chunk=2, compile=False)
    whole = untraced(lab.session(*parts, engine="stacked"))
    for session in (traced, whole):
        assert apart(list(session.rounds())[-1].state_dict(), last) < 1e-9
    return lab.session(*parts), last


def flat(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def put(model: nn.Module, vector: Tensor) -> None:
    torch.nn.utils.vector_to_parameters(vector, model.parameters())


def slope(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The gradient of the mean loss, as a vector."""
    grads = torch.autograd.grad(F.cross_entropy(model(x), y), list(model.parameters()))
    return torch.cat([g.flatten() for g in grads])


LR, RHO, WD = 0.05, 0.9, 1e-2


def descended(
    model: nn.Module, start: Tensor, batches: Sequence[Any], correct: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """SGD with momentum and coupled decay; return where it ends, and every displacement."""
    w, v, moved = start.clone(), torch.zeros_like(start), []
    for x, y in batches:
        put(model, w)
        v = RHO * v + correct(slope(model, x, y)) + WD * w
        moved.append(LR * v)
        w = w - LR * v
    return w, torch.stack(moved) if moved else torch.zeros(0, len(w), dtype=w.dtype)


@dataclass(frozen=True)
class Scaffold(fk.Part):
    """Karimireddy et al., 2020: a client's gradient is corrected by what the others would say."""

    def server_state(self, server: fk.Server) -> State:
        return torch.zeros_like(server.params)

    def client_state(self, task: fk.Task, capacity: int) -> State:
        return fk.zeros(task)

    def brief(self, params: Tensor, state: State, server: fk.Server) -> tuple[Tensor, State]:
        return params, state

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, State]:
        return grad - step.visit.memory + step.visit.note, step.local

    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, State, State]:
        walked = (trajectory.start - trajectory.end) / trajectory.travel.clamp_min(1e-12)
        own = visit.memory - visit.note + walked
        return update, own - visit.memory, own

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        return update, state + replies.shares.to(update.dtype) @ replies.note, replies.ledger


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_scaffold_beside_a_plain_loop(weighting: str) -> None:
    """With the population's shares: c stays the weighted mean of all clients' own, asked or not."""
    lab = Lab(local={"weighting": weighting}, settings={"rounds": 4})
    session, last = both(lab, Scaffold())
    visits, _ = replayed(session)
    model, sizes = session.task.model.double(), session.federation.sizes
    p = sizes / sizes.sum() if weighting == "samples" else np.full(12, 1 / 12)
    w = flat(model)
    c, own = torch.zeros_like(w), torch.zeros(12, len(w), dtype=w.dtype)
    for cohort in visits:
        delta, change = torch.zeros_like(w), torch.zeros_like(w)
        total = sum(p[visit.client] for visit in cohort)
        for visit in cohort:
            k = visit.client
            end, moved = descended(model, w, visit.batches, lambda g, k=k, c=c: g - own[k] + c)
            divisor = fk.Local(momentum=RHO).travel(len(moved), LR)
            fresh = own[k] - c + (w - end) / divisor
            delta += p[k] / total * (w - end)
            change += p[k] * (fresh - own[k])
            own[k] = fresh
        w, c = w - delta, c + change
    put(model, w)
    assert apart(dict(model.state_dict()), last) < 1e-9
    torch.testing.assert_close(c, torch.from_numpy(p) @ own)


@dataclass(frozen=True)
class Varp(fk.Part):
    """Jhunjhunwala et al., 2022: absent clients speak with what they said last."""

    def server_state(self, server: fk.Server) -> State:
        return torch.zeros_like(server.params)

    def ledger_state(self, task: fk.Task) -> State:
        return fk.zeros(task)

    def merge(
        self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, State, State]:
        kind = update.dtype
        moved = update + state - replies.weights.to(kind) @ replies.ledger
        fresh = state + replies.shares.to(kind) @ (replies.updates - replies.ledger)
        return moved, fresh, replies.updates


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_a_ledger_beside_a_plain_loop(weighting: str) -> None:
    lab = Lab(local={"weighting": weighting}, settings={"rounds": 4})
    session, last = both(lab, Varp())
    visits, _ = replayed(session)
    model, sizes = session.task.model.double(), session.federation.sizes
    p = sizes / sizes.sum() if weighting == "samples" else np.full(12, 1 / 12)
    w = flat(model)
    y, rows = torch.zeros_like(w), torch.zeros(12, len(w), dtype=w.dtype)
    for cohort in visits:
        total = sum(p[visit.client] for visit in cohort)
        v, change = y.clone(), torch.zeros_like(w)
        for visit in cohort:
            said = w - descended(model, w, visit.batches, lambda g: g)[0]
            v += p[visit.client] / total * (said - rows[visit.client])
            change += p[visit.client] * (said - rows[visit.client])
            rows[visit.client] = said
        w, y = w - v, y + change
    put(model, w)
    assert apart(dict(model.state_dict()), last) < 1e-9


def test_replies_can_be_multiplied_in_the_runs_own_precision() -> None:
    """Weights and shares come in the type of the updates, so that no part has to convert."""

    @dataclass(frozen=True)
    class Careless(fk.Part):
        def merge(
            self, update: Tensor, state: State, replies: fk.Replies, server: fk.Server
        ) -> tuple[Tensor, State, State]:
            drift = (replies.weights - replies.shares) @ replies.updates
            return update + 0.1 * drift, state, replies.ledger

    for precision in ("float32", "float64"):
        assert Lab().run(Careless(), precision=precision)[-1].number == 3


@dataclass(frozen=True)
class Halving(fk.Part):
    """A digest that can be said without a Gram matrix: later steps count less, longer ones more."""

    beta: float = 0.5

    def digest(self, weights: Tensor, trajectory: fk.Trajectory) -> Tensor:
        place = trajectory.steps.cumsum(-1)
        lengths = trajectory.gram.diagonal(dim1=-2, dim2=-1).to(weights.dtype)
        return weights * trajectory.steps * self.beta**place * (1 + lengths)


def test_a_digest_beside_a_plain_loop() -> None:
    session, last = both(Lab(local={"weighting": "uniform"}), Halving())
    visits, _ = replayed(session)
    model = session.task.model.double()
    w = flat(model)
    for cohort in visits:
        delta = torch.zeros_like(w)
        for visit in cohort:
            _, moved = descended(model, w, visit.batches, lambda g: g)
            for i, step in enumerate(moved):
                delta += 0.5 ** (i + 1) * (1 + step @ step) * step / len(cohort)
        w = w - delta
    put(model, w)
    assert apart(dict(model.state_dict()), last) < 1e-9


@dataclass(frozen=True)
class Perturbed(fk.Part):
    """Foret et al., 2021: the gradient is read where the loss is highest nearby."""

    rho: float = 0.05

    def probe(self, params: Tensor, step: fk.Step) -> Tensor:
        task = step.visit.task
        g = step.gradient_of(lambda s: s.mean(task.losses(s.output.logits, s.batch.y)))
        return params + self.rho * g / (g.norm() + 1e-12)


@pytest.mark.parametrize("net", ["mlp", "batch"])
def test_a_probe_beside_a_plain_loop(net: str) -> None:
    lab = Lab(net, {"batches": "drop"}, {"buffers": "local"})
    session, last = both(lab, Perturbed())
    visits, _ = replayed(session)
    model = session.task.model.double().train()
    w = flat(model)
    for cohort in visits:
        n = sum(visit.samples for visit in cohort)
        delta = torch.zeros_like(w)
        for visit in cohort:
            here, v = w.clone(), torch.zeros_like(w)
            for x, y in visit.batches:
                put(model, here)
                g = slope(model, x, y)
                put(model, here + 0.05 * g / (g.norm() + 1e-12))
                v = RHO * v + slope(model, x, y) + WD * here
                here = here - LR * v
            delta += visit.samples / n * (w - here)
        w = w - delta
    put(model, w)
    assert max(apart({k: t}, last) for k, t in model.named_parameters()) < 1e-9


@dataclass(frozen=True)
class Coreset(fk.Part):
    """Keeps the samples whose first number is positive, and weighs them by it."""

    def select(self, weights: Tensor, shard: fk.Shard, visit: fk.Visit) -> Tensor:
        return weights * shard.x[:, 0].clamp_min(0)


@pytest.mark.parametrize("batches", ["keep", "drop", "pad"])
def test_a_selection_beside_a_plain_loop(batches: str) -> None:
    """The mean of a batch divides by the rows that count, whatever their weights."""
    lab = Lab(local={"batches": batches, "batch_size": 3}, settings={"cohort": 1.0})
    session, last = both(lab, Coreset())
    visits, played = replayed(session)
    assert played.samples == sum(len(y) for visit in visits[-1] for _, y in visit.batches)
    model = session.task.model.double()
    w = flat(model)
    for cohort in visits:
        n = sum(visit.samples for visit in cohort)
        delta = torch.zeros_like(w)
        for visit in cohort:
            here, v = w.clone(), torch.zeros_like(w)
            for x, y in visit.batches:
                assert (x[:, 0] > 0).all()
                put(model, here)
                losses = F.cross_entropy(model(x), y, reduction="none") * x[:, 0]
                grads = torch.autograd.grad(losses.sum() / len(y), list(model.parameters()))
                v = RHO * v + torch.cat([g.flatten() for g in grads]) + WD * here
                here = here - LR * v
            delta += visit.samples / n * (w - here)
        w = w - delta
    put(model, w)
    assert apart(dict(model.state_dict()), last) < 1e-9


@pytest.mark.parametrize(
    ("part", "neutral"),
    [(Scaffold(), None), (Varp(), None), (Halving(), None), (Perturbed(), Perturbed(0.0))],
    ids=repr,
)
def test_these_parts_keep_the_contract(part: fk.Part, neutral: fk.Part | None) -> None:
    check_part(part, neutral=neutral, crossings=["gc_fed"])


def test_a_selection_of_nothing_leaves_the_client_where_it_was() -> None:
    @dataclass(frozen=True)
    class Nothing(fk.Part):
        def select(self, weights: Tensor, shard: fk.Shard, visit: fk.Visit) -> Tensor:
            return weights * 0

    for engine in ("sequential", "stacked"):
        first, *_, last = Lab().run(Nothing(), engine=engine, compile=False)
        assert apart(first.state_dict(), last.state_dict()) == 0
        assert (last.steps, last.samples, last.train_loss) == (0, 0, None)


def test_a_check_changes_nothing_outside() -> None:
    before = torch.get_rng_state(), torch.get_num_threads()
    check_part(fk.Clip(0.5), crossings=["local_gc"])
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == torch.get_num_threads()


def test_built_in_names_are_the_public_ones() -> None:
    names: Mapping[str, fk.Part] = BUILT_IN
    assert all(hasattr(fk, name) for name in names)
