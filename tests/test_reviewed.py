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
from fedkeel.cli import main
from fedkeel.data.plan import plan
from fedkeel.engines.tracing import compiler
from fedkeel.names import METHODS, constructor, method
from fedkeel.recipe import resolve
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


def test_targets_and_outputs_that_broadcast_are_refused() -> None:
    """(B, 1) outputs and (B,) targets made (B, B) losses, and trained on them."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)).astype(np.float32), rng.normal(size=30).astype(np.float32)
    held = fk.data.from_arrays(x, y).split(fk.data.IID(), clients=3)

    def squared(outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square()

    task = fk.Task(nn.Linear(3, 1), criterion=squared, metric=squared)
    with pytest.raises(fk.InputError, match=r"broadcast.*y.reshape\(-1, 1\)"):
        fk.train(fk.algorithm(fk.FedAvg()), task, held, rounds=1, cohort=2)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_split_with_open_set_noise_can_be_given_back(tmp_path: Path, rate: float) -> None:
    """What noise took away was missing from the written split, and taken away again."""
    words = ["data.clients=4", "data.foreign=[60, 61]", f"data.open_set_noise={rate}", "rounds=0"]
    words += ["cohort=2", "model.hidden=[4, 4]"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["run", "data.partition=iid", *words, "--out", str(first)]) == 0
    again = ["data.partition=file", f"data.file={first / 'partition.npz'}", *words[1:]]
    assert main(["run", *again, "--out", str(second)]) == 0
    told = [json.loads((run / "summary.json").read_text()) for run in (first, second)]
    assert told[0]["data_sha256"] == told[1]["data_sha256"]
    with np.load(first / "partition.npz") as split:
        assert (split["owner"] >= 0).all() and (split["held"] < 0).any()


def test_sequences_with_one_class_each_know_their_vocabulary(tmp_path: Path) -> None:
    """The vocabulary was taken to be as large as the number of classes."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 20, (40, 6)), rng.integers(0, 2, 40)
    np.savez(tmp_path / "words.npz", x_train=x[:30], y_train=y[:30], x_test=x[30:], y_test=y[30:])
    words = ["data.partition=iid", "data.clients=3", "cohort=2", "rounds=1", "local.steps=1"]
    words += ["model.hidden=4", "model.embed=3", "run.compile=false"]
    name = f"data.name={tmp_path / 'words.npz'}"
    assert main(["run", name, *words, "--out", str(tmp_path / "run")]) == 0
    state = fk.load(tmp_path / "run").state_dict
    assert state["embedding.weight"].shape == (20, 3) and state["fc.weight"].shape == (2, 4)


def test_the_command_line_can_change_partition_and_model_of_a_written_recipe(
    tmp_path: Path,
) -> None:
    """Keys of the file's partition and model, which nobody can take away, were errors."""
    path = tmp_path / "recipe.toml"
    path.write_text(resolve(None, ["data.partition=classes"]).to_toml())
    recipe = resolve(path, ["data.partition=iid", "model.name=cnn"])
    assert "data.classes_per_client" not in recipe.values and "model.hidden" not in recipe.values
    with pytest.raises(fk.InputError, match=r"data\.classes_per_client is not used"):
        resolve(path, ["data.partition=iid", "data.classes_per_client=3"])
    path.write_text('[data]\npartition = "iid"\nalpha = 0.3\n')
    with pytest.raises(fk.InputError, match=r"data\.alpha is not used"):
        resolve(path, ["rounds=3"])


def test_owners_may_be_names() -> None:
    x, y = np.zeros((4, 2), np.float32), np.array([0, 1, 0, 1])
    source = fk.data.from_arrays(x, y, x, y, owner=["Köln", "Bonn", "Köln", "Aachen"])
    assert source.owner is not None and source.owner.tolist() == [2, 1, 2, 0]
    with pytest.raises(fk.InputError, match="owner holds -1"):
        fk.data.from_arrays(x, y, x, y, owner=np.array([0, -1, 0, 0]))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["data.clients=100000"], "data.clients=100000 is more than the 28243 samples"),
        (["model.hidden=[1]"], "model.hidden=[1] is out of range"),
        (["data.server=0.99999999"], "data.server=0.99999999 leaves"),
        (["data.label_noise=[0.1]"], "data.label_noise has 1 rate"),
        (["data.alpha=1e-7"], "a number from 1e-6 to 1e9"),
    ],
)
def test_an_error_names_the_key(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_file_remembers_clients_without_samples(tmp_path: Path) -> None:
    """The last of them were forgotten, and all that counts clients changed."""
    x, y = np.zeros((6, 2), np.float32), np.array([0, 1, 0, 1, 0, 1])
    source = fk.data.from_arrays(x, y, x, y)
    counts = np.zeros((5, 2), int)
    np.savez(tmp_path / "split.npz", owner=np.array([0, 1, 2, 0, 1, 2]), label_counts=counts)
    rule = fk.data.File(tmp_path / "split.npz")
    assert source.split(rule).clients == source.split(rule, clients=5).clients == 5
    with pytest.raises(fk.InputError, match="has 5: leave clients out"):
        source.split(rule, clients=3)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (np.zeros((4, 0), int), r"\(4, 0\)"),
        (np.array([0, 1, 0, 10**7]), "y holds the label 10000000, and there are 4 samples"),
    ],
)
def test_labels_that_cannot_be(y: np.ndarray, says: str) -> None:
    x = np.zeros((4, 2), np.float32)
    with pytest.raises(fk.InputError, match=says):
        fk.data.from_arrays(x, y, x, y)


def test_numbers_of_numpy_are_seeds_and_halves_are_none() -> None:
    x, y = np.zeros((6, 2), np.float32), np.array([0, 1, 0, 1, 0, 1])
    source = fk.data.from_arrays(x, y, x, y)
    ours, theirs = (source.split(fk.data.IID(), 3, seed=s) for s in (3, np.int64(3)))
    assert ours.owner.tolist() == theirs.owner.tolist()
    assert theirs.with_noise(label=0.5).clean is not None
    with pytest.raises(fk.InputError, match=r"seed=1\.5"):
        source.split(fk.data.IID(), 3, seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(fk.InputError, match=r"classes=10\.5"):
        fk.data.from_arrays(x, y, x, y, classes=10.5)  # type: ignore[arg-type]
