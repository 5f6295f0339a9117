"""``fedkeel report``: where the page goes, and how it ends."""

from __future__ import annotations

import json

import pytest
import typer

from fedkeel.cli.report import report
from fedkeel.errors import InputError


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    (path / "recipe.toml").write_text('method = "gcfed"\nseed = 0\n')
    (path / "rounds.jsonl").write_text('{"round": 1, "accuracy": 0.5}\n')
    summary = {"method": "gcfed", "seed": 0, "accuracy": {"final": 0.5}}
    (path / "summary.json").write_text(json.dumps(summary))
    return path


def test_the_page_is_written_and_named_on_stdout(run, tmp_path, capsys):
    out = tmp_path / "report.html"
    report([run], out)
    report([run], out)
    assert capsys.readouterr().out.splitlines() == [str(out), str(out)]
    assert out.read_text().startswith("<!DOCTYPE html>\n<!-- Written by fedkeel")


def test_a_foreign_file_is_left_alone(run, tmp_path):
    out = tmp_path / "report.html"
    out.write_text("mine")
    with pytest.raises(InputError, match="was not written by fedkeel"):
        report([run], out)
    assert out.read_text() == "mine"


def test_nothing_to_report_is_wrong_input(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no run"):
        report([tmp_path / "empty"], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_other_data_end_with_1(run, tmp_path, capsys):
    twin = tmp_path / "twin"
    twin.mkdir()
    for file in ("recipe.toml", "rounds.jsonl"):
        (twin / file).write_text((run / file).read_text())
    summary = json.loads((run / "summary.json").read_text())
    (twin / "summary.json").write_text(json.dumps({**summary, "data_sha256": "other"}))
    with pytest.raises(typer.Exit) as end:
        report([run, twin], tmp_path / "report.html")
    assert end.value.exit_code == 1
    assert "did not see the same data" in capsys.readouterr().err
