"""``fedkeel methods``, and the pages it shows."""

from __future__ import annotations

import inspect
import json
import re
from importlib.resources import files

import pytest
from rich.cells import cell_len

from fedkeel.callables import options
from fedkeel.cli.pages import CODE, page
from fedkeel.names import METHODS, Method, constructor
from fedkeel.notation import write_value
from tests.cli.conftest import QUICK, Call

HEADINGS = [
    "The idea",
    "The formula",
    "The code",
    "What each end sends and keeps",
    "Options",
    "Where we differ",
    "Numbers reproduced",
]
each = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def test_the_list_has_every_method(call: Call) -> None:
    out = call("methods").out
    for method in METHODS:
        assert re.search(rf"^  {method.name} .*{method.paper.year}$", out, re.MULTILINE)


def test_the_list_as_json(call: Call) -> None:
    listed = {entry["name"]: entry for entry in json.loads(call("methods", "--json").out)}
    assert list(listed) == [method.name for method in METHODS]
    assert listed["fedprox"]["options"] == {"mu": 0.1}
    assert listed["fedprox"]["python"] == "FedProx"


@each
def test_a_page_has_its_headings_in_order(method: Method) -> None:
    assert re.findall(r"^## (.*)$", page(method), re.MULTILINE) == HEADINGS


@each
def test_a_page_cites_its_paper(method: Method) -> None:
    top = page(method).partition("## ")[0]
    assert method.paper.title in top
    assert method.paper.authors in top
    assert str(method.paper.year) in top


@each
def test_the_code_is_included_not_pasted(method: Method) -> None:
    text = (files("fedkeel") / "pages" / f"{method.name}.md").read_text(encoding="utf-8")
    assert text.count(CODE) == 1 and "```python" not in text
    assert inspect.getsource(constructor(method.name)).rstrip() in page(method)


@each
def test_the_table_of_options_is_the_signature(method: Method) -> None:
    section = page(method).partition("## Options")[2].partition("## ")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    told = {row[0]: row[1] for row in rows[2:]}
    real = options(constructor(method.name))
    assert told == {
        name: "unset" if option.default is None else write_value(option.default)
        for name, option in real.items()
    }


@each
def test_formulas_fit_eighty_columns(method: Method) -> None:
    formula = page(method).partition("```text")[2].partition("```")[0]
    assert max(map(len, formula.splitlines())) <= 76


@each
@pytest.mark.parametrize("columns", [80, 160])
def test_every_page_is_drawn(
    call: Call, monkeypatch: pytest.MonkeyPatch, method: Method, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = call("methods", method.name, *QUICK)
    assert (said.code, said.err) == (0, "")
    assert max(map(cell_len, said.out.splitlines())) <= columns  # a tilde takes no column
    assert all(heading in said.out for heading in HEADINGS)


def test_the_tensors_it_centres(call: Call) -> None:
    out = call("methods", "gcfed").out
    assert re.search(r"fc2.weight +● centred +● centred", out)
    assert re.search(r"fc3.weight +· +● centred", out)
    assert "centred" not in call("methods", "fedprox").out.rpartition("Numbers reproduced")[2]


def test_the_tensors_on_another_model(call: Call) -> None:
    words = ["model.name=lenet", "method=gcfed(head=[fc2, fc3])", "--json"]
    found = json.loads(call("methods", "gcfed", *words).out)["centred"]
    assert found["model"] == "lenet"
    assert found["client"] == ["conv1.weight", "conv2.weight", "fc1.weight"]
    assert found["server"] == [*found["client"], "fc2.weight", "fc3.weight"]


def test_options_in_the_name(call: Call) -> None:
    found = json.loads(call("methods", "gcfed(tensors=0.5, center_1d=true)", "--json").out)[
        "centred"
    ]
    assert found["client"] == ["fc1.weight", "fc1.bias", "fc2.weight"]


def test_keys_need_a_name(call: Call) -> None:
    said = call("methods", "model.name=cnn")
    assert said.code == 2 and "NAME" in said.err
