"""Run folders: what is read, and what is said about what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fedkeel.errors import InputError
from fedkeel.results.folders import NoRuns, read, read_all


def test_a_run_folder_is_read(write_run):
    (run,) = read(write_run("one", "gcfed", 3, 0.6, recipe={"run.target": 0.4}))
    assert (run.method, run.seed, run.failed, run.target) == ("gcfed", 3, None, 0.4)
    assert run.recipe["data"]["alpha"] == 0.1
    assert run.trace() == {0: 0.1, 1: 0.2, 2: 0.4, 3: 0.6}
    assert run.total("bytes_down") == 8000


def test_a_folder_of_runs_counts_as_its_runs_in_natural_order(write_run, tmp_path):
    for name in ("all/s10", "all/s2", "all/s1"):
        write_run(name)
    (tmp_path / "all" / "sweep.json").write_text("{}")
    (tmp_path / "all" / "notes").mkdir()
    assert [run.path.name for run in read(tmp_path / "all")] == ["s1", "s2", "s10"]


def test_a_run_named_twice_counts_once(write_run, tmp_path):
    one, two = write_run("all/a"), write_run("all/b", seed=1)
    assert [run.path for run in read_all([two, tmp_path / "all", one])] == [two, one]


def test_a_last_line_cut_in_half_is_ignored(write_run):
    path = write_run("one")
    with (path / "rounds.jsonl").open("a") as file:
        file.write('{"round": 4, "accu')
    assert len(read(path)[0].rounds) == 4


def test_an_accuracy_that_is_not_finite_or_not_evaluated_is_no_point(write_run):
    path = write_run("one")
    (path / "rounds.jsonl").write_text(
        '{"round": 1, "accuracy": null}\n{"round": 2, "accuracy": NaN}\n'
    )
    assert read(path)[0].trace() == {}


def damage(path: Path, file: str, text: str | None) -> None:
    (path / file).unlink()
    if text is not None:
        (path / file).write_text(text)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("recipe.toml", None, "recipe.toml' is missing"),
        ("recipe.toml", "rounds = = 3", "recipe.toml' is damaged"),
        ("recipe.toml", "data = 3", "'data' is not a table"),
        ("rounds.jsonl", None, "rounds.jsonl' is missing"),
        ("rounds.jsonl", '{"round": 0}\noops\n{"round": 2}\n', "damaged in line 2"),
        ("rounds.jsonl", '{"accuracy": 0.5}\n', "damaged in line 1"),
        ("summary.json", "", "summary.json' is damaged"),
        ("summary.json", "[]", "summary.json' is damaged"),
        ("summary.json", '{"format": 2}', "has format 2"),
        ("summary.json", '{"method": "fedavg"}', "no valid 'seed'"),
    ],
)
def test_what_is_damaged_is_named_in_one_line(write_run, file, text, said):
    path = write_run("one")
    damage(path, file, text)
    with pytest.raises(InputError) as error:
        read(path)
    message = str(error.value)
    assert said in message
    assert str(path) in message
    assert "\n" not in message


def test_summary_values_of_the_wrong_kind_are_named(write_run):
    path = write_run("one")
    summary = json.loads((path / "summary.json").read_text())
    (path / "summary.json").write_text(json.dumps({**summary, "failed": "yes"}))
    with pytest.raises(InputError, match="no valid 'failed'"):
        read(path)


def test_a_place_that_is_no_folder_of_runs(write_run, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nothing")
    with pytest.raises(InputError, match="is a file"):
        read(write_run("one") / "summary.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoRuns, match="holds no run"):
        read(tmp_path / "empty")


def test_a_run_that_never_ended_is_named_with_what_to_do(write_run, tmp_path):
    path = write_run("all/one")
    (path / "summary.json").unlink()
    for place in (path, tmp_path / "all"):
        with pytest.raises(NoRuns, match=r"no finished run .*one.*fedkeel run .*recipe\.toml"):
            read(place)
