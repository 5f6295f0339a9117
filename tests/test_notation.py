"""Values and sums as text, read and written."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.errors import InputError
from fedkeel.notation import Term, read_sum, read_value, split, write_term, write_toml, write_value

scalars = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values: Any = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab .-é", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values)
def test_a_written_value_is_read_back(value: Any) -> None:
    assert tomllib.loads(f"x = {write_value(value)}")["x"] == value


@given(values)
def test_and_from_a_word_as_well(value: Any) -> None:
    found = read_value(write_value(value))
    assert found == value
    assert type(found) is type(value)


@given(
    st.dictionaries(st.sampled_from("abc"), scalars),
    st.dictionaries(
        st.sampled_from("xyz"), st.dictionaries(st.sampled_from("abc"), values, max_size=3)
    ),
)
def test_a_written_document_is_read_back(plain: dict[str, Any], tables: dict[str, Any]) -> None:
    document = {**plain, **tables}
    assert tomllib.loads(write_toml(document)) == document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("5.0", 5.0),
        ("1e-5", 1e-5),
        ("-1", -1),
        ("true", True),
        ("True", "True"),
        ("'5'", "5"),
        (" fc2 ", "fc2"),
        ("", ""),
        ("08", "08"),
        ("a#b", "a#b"),
        ("'a#b'", "a#b"),
        ("1, 2", "1, 2"),
        ("[1, 2]", [1, 2]),
        ("[]", []),
        ("[fc1, 'fc 2', [a]]", ["fc1", "fc 2", ["a"]]),
        ("{low = 0.0, high = 1}", {"low": 0.0, "high": 1}),
        ("2020-01-01", "2020-01-01"),
        ("1\nother = 2", "1\nother = 2"),
        ("]; [", "]; ["),
        ("gcfed(head='fc2') + clip", "gcfed(head='fc2') + clip"),
    ],
)
def test_words(text: str, value: object) -> None:
    assert read_value(text) == value


@pytest.mark.parametrize("text", ["[1", "'a", '"a', "{a = }", "{", "[[1]"])
def test_half_values(text: str) -> None:
    with pytest.raises(InputError):
        read_value(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a+b", ["a", "b"]),
        ("a(x=[1+2])+b", ["a(x=[1+2])", "b"]),
        ("'a+b'+c", ["'a+b'", "c"]),
        (r'"a\"+b"+c', [r'"a\"+b"', "c"]),
        (r"'a\'+b", [r"'a\'", "b"]),
        ("", [""]),
        ("+", ["", ""]),
    ],
)
def test_split(text: str, pieces: list[str]) -> None:
    assert split(text, "+") == pieces


@pytest.mark.parametrize("text", ["(", ")", "(]", "'", '"\\"', "a(b))"])
def test_split_wants_pairs(text: str) -> None:
    with pytest.raises(InputError):
        split(text, "+")


@given(st.lists(st.text("ab'\"()[]+,\\ ", max_size=8), min_size=1))
def test_split_never_fails_otherwise(texts: list[str]) -> None:
    text = "+".join(texts)
    try:
        pieces = split(text, "+")
    except InputError:
        return
    assert "+".join(pieces) == text


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("gcfed", [("gcfed", {})]),
        (" gcfed ( ) ", [("gcfed", {})]),
        ("GCFed(head = fc2)", [("GCFed", {"head": "fc2"})]),
        ("a + b(x=1, y=true)", [("a", {}), ("b", {"x": 1, "y": True})]),
        ("a.b:C(x=[fc1, 'fc2'])", [("a.b:C", {"x": ["fc1", "fc2"]})]),
        ("a(x=layer1.0.conv)", [("a", {"x": "layer1.0.conv"})]),
        ("a(x='1 + 1')+a", [("a", {"x": "1 + 1"}), ("a", {})]),
        ("a(x=1e+3)", [("a", {"x": 1000.0})]),
    ],
)
def test_sums(text: str, terms: list[tuple[str, dict[str, Any]]]) -> None:
    assert read_sum(text) == tuple(Term(*term) for term in terms)
    assert read_sum(" + ".join(map(write_term, read_sum(text)))) == read_sum(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "a +",
        "a b",
        "a()b",
        "a(b)",
        "a(=1)",
        "a(x=)",
        "a(x=1, x=2)",
        "a(x=1,)",
        "a(x y=1)",
        "a(x=b c)",
        "a(x=b(c))",
        "a(x=!)",
        ":A",
        "a:",
        "a:b:c",
        "a.b",
        "2a",
        "a(x=1))",
        "a((x=1)",
    ],
)
def test_wrong_sums(text: str) -> None:
    with pytest.raises(InputError, match=r"^method: "):
        read_sum(text)


def test_numbers_of_numpy() -> None:
    assert write_value([np.float64(0.1), np.float64("inf")]) == "[0.1, inf]"


def test_what_toml_has_no_word_for() -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_value(None)
