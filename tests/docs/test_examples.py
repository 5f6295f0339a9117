"""Every example runs, with two rounds in place of its own number, and stays short."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example), "2"])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_how_it_is_run(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert 6 <= len(text.splitlines()) <= 60
    assert f"python examples/{example.name}" in (ast.get_docstring(ast.parse(text)) or "")


def test_the_table_of_examples_is_whole() -> None:
    told = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES if path.name not in told] == []
