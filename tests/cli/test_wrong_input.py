"""Every wrong input ends with exit 2 and one line that says what, and what is allowed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import QUICK, SMALL, Call

# what is typed, and what the line must name
WORDS: list[tuple[list[str], list[str]]] = [
    # keys
    (["run", "alpha=1"], ["alpha", "did you mean 'data.alpha'"]),
    (["run", "data.alpa=1"], ["data.alpa", "did you mean 'data.alpha'"]),
    (["run", "dta.alpha=1"], ["dta.alpha", "did you mean 'data.alpha'"]),
    (["run", "nowhere.at_all=1"], ["nowhere", "data, model, local, run"]),
    (["run", "data=1"], ["'data' is a table", "data.alpha"]),
    (["run", "model.hiden=[4, 4]"], ["hiden", "did you mean 'hidden'"]),
    (["run", "model.name=cnn", "model.hidden=[4, 4]"], ["cnn", "no options", "hidden"]),
    (["run", "data.partition=iid", "data.alpha=1"], ["data.alpha is not used", "iid", "dirichlet"]),
    (["run", "data.file=x.npz"], ["data.file is not used", "dirichlet"]),
    (["run", "data.test_share=0.3"], ["data.test_share", "femnist-mini has a test part"]),
    (["run", "local.epochs=1", "local.steps=3"], ["local.epochs", "local.steps", "one of the two"]),
    (["run", "data.extra=1"], ["data.extra"]),
    # values
    (["run", "format=2"], ["format=2", "must be 1"]),
    (["run", "rounds=-1"], ["rounds=-1", "integer >= 0"]),
    (["run", "rounds=2.5"], ["rounds=2.5", "integer >= 0"]),
    (["run", "rounds=true"], ["rounds=true", "integer >= 0"]),
    (["run", "rounds=many"], ["rounds", "many", "integer >= 0"]),
    (["run", "cohort=0"], ["cohort=0", "integer >= 1", "1.0 is all"]),
    (["run", "cohort=1.5"], ["cohort=1.5", "(0, 1]"]),
    (["run", "local.lr=fast"], ["local.lr", "fast", "number > 0"]),
    (["run", "local.lr=nan"], ["local.lr=nan", "number > 0"]),
    (["run", "local.lr=0,01"], ["local.lr", "0,01", "number > 0"]),
    (["run", "local.lr=true"], ["local.lr=true", "number > 0"]),
    (["run", "local.momentum=1"], ["local.momentum=1", "[0, 1)"]),
    (["run", "local.nesterov=True"], ["local.nesterov", "did you mean 'true'"]),
    (["run", "local.batches=kep"], ["local.batches", "did you mean 'keep'", "keep, drop or pad"]),
    (["run", "local.schedule=halve"], ["local.schedule", "halve(10)"]),
    (["run", "local.schedule=cosine(0)"], ["local.schedule", "cosine(0)", "cosine(250)"]),
    (["run", "weighting=uniforn"], ["weighting", "did you mean 'uniform'"]),
    (["run", "data.alpha=0"], ["data.alpha=0", "a number from 1e-6 to 1e9"]),
    (["run", "data.partition=dirichlt"], ["data.partition", "did you mean 'dirichlet'"]),
    (["run", "data.seed=-2"], ["data.seed=-2", "integer >= -1"]),
    (["run", "run.engine=stackd"], ["run.engine", "did you mean 'stacked'"]),
    (["run", "run.compile=yes"], ["run.compile", "auto, true or false"]),
    (["run", "run.target=50"], ["run.target=50", "[0, 1]"]),
    (["run", "model.hidden=[4"], ["model.hidden", "[4"]),
    (["run", "model.hidden=[4, 4, 4]"], ["hidden=[4, 4, 4]", "two integers"]),
    # methods
    (["run", "method=gcfd"], ["gcfd", "did you mean 'gcfed'", "fedavg"]),
    (["run", "method=fedprox(nu=1)"], ["fedprox", "nu", "Allowed: mu"]),
    (["run", "method=fedprox(mu=-1)"], ["fedprox", "mu=-1", ">= 0"]),
    (["run", "method=fedprox(mu=true)"], ["fedprox", "mu", "number"]),
    (["run", "method=fedprox(mu=1, mu=2)"], ["mu", "given twice"]),
    (["run", "method=fedprox(mu=)"], ["fedprox", "key=value"]),
    (["run", "method=fedprox(mu=1"], ["closing )", "fedprox(mu=1"]),
    (["run", "method=fedavg +"], ["method", "missing"]),
    (["run", "method=fedavg(mu=1)"], ["fedavg takes no options", "mu"]),
    (["run", "method=clip(where=clinet)"], ["clip", "did you mean 'client'"]),
    (["run", "method=gcfed(tensors=0.5, modules=0.5)"], ["tensors and modules", "at most one"]),
    (["run", "method=nowhere_here:Part"], ["nowhere_here"]),
    (["run", "method=pathlib:Paht"], ["Paht", "did you mean 'Path'"]),
    (["run", "method=pathlib:Path"], ["pathlib:Path", "must return a fedkeel.Part"]),
    (["run", *SMALL, "method=gcfed(head=fc9)"], ["method", "fc9", "did you mean", "fc3"]),
    # data and models
    (["run", "data.name=femnist-mni"], ["femnist-mni", "did you mean 'femnist-mini'"]),
    (["run", "data.name=absent.npz"], ["absent.npz"]),
    (["run", "data.name=nowhere_here:load"], ["nowhere_here"]),
    (["run", "data.partition=file"], ["data.file", "owner"]),
    (["run", "data.partition=file", "data.file=absent.npz"], ["absent.npz"]),
    (["run", "data.clients=100000"], ["100000", "28243"]),
    (["run", "data.partition=natural", "data.clients=500"], ["500", "192"]),
    (["run", "data.name=tiny.npz", "data.partition=natural"], ["natural", "owner"]),
    (["run", "model.name=lennet"], ["lennet", "did you mean 'lenet'"]),
    (["run", *SMALL[:-1], "model.name=lenet"], ["lenet", "(1, 6, 6)"]),
    (["run", *SMALL[:-1], "model.name=pathlib:Path"], ["pathlib:Path", "torch.nn.Module"]),
    (["run", *SMALL, "cohort=5"], ["cohort=5", "4 clients"]),
    (["run", *SMALL, "run.device=cuda:0"], ["run.device", "auto, cpu or cuda"]),
    # the parser's own
    (["rn"], ["'rn'", "did you mean 'run'"]),
    (["run", "--ot", "x"], ["--ot", "did you mean '--out'"]),
    (["run", "--out"], ["--out", "argument"]),
    (["run", "absent.toml"], ["absent.toml", "no such recipe"]),
    (["run", "."], ["is a folder"]),
    (["run", "a.toml", "b.toml"], ["b.toml", "second recipe"]),
    (["run", "tiny.npz"], ["tiny.npz", "UTF-8"]),
    (["data"], ["data", "list, show"]),
    (["data", "show"], ["NAME"]),
    (["data", "show", "femnist-mini", "--out", "x.gif"], ["x.gif", ".svg or .png"]),
    (["data", "show", "femnist-mini", "--out", "no/x.svg"], ["no/x.svg", "no folder"]),
    (["data", "list", "more"], ["data list", "more"]),
    (["methods", "gcfd"], ["gcfd", "did you mean 'gcfed'"]),
    (["methods", "gcfed + clip"], ["gcfed + clip", "one built-in method"]),
    (["verify", "gcfd"], ["gcfd", "did you mean 'gcfed'"]),
    (["demo", "--out", "tiny.npz"], ["tiny.npz", "is a file"]),
    (["demo", "--out", "."], ["holds something", "earlier demo"]),
    # partitions, noise and what the data do not have
    (["run", "data.name=cifar11"], ["data set 'cifar11'", "did you mean 'cifar10'"]),
    (["run", "data.partition=shard"], ["data.partition=", "did you mean 'shards'"]),
    (["run", "data.partition=shards", "data.alpha=1"], ["data.alpha is not used", "shards_per"]),
    (["run", "data.vocab=tf66"], ["data.vocab is not used", "femnist-mini", "shakespeare"]),
    (["run", "data.labels=coarse"], ["data.labels is not used", "cifar100"]),
    (["run", "data.label_noise=1.5"], ["data.label_noise=1.5", "a number in [0, 1]"]),
    (["run", "data.label_noise=[0.1,0.2]"], ["data.label_noise has 2 rates", "100 clients"]),
    (["run", "data.label_noise={low=0.5,high=0.1}"], ["data.label_noise=", "a <= b"]),
    (["run", "data.open_set_noise=0.5"], ["foreign"]),
    (["run", "data.open_set_noise=0.5", "data.foreign=[99]"], ["data.foreign", "99", "61"]),
    (["run", "data.foreign=[1.5]"], ["data.foreign=[1.5]", "integers"]),
    (["run", "data.corruptions=[snow]"], ["data.corruptions=", "gaussian, shot"]),
    (["run", "data.severity=6"], ["data.severity=6", "from 1 to 5"]),
    (["run", "data.server=1.0"], ["data.server=1.0", "[0, 1)"]),
    (["run", "data.partition=pachinko"], ["pachinko", "coarse"]),
    (["run", "data.partition=classes", "data.classes_per_client=63"], ["63", "62"]),
    (["run", "model.name=gru"], ["model 'gru'", "(1, 28, 28)"]),
    (["run", "model.name=resnet18", "model.norm=layer"], ["norm", "layer", "group"]),
    # words of later versions
    (["sweep", "seed=0,1"], ["sweep", "not in this version"]),
    (["reproduce"], ["reproduce", "not in this version"]),
    (["bench"], ["bench", "not in this version"]),
    (["flower", "doctor"], ["flower", "not in this version"]),
    (["run", "--resume"], ["--resume", "not in this version"]),
    (["run", "method=GCFL"], ["gcfl", "not in this version"]),
    (["run", "run.state_memory=0.1"], ["run.state_memory", "not in this version"]),
    (["run", "run.engine=streamed"], ["streamed", "not in this version"]),
]

# what stands in the recipe file, and what the line must name
RECIPES: list[tuple[str, list[str]]] = [
    ("rounds = ", ["recipe.toml", "not valid TOML"]),
    ("rounds = 1\nrounds = 2\n", ["recipe.toml:2", "TOML"]),
    ("rounds = 1\n\n[data]\nalpa = 1\n", ["recipe.toml:4", "data.alpa", "'data.alpha'"]),
    ("[local]\nlr = 'x'\n", ["recipe.toml:2", "local.lr", "number > 0"]),
    ("[local]\nepochs = 1\nsteps = 1\n", ["recipe.toml:3", "one of the two"]),
    ("method = 'gcfd'\n", ["recipe.toml:1", "'gcfed'"]),
    ("method = 'clip(norm=-1)'\n", ["recipe.toml:1", "norm=-1"]),
    ("seed = 2020-01-01\n", ["recipe.toml:1", "seed", "date"]),
    ("[dta]\nalpha = 1\n", ["recipe.toml", "dta.alpha", "'data.alpha'"]),
    ("[data]\npartition = 'iid'\nalpha = 1\n", ["recipe.toml:3", "data.alpha is not used"]),
    ("[data]\nname = 'absent.npz'\n", ["recipe.toml:2", "absent.npz"]),
    ("[model]\nname = 'mlp'\nhiden = [1, 1]\n", ["recipe.toml:3", "hidden"]),
    ("cohort = 1000\n", ["cohort=1000", "100 clients"]),
    ("[data.deep]\ner = 1\n", ["recipe.toml", "data.deep"]),
]


@pytest.mark.parametrize(("words", "named"), WORDS, ids=lambda item: " ".join(item)[:60])
def test_words(call: Call, here: Path, words: list[str], named: list[str]) -> None:
    _expect(call, here, words, named)


@pytest.mark.parametrize(("text", "named"), RECIPES, ids=lambda item: str(item)[:60])
def test_recipes(call: Call, here: Path, text: str, named: list[str]) -> None:
    (here / "recipe.toml").write_text(text)
    _expect(call, here, ["run", "recipe.toml"], named)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"y_train": np.arange(40) - 1}, ["-1"]),
        ({"y_train": np.full(40, 0.5)}, ["y"]),
        ({"x_train": np.full((40, 6), np.nan)}, ["damaged.npz", "NaN"]),
        ({"x_train": np.zeros((39, 6, 6), np.uint8)}, ["39", "40"]),
        ({"x_train": np.array([None] * 40)}, ["damaged.npz"]),
        ({"x_test": np.zeros((10, 5, 5), np.uint8)}, ["5"]),
    ],
    ids=["negative label", "half label", "NaN", "lengths", "objects", "shapes"],
)
def test_damaged_data(
    call: Call, here: Path, change: dict[str, np.ndarray], named: list[str]
) -> None:
    with np.load(here / "tiny.npz") as arrays:
        np.savez(here / "damaged.npz", **{**arrays, **change})  # type: ignore[arg-type]
    _expect(call, here, ["run", *QUICK, "data.name=damaged.npz"], named)


@pytest.mark.parametrize(
    ("owner", "named"),
    [
        (np.zeros(39, np.int64), ["39", "40"]),
        (np.full(40, -3), ["-3"]),
        (np.full(40, 0.5), ["owner"]),
    ],
    ids=["length", "range", "type"],
)
def test_damaged_partition(call: Call, here: Path, owner: np.ndarray, named: list[str]) -> None:
    np.savez(here / "split.npz", owner=owner)
    words = ["run", "data.name=tiny.npz", "data.partition=file", "data.file=split.npz"]
    _expect(call, here, words, named)


def test_a_truncated_file(call: Call, here: Path) -> None:
    (here / "half.npz").write_bytes((here / "tiny.npz").read_bytes()[:300])
    _expect(call, here, ["run", "data.name=half.npz"], ["half.npz"])


@pytest.mark.parametrize("name", ["recipe.toml", "notes.txt"])
def test_an_occupied_folder(call: Call, here: Path, name: str) -> None:
    (here / "out").mkdir()
    (here / "out" / name).write_text("mine")
    _expect(call, here, ["run", *QUICK, "--out", "out"], ["out"])
    assert (here / "out" / name).read_text() == "mine"


def test_a_file_in_the_way(call: Call, here: Path) -> None:
    _expect(call, here, ["run", *QUICK, "--out", "tiny.npz/deeper"], ["tiny.npz", "not a folder"])


def test_a_file_where_runs_go(call: Call, here: Path) -> None:
    (here / "runs").touch()
    _expect(call, here, ["run", *QUICK], ["runs", "not a folder"])


def _expect(call: Call, here: Path, words: list[str], named: list[str]) -> None:
    before = _files(here)
    said = call(*words)
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("fedkeel: ") and said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err and len(said.err) < 600
    for fragment in named:
        assert fragment in said.err
    assert _files(here) == before


def _files(folder: Path) -> dict[str, int]:
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path): path.stat().st_mtime_ns for path in paths if path.is_file()}
