"""``fedkeel demo``, with shorter runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    from fedkeel.cli.demo import SETTING

    short = {"data.name": "tiny.npz", "data.clients": "4", "data.alpha": "1", "cohort": "2"}
    for key, value in {
        **short,
        "rounds": "1",
        "local.epochs": "1",
        "model.hidden": "[4, 4]",
    }.items():
        monkeypatch.setitem(SETTING, key, value)
    monkeypatch.setattr("fedkeel.cli.demo.SEEDS", (0, 1))


def test_the_demo(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = call("demo")
    assert said.code == 0
    folder = here / "runs" / "demo"
    names = {path.name for path in folder.iterdir() if path.is_dir()}
    assert names == {
        f"{m}-s{s}" for m in ("fedavg", "localgc", "globalgc", "gcfed") for s in (0, 1)
    }
    assert (folder / "report.html").is_file()
    assert "runs/demo/report.html" in said.out.splitlines()[-1]
    for method in ("fedavg", "localgc", "globalgc", "gcfed"):
        assert method in said.out
    assert "run 8 of 8, gcfed · seed 1: round 1 of 1" in said.err

    (folder / "gcfed-s9").mkdir()
    monkeypatch.setattr("fedkeel.cli.demo.METHODS", ("fedavg",))
    assert call("demo").code == 0
    assert not (folder / "gcfed-s9").exists()


def test_another_folder_is_not_touched(call: Call, here: Path) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "thesis.tex").write_text("years of work")
    said = call("demo", "--out", "mine")
    assert said.code == 2
    assert [path.name for path in (here / "mine").iterdir()] == ["thesis.tex"]


def test_the_setting_is_a_recipe() -> None:
    from fedkeel.cli.demo import METHODS, recipes

    plan = recipes()
    assert [recipe["method"] for recipe in plan[::2]] == list(METHODS)
    assert [recipe["seed"] for recipe in plan[:2]] == [0, 1]
