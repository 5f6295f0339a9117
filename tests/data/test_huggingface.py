"""Hugging Face data sets: real ones where the package is there, and a stand-in of their form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from fedkeel.data import Natural
from fedkeel.data.huggingface import from_huggingface
from fedkeel.errors import InputError


@dataclass
class Value:
    dtype: str


@dataclass
class ClassLabel:
    names: list[str]
    dtype: str = "int64"


@dataclass
class Sequence:
    feature: Value


@dataclass
class Image:
    decode: bool = True


@dataclass
class Table:
    """As much of a ``datasets.Dataset`` as is used."""

    features: dict[str, Any]
    columns: dict[str, list[Any]]
    options: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter({key: self.columns[key][i] for key in self.columns} for i in range(len(self)))

    def __getitem__(self, rows: slice) -> dict[str, Any]:
        found = {key: values[rows] for key, values in self.columns.items()}
        return {k: np.asarray(v, **self.options) for k, v in found.items()}

    def select_columns(self, names: list[str]) -> Table:
        kept = {name: self.columns[name] for name in names}
        return Table({name: self.features[name] for name in names}, kept, self.options)

    def with_format(self, kind: str | None, **options: Any) -> Table:
        return Table(self.features, self.columns, options)


@dataclass
class Picture:
    """As much of a Pillow image as is used."""

    pixels: np.ndarray
    mode: str

    def convert(self, mode: str) -> np.ndarray:
        assert mode == ("L" if self.pixels.ndim == 2 else "RGB")
        return self.pixels


def _table(n: int = 6) -> Table:
    return Table(
        {"v": Sequence(Value("float32")), "label": ClassLabel(["cat", "dog"]), "who": Value("str")},
        {
            "v": [[i / 8, -i / 4] for i in range(n)],
            "label": [i % 2 for i in range(n)],
            "who": ["b", "a", "b", "c", "a", "a"][:n],
        },
    )


def _pictures(*shapes: tuple[int, ...], mode: str = "") -> Table:
    pictures = [
        Picture(np.full(shape, 10 * i, np.uint8), mode or ("L" if len(shape) == 2 else "RGB"))
        for i, shape in enumerate(shapes)
    ]
    features = {"img": Image(), "label": ClassLabel(["a", "b"]), "v": Sequence(Value("int64"))}
    many = range(len(shapes))
    return Table(
        features, {"img": pictures, "label": [i % 2 for i in many], "v": [[i] for i in many]}
    )


def test_columns_are_found_by_what_they_hold() -> None:
    source = from_huggingface(_table(), _table(2))
    assert source.train.x.tolist() == _table().columns["v"]
    assert source.train.y.tolist() == [0, 1, 0, 1, 0, 1]
    assert (source.labels, source.classes, len(source.test.x)) == (("cat", "dog"), 2, 2)
    assert source.preparation.mean == () and not source.preparation.augments


def test_a_dictionary_of_parts() -> None:
    source = from_huggingface({"train": _table(), "test": _table(3), "validation": _table(1)})
    assert (len(source.train.x), len(source.test.x)) == (6, 3)
    assert len(from_huggingface({"train": _table()}, test_share=0.5).test.x) == 3
    assert len(from_huggingface({"train": _table(), "test": _table(3)}, _table(2)).test.x) == 2


def test_owners_by_column_and_by_hand() -> None:
    by_column = from_huggingface(_table(), _table(2), owner="who")
    assert by_column.owner is not None and by_column.owner.tolist() == [1, 0, 1, 2, 0, 0]
    assert by_column.split(Natural()).sizes.tolist() == [3, 2, 1]
    by_hand = from_huggingface(_table(), _table(2), owner=np.array([0, 0, 0, 1, 1, 1]))
    assert by_hand.split(Natural()).sizes.tolist() == [3, 3]


def test_images_become_channels_first_bytes() -> None:
    grey = from_huggingface(_pictures((4, 5), (4, 5)), _pictures((4, 5)))
    assert grey.train.x.shape == (2, 1, 4, 5) and grey.train.x.dtype == torch.uint8
    colour = from_huggingface(_pictures((4, 5, 3), (4, 5, 3)), _pictures((4, 5, 3)))
    assert colour.train.x.shape == (2, 3, 4, 5)


def test_grey_among_colour_becomes_colour() -> None:
    x = from_huggingface(_pictures((4, 5, 3), (4, 5)), _pictures((4, 5, 3))).train.x
    assert x.shape == (2, 3, 4, 5) and (x[1] == 10).all()


def test_columns_of_numbers_side_by_side() -> None:
    table = Table(
        {"age": Value("int64"), "bmi": Value("float64"), "risk": Value("float32")},
        {"age": [30, 40], "bmi": [20.5, 30.25], "risk": [0.5, 1.5]},
    )
    source = from_huggingface(table, table, x=["age", "bmi"], y="risk")
    assert source.train.x.tolist() == [[30.0, 20.5], [40.0, 30.25]]
    assert source.train.x.dtype == torch.float32
    assert source.train.y.tolist() == [0.5, 1.5] and source.classes is None
    assert from_huggingface(table, table, x="age", y="risk").train.x.tolist() == [[30.0], [40.0]]


def test_numbers_keep_their_type() -> None:
    features = {"t": [Value("int32")], "y": Value("bool"), "d": Sequence(Sequence(Value("double")))}
    rows = {"t": [[1, 2, 3], [4, 5, 6]], "y": [True, False], "d": [[[0.1]], [[0.2]]]}
    table = Table(features, rows)
    tokens = from_huggingface(table, table, x="t", y="y")
    assert tokens.train.x.dtype == torch.int32 and tokens.train.y.tolist() == [1, 0]
    exact = from_huggingface(table, table, x="d", y="y").train.x
    assert exact.shape == (2, 1, 1) and exact[0].item() == 0.1


class _Endless(Table):
    __len__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ([1, 2], {}, "dataset is list: it must be a datasets.Dataset"),
        ({"valid": _table()}, {}, "dataset has the parts valid"),
        (_Endless(_table().features, {}), {}, "streamed"),
        (Table(_table().features, {"v": []}), {}, "dataset is empty"),
        (_table(), {"y": "labl"}, "no column y='labl': did you mean 'label'"),
        (_table(), {"x": "w"}, "no column x='w'.*v \\(Sequence\\), label \\(ClassLabel\\)"),
        (_table(), {"x": ()}, "x names no column"),
        (_table(), {"x": "who"}, "column 'who' holds Value.*class_encode_column"),
        (_table(), {"owner": "by"}, "no column owner='by'"),
        (_table(), {"owner": "v"}, "column 'v' cannot say who owns what"),
        (_pictures((4, 5), (5, 4)), {}, "img\\[1\\] is 4x5 where img\\[0\\] is 5x4"),
        (_pictures((4, 5), mode="I;16"), {}, "img\\[0\\] is of mode I;16"),
        (Table({"a": Image(), "b": Image()}, {"a": [1]}), {}, "column is x\\? a and b could"),
        (Table({"a": Image(), "b": Value("str")}, {"a": [1]}), {}, "column is y\\? none is plain"),
        (
            Table({"v": Sequence(Value("float32")), "y": ClassLabel([])},
                  {"v": [[1.0], [1.0, 2.0]], "y": [0, 1]}),
            {}, "column 'v' cannot be one array",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(given: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        from_huggingface(given, **options)
    assert "\n" not in str(caught.value)


def test_parts_must_be_alike() -> None:
    other = _table(2)
    other.features["label"] = ClassLabel(["dog", "cat"])
    with pytest.raises(InputError, match=r"column 'label' is .* for training and .* for testing"):
        from_huggingface(_table(), other)
    with pytest.raises(InputError, match="no column"):
        from_huggingface(_table(), Table({"z": Value("int64")}, {"z": [1]}))


# --- the real package ---


@pytest.fixture
def hf() -> Any:
    return pytest.importorskip("datasets")


@pytest.mark.extras
def test_real_images(hf: Any) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), np.uint8)
    features = hf.Features({"image": hf.Image(), "label": hf.ClassLabel(names=["a", "b", "c"])})
    rows = {"image": [pillow.fromarray(image) for image in pixels], "label": [0, 1, 2, 0]}
    table = hf.Dataset.from_dict(rows, features=features)
    parts = hf.DatasetDict({"train": table, "test": table.select([0, 1])})
    source = from_huggingface(parts)
    assert torch.equal(source.train.x, torch.from_numpy(pixels.transpose(0, 3, 1, 2).copy()))
    assert source.labels == ("a", "b", "c") and source.test.y.tolist() == [0, 1]
    undecoded = table.cast_column("image", hf.Image(decode=False))
    assert from_huggingface(undecoded, table).sha256 == from_huggingface(table, table).sha256
    assert from_huggingface(table.with_format("torch"), table).train.x.shape == (4, 3, 6, 5)


@pytest.mark.extras
def test_real_numbers_exactly(hf: Any) -> None:
    values = np.random.default_rng(0).normal(size=(5, 3, 4))
    features = {
        "x": hf.Array2D((3, 4), "float64"), "y": hf.Value("int64"), "who": hf.Value("string"),
    }  # fmt: skip
    rows = {"x": values.tolist(), "y": [0, 1, 0, 1, 0], "who": list("babac")}
    table = hf.Dataset.from_dict(rows, features=hf.Features(features))
    source = from_huggingface(table, table, y="y", owner="who")
    assert torch.equal(source.train.x, torch.from_numpy(values))
    assert source.owner is not None and source.owner.tolist() == [1, 0, 1, 0, 2]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"v": [[1, 2], [3]], "y": [0, 1]}, "column 'v' cannot be one array"),
        ({"v": [[1, 2], [3, 4]], "y": [0, None]}, "column 'y' cannot be one array"),
        ({"v": [[1.0, None], [3.0, 4.0]], "y": [0, 1]}, "NaN|cannot be one array"),
        ({"v": [["a"], ["b"]], "y": [0, 1]}, "column 'v' holds"),
    ],
)
@pytest.mark.extras
def test_real_tables_that_are_refused(hf: Any, rows: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_huggingface(hf.Dataset.from_dict(rows), y="y", test_share=0.5)


@pytest.mark.extras
def test_a_real_stream_is_refused(hf: Any) -> None:
    stream = hf.Dataset.from_dict({"v": [[1]], "y": [0]}).to_iterable_dataset()
    with pytest.raises(InputError, match="streamed"):
        from_huggingface(stream, y="y")
