"""What is said of a split at a terminal, and its picture as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from fedkeel.cli import picture, show
from fedkeel.data import Federation, describe, from_arrays
from fedkeel.errors import InputError
from fedkeel.recipe import resolve


def federation(clients: int, classes: int, names: Sequence[str] = ()) -> Federation:
    """Make clients with up to six samples each, every fourth of them with none."""
    sizes = np.where(np.arange(clients) % 4 == 3, 0, 1 + np.arange(clients) % 6)
    owner = np.repeat(np.arange(clients), sizes)
    y = (owner * 7 + np.arange(len(owner)) % 3) % classes
    x = np.zeros((len(y), 1), dtype=np.float32)
    source = from_arrays(x, y, x, y, classes=classes, name="made")
    return Federation(replace(source, labels=tuple(names)), owner, "dirichlet", clients)


def said(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    split: Federation,
    *words: str,
    columns: int = 80,
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    show.show(split, resolve(None, words))
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("clients", [4, 10, 1000, 10_000])
@pytest.mark.parametrize("classes", [2, 100])
def test_it_is_readable_for_few_and_many(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    clients: int,
    classes: int,
    columns: int,
) -> None:
    monkeypatch.setattr("fedkeel.skew.PAIRWISE_LIMIT", 50)
    split = federation(clients, classes)
    lines = said(capsys, monkeypatch, split, columns=columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert len(lines) <= 65
    text = "\n".join(lines)
    assert f"{clients:,} clients, " in text
    assert " of them without samples, " in text
    assert "of a client" in text and "mean   median" in text


def test_every_measure_is_shown_and_defined_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, federation(6, 3))
    for title in ("entropy of labels", "distinct labels", "Gini of labels", "KL to the whole",
                  "largest label", "distance of two"):  # fmt: skip
        assert len([line for line in text.splitlines() if line.startswith(title)]) == 2, title
    assert "noisy" not in text
    assert text.count("Over the clients that hold samples.") == 1


def test_the_partition_has_all_its_own_keys() -> None:
    words = ["data.alpha=0.05", "data.min_size=0", "data.seed=7", "data.server=0.02"]
    assert show.dealt(resolve(None, words)) == (
        "dirichlet, alpha 0.05, min_size 0, cap true, max_tries 10000 · the server keeps 0.02"
        " · seed 7"
    )
    assert show.dealt(resolve(None, ["data.partition=iid", "seed=3"])) == "iid · seed 3"


def test_noise_is_told_with_what_it_takes() -> None:
    words = [
        "data.label_noise={low = 0.0, high = 0.4}",
        "data.attribute_noise=[0.1, 0.3]",
        'data.corruptions=["frost"]',
        "data.open_set_noise=0.5",
        "data.foreign=[8, 9]",
    ]
    assert show.noise(resolve(None, words)) == [
        "label noise 0 to 0.4 (symmetric)",
        "open set noise 0.5 (foreign: 8, 9)",
        "attribute noise 0.1 to 0.3, one a client (frost, severity 5)",
    ]
    assert show.noise(resolve(None, [])) == []


def test_noisy_samples_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    split = federation(4, 2)
    clean = np.arange(len(split.owner)) > 1
    text = said(capsys, monkeypatch, replace(split, clean=clean), "data.label_noise=0.5")
    assert "2 noisy (33.3 %)" in text  # of 1 + 2 + 3 samples
    assert "label noise 0.5 (symmetric)" in text
    assert len([line for line in text.splitlines() if line.startswith("noisy samples")]) == 2


def test_of_sequences_symbols_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = np.ones((6, 5), dtype=np.int16), np.arange(30).reshape(6, 5) % 3
    source = from_arrays(x, y, x, y, classes=3, name="lines")
    source = replace(source, labels=("\n", " ", "é"))
    text = said(capsys, monkeypatch, Federation(source, np.arange(6) % 2, "natural", 2))
    assert "2 clients, 6 samples, 30 symbols to predict, 3 symbols" in text
    assert "entropy of symbols" in text and "label" not in text.replace("commonest label", "")
    assert "'\\n' " in text and "  symbols\n" in text


def test_names_are_shown_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, federation(4, 2, ["[red]", "猫猫"]))
    rows = text.splitlines()[3:6]
    assert rows[1].startswith(" [red] ") and rows[2].startswith("  猫猫 ")


def test_json_is_what_describe_says(capsys: pytest.CaptureFixture[str]) -> None:
    split = federation(5, 3)
    show.show(split, resolve(None, []), as_json=True)
    assert json.loads(capsys.readouterr().out) == describe(split)


def test_targets_that_are_not_classes_have_no_labels() -> None:
    x = np.zeros((6, 2), dtype=np.float32)
    split = Federation(from_arrays(x, x[:, 0], x, x[:, 0]), np.zeros(6, np.int64), "iid", 1)
    with pytest.raises(InputError, match="there are no labels to show"):
        show.show(split, resolve(None, []))


def test_empty_clients_stand_last_and_small_ones_are_seen() -> None:
    counts = [[0, 0], [1, 0], [0, 500]]
    rows = picture.blocks(counts, ["a", "b"], 40).plain.splitlines()
    assert rows[0] == "   ▁▁▁▁████      samples"
    assert rows[1] == " a ████        "
    assert rows[2] == " b     ████    "


@pytest.mark.parametrize("clients", [1, 10, 300])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_as_a_file(tmp_path: Path, suffix: str, clients: int) -> None:
    counts = np.random.default_rng(0).integers(0, 3, (clients, 4))
    file = tmp_path / f"labels.{suffix}"
    picture.draw(counts.tolist(), ["$x_", "<b>", "猫", ""], file)
    if suffix == "svg":
        root = ElementTree.parse(file).getroot()
        _, _, width, _ = map(float, root.attrib["viewBox"].split())
        assert width == {1: 520, 10: 600, 300: 1000}[clients]
    else:
        from PIL import Image

        with Image.open(file) as image:
            assert image.width == {1: 1040, 10: 1200, 300: 2000}[clients]
            assert len(np.unique(np.asarray(image))) > 3


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.svg").mkdir()
    with pytest.raises(InputError, match=r"a\.svg cannot be written"):
        picture.draw([[1, 2]], [], tmp_path / "a.svg")
