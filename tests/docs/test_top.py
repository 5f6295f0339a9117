"""README, citation, changelog and the index of methods say what the package says."""

from __future__ import annotations

import ast
import re

import pytest

import fedkeel as fk
from fedkeel.names import METHODS, Method
from tests.docs.pages import ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_is_in_the_readme_with_its_paper(method: Method) -> None:
    (row,) = [line for line in README.splitlines() if line.startswith(f"| `{method.name}`")]
    paper = method.paper
    number = paper.where.rpartition("arXiv ")[2]
    assert f"`{method.python}()`" in row
    assert f"{paper.authors} {paper.year}, [{number}](https://arxiv.org/abs/{number})" in row


def test_no_method_is_in_the_readme_that_there_is_not() -> None:
    table = README.partition("## Methods")[2].partition("\n`fedkeel")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.M) == [method.name for method in METHODS]


def test_the_index_of_methods_is_whole() -> None:
    index = (ROOT / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| .+ \| \[(\w+)\]", index, re.M) == [method.name for method in METHODS]


def test_ten_lines_are_ten_lines() -> None:
    (first,) = [block.text for block in blocks(README) if block.language == "python"]
    assert len([line for line in first.splitlines() if line.strip()]) <= 10


def test_the_table_of_the_demo_is_the_demos() -> None:
    """The marked part is written by a script: it names the setting that the demo has now."""
    from fedkeel.cli.demo import SEEDS, SETTING

    told = README.partition("<!-- demo:begin")[2].partition("<!-- demo:end")[0]
    assert f"{SETTING['data.clients']} clients, Dirichlet({SETTING['data.alpha']})" in told
    assert f"{SETTING['cohort']} clients a round, {SETTING['rounds']} rounds" in told
    assert f"seeds {', '.join(map(str, SEEDS))};" in told


def test_the_citation_has_the_version_and_the_licence() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^([\w-]+): *(.*)$", text, re.M))
    assert {"cff-version", "message", "title", "authors"} <= set(lines)
    assert lines["cff-version"] == "1.2.0"
    assert lines["version"] == fk.__version__
    assert lines["license"] == "Apache-2.0"


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads[0] == "[Unreleased]"
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= kinds


def test_the_names_that_the_pages_use_are_public() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "python":
                assert _used(block.text) <= set(fk.__all__), f"{page.name}, line {block.line}"


def _used(code: str) -> set[str]:
    """Return the names that a block takes from the package."""
    return {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "fk"
    }
