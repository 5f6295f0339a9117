"""``fedkeel compare``: what goes where, and how it ends."""

from __future__ import annotations

import json
import logging

import pytest
import typer

from fedkeel.cli.compare import compare
from fedkeel.errors import InputError


@pytest.fixture
def runs(tmp_path):
    """Two methods, two seeds each, in one folder."""
    for method, finals in (("fedavg", (0.25, 0.5)), ("gcfed", (0.5, 1.0))):
        for seed, final in enumerate(finals):
            path = tmp_path / "all" / f"{method}-{seed}"
            path.mkdir(parents=True)
            (path / "recipe.toml").write_text(f'method = "{method}"\nseed = {seed}\n')
            (path / "rounds.jsonl").write_text(f'{{"round": 1, "accuracy": {final}}}\n')
            summary = {"method": method, "seed": seed, "accuracy": {"final": final}}
            (path / "summary.json").write_text(json.dumps(summary))
    return tmp_path / "all"


def change(runs, name, **values):
    file = runs / name / "summary.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def test_text_goes_to_stdout(runs, capsys):
    compare([runs])
    out, err = capsys.readouterr()
    assert "37.5 ± 17.7" in out
    assert "+37.5 ± 17.7" in out
    assert err == ""


def test_json_is_one_list(runs, capsys):
    compare([runs], format="json", baseline="gcfed")
    rows = json.loads(capsys.readouterr().out)
    assert [(row["method"], row["baseline"]) for row in rows] == [
        ("gcfed", True),
        ("fedavg", False),
    ]
    assert rows[1]["paired"]["difference"] == -0.375


def test_a_failed_run_is_noticed_beside_the_result(runs, capsys, caplog):
    change(runs, "gcfed-1", failed={"round": 3, "reason": "diverged", "detail": ""})
    with caplog.at_level(logging.WARNING):
        compare([runs], format="json")
    assert "gcfed-1' is left out: it diverged in round 3" in caplog.text
    assert json.loads(capsys.readouterr().out)[1]["n"] == 1


def refused(capsys, dirs):
    with pytest.raises(typer.Exit) as end:
        compare(dirs)
    out, err = capsys.readouterr()
    assert end.value.exit_code == 1
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_no_finished_run_ends_with_1(runs, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert "no finished run" in refused(capsys, [tmp_path / "empty"])
    failed = {"round": 1, "reason": "error", "detail": ""}
    change(runs, "fedavg-0", failed=failed)
    assert "no finished run" in refused(capsys, [runs / "fedavg-0"])


def test_other_data_end_with_1(runs, capsys):
    change(runs, "fedavg-0", data_sha256="a")
    assert "did not see the same data" in refused(capsys, [runs])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "bst"}, "unknown metric 'bst': did you mean 'best'"),
        ({"baseline": "gcfd"}, "unknown baseline 'gcfd': did you mean 'gcfed'"),
        ({"format": "csv"}, "'csv' is not in this version"),
        ({"format": "xml"}, "unknown format 'xml'"),
    ],
)
def test_wrong_input_is_an_input_error(runs, options, said):
    with pytest.raises(InputError) as error:
        compare([runs], **options)
    assert said in str(error.value)


def test_an_empty_folder_among_others_is_wrong_input(runs, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no run"):
        compare([runs, tmp_path / "empty"])
    with pytest.raises(InputError, match="does not exist"):
        compare([tmp_path / "nothing"])
