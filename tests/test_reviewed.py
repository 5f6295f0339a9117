"""What reviewers broke once, and shall not break again."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.data.plan import plan
from fedkeel.engines.tracing import compiler
from fedkeel.names import METHODS, constructor, method
from fedkeel.spoken import spoken
from fedkeel.testing.worlds import NETS, Lab, apart, federation


class Centred(nn.Module):
    """Subtracts the mean over the rows, which no type of layer gives away."""

    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(0)


def deep() -> nn.Module:
    narrow = [layer for _ in range(8) for layer in (nn.Linear(2, 2), nn.Tanh())]
    return nn.Sequential(Centred(), nn.Linear(6, 2), *narrow, nn.Linear(2, 3))


class Instance(nn.Module):
    """InstanceNorm that keeps statistics: its rows meet in the buffers alone."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.InstanceNorm1d(2, track_running_stats=True)
        self.fc = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.norm(x.view(-1, 2, 3)).flatten(1))


@pytest.mark.parametrize("build", [deep, Instance])
def test_rows_that_meet_are_found(build) -> None:
    lab = Lab(task=fk.Task(build()))
    session = lab.session(fk.FedAvg(), engine="stacked")
    assert session.world.rows_meet
    ends = [list(s.rounds())[-1].state_dict() for s in (session, lab.session(fk.FedAvg()))]
    assert apart(*ends) < 1e-9


@pytest.mark.parametrize("net", ["mlp", "conv", "group", "dropout"])
def test_rows_that_do_not_meet_are_not(net: str) -> None:
    assert not Lab(net).session(fk.FedAvg()).world.rows_meet


def test_steps_are_not_used_up_by_a_dropped_row() -> None:
    rows = [np.arange(n) for n in (9, 5, 8)]
    made = plan(rows, [0, 1, 2], batch_size=4, epochs=None, steps=3, batches="keep", seed=0,
                round=0, no_single_rows=True)  # fmt: skip
    assert [len(batches) for batches in made] == [3, 3, 3]
    assert all(((batches >= 0).sum(1) != 1).all() for batches in made)


def test_batches_of_one_are_refused_where_rows_meet() -> None:
    with pytest.raises(fk.InputError, match="batch_size=1"):
        Lab("batch", {"batch_size": 1}).session(fk.FedAvg())


def test_the_loss_is_of_the_clients_that_count() -> None:
    held = federation()
    poison = int(held.indices(4)[0])
    held.source.train.x[poison] = float("nan")
    method_ = fk.algorithm(fk.FedAvg(), lr=0.1, batch_size=4, epochs=1)
    last = fk.train(method_, fk.Task(NETS["mlp"][0]()), held, rounds=1, cohort=1.0,
                    on_nonfinite="skip_client")  # fmt: skip
    assert last.train_loss is not None


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
def test_compiled_runs_in_threads_give_what_each_gives_alone() -> None:
    def run(seed: int) -> dict[str, Tensor]:
        return Lab().run(fk.gc_fed(), engine="stacked", compile=True, seed=seed)[-1].state_dict()

    alone, together = [run(0), run(1)], {}
    threads = [threading.Thread(target=lambda s=s: together.update({s: run(s)})) for s in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(apart(alone[s], together[s]) == 0 for s in (0, 1))


@dataclass(frozen=True)
class Derived(fk.Part):
    """Keeps a number that is no field."""

    rho: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.rho)

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, object]:
        return grad * self.twice, step.local


def test_a_part_may_derive_what_it_likes() -> None:
    ends = [Lab().run(Derived(), engine=e)[-1].state_dict() for e in ("sequential", "stacked")]
    assert apart(*ends) < 1e-9


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: fk.algorithm(fk.FedAvg(), lr="a"), "lr"),
        (lambda: fk.algorithm(fk.FedAvg(), lr=0), "lr"),
        (lambda: fk.algorithm(fk.FedAvg(), lr=float("inf")), "lr"),
        (lambda: fk.algorithm(fk.FedAvg(), epochs=True), "epochs"),
        (lambda: fk.algorithm(fk.FedAvg(), nesterov="false"), "nesterov"),
        (lambda: fk.Clip(norm=True), "norm"),
        (lambda: fk.Clip(norm="a"), "norm"),
        (lambda: fk.FedProx(mu=float("inf")), "mu"),
        (lambda: fk.fed_adam(lr="x"), "lr"),
        (lambda: fk.run(fk.algorithm(fk.FedAvg()), nn.Linear(6, 3), federation()), "task"),
        (lambda: fk.run(fk.algorithm(fk.FedAvg()), fk.Task(nn.Linear(6, 3)), federation().source),
         "federation"),
    ],
)  # fmt: skip
def test_python_is_told_as_the_command_line_is(build, named: str) -> None:
    with pytest.raises(fk.InputError, match=named):
        build()


