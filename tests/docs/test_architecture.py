"""The architecture page and the tree agree: what is there is named, what is named is there."""

from __future__ import annotations

import re
from pathlib import Path

import fedkeel
from fedkeel.rounds import Algorithm
from fedkeel.testing.witness import HOOKS
from tests.docs.pages import ROOT, blocks

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = Path(str(fedkeel.__file__)).parent


def named() -> set[str]:
    """Return the modules and folders that the drawing of the tree names."""
    (tree,) = (block.text for block in blocks(PAGE) if block.text.startswith("fedkeel/\n"))
    return set(re.findall(r"^  (\w+(?:\.py|/)) ", tree, re.M))


def test_the_tree_is_the_tree() -> None:
    modules = {path.name for path in PACKAGE.glob("*.py")}
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__/"}
    assert named() == modules | folders


def test_every_file_named_elsewhere_is_there() -> None:
    for file in re.findall(r"`((?:\w+/)*\w+\.(?:py|toml))`", PAGE):
        found = (PACKAGE / file).exists() or file in ("run.py", "recipe.toml")
        assert found, file


def test_every_hook_of_a_round_is_told() -> None:
    told = set(re.findall(r"\*\*(\w+)\*\*", PAGE))
    assert {hook for hook in HOOKS if not hook.endswith("_state")} <= told


def test_the_verbs_are_the_verbs() -> None:
    verbs = re.search(r"\*\*(brief[\w, ]+)\*\*", PAGE)
    assert verbs
    assert all(callable(getattr(Algorithm, verb)) for verb in verbs[1].split(", "))


def test_the_table_of_hooks_is_whole() -> None:
    page = (ROOT / "docs" / "write-your-own-method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` +\| (?:server|client|step)", page, re.M)
    assert rows == list(HOOKS)
