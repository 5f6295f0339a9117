"""Characters, windows and tokens, against plain loops."""

from __future__ import annotations

import json
import lzma
import string
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.data.readers import Bundle, read_plays, symbols, tokens
from fedkeel.data.readers.text import IGNORED, characters, cut

Refused = Callable[..., str]

LEAF = "\n !\"&'(),-.0123456789:;>?" + string.ascii_uppercase + "[]" + string.ascii_lowercase + "}"


# --- vocabularies ---


def test_symbols() -> None:
    assert "".join(symbols("data")) == LEAF
    assert len(symbols("tf66")) == len(set(symbols("tf66"))) == 66
    tutorial = symbols("tf66")[1:]
    assert list(tutorial) == sorted(tutorial)
    assert "".join(tutorial[:13]) == "\n !$&',-.3:;?"


def test_wrong_words(refused: Refused) -> None:
    refused(lambda: symbols("tf65"), "unknown vocab 'tf65'", "did you mean 'tf66'?")
    windows = np.ones((1, 81), dtype=np.uint8)
    refused(lambda: tokens(windows, "data", "al"), "unknown targets 'al'", "did you mean 'all'?")
    refused(lambda: tokens(windows.astype(np.int64)), "int64 of shape (1, 81)")
    refused(lambda: tokens(windows[0]), "of shape (81,)")


# --- tokens ---


def plain(window: bytes, vocab: str) -> tuple[list[int], list[int]]:
    """Return inputs and targets of a window, one character after another."""
    table = LEAF if vocab == "data" else "\0" + "".join(symbols("tf66")[1:])
    other = LEAF.index(" ") if vocab == "data" else 0
    x, y = [], []
    for code, following in pairwise(window):
        known = code != 0 and chr(code) in table
        x.append(table.index(chr(code)) if known else other)
        known = following != 0 and chr(following) in table
        y.append(-100 if following == 0 else table.index(chr(following)) if known else other)
    return x, y


@given(st.lists(st.binary(min_size=2, max_size=9), min_size=1, max_size=5),
       st.sampled_from(["data", "tf66"]))  # fmt: skip
def test_tokens_as_a_plain_loop_makes_them(texts: list[bytes], vocab: str) -> None:
    rows = [text.replace(b"\0", b"?").ljust(9, b"\0") for text in texts]
    windows = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 9)
    every, last = tokens(windows, vocab, "all"), tokens(windows, vocab, "last")
    expected = [plain(row, vocab) for row in rows]
    assert every.x.tolist() == [x for x, _ in expected]
    assert every.y.tolist() == [y for _, y in expected]
    assert every.kept.tolist() == list(range(len(rows)))
    full = [i for i, row in enumerate(rows) if row[-1]]
    assert last.kept.tolist() == full
    assert last.x.tolist() == [expected[i][0] for i in full]
    assert last.y.tolist() == [expected[i][1][-1] for i in full]


def test_types_of_tokens() -> None:
    made = tokens(np.full((2, 81), 97, dtype=np.uint8))
    assert made.x.dtype == np.int16 and made.x.shape == (2, 80)
    assert made.y.dtype == np.int64 and made.y.shape == (2, 80)
    assert IGNORED == -100


def test_none_is_full() -> None:
    made = tokens(np.array([[97, 98, 0]], dtype=np.uint8), targets="last")
    assert made.x.shape == (0, 2) and made.y.shape == (0,)


# --- windows ---


def test_characters_beyond_a_byte_are_of_no_vocabulary() -> None:
    codes = characters("aé\u2019\0\U0001f600\ud800?")
    assert codes.tolist() == [97, 233, 26, 26, 26, 26, 63]
    assert all(chr(26) not in symbols(vocab) for vocab in ("data", "tf66"))


@given(st.integers(0, 400))
def test_windows_as_a_plain_loop_cuts_them(length: int) -> None:
    text = "".join(chr(32 + i % 90) for i in range(length))
    expected = []
    for start in range(0, length, 80):
        row = text[start : start + 81]
        if len(row) > 1:
            expected.append(row.encode().ljust(81, b"\0"))
    assert [bytes(row) for row in cut(text)] == expected


# --- plays ---


def jsonl(*roles: tuple[str, str, str]) -> bytes:
    lines = [json.dumps(dict(zip(("play", "role", "text"), role, strict=True))) for role in roles]
    return "\n".join(lines).encode() + b"\n"


ROLES = (
    ("Macbeth", "FIRST WITCH", "\n".join(f"line {i}" for i in range(11))),
    ("Macbeth", "ALL", "x" * 161),
    ("Hamlet", "ALL", "ab"),
)


@pytest.mark.parametrize("packed", [False, True])
def test_plays(packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("plays.jsonl.xz" if packed else "plays.jsonl")
    path.write_bytes(lzma.compress(jsonl(*ROLES)) if packed else jsonl(*ROLES))
    raw = read_plays(Bundle.of(path))
    assert raw.x_test is not None and raw.y_test is not None and raw.owner is not None
    first = "\n".join(f"line {i}" for i in range(9)).encode()
    assert bytes(raw.x_train[0]) == first.ljust(81, b"\0")
    assert bytes(raw.x_train[1]) == bytes(raw.x_train[2]) == b"x" * 81
    assert bytes(raw.x_train[3]) == b"ab".ljust(81, b"\0")
    assert raw.owner.tolist() == [0, 1, 1, 2] and raw.owner.dtype == np.int64
    assert bytes(raw.x_test[0]) == b"line 9\nline 10".ljust(81, b"\0") and len(raw.x_test) == 1
    assert raw.y_train.shape == (4, 0) and raw.y_test.shape == (1, 0)


def test_no_role_has_a_test_part(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(jsonl(("a", "b", "one line")))
    raw = read_plays(Bundle.of(tmp_path))
    assert raw.x_test is not None and raw.x_test.shape == (0, 81)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no samples"),
        (jsonl(("a", "b", "c")), "no samples"),
        (jsonl(*ROLES)[:-30], "line 3 of"),
        (jsonl(*ROLES) + b"\n", "line 4 of"),
        (b'{"play": "a", "role": "b"}\n', "line 1 of"),
        (b'{"play": "a", "role": "b", "text": 3}\n', "line 1 of"),
        (b"[1, 2]\n", "line 1 of"),
        (b'{"play": "\xff"}\n', "line 1 of"),
    ],
)
def test_broken_plays(data: bytes, words: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "plays.jsonl").write_bytes(data)
    refused(lambda: read_plays(Bundle.of(tmp_path)), words, "plays.jsonl")


def test_which_file(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: read_plays(Bundle.of(tmp_path)), "no .jsonl file")
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(jsonl(*ROLES))
    refused(lambda: read_plays(Bundle.of(tmp_path)), "'a.jsonl' and 'b.jsonl'")


def test_a_cut_xz(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "p.jsonl.xz").write_bytes(lzma.compress(jsonl(*ROLES))[:-20])
    refused(lambda: read_plays(Bundle.of(tmp_path)), "p.jsonl.xz", "cannot be read")
