"""What a run leaves on disk: as each round ends, and however the run ends."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import fedkeel as fk
from fedkeel.session import Round
from fedkeel.testing.worlds import LOCAL, apart, federation, network

KEYS = [
    "round", "accuracy", "loss", "train_loss", "cohort", "steps", "samples", "seconds",
    "bytes_up", "bytes_down", "extra",
]  # fmt: skip
SUMMARY = {
    "format", "method", "method_resolved", "seed", "rounds", "metric", "accuracy", "seconds",
    "failed", "data_sha256", "params_sha256", "versions",
}  # fmt: skip
FILES = {"recipe.toml", "rounds.jsonl", "summary.json", "model.safetensors", "partition.npz"}


def run(out: Path, net: str = "batch", method: Any = None, **changed: Any) -> Iterator[Round]:
    shape = (6,) if net == "mlp" else (2, 4, 4)
    given = {"rounds": 3, "cohort": 4, "seed": 5, "engine": "sequential", **changed}
    method = method or fk.algorithm(fk.FedProx(0.1), fk.gc_fed(), **LOCAL)
    return fk.run(method, fk.Task(network(net)), federation(shape), out=out, **given)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rounds.jsonl").read_text().splitlines()]


def summary(out: Path) -> dict[str, Any]:
    found = json.loads((out / "summary.json").read_text())
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Round]]:
    out = tmp_path_factory.mktemp("runs") / "new" / "one"
    return out, list(run(out, eval_every=2))


Finished = tuple[Path, list[Round]]


def test_all_files_and_no_other(finished: Finished) -> None:
    assert {path.name for path in finished[0].iterdir()} == FILES


def test_a_line_a_round_with_every_key(finished: Finished) -> None:
    out, played = finished
    written = lines(out)
    assert [list(line) for line in written] == [KEYS] * 4
    assert [line["round"] for line in written] == [0, 1, 2, 3]
    for line, round in zip(written, played, strict=True):
        assert line == {**round.line(), "cohort": list(round.cohort)}
    assert written[0]["train_loss"] is None and written[0]["cohort"] == []
    assert [line["accuracy"] is None for line in written] == [False, True, False, False]
    assert (out / "rounds.jsonl").read_text().endswith("\n")


def test_the_summary(finished: Finished) -> None:
    out, played = finished
    found, held = summary(out), federation((2, 4, 4))
    assert set(found) == SUMMARY
    scores = [r.accuracy for r in played[1:] if r.accuracy is not None]
    assert found["accuracy"] == {
        "last": scores[-1],
        "best": max(scores),
        "final": pytest.approx(fmean(scores)),
    }
    assert found["seconds"]["round_median"] == median(r.seconds for r in played[1:])
    assert found["seconds"]["total"] == pytest.approx(sum(r.seconds for r in played))
    assert (found["rounds"], found["seed"], found["failed"]) == (3, 5, None)
    assert (found["format"], found["metric"]) == (1, "accuracy")
    assert found["data_sha256"] == held.sha256
    assert {"fedkeel", "torch", "numpy"} <= set(found["versions"])
    assert found["method"] == "fedprox + gcfed"


def test_the_fingerprint_by_hand(finished: Finished) -> None:
    out, played = finished
    model, digest = network("batch"), hashlib.sha256()
    model.load_state_dict(played[-1].state_dict())
    for _, parameter in model.named_parameters():
        digest.update(parameter.detach().numpy().astype("<f4").tobytes())
    for _, buffer in model.named_buffers():
        digest.update(buffer.numpy().astype("<f4").tobytes())
    assert summary(out)["params_sha256"] == digest.hexdigest()


@pytest.mark.parametrize("precision", ["float32", "float64", "bfloat16"])
def test_the_model_under_its_own_names_and_in_its_precision(tmp_path: Path, precision: str) -> None:
    last = list(run(tmp_path / "a", precision=precision, rounds=1))[-1]
    loaded = fk.load(tmp_path / "a").state_dict
    model = network("batch")
    assert set(loaded) == set(model.state_dict())
    model.double().load_state_dict(dict(loaded))
    assert apart(loaded, last.state_dict()) == 0
    wanted = torch.float64 if precision == "float64" else torch.float32
    assert {t.dtype for t in loaded.values()} == {wanted, torch.int64}


def test_the_same_seed_gives_the_same_fingerprint_and_more_rounds_the_same_lines(
    tmp_path: Path,
) -> None:
    for name, rounds in (("one", 2), ("again", 2), ("more", 3)):
        list(run(tmp_path / name, "mlp", rounds=rounds))
    prints = [summary(tmp_path / name)["params_sha256"] for name in ("one", "again", "more")]
    assert prints[0] == prints[1] != prints[2]
    few, many = lines(tmp_path / "one"), lines(tmp_path / "more")
    assert [{**a, "seconds": 0} for a in few] == [{**b, "seconds": 0} for b in many[:3]]


def test_the_recipe_says_what_was_run(finished: Finished) -> None:
    found = tomllib.loads((finished[0] / "recipe.toml").read_text())
    assert (found["format"], found["rounds"], found["cohort"], found["seed"]) == (1, 3, 4, 5)
    assert found["weighting"] == "samples" and found["server_lr"] == 1.0
    expected = {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-2, "batch_size": 4, "epochs": 2}
    assert expected.items() <= found["local"].items() and "steps" not in found["local"]
    assert found["run"]["eval_every"] == 2 and found["run"]["precision"] == "float32"
    assert found["data"]["clients"] == 12
    resolved = found["resolved"]
    assert resolved["engine"] == "sequential" and resolved["decay"] == "coupled"
    assert resolved["centred_client"] == ["conv1.weight", "conv2.weight"]
    assert resolved["centred_server"] == ["conv1.weight", "conv2.weight", "fc.weight"]


def test_the_partition_can_be_given_back(finished: Finished) -> None:
    with np.load(finished[0] / "partition.npz") as found:
        owner = found["owner"]
    assert np.array_equal(owner, federation((2, 4, 4)).owner) and owner.dtype.kind == "i"


def test_load_reads_it_all_back(finished: Finished) -> None:
    out, played = finished
    found = fk.load(out)
    assert found.path == out and found.summary == summary(out)
    assert [r["round"] for r in found.rounds] == [0, 1, 2, 3]
    assert found.recipe["rounds"] == 3
    assert apart(found.state_dict, played[-1].state_dict()) == 0
    with pytest.raises(fk.InputError, match="load_state_dict"):
        found.module()  # a module from Python has no recipe


def test_lines_are_on_disk_as_rounds_end(tmp_path: Path) -> None:
    for played in run(tmp_path / "a", "mlp"):
        assert [line["round"] for line in lines(tmp_path / "a")] == list(range(played.number + 1))
        assert {"recipe.toml", "partition.npz"} <= {p.name for p in (tmp_path / "a").iterdir()}


def test_nothing_is_written_before_the_run_begins(tmp_path: Path) -> None:
    rounds = run(tmp_path / "a", "mlp")
    assert not (tmp_path / "a").exists()
    del rounds
    assert not (tmp_path / "a").exists()


def test_no_rounds(tmp_path: Path) -> None:
    list(run(tmp_path / "a", "mlp", rounds=0))
    found = summary(tmp_path / "a")
    assert found["rounds"] == 0 and found["failed"] is None
    assert found["accuracy"] == {"last": None, "best": None, "final": None}
    assert found["seconds"]["round_median"] is None
    assert apart(fk.load(tmp_path / "a").state_dict, network("mlp").state_dict()) == 0


# --- when it does not end well ---


def test_a_run_that_is_left_is_interrupted_and_readable(tmp_path: Path) -> None:
    rounds = run(tmp_path / "a", "mlp")
    kept = [next(rounds), next(rounds)]
    rounds.close()  # type: ignore[attr-defined]
    found = summary(tmp_path / "a")
    assert {path.name for path in (tmp_path / "a").iterdir()} == FILES
    assert found["failed"]["reason"] == "interrupted" and found["failed"]["round"] == 2
    assert set(found["failed"]) == {"round", "reason", "detail"} and found["rounds"] == 1
    assert [line["round"] for line in lines(tmp_path / "a")] == [0, 1]
    assert apart(fk.load(tmp_path / "a").state_dict, kept[-1].state_dict()) == 0


def test_a_run_that_is_left_after_its_last_round_is_finished(tmp_path: Path) -> None:
    rounds = run(tmp_path / "a", "mlp", rounds=1)
    assert [next(rounds).number, next(rounds).number] == [0, 1]
    rounds.close()  # type: ignore[attr-defined]
    assert summary(tmp_path / "a")["failed"] is None


@dataclass(frozen=True)
class Failing(fk.Part):
    """Goes wrong in some round, one way or another."""

    how: str
    since: int = 1

    def merge(
        self, update: Tensor, state: Any, replies: fk.Replies, server: fk.Server
    ) -> tuple[Tensor, Any, Any]:
        if server.round >= self.since and self.how == "nan":
            return update * torch.nan, state, replies.ledger
        if server.round >= self.since and self.how == "error":
            raise ZeroDivisionError("of all things")
        if server.round >= self.since and self.how == "interrupt":
            raise KeyboardInterrupt
        return update, state, replies.ledger


@pytest.mark.parametrize(
    ("how", "raised", "reason"),
    [
        ("nan", fk.Diverged, "diverged"),
        ("error", ZeroDivisionError, "error"),
        ("interrupt", KeyboardInterrupt, "interrupted"),
    ],
)
def test_everything_up_to_the_failure_is_there(
    tmp_path: Path, how: str, raised: type[BaseException], reason: str
) -> None:
    kept: list[Round] = []
    with pytest.raises(raised):
        for played in run(tmp_path / "a", "mlp", fk.algorithm(Failing(how), **LOCAL)):
            kept.append(played)
    found = summary(tmp_path / "a")
    assert {path.name for path in (tmp_path / "a").iterdir()} == FILES
    assert (found["failed"]["reason"], found["failed"]["round"]) == (reason, 2)
    assert found["rounds"] == 1 == lines(tmp_path / "a")[-1]["round"]
    assert apart(fk.load(tmp_path / "a").state_dict, kept[-1].state_dict()) == 0
    if how == "error":
        assert "of all things" in found["failed"]["detail"]
    if how == "nan":
        assert "not finite" in found["failed"]["detail"]


def test_divergence_before_the_first_round_leaves_readable_files(tmp_path: Path) -> None:
    model = network("mlp")
    with torch.no_grad():
        model.get_parameter("fc1.weight").fill_(float("nan"))
    with pytest.raises(fk.Diverged) as error:
        list(
            fk.run(
                fk.algorithm(fk.FedAvg()),
                fk.Task(model),
                federation(),
                cohort=4,
                out=tmp_path / "a",
            )
        )
    assert error.value.round == 0
    found = summary(tmp_path / "a")
    assert found["failed"]["reason"] == "diverged" and found["rounds"] == 0
    assert lines(tmp_path / "a") == []


def test_what_is_not_finite_is_null(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Howling(fk.Part):
        def penalty(self, step: fk.Step) -> Tensor:
            return (step.params.detach().sum() * 0) + step.visit.lr.detach() * torch.inf

    for _ in run(tmp_path / "a", "mlp", fk.algorithm(Howling(), **LOCAL), rounds=1):
        pass
    written = lines(tmp_path / "a")
    assert written[1]["train_loss"] is None and written[1]["loss"] is not None
    text = (tmp_path / "a" / "rounds.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text


# --- a place that is taken ---


def test_a_folder_that_holds_something_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("dear diary")
    with pytest.raises(fk.InputError, match="not empty") as error:
        run(tmp_path, "mlp")
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "dear diary"


def test_a_run_is_not_written_over_a_run(tmp_path: Path) -> None:
    list(run(tmp_path / "a", "mlp", rounds=1))
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    with pytest.raises(fk.InputError, match="not empty"):
        run(tmp_path / "a", "mlp", rounds=2)
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == before


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(fk.InputError, match="is a file"):
        run(tmp_path / "a", "mlp")


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert [r.number for r in run(tmp_path, "mlp", rounds=1)] == [0, 1]
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_wrong_arguments_leave_no_folder(tmp_path: Path) -> None:
    with pytest.raises(fk.InputError):
        run(tmp_path / "a", "mlp", cohort=99)
    assert not (tmp_path / "a").exists()


def test_loading_what_is_not_there(tmp_path: Path) -> None:
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(fk.InputError) as error:
            fk.load(place)
        assert "\n" not in str(error.value)


def test_loading_a_model_that_is_damaged(tmp_path: Path) -> None:
    list(run(tmp_path / "a", "mlp", rounds=1))
    (tmp_path / "a" / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(fk.InputError, match=r"model\.safetensors"):
        fk.load(tmp_path / "a")
