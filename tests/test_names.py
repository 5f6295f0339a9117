"""The table of names, and sums that become parts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import fedkeel as fk
from fedkeel import names
from fedkeel.callables import defaults
from fedkeel.errors import InputError
from fedkeel.names import METHODS, MODELS, method, method_text
from fedkeel.part import Part

# name -> options and defaults, as promised
PROMISED = {
    "fedavg": {},
    "fedprox": {"mu": 0.1},
    "localgc": {"center_1d": False, "embedding": "none", "axes": "fan_in"},
    "globalgc": {"center_1d": False, "embedding": "none", "axes": "fan_in"},
    "gcfed": {
        "center_1d": False,
        "embedding": "none",
        "axes": "fan_in",
        "scope": "all",
        "server": True,
    },
    "fedzmg": {"center_1d": False, "embedding": "vocab", "scope": "row"},
    "fedavgm": {"beta": 0.9, "nesterov": False},
    "fedadam": {"lr": 0.1, "b1": 0.9, "b2": 0.99, "tau": 1e-3, "bias_correction": False},
    "fedyogi": {"lr": 0.1, "b1": 0.9, "b2": 0.99, "tau": 1e-3, "bias_correction": False},
    "fedadagrad": {"lr": 0.1, "b1": 0.0, "tau": 1e-3},
    "clip": {"norm": 10.0, "where": "client"},
    "scaffold": {"correction": "gradient"},
    "feddyn": {"alpha": 0.1, "server": "paper"},
    "fednova": {"steps": "momentum"},
    "fedntd": {"beta": 1.0, "tau": 1.0},
    "fedvarp": {},
    "fedlc": {"tau": 0.1},
    "feddecorr": {"beta": 0.1, "scale": "released"},
    "fedsol": {"rho": 1.0, "tau": 3.0, "perturbation": "adaptive"},
    "fedsam": {"rho": 0.05},
    "fedacg": {"lam": 0.85, "beta": 0.001},
    "median": {},
    "trimmed_mean": {"share": 0.1},
    "krum": {"f": 1, "m": 1},
    "norm_bounded": {"norm": "median"},
}


def test_every_method_has_the_promised_options() -> None:
    assert {m.name: defaults(names.constructor(m.name)) for m in METHODS} == PROMISED


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_every_name_gives_a_part(entry: names.Method) -> None:
    assert isinstance(method(entry.name), Part)
    assert method(entry.name.upper()) == method(entry.name) == getattr(fk, entry.python)()


def test_every_model_is_there() -> None:
    assert all(callable(names.model_function(entry.name)) for entry in MODELS)


def test_sums_are_composed_in_order() -> None:
    text = "Clip(norm=5) + gcfed(head=[fc1, fc2])"
    assert method(text) == fk.compose(fk.Clip(norm=5.0), fk.gc_fed(head=["fc1", "fc2"]))
    assert method("gcfed + clip") != method("clip + gcfed")


def test_an_integer_becomes_the_float_that_is_meant() -> None:
    assert "norm=5.0" in repr(method("clip(norm=5)"))


@pytest.mark.parametrize("text", ["fedavg", "clip + gcfed(head=fc2)", "fedzmg + fedadam(lr=1)"])
def test_the_whole_text_is_the_same_method(text: str) -> None:
    whole = method_text(text)
    assert method(whole) == method(text)
    assert method_text(whole) == whole


def test_the_whole_text_shows_defaults() -> None:
    assert method_text("FedProx + fedavg") == "fedprox(mu=0.1) + fedavg"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gcfd", "did you mean 'gcfed'"),
        ("gcfl", "not in this version"),
        ("fedprox(my=1)", "'my'.* Allowed: mu"),
        ("fedprox(mu=-1)", "fedprox: mu=-1"),
        ("fedprox(mu='a')", "must be a number"),
        ("fedavg(x=1)", "takes no options"),
        ("nowhere_at_all:A", "nowhere_at_all"),
        ("pathlib:Paht", "did you mean 'Path'"),
        ("pathlib:Path", "must return a fedkeel.Part"),
    ],
)
def test_wrong_sums(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        method(text)


def test_a_users_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parts_of_mine.py").write_text(
        "from fedkeel import FedProx\n"
        "def Twice(mu: float = 1.0): return FedProx(2 * mu)\n"
        "def Broken(): raise RuntimeError('half built')\n"
    )
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    assert method("parts_of_mine:Twice(mu=2)") == fk.FedProx(4.0)
    assert sys.path == before
    assert method_text("parts_of_mine:Twice") == "parts_of_mine:Twice(mu=1.0)"
    with pytest.raises(
        InputError, match="parts_of_mine:Broken failed with RuntimeError: half built"
    ):
        method("parts_of_mine:Broken")
    with pytest.raises(InputError, match="did you mean 'Twice'"):
        method("parts_of_mine:Twise")


def test_no_name_is_both_here_and_later() -> None:
    now = {"method": METHODS, "model": MODELS, "data set": names.DATA}
    for what, table in now.items():
        assert not {entry.name for entry in table} & set(names.LATER.get(what, "").split())