def test_an_out_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    played = fk.run(fk.algorithm(fk.FedAvg()), fk.Task(nn.Linear(6, 3)), federation(), rounds=1,
                    cohort=2, out=tmp_path / "file" / "run")  # fmt: skip
    with pytest.raises(fk.InputError, match="out="):
        next(played)


def test_a_run_that_begins_diverged_leaves_its_model(tmp_path: Path) -> None:
    model = nn.Linear(6, 3)
    nn.init.constant_(model.weight, float("nan"))
    with pytest.raises(fk.Diverged) as told:
        fk.train(fk.algorithm(fk.FedAvg()), fk.Task(model), federation(), rounds=2, cohort=2,
                 out=tmp_path / "run")  # fmt: skip
    assert told.value.round == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["failed"]["round"] == 0 and len(summary["params_sha256"]) == 64
    assert torch.isnan(fk.load(tmp_path / "run").state_dict["weight"]).all()


@pytest.mark.parametrize("name", [entry.name for entry in METHODS])
def test_built_in_methods_are_told_by_their_names(name: str) -> None:
    assert spoken(constructor(name)()) == name


@pytest.mark.parametrize(
    "text",
    [
        'clip(norm=5.0) + gcfed(head=["fc1", "fc2"], scope="non_local")',
        "gcfed(tensors=0.5, server=false)",
        'fedzmg(scope="vector") + fedadam(lr=0.3)',
        'localgc(axes="23")',
        'clip(where="server") + globalgc + fedavgm(nesterov=true)',
    ],
)
def test_a_sum_is_told_as_it_was_written(text: str) -> None:
    assert spoken(method(text)) == text and method(spoken(method(text))) == method(text)


class Bare(fk.Part):
    """A part that is no dataclass, which a run need not refuse."""


def test_a_part_without_fields_is_told_by_its_class(tmp_path: Path) -> None:
    fk.train(fk.algorithm(Bare()), fk.Task(nn.Linear(6, 3)), federation(), rounds=1, cohort=2,
             out=tmp_path / "run")  # fmt: skip
    assert fk.load(tmp_path / "run").recipe["method"].endswith("test_reviewed:Bare")


def test_runs_from_python_tell_method_split_and_model_apart(tmp_path: Path) -> None:
    wide, narrow = nn.Linear(6, 3), nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 3))
    source = federation().source
    for i, (model, alpha) in enumerate([(wide, 0.5), (narrow, 0.5), (wide, 5.0)]):
        held = source.split(fk.data.Dirichlet(alpha), clients=3, seed=0)
        fk.train(fk.algorithm(fk.gc_fed()), fk.Task(model), held, rounds=1, cohort=2,
                 out=tmp_path / str(i))  # fmt: skip
    recipes = [fk.load(tmp_path / str(i)).recipe for i in range(3)]
    assert [r["method"] for r in recipes] == ["gcfed"] * 3
    assert [r["data"]["alpha"] for r in recipes] == [0.5, 0.5, 5.0]
    assert recipes[0]["model"]["layout"] == recipes[2]["model"]["layout"]
    assert recipes[0]["model"]["layout"] != recipes[1]["model"]["layout"]


def test_what_one_types_first_prints_in_a_line(tmp_path: Path) -> None:
    held = federation()
    fk.train(fk.algorithm(fk.FedAvg()), fk.Task(nn.Linear(6, 3)), held, rounds=1, cohort=2,
             out=tmp_path / "run")  # fmt: skip
    assert all(len(repr(v)) < 200 for v in (held, held.source, fk.load(tmp_path / "run")))


def test_the_stub_has_every_public_name() -> None:
    stub = (Path(fk.__file__).parent / "__init__.pyi").read_text()
    told = {line.rpartition(" as ")[2] for line in stub.splitlines() if " as " in line}
    assert told | {"__version__"} == set(fk.__all__)
