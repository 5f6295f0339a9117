"""Every page of the docs does what it says, and points to what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.docs.pages import ROOT, Reader, blocks, links

TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = ("cd", "git", "make", "pip", "python3", "source", "taskset", "#")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def runnable(page: Path) -> ParameterSet:
    needs = any("needs" in block.options for block in blocks(page.read_text(encoding="utf-8")))
    return pytest.param(page, id=name(page), marks=[pytest.mark.extras] if needs else [])


@pytest.mark.parametrize("page", [runnable(page) for page in PAGES])
def test_code_runs(page: Path, reader: Reader) -> None:
    reader.read(page)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_point_to_something(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        path, _, section = link.partition("#")
        if re.match(r"\w+:", path):
            assert path.startswith(("https://", "mailto:")), link
            continue
        target = (page.parent / path) if path else page
        assert target.exists(), f"{name(page)} points to {link}"
        if section:
            assert section in sections(target), f"{name(page)} points to {link}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_is_not_run_is_only_setting_up(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "sh":
            for line in filter(str.strip, block.text.splitlines()):
                assert line.split()[0] in NOT_RUN, f"{name(page)}, line {block.line}: {line}"


def test_the_index_leads_to_every_page() -> None:
    told = {Path(link).name for link in links((ROOT / "docs" / "index.md").read_text())}
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= told


def sections(page: Path) -> set[str]:
    """Return the anchors that a page's headings have on GitHub."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
