"""``fedkeel data``: the list, the numbers and the picture."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from fedkeel.cli.picture import blocks
from fedkeel.data.sets import store
from fedkeel.data.sets.catalogue import DATASETS
from tests.cli.conftest import Call
from tests.data.raws import digits


def test_the_list(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDKEEL_DATA", str(here))
    monkeypatch.setenv("HOME", str(here / "home"))
    store.write(here, "mnist", digits())
    out = call("data", "list").out
    assert "● femnist-mini" in out and "● mnist " in out and "○ cifar10 " in out
    assert str(here / "mnist") in out and "usually given as CC BY-SA 3.0" in out
    assert max(map(len, out.splitlines())) <= 80
    entries = {entry["name"]: entry for entry in json.loads(call("data", "list", "--json").out)}
    assert list(entries) == list(DATASETS)
    mini, mnist, cifar = (entries[name] for name in ("femnist-mini", "mnist", "cifar10"))
    assert (mini["classes"], mini["owners"], mini["as"]) == (62, 192, "package")
    assert (mnist["here"], mnist["as"], mnist["path"]) == (True, "stored", str(here / "mnist"))
    assert (cifar["here"], cifar["path"], cifar["train"]) == (False, None, 50_000)
    assert entries["femnist"]["train"] is None


def test_a_set_by_its_name(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDKEEL_DATA", str(here))
    store.write(here, "mnist", digits())
    said = call("data", "show", "mnist", "data.clients=2", "data.partition=iid", "--json")
    assert json.loads(said.out)["samples"] == 20


def test_json_has_the_promised_shape(call: Call) -> None:
    said = call("data", "show", "tiny.npz", "data.clients=4", "data.alpha=1", "--json")
    facts = json.loads(said.out)
    assert set(facts) == {
        *("name", "partition", "clients", "samples", "classes"),
        *("hash", "metrics", "per_client", "label_counts"),
    }
    assert facts["samples"] == 40 and facts["clients"] == 4
    assert np.array(facts["label_counts"]).shape == (4, 3)


@pytest.mark.parametrize("columns", [80, 160])
def test_the_picture_fits(call: Call, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = call("data", "show", "femnist-mini", "data.partition=natural").out
    *body, last = out.splitlines()
    assert max(map(len, body)) <= columns
    assert last.startswith("data and split ")
    assert "192 clients" in out and "natural" in out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_as_a_file(call: Call, here: Path, suffix: str) -> None:
    file = here / f"labels.{suffix}"
    assert call("data", "show", "tiny.npz", "data.clients=4", "--out", file.name).code == 0
    if suffix == "svg":
        ElementTree.parse(file)
    else:
        assert file.read_bytes().startswith(b"\x89PNG")


def test_blocks_by_hand() -> None:
    text = blocks([[9, 1], [0, 10], [10, 0]], ["cat", "dog"], 40).plain
    rows = text.splitlines()
    assert rows[1] == " cat ████████    "
    assert rows[2] == " dog     ▒▒▒▒████"
    assert "3 clients" in rows[-1]


def test_more_clients_than_columns() -> None:
    counts = np.eye(3, dtype=int)[np.arange(1000) % 3] * 5
    text = blocks(counts.tolist(), [], 50).plain
    assert max(map(len, text.splitlines()[:4])) <= 50
    assert "of 1,000 clients" in text


def test_an_empty_client_is_drawn_empty() -> None:
    rows = blocks([[1, 1], [0, 0]], ["a", "b"], 40).plain.splitlines()
    assert rows[1].strip("a ") == "████"
