"""Files and words, and the places that errors name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedkeel.errors import InputError
from fedkeel.recipe.source import from_file, from_words


def test_words() -> None:
    found = from_words(["a.b=1", "c = x = y", "d=[1, 2]"])
    assert {key: item.value for key, item in found.items()} == {"a.b": 1, "c": "x = y", "d": [1, 2]}
    assert all(item.on_command_line for item in found.values())


@pytest.mark.parametrize("word", ["x", "=1", " =1"])
def test_no_words(word: str) -> None:
    with pytest.raises(InputError, match="KEY=VALUE"):
        from_words([word])


def test_a_file_and_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(
        'a = 1\n# b = 2\n\n[data]\nx = 1\n"y" = 2\n\n[ local ]\nz=3\n[resolved]\na = 9\n'
    )
    found = from_file(path)
    assert {key: item.value for key, item in found.items()} == {
        "a": 1,
        "data.x": 1,
        "data.y": 2,
        "local.z": 3,
    }
    lines = {key: item.place.removeprefix(f"{path}:") for key, item in found.items()}
    assert lines == {"a": "1: ", "data.x": "5: ", "data.y": "4: ", "local.z": "9: "}
    assert all(item.folder == tmp_path for item in found.values())


def test_a_byte_order_mark_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    assert from_file(path)["a"].value == 1


def test_tables_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("data = {x = 1}\nlocal.y = 2\nother = {}\n")
    found = from_file(path)
    assert {key: item.value for key, item in found.items()} == {
        "data.x": 1,
        "local.y": 2,
        "other": {},
    }
    assert found["data.x"].place == f"{path}:1: "


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe", "UTF-8"),
        (b"a = ", "not valid TOML"),
        (b"\n\na = [", "not valid TOML"),
        (b"\na = 1\na = 2", "r.toml:3: not valid TOML"),
        (b"a = 2020-01-01", "r.toml:1: a is a date"),
        (b"a = " + b"[" * 9999, "nested too deeply|not valid TOML"),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        from_file(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such recipe"):
        from_file(tmp_path / "absent.toml")
    with pytest.raises(InputError, match=r"is a folder, not a recipe file$"):
        from_file(tmp_path)
    (tmp_path / "recipe.toml").touch()
    with pytest.raises(InputError, match=r"did you mean '.*recipe.toml'"):
        from_file(tmp_path)
