"""``fedkeel data get``: from a publisher, from what one has, from what is here already."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from fedkeel.cli import get
from fedkeel.data import load
from fedkeel.data.sets import store
from fedkeel.data.sets.arrival import Remote
from fedkeel.data.sets.catalogue import DATASETS
from tests.cli.conftest import Call
from tests.data.raws import digits, idx_files, plays, save
from tests.data.serving import Publisher, allow_this_machine, closed_port, serving


@pytest.fixture
def sets(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep data sets in a folder of the test, and take small digits for the published ones."""
    monkeypatch.setenv("FEDKEEL_DATA", str(here / "sets"))
    monkeypatch.setenv("HOME", str(here / "home"))
    mnist = replace(DATASETS["mnist"], train=20, test=10, digests=store.digests(digits()))
    monkeypatch.setitem(DATASETS, "mnist", mnist)
    return here / "sets"


@pytest.fixture
def publisher(sets: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """Publish the digits on this machine."""
    allow_this_machine(monkeypatch)
    files = idx_files(digits())
    with serving(Publisher(more=files)) as made:
        remotes = tuple(
            Remote(made.url(name), name, hashlib.md5(content).hexdigest())
            for name, content in files.items()
        )
        _publish(monkeypatch, remotes)
        yield made


def _publish(patch: pytest.MonkeyPatch, remotes: tuple[Remote, ...]) -> None:
    patch.setitem(DATASETS, "mnist", replace(DATASETS["mnist"], files=remotes))


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


STORED = ["data.json", "x_test.npy", "x_train.npy", "y_test.npy", "y_train.npy"]


def test_from_the_publisher(call: Call, sets: Path, publisher: Publisher) -> None:
    said = call("data", "get", "mnist")
    assert said.code == 0
    assert said.out == (
        f"mnist  20 + 10 samples of 1x28x28, 10 classes\nstored at {sets / 'mnist'}\n"
    )
    lines = said.err.splitlines()
    assert [line.split("/")[-1] for line in lines] == [*idx_files(digits()), "mnist"]
    assert _names(sets / "mnist") == STORED
    assert (load("mnist").train.x.numpy() == digits().x_train).all()


def test_a_second_time_nothing_is_asked_for(call: Call, sets: Path, publisher: Publisher) -> None:
    call("data", "get", "mnist")
    asked = len(publisher.asked)
    said = call("data", "get", "mnist")
    assert (said.code, said.err, len(publisher.asked)) == (0, "", asked)
    assert said.out.endswith(f"already at {sets / 'mnist'}\n")
    again = call("data", "get", "mnist", "--from", str(sets / "mnist"))
    assert again.code == 0 and "--from was not read" in again.err
    assert call("data", "get", "mnist", "--from", "anything").code == 2


def test_a_damaged_one_is_fetched_again(call: Call, sets: Path, publisher: Publisher) -> None:
    call("data", "get", "mnist")
    array = np.load(sets / "mnist" / "x_train.npy")
    np.save(sets / "mnist" / "x_train.npy", 255 - array)
    assert call("data", "get", "mnist").out.endswith(f"stored at {sets / 'mnist'}\n")
    assert store.is_whole(sets / "mnist")


def test_one_of_a_later_version_is_left_alone(call: Call, sets: Path, publisher: Publisher) -> None:
    call("data", "get", "mnist")
    index = sets / "mnist" / "data.json"
    index.write_text(index.read_text().replace('"format": 1', '"format": 2'))
    said = call("data", "get", "mnist")
    assert said.code == 2 and "upgrade fedkeel" in said.err
    assert '"format": 2' in index.read_text()


def test_what_came_is_kept_over_an_interruption(
    call: Call, sets: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[str] = []

    def line(remote: Remote) -> object:
        began.append(remote.file)
        if len(began) == 3:
            raise KeyboardInterrupt
        return lambda done, total: None

    monkeypatch.setattr(get, "_line", line)
    assert call("data", "get", "mnist").code == 130
    assert _names(sets / "mnist") == sorted(began[:2])
    assert "not on this machine" in call("data", "show", "mnist").err
    assert call("data", "get", "mnist").code == 0
    assert began[2:] == [*list(idx_files(digits()))[2:3], *list(idx_files(digits()))[2:]]


def test_an_archive_of_several_sets_is_kept(
    call: Call, sets: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATASETS, "fmnist", replace(DATASETS["mnist"], name="fmnist"))
    assert call("data", "get", "mnist").code == 0
    assert _names(sets / "mnist") == sorted([*STORED, *idx_files(digits())])


def test_without_a_network_the_line_says_what_to_do(
    call: Call, sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_this_machine(monkeypatch)
    url = f"http://127.0.0.1:{closed_port()}/a.gz"
    _publish(monkeypatch, (Remote(url, "a.gz"),))
    said = call("data", "get", "mnist")
    *fetching, line = said.err.splitlines()
    assert (said.code, said.out, fetching) == (2, "", [f"fetching {url}"])
    assert line.startswith("fedkeel: 127.0.0.1:")
    assert all(word in line for word in ("cannot be reached", url, f"'{sets}'", "--from"))


def test_a_wrong_checksum(
    call: Call, sets: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    _publish(monkeypatch, (Remote(publisher.url("a.gz"), "a.gz", "0" * 32),))
    said = call("data", "get", "mnist")
    assert said.code == 2 and "'a.gz' came from 127.0.0.1" in said.err
    assert _names(sets) == []


@pytest.mark.parametrize("form", ["npz", "folder of it", "official", "stored", "flat"])
def test_from_what_one_has(call: Call, sets: Path, here: Path, form: str) -> None:
    mine = here / "mine"
    mine.mkdir()
    path = mine
    if form == "npz":
        path = save(mine / "some.npz", digits())
    elif form == "folder of it":
        save(mine / "mnist.npz", digits())
    elif form == "stored":
        path = store.write(mine, "copy", digits())
    elif form == "flat":
        raw = digits()
        assert raw.x_test is not None
        flat = raw._replace(x_train=raw.x_train[:, 0], x_test=raw.x_test[:, 0])
        path = save(mine / "flat.npz", flat)
    else:
        for name, content in idx_files(digits()).items():
            (mine / name).write_bytes(content)
    before = {file: file.read_bytes() for file in mine.rglob("*") if file.is_file()}
    said = call("data", "get", "mnist", "--from", str(path))
    assert (said.code, said.out.splitlines()[-1]) == (0, f"stored at {sets / 'mnist'}")
    assert _names(sets / "mnist") == STORED
    assert {file: file.read_bytes() for file in mine.rglob("*") if file.is_file()} == before


def test_what_lies_in_the_folder_is_stored(call: Call, sets: Path) -> None:
    sets.mkdir()
    save(sets / "mnist.npz", digits())
    assert call("data", "get", "mnist").out.endswith(f"stored at {sets / 'mnist'}\n")
    assert _names(sets) == ["mnist", "mnist.npz"]


def test_other_names_and_owners(call: Call, sets: Path) -> None:
    owner = np.arange(20) % 4
    save(Path("femnist_writers.npz"), digits()._replace(owner=owner))
    said = json.loads(call("data", "get", "femnist", "--from", ".", "--json").out)
    assert said == {
        "name": "femnist", "path": str(sets / "femnist"), "here_before": False, "train": 20,
        "test": 10, "classes": 62, "shape": [1, 28, 28], "owners": 4,
    }  # fmt: skip


def test_characters(call: Call, sets: Path) -> None:
    store.write(Path.cwd(), "mine", plays())
    said = call("data", "get", "shakespeare", "--from", "mine")
    assert "3 + 2 samples of 80, 80 classes, 2 natural owners" in said.out


def test_content_that_differs_is_refused(call: Call, sets: Path) -> None:
    save(Path("mine.npz"), digits(21))
    said = call("data", "get", "mnist", "--from", "mine.npz")
    assert said.code == 2 and said.err.count("\n") == 1
    assert "'mine.npz' cannot be mnist: its x_train differs" in said.err
    assert _names(sets) == [] if sets.exists() else True


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["mnsit"], ["unknown data set 'mnsit'", "did you mean 'mnist'"]),
        (["lc25000"], ["LC25000.zip", "sets"]),
        (["femnist"], ["preprocess.sh", "femnist_writers.npz"]),
        (["mnist", "--from", "tiny.np"], ["tiny.np", "did you mean 'tiny.npz'"]),
        ([], ["fedkeel data get", "NAME"]),
    ],
)
def test_wrong_words(call: Call, sets: Path, words: list[str], named: list[str]) -> None:
    said = call("data", "get", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert all(word in said.err for word in named)


def test_the_packaged_set(call: Call, sets: Path) -> None:
    said = call("data", "get", "femnist-mini")
    assert said.code == 0 and said.out.endswith("comes with the package\n")
    assert json.loads(call("data", "get", "femnist-mini", "--json").out)["path"] is None


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Take a text for a terminal."""
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=120)
    monkeypatch.setattr("rich.console.Console", lambda **options: terminal)
    return written


def test_a_bar_at_a_terminal(screen: io.StringIO) -> None:
    with get._shown(None) as begin:
        told = begin(Remote("", "set.gz", size=200))
        told(100, 200)
        told(200, 200)
    assert "set.gz" in screen.getvalue() and "200/200 bytes" in screen.getvalue()


def test_a_sign_of_life_at_a_terminal(screen: io.StringIO) -> None:
    with get._shown(Path("my.zip")) as begin:
        begin(Remote("", "set.gz"))(1, 2)
    assert "reading my.zip" in screen.getvalue()
